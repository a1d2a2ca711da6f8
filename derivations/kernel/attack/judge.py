"""Is a claim true? Asked of plain numbers, for mutants that a witness has accepted.

The judge proves nothing. It evaluates both sides in mpmath, to 60 digits, at many random values at which the assumptions
hold, and looks whether they agree to more digits than chance allows. It imports no witness.
"""

from __future__ import annotations

from math import inf
from random import Random

from mpmath import mp, mpf

from ..core.claims import Claim
from ..core.expr import free_indices, own_sizes, show, symbols, walk
from ..core.operators import AVERAGES
from ..errors import KernelError
from .limit_intervals import approach
from .mpmath_evaluation import DIGITS, OTHER, SAME, ZERO, CannotTell, NoDerivative, TooClose, Undefined, entry, places_of, scalar
from .random_points import DRAWS, FEWEST, POINTS, exponential_law, has, holds, index_values, laws, outcomes, points

SAME_BY_QUADRATURE, OTHER_BY_QUADRATURE = mpf(10) ** -8, mpf(10) ** -5


def judge(claim: Claim, partial: bool = False, slopes: bool = False, most: int = POINTS) -> tuple:
    """("true" | "false" | "cannot tell", reason).

    With partial=True the claim is taken as a witness takes it that never asks where the sides exist, whether the assumptions
    can hold, or how a rank was bounded. Otherwise a side that does not exist under the stated assumptions makes it false, as
    does a certificate that is wrong, and nothing is said where no values are found at which the assumptions hold.
    With slopes=True a derivative that does not exist makes it false even so. It is tried at `most` points, at FEWEST at least.
    """
    with mp.workdps(DIGITS):
        try:
            if not partial and (where := at_odds(claim)):
                return "false", where
            verdict, reason = JUDGES.get(claim.kind, everywhere_same)(claim, "but slopes" if partial and slopes else partial, most)
            lacking = moment_not_stated(claim) if verdict == "true" and laws(claim) else ""
            return ("false", lacking) if lacking else (verdict, reason)
        except CannotTell as reason:
            return "cannot tell", str(reason)
        except (KernelError, KeyError, OverflowError, ZeroDivisionError, ValueError, TypeError) as error:
            return "cannot tell", f"{type(error).__name__}: {error}"


def at_odds(claim: Claim) -> str:
    """What is said of each entry's mean or variance, and is another thing at another index: no distribution has both."""
    for a in claim.given:
        if a.kind in ("mean", "variance") and free_indices(a.args[1]):
            return f"what is said of the {a.kind} of {show(a.args[0])} contradicts itself at two values of an index"
    return ""


FAR = mpf(10) ** 20  # so far out, a polynomial is as large as its highest power


def moment_not_stated(claim: Claim) -> str:
    """A moment that is averaged, and that nothing stated says exists: seen by how fast what is averaged grows with one entry."""
    averaged = [n for t in (claim.start, *(s.expr for s in claim.steps)) for n in walk(t) if n.op in AVERAGES]
    for env in points(claim)[:FEWEST]:
        for node in averaged:
            for here in index_values(node.args, env):
                for name in (s.data[0] for s in symbols(node).values() if s.data[1] == "random"):
                    for place in here[name]:
                        power = growth(node.args[0], name, place, here) * (1 + (node.op == "variance"))
                        if power > highest(claim, name):
                            return f"{show(node)} takes a moment of order {power} of {name}, and nothing says that there is one"
    return ""


def growth(body, name: str, place: tuple, env: dict) -> int:
    """The power with which an expression grows as one random entry does; 0 where it is no polynomial in it, or has no value there."""
    if any(n.op in ("function", "softmax") for n in walk(body)):
        return 0
    try:
        near, far = (abs(scalar(body, env | {name: env[name] | {place: x}})) for x in (FAR, FAR**2))
    except Undefined:
        return 0
    return int(mp.nint(mp.log10(far / near) / 20)) if near and far else 0


def highest(claim: Claim, name: str) -> float:
    """The highest order of which what is stated says that there is a moment."""
    orders = {"mean": 1, "variance": 2, "gaussian": inf}
    about = [a for a in claim.given if any(x.op == "symbol" and x.data[0] == name for x in a.args)]
    return max([0, *(int(a.args[1].data) if a.kind == "moment" else orders.get(a.kind, 0) for a in about)])


def differ(a, b, claim: Claim) -> bool:
    same, other = (SAME_BY_QUADRATURE, OTHER_BY_QUADRATURE) if exponential_law(claim) else (SAME, OTHER)
    if has(claim, "rounded"):
        return abs(a - b) > SAME * max(abs(a), abs(b))
    gap = abs(a - b) / (1 + abs(a) + abs(b))
    if same < gap < other:
        raise CannotTell("two values that are close, and not certainly equal")
    return gap >= other


def over_points(claim: Claim, partial: bool, broken, most: int) -> tuple:
    """broken(env) says what is wrong at one point, or ''."""
    tried = skipped = 0
    drawn = points(claim, most=most)
    if partial and not drawn:
        return "true", f"its assumptions held at none of {DRAWS} points drawn, so that nothing is claimed"
    for env in drawn:
        try:
            problem = broken(env)
        except TooClose:
            continue
        except Undefined as error:
            if is_lost_to_digits(broken, env):
                continue
            if not partial or partial == "but slopes" and isinstance(error, NoDerivative):
                return "false", f"{error}, {shown(env)}"
            skipped += 1
            continue
        if problem:
            return "false", f"{problem}, {shown(env)}"
        tried += 1
    if tried < FEWEST:
        return "cannot tell", f"only {tried} points were found at which it can be tried"
    where = ", wherever they exist; where they do is no longer stated" if skipped else ""
    return "true", f"both sides agree at {tried} random points{where}"


def is_lost_to_digits(broken, env: dict) -> bool:
    """Is something undefined in so many digits alone, as the logarithm of the logarithm of exp(exp(-150)) is?"""
    with mp.workdps(10 * DIGITS):
        try:
            broken(env)
        except TooClose:
            return True
        except Undefined:
            return False
    return True


def shown(env: dict) -> str:
    return "at " + ", ".join(
        f"{k} = {v if isinstance(v, int) else [mp.nstr(x, 5) for x in v.values()]}"
        for k, v in env.items()
        if isinstance(k, str) and k != "outcomes" and not (isinstance(v, dict) and len(v) > 4)
    )


def everywhere_same(claim: Claim, partial: bool, most: int) -> tuple:
    sides = (claim.start, *(s.expr for s in claim.steps))

    def broken(env):
        for left, right in zip(sides, sides[1:]):
            for here in index_values((left, right), env):
                for p in places_of(left.shape, here):
                    if differ(entry(left, p, here), entry(right, p, here), claim):
                        return f"{show(left)} is not {show(right)}"

    return over_points(claim, partial, broken, most)


def at_most(claim: Claim, partial: bool, most: int) -> tuple:
    """The bound, and that the certificate is what it is said to be."""
    left, right, because = claim.start, claim.steps[0].expr, claim.because

    def broken(env):
        if left.op == "rank" and partial:
            return "the bound is exceeded" if scalar(left, env) > scalar(right, env) else ""
        if left.op == "rank":
            if len(because) != 2 or because[0].shape[-1] != right:
                return "the factorisation does not go with the bound"
            inner = because[0] @ because[1]
            if any(differ(entry(left.args[0], p, env), entry(inner, p, env), claim) for p in places_of(inner.shape, env)):
                return "the factorisation is not one of the matrix"
            return "the bound is exceeded" if scalar(left, env) > scalar(right, env) else ""
        if len(because) != 1:
            return "no certificate"
        for here in index_values((left, right, *because), env):
            a, b, c = (scalar(e, here) for e in (left, right, because[0]))
            if any(mp.im(x) for x in (a, b, c)):
                return "a complex number has no order"
            if differ(b - a, c, claim):
                return "the certificate is not the difference"
            if c < -SAME:
                return "the certificate is negative"

    return over_points(claim, partial, broken, most)


def tends_to(claim: Claim, partial: bool, most: int) -> tuple:
    variable, to = claim.towards
    right = claim.steps[0].expr
    if any(variable in own_sizes(n) for n in walk(claim.start)):
        raise CannotTell("a limit in the size of a sum")

    if variable.data[1] == "size" and to != "oo":
        return "false", "a size does not go to 0"

    def broken(env):
        for here in index_values((claim.start, right), env):
            gaps = approach(claim.start, right, variable, to, here)
            if gaps[1] > mpf(10) ** -6:
                return f"it stays {mp.nstr(gaps[1], 5)} away"
            if gaps[1] > max(gaps[0], ZERO):
                return "it moves away"
        return ""

    return over_points(claim, partial, broken, most)


def refuted(claim: Claim, partial: bool, most: int) -> tuple:
    """The two sides differ at the counterexample, and the assumptions hold there."""
    env = {}
    named = symbols(*claim.trees)
    fixed = {}
    sized = {s.data[0] for name, _ in claim.at if name in named for s in named[name].shape if s.op == "symbol"}
    if missing := named.keys() - {name for name, _ in claim.at} - sized - {n for n, s in named.items() if s.data[1] == "random"}:
        return "false", f"no value for {min(missing)}"
    free = {i.data[0]: i for e in (claim.start, claim.steps[0].expr) for i in free_indices(e)}
    for name, value in sorted(claim.at, key=lambda pair: pair[0] in free):  # an index last: its size is then known
        if name in free:
            size = free[name].data[1]
            if value.op != "const" or value.data not in range(1, int(env.get(size.data[0], 0) if size.op == "symbol" else size.data) + 1):
                return "false", "an index outside its range"
            fixed["index", name] = int(value.data) - 1
            continue
        if name not in named:
            return "false", f"a value for {name}, which the claim does not mention"
        if named[name].data[1] == "size":
            if value.op != "const" or value.data.denominator != 1 or value.data < 1:
                return "false", "a size that is none"
            env[name] = int(value.data)
            continue
        env[name] = {p: scalar(x, {}) for p, x in leaves(value, ())}
        for k, size in enumerate(named[name].shape):
            length = 1 + max(p[k] for p in env[name])
            if size.op == "symbol" and env.setdefault(size.data[0], length) != length:
                return "false", "the values do not fit together"
    left, right = claim.start, claim.steps[0].expr
    generator = Random(0)
    verdicts, gaps = set(), []
    for _ in range(6 if laws(claim) else 1):
        try:
            if not all(holds(a, env) for a in claim.given):
                return "false", "the counterexample breaks an assumption"
            here = env | {"outcomes": outcomes(claim, env, generator) if laws(claim) else []}
            verdicts.add(
                left.shape == right.shape
                and any(
                    differ(a := entry(left, p, at), b := entry(right, p, at), claim) and (claim.refuted == "=" or larger(a, b))
                    for every in index_values((left, right), here)
                    for at in [every | fixed]
                    for p in places_of(left.shape, at)
                )
            )
            gaps += [mp.re(entry(left, (), here) - entry(right, (), here))] if laws(claim) else []
        except Undefined as error:
            return "false", f"at the counterexample, {error}"
    if gaps and min(gaps) < 0 < max(gaps):  # between two such distributions there is one for which they are equal
        return "false", "what is stated leaves open whether the two sides differ"
    if verdicts == {True}:
        return "true", "the two sides still differ at the counterexample"
    return "false", "the two sides are equal at the counterexample" if verdicts == {
        False
    } else "what is stated leaves open whether they differ"


def larger(a, b) -> bool:
    """Complex numbers have no order."""
    return not mp.im(a) and not mp.im(b) and mp.re(a) > mp.re(b)


def leaves(value, place: tuple):
    if isinstance(value, tuple):
        for k, v in enumerate(value):
            yield from leaves(v, place + (k,))
    else:
        yield place, value


JUDGES = {"inequality": at_most, "limit": tends_to, "refutation": refuted}
