"""Decide by numbers whether a claim is true; the judge of mutants and random claims that a witness accepts.

The judge proves nothing. It evaluates both sides in mpmath, to 60 digits, at many random points at which the assumptions hold, and
compares them. It imports no witness. An error of its own is raised, never reported as "cannot tell".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from random import Random
from typing import Any

from mpmath import mp, mpf

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, node_sizes, show, symbols, walk
from ..core.operators import AVERAGE_OPERATORS
from .limit_intervals import measure_distances
from .mpmath_evaluation import (
    DIFFERENT,
    DIGITS,
    EQUAL,
    ZERO,
    CannotTell,
    NoDerivative,
    UndecidedHere,
    Undefined,
    all_places,
    evaluate_entry,
    evaluate_scalar,
)
from .random_points import (
    DRAWS,
    MIN_POINTS,
    POINTS,
    draw_distribution,
    draw_points,
    has_expectation,
    index_values,
    is_satisfied,
    needs_quadrature,
    uses_operator,
)

NEAR = mpf(10) ** -6  # the distance from a limit within which a side must come at the values that are tried
EQUAL_BY_QUADRATURE, DIFFERENT_BY_QUADRATURE = mpf(10) ** -8, mpf(10) ** -5

Verdict = tuple[str, str]  # "true", "false" or "cannot tell", and the reason
Environment = dict[Any, Any]  # sizes and entries by name, the values of free indices, and the outcomes of random variables


@dataclass(frozen=True)
class Options:
    """How a claim is judged; `judge` says what the fields mean."""

    partial: bool
    derivatives: bool
    coarse: bool
    most: int


def judge(claim: Claim, partial: bool = False, derivatives: bool = False, coarse: bool = False, most: int = POINTS) -> Verdict:
    """Return ("true" | "false" | "cannot tell", reason), after trying the claim at up to `most` points, and at least FEWEST.

    By default, a claim is false if a side is undefined at a point at which the assumptions hold, or if the nonnegative form of an
    inequality is wrong; and "cannot tell" is returned if no point is found at which the assumptions hold.

    With partial=True, judge as a witness does that ignores where the sides are defined, whether the assumptions can hold, and how a
    rank was bounded. With derivatives=True in addition, a derivative that does not exist still makes the claim false. With coarse=True, a
    limit is false only if it is off by more than NEAR.
    """
    with mp.workdps(DIGITS):
        try:
            if not partial and (contradiction := find_contradiction(claim)):
                return "false", contradiction
            verdict, reason = JUDGES.get(claim.kind, judge_equality)(claim, Options(partial, derivatives, coarse, most))
            missing = find_missing_moment(claim) if verdict == "true" and has_expectation(claim) else ""
            return ("false", missing) if missing else (verdict, reason)
        except CannotTell as limitation:
            return "cannot tell", str(limitation)
        except OverflowError as error:  # a number that is too large for mpmath, as exp(exp(10**60)) is
            return "cannot tell", f"OverflowError: {error}"


def find_contradiction(claim: Claim) -> str:
    """Say which stated mean or variance depends on an index, so that no distribution has it; return "" if none does."""
    for a in claim.given:
        if a.kind in ("mean", "variance") and free_indices(a.args[1]):
            return f"what is said of the {a.kind} of {show(a.args[0])} contradicts itself at two values of an index"
    return ""


FAR = mpf(10) ** 20  # so far out, a polynomial is as large as its highest power


def find_missing_moment(claim: Claim) -> str:
    """Say which moment occurs in the claim without an assumption that it exists; return "" if none does.

    The order of a moment is the power with which the body of the expectation grows with one random entry.
    """
    averaged = [n for t in (claim.start, *(s.expr for s in claim.steps)) for n in walk(t) if n.op in AVERAGE_OPERATORS]
    for env in draw_points(claim)[:MIN_POINTS]:
        for node in averaged:
            for here in index_values(node.args, env):
                for name in (s.data[0] for s in symbols(node).values() if s.data[1] == "random"):
                    for place in here[name]:
                        power = growth_exponent(node.args[0], name, place, here) * (1 + (node.op == "variance"))
                        if power > highest_stated_moment(claim, name):
                            return f"{show(node)} takes a moment of order {power} of {name}, and nothing says that there is one"
    return ""


def growth_exponent(body: Expr, name: str, place: tuple, env: Environment) -> int:
    """Return the power with which an expression grows with one random entry; 0 if it is not a polynomial or has no value far out."""
    if any(n.op in ("function", "softmax") for n in walk(body)):
        return 0
    others = {s.data[0] for s in symbols(body).values() if s.data[1] == "random" and s.data[0] != name}
    env = env | {other: {at: x or mpf(1) for at, x in env[other].items()} for other in others}  # a factor of 0 would hide the power
    try:
        near, far = (abs(evaluate_scalar(body, env | {name: env[name] | {place: x}})) for x in (FAR, FAR**2))
    except Undefined:
        return 0
    return int(mp.nint(mp.log10(far / near) / 20)) if near and far else 0


def highest_stated_moment(claim: Claim, name: str) -> float:
    """Return the highest order at which an assumption says that a moment exists; infinity for a Gaussian variable."""
    orders = {"mean": 1, "variance": 2, "gaussian": inf, "zero_or_one": inf}
    about = [a for a in claim.given if any(x.op == "symbol" and x.data[0] == name for x in a.args)]
    return max([0, *(int(a.args[1].data) if a.kind == "moment" else orders.get(a.kind, 0) for a in about)])


def differ(a: Any, b: Any, claim: Claim) -> bool:
    """Return whether two numbers differ by more than rounding. Raise CannotTell if they are close, but not certainly equal."""
    same, other = (EQUAL_BY_QUADRATURE, DIFFERENT_BY_QUADRATURE) if needs_quadrature(claim) else (EQUAL, DIFFERENT)
    if uses_operator(claim, "rounded"):
        return abs(a - b) > EQUAL * max(abs(a), abs(b))
    gap = abs(a - b) / (1 + abs(a) + abs(b))
    if same < gap < other:
        raise CannotTell("two values that are close, and not certainly equal")
    return gap >= other


def try_points(claim: Claim, options: Options, find_problem: Callable[[Environment], str]) -> Verdict:
    """Return the verdict on a claim; `find_problem` says what is wrong at one point, or ""."""
    if not has_expectation(claim) and any(has_random_value(e, {}) for e in (claim.start, *(s.expr for s in claim.steps), *claim.because)):
        raise CannotTell("a random entry outside an expectation")
    tried = skipped = 0
    drawn = draw_points(claim, most=options.most)
    if options.partial and not drawn:
        return "true", f"its assumptions held at none of {DRAWS} points drawn, so that nothing is claimed"
    for env in drawn:
        try:
            problem = find_problem(env)
        except UndecidedHere:
            continue
        except Undefined as error:
            if with_more_digits(find_problem, env) is not None:
                continue
            if not options.partial or options.derivatives and isinstance(error, NoDerivative):
                return "false", f"{error}, {show_point(env)}"
            skipped += 1
            continue
        if problem and with_more_digits(find_problem, env) != "":
            return "false", f"{problem}, {show_point(env)}"
        tried += 1
    if tried < MIN_POINTS:
        return "cannot tell", f"only {tried} points were found at which it can be tried"
    where = ", wherever they exist; where they do is no longer stated" if skipped else ""
    return "true", f"both sides agree at {tried} random points{where}"


def with_more_digits(find_problem: Callable[[Environment], str], env: Environment) -> str | None:
    """Return what is wrong at a point if it is computed with more digits, "" if nothing is, and None if a value is undefined.

    More digits make values such as log(log(exp(exp(-150)))) defined, or almost so. They also keep the 1 in 1 + exp(exp(7)) - exp(exp(7)).
    """
    with mp.workdps(10 * DIGITS):
        try:
            return find_problem(env)
        except UndecidedHere:
            return ""
        except Undefined:
            return None


def show_point(env: Environment) -> str:
    """Return the values of a point as text, without tensors of more than four entries."""
    return "at " + ", ".join(
        f"{k} = {v if isinstance(v, int) else [mp.nstr(x, 5) for x in v.values()]}"
        for k, v in env.items()
        if isinstance(k, str) and k != "outcomes" and not (isinstance(v, dict) and len(v) > 4)
    )


def judge_equality(claim: Claim, options: Options) -> Verdict:
    """Judge an identity or a chain: all sides agree entry by entry."""
    sides = (claim.start, *(s.expr for s in claim.steps))

    def find_problem(env: Environment) -> str:
        for left, right in zip(sides, sides[1:]):
            for here in index_values((left, right), env):
                for p in all_places(left.shape, here):
                    if differ(evaluate_entry(left, p, here), evaluate_entry(right, p, here), claim):
                        return f"{show(left)} is not {show(right)}"
        return ""

    return try_points(claim, options, find_problem)


def judge_inequality(claim: Claim, options: Options) -> Verdict:
    """Judge an inequality: its nonnegative form is the difference of the sides, and is not negative.

    A bound on a rank holds at each point, and its factorization is one of the matrix.
    """
    left, right, because = claim.start, claim.steps[0].expr, claim.because

    def find_problem(env: Environment) -> str:
        if left.op == "rank" and options.partial:
            return "the bound is exceeded" if evaluate_scalar(left, env) > evaluate_scalar(right, env) else ""
        if left.op == "rank":
            if len(because) != 2 or because[0].shape[-1] != right:
                return "the factorisation does not go with the bound"
            inner = because[0] @ because[1]
            if any(
                differ(evaluate_entry(left.args[0], p, env), evaluate_entry(inner, p, env), claim) for p in all_places(inner.shape, env)
            ):
                return "the factorisation is not one of the matrix"
            return "the bound is exceeded" if evaluate_scalar(left, env) > evaluate_scalar(right, env) else ""
        if len(because) != 1:
            return "no certificate"
        for here in index_values((left, right, *because), env):
            a, b, c = (evaluate_scalar(e, here) for e in (left, right, because[0]))
            if any(mp.im(x) for x in (a, b, c)):
                return "a complex number has no order"
            a, b, c = map(mp.re, (a, b, c))
            if differ(b - a, c, claim):
                return "the certificate is not the difference"
            if c < -EQUAL:
                return "the certificate is negative"
        return ""

    return try_points(claim, options, find_problem)


def judge_limit(claim: Claim, options: Options) -> Verdict:
    """Judge a limit by the distance between the two sides at two values of the variable, the second one nearer to infinity or to 0."""
    variable, to = claim.towards
    right = claim.steps[0].expr
    if any(variable in node_sizes(n) for n in walk(claim.start)):
        raise CannotTell("a limit in the size of a sum")

    if variable.data[1] == "size" and to != "oo":
        return "false", "a size does not go to 0"

    def find_problem(env: Environment) -> str:
        for here in index_values((claim.start, right), env):
            gaps = measure_distances(claim.start, right, variable, to, here)
            if gaps[1] > NEAR:
                return f"it stays {mp.nstr(gaps[1], 5)} away"
            if gaps[1] > max(gaps[0], ZERO) and not options.coarse:
                return "it moves away"
        return ""

    return try_points(claim, options, find_problem)


class BadCounterexample(Exception):
    """A counterexample that lacks a value, or gives one that does not fit the claim."""


def judge_refutation(claim: Claim, options: Options) -> Verdict:
    """Judge a refutation: the assumptions hold at the counterexample, and the two sides differ there."""
    left, right = claim.start, claim.steps[0].expr
    try:
        env, indices = read_counterexample(claim)
    except BadCounterexample as error:
        return "false", str(error)
    if any(has_random_value(side, env) for side in (left, right)):
        raise CannotTell("a random entry outside an expectation")
    generator = Random(0)
    has_one_entry = (
        not left.shape and not right.shape and all(("index", i.data[0]) in indices for e in (left, right) for i in free_indices(e))
    )
    verdicts, gaps = set(), []
    for _ in range(6 if has_expectation(claim) else 1):
        try:
            if not all(is_satisfied(a, env) for a in claim.given):
                return "false", "the counterexample breaks an assumption"
            here = env | {"outcomes": draw_distribution(claim, env, generator) if has_expectation(claim) else []}
            verdicts.add(is_refuted_at(claim, here, indices))
            if has_expectation(claim) and has_one_entry:
                gaps.append(mp.re(evaluate_scalar(left, here | indices) - evaluate_scalar(right, here | indices)))
        except Undefined as error:
            return "false", f"at the counterexample, {error}"
    if gaps and min(gaps) < 0 < max(gaps):  # between two such distributions there is one for which they are equal
        return "false", "what is stated leaves open whether the two sides differ"
    if verdicts == {True}:
        return "true", "the two sides still differ at the counterexample"
    if verdicts == {False}:
        return "false", "the two sides are equal at the counterexample"
    return "false", "what is stated leaves open whether they differ"


def read_counterexample(claim: Claim) -> tuple[Environment, Environment]:
    """Return the sizes and entries of a counterexample by name, and the values of its free indices, counted from 0."""
    env: Environment = {}
    indices: Environment = {}
    named = symbols(*claim.trees)
    sized = {s.data[0] for name, _ in claim.at if name in named for s in named[name].shape if s.op == "symbol"}
    random_names = {name for name, s in named.items() if s.data[1] == "random"}
    if missing := named.keys() - {name for name, _ in claim.at} - sized - random_names:
        raise BadCounterexample(f"no value for {min(missing)}")
    free = {i.data[0]: i for e in (claim.start, claim.steps[0].expr) for i in free_indices(e)}
    for name, value in sorted(claim.at, key=lambda pair: pair[0] in free):  # an index last: its size is then known
        if name in free:
            size = free[name].data[1]
            if value.op != "const" or value.data not in range(1, int(env.get(size.data[0], 0) if size.op == "symbol" else size.data) + 1):
                raise BadCounterexample("an index outside its range")
            indices["index", name] = int(value.data) - 1
        elif name not in named:
            raise BadCounterexample(f"a value for {name}, which the claim does not mention")
        elif named[name].data[1] == "size":
            if value.op != "const" or value.data.denominator != 1 or value.data < 1:
                raise BadCounterexample("a size that is none")
            env[name] = int(value.data)
        else:
            env[name] = {p: evaluate_scalar(x, {}) for p, x in leaves(value, ())}
            for axis, size in enumerate(named[name].shape):
                length = 1 + max(p[axis] for p in env[name])
                if size.op == "symbol" and env.setdefault(size.data[0], length) != length:
                    raise BadCounterexample("the values do not fit together")
    return env, indices


def has_random_value(e: Expr, env: Environment) -> bool:
    """Return whether a tree has a random symbol without a value in `env` outside every expectation and variance."""
    if e.op in AVERAGE_OPERATORS:
        return False
    return e.op == "symbol" and e.data[1] == "random" and e.data[0] not in env or any(has_random_value(a, env) for a in e.args)


def is_refuted_at(claim: Claim, env: Environment, indices: Environment) -> bool:
    """Return whether the relation fails for some entry, at the given indices and any value of the other free ones."""
    left, right = claim.start, claim.steps[0].expr
    return left.shape == right.shape and any(
        differ(a := evaluate_entry(left, p, here), b := evaluate_entry(right, p, here), claim) and (claim.refuted == "=" or is_larger(a, b))
        for values in index_values((left, right), env)
        for here in [values | indices]
        for p in all_places(left.shape, here)
    )


def is_larger(a: Any, b: Any) -> bool:
    """Return whether both numbers are real and a is larger than b."""
    return not mp.im(a) and not mp.im(b) and mp.re(a) > mp.re(b)


def leaves(value: Expr | tuple, place: tuple) -> Iterator[tuple[tuple, Expr]]:
    """Yield (place, entry) for each entry of a number or of nested tuples of numbers."""
    if isinstance(value, tuple):
        for k, v in enumerate(value):
            yield from leaves(v, place + (k,))
    else:
        yield place, value


JUDGES: dict[str, Callable[[Claim, Options], Verdict]] = {
    "inequality": judge_inequality,
    "limit": judge_limit,
    "refutation": judge_refutation,
}
