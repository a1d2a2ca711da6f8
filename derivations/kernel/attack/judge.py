"""Is a claim true? Asked of plain numbers, for mutants that a witness has accepted.

The judge proves nothing. It evaluates both sides in mpmath, to 60 digits, at many random values at which the assumptions
hold, and looks whether they agree to more digits than chance allows. It shares no code with any witness.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from operator import mul
from random import Random

from mpmath import mp, mpf

from ..core.claims import Claim
from ..core.expr import FORMATS, Expr, free_indices, show, symbols, walk
from ..errors import KernelError

DIGITS = 60
SAME, OTHER = mpf(10) ** -25, mpf(10) ** -15  # relative differences that count as none, and as one
SAME_BY_QUADRATURE, OTHER_BY_QUADRATURE = mpf(10) ** -8, mpf(10) ** -5
POINTS, DRAWS, FEWEST = 16, 1500, 6  # points wanted, draws to find them, and points below which nothing is said
MOST_OUTCOMES = 5000
POINTS_OF_EXPONENTIALS = 8  # each of them is an average over a thousand outcomes
NOISE = mpf(10) ** -100, mpf(10) ** -50  # what is left of a zero by rounding
ZERO = mpf(10) ** -40  # what is smaller is zero, but for rounding
SIGNS = {"positive": lambda v: v > ZERO, "nonnegative": lambda v: v > -ZERO, "nonzero": lambda v: abs(v) > ZERO}


class Undefined(Exception):
    """A value that does not exist."""


class CannotTell(Exception):
    """Something that the judge does not evaluate."""


# Values: the entry of a tree at one place. env: sizes, entries by name and place, ("index", name) from 0, "outcomes".


def entry(e: Expr, place: tuple, env: dict):
    rule = ENTRY.get(e.op)
    if rule is None:
        raise CannotTell(f"the node '{e.op}'")
    return rule(e, place, env)


def scalar(e: Expr, env: dict):
    return entry(e, (), env)


def size_of(size: Expr, env: dict) -> int:
    return int(size.data) if size.op == "const" else env[size.data[0]]


def places_of(shape: tuple, env: dict) -> list:
    return list(product(*(range(size_of(s, env)) for s in shape)))


def parts(e: Expr, place: tuple, env: dict) -> list:
    return [entry(a, place if a.shape else (), env) for a in e.args]


def of_symbol(e, place, env):
    value = env[e.data[0]]
    return mpf(value) if e.data[1] == "size" else value[place]


def quotient(a, b):
    if not b or NOISE[0] < abs(b) < NOISE[1]:  # what is smaller still is a small number, near a limit
        raise Undefined("a division by zero")
    return a / b


def of_power(e, place, env):
    base, exponent = parts(e, place, env)
    if mp.isint(exponent):
        return base ** int(exponent) if exponent >= 0 else quotient(mpf(1), base ** -int(exponent))
    if mp.im(base) or mp.im(exponent):
        raise CannotTell("a root of a complex number")
    if base < -ZERO:
        raise Undefined("a root of a negative number")
    if base < ZERO and exponent < 0:
        raise Undefined("a division by zero")
    return mp.power(max(base, 0), exponent)


def number(x: Fraction):
    return mpf(x.numerator) / x.denominator


def of_product(e, place, env):
    left, right = e.args
    split = len(left.shape) - 1
    return sum(
        (entry(left, place[:split] + (k,), env) * entry(right, (k,) + place[split:], env) for k in range(size_of(left.shape[-1], env))),
        mpf(0),
    )


def of_inverse(e, place, env):
    n = size_of(e.shape[0], env)
    rows = [[entry(e.args[0], (i, j), env) for j in range(n)] + [mpf(i == j) for j in range(n)] for i in range(n)]
    reduced, pivots = reduce_rows(rows)
    if pivots != list(range(n)):
        raise Undefined("the inverse of a singular matrix")
    return reduced[place[0]][n + place[1]]


def reduce_rows(rows: list) -> tuple:
    """The reduced echelon form, and the columns of its pivots."""
    rows, pivots = [list(r) for r in rows], []
    for column in range(len(rows[0]) if rows else 0):
        at = len(pivots)
        pivot = max(range(at, len(rows)), key=lambda i: abs(rows[i][column]), default=None)
        if pivot is None or abs(rows[pivot][column]) < SAME:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for i in range(len(rows)):
            if i != at:
                rows[i] = [x - rows[i][column] * y for x, y in zip(rows[i], rows[at])]
        pivots.append(column)
    return rows, pivots


def of_sum(e, place, env):
    name, size = e.data
    return sum((scalar(e.args[0], {**env, ("index", name): k}) for k in range(size_of(size, env))), mpf(0))


def of_entry(e, place, env):
    at = tuple(int(i.data) - 1 if i.op == "const" else env["index", i.data[0]] for i in e.args[1:])
    if any(k >= size_of(s, env) for k, s in zip(at, e.args[0].shape)):
        raise Undefined("an index outside its axis")
    return entry(e.args[0], at, env)


def of_function(e, place, env):
    (x,) = parts(e, place, env)
    if e.data == "abs":
        return abs(x)
    if e.data == "log":
        if mp.im(x) or x < ZERO:
            raise Undefined("a logarithm of what is not positive")
        return mp.log(x)
    return mp.exp(x)


def of_softmax(e, place, env):
    row = [mp.exp(entry(e.args[0], place[:-1] + (k,), env)) for k in range(size_of(e.shape[-1], env))]
    return row[place[-1]] / sum(row)


def of_derivative(e, place, env):
    """A central difference whose error is far below what counts as a difference."""
    body, by = e.args
    target, at = (
        (by.args[0], tuple(int(i.data) - 1 if i.op == "const" else env["index", i.data[0]] for i in by.args[1:]))
        if by.op == "entry"
        else (by, ())
    )
    step, ends = mpf(10) ** -18, []
    for shift in (step, -step):
        moved = {**env[target.data[0]], at: env[target.data[0]][at] + shift}
        ends.append(scalar(body, {**env, target.data[0]: moved}))
    return (ends[0] - ends[1]) / (2 * step)


def of_rank(e, place, env):
    rows, columns = (size_of(s, env) for s in e.args[0].shape)
    return mpf(len(reduce_rows([[entry(e.args[0], (i, j), env) for j in range(columns)] for i in range(rows)])[1]))


def of_rounded(e, place, env):
    """To the nearest number of the format, ties to even."""
    x = scalar(e.args[0], env)
    if not x:
        return x
    bits, lowest, highest = FORMATS[e.data]
    step = mpf(2) ** max(int(mp.floor(mp.log(abs(x), 2))) - bits + 1, lowest)
    result = mp.nint(x / step) * step  # mpmath's nint rounds a half to even
    if abs(result) >= mpf(2) ** (highest + 1):
        raise Undefined("an overflow")
    return result


def of_expectation(e, place, env):
    return sum((weight * scalar(e.args[0], {**env, **drawn}) for weight, drawn in env["outcomes"]), mpf(0))


def of_variance(e, place, env):
    """E|X|^2 would be another definition for complex X: this is E[X^2] - E[X]^2."""
    square = Expr("mul", (e.args[0], e.args[0]))
    return of_expectation(Expr("expectation", (square,)), (), env) - of_expectation(e, (), env) ** 2


ENTRY = {
    "const": lambda e, place, env: number(e.data),
    "imaginary": lambda e, place, env: mp.mpc(0, 1),
    "symbol": of_symbol,
    "index": lambda e, place, env: mpf(env["index", e.data[0]] + 1),
    "defined": lambda e, place, env: entry(e.args[0], place, env),
    "paren": lambda e, place, env: entry(e.args[0], place, env),
    "add": lambda e, place, env: sum(parts(e, place, env)),
    "neg": lambda e, place, env: -entry(e.args[0], place, env),
    "mul": lambda e, place, env: mul(*parts(e, place, env)),
    "div": lambda e, place, env: quotient(*parts(e, place, env)),
    "pow": of_power,
    "matmul": of_product,
    "transpose": lambda e, place, env: entry(e.args[0], place[::-1], env),
    "inverse": of_inverse,
    "eye": lambda e, place, env: mpf(place[0] == place[1]),
    "fill": lambda e, place, env: number(e.data),
    "array": lambda e, place, env: scalar(e.args[places_of(e.shape, env).index(place)], env),
    "sum": of_sum,
    "entry": of_entry,
    "function": of_function,
    "softmax": of_softmax,
    "derivative": of_derivative,
    "rank": of_rank,
    "rounded": of_rounded,
    "expectation": of_expectation,
    "variance": of_variance,
}


# Random values at which the assumptions hold


def points(claim: Claim, seed: int = 0):
    """Environments: sizes and entries drawn at random, small and zero ones often, such that every assumption holds."""
    named = symbols(*claim.trees).values()
    generator, law = Random(seed), laws(claim)
    largest = 2 if law else 3 if any(s.shape for s in named) else 8
    found = 0
    for _ in range(DRAWS):
        if found == (POINTS_OF_EXPONENTIALS if exponential_law(claim) else POINTS):
            return
        env = {s.data[0]: generator.randint(1, largest) for s in named if s.data[1] == "size"}
        draw = number_drawer(claim, generator)
        for s in named:
            if s.data[1] == "real":
                env[s.data[0]] = {p: draw() for p in places_of(s.shape, env)}
        try:
            for a in claim.given:
                if a.kind == "product":
                    complete_product(a, env, generator)
            if not all(holds(a, env) for a in claim.given):
                continue
            env["outcomes"] = outcomes(claim, env, generator) if law else [(mpf(1), {})]
        except Undefined:
            continue
        found += 1
        yield {**env, **generator.choice(env["outcomes"])[1]}  # a random entry outside an expectation is one of its values


def number_drawer(claim: Claim, generator: Random):
    if has(claim, "rounded"):
        exact = any(a.kind == "representable" for a in claim.given)
        tiny = not any(a.kind == "in range" for a in claim.given)

        def draw():
            top = generator.choice((9, 2**13, 2**24 - 1, *([] if exact else [2**30])))
            low = generator.choice((0, 3, *([75, 149] if tiny else [])))
            return mpf(generator.randint(-top, top)) / 2**low

        return draw
    if exponential_law(claim):
        return lambda: generator.choice((-1, 1)) * mpf(generator.randint(1, 5)) / 8
    return lambda: mpf(generator.choice((0, 1, 1, 2, 3, 5, 7)) * generator.choice((-1, 1))) / generator.choice((1, 1, 2, 3, 5))


def complete_product(a, env: dict, generator: Random):
    """Choose the second matrix so that the product is 0, or the first so that it is the identity."""
    left, right, times = a.args

    def matrix(e):
        return [[entry(e, (i, j), env) for j in range(size_of(e.shape[1], env))] for i in range(size_of(e.shape[0], env))]

    def put(e, rows):
        name, turned = (e.args[0].data[0], True) if e.op == "transpose" else (e.data[0], False)
        env[name] = {(j, i) if turned else (i, j): x for i, row in enumerate(rows) for j, x in enumerate(row)}

    if times.data == 0:
        kernel, columns = null_space(matrix(left)), size_of(right.shape[1], env)
        weights = [[mpf(generator.randint(-2, 2)) for _ in range(columns)] for _ in kernel]
        put(
            right,
            [
                [sum((v[i] * w[j] for v, w in zip(kernel, weights)), mpf(0)) for j in range(columns)]
                for i in range(size_of(right.shape[0], env))
            ],
        )
        return
    tall = matrix(right)
    n = len(tall[0])
    reduced, pivots = reduce_rows([row + [mpf(i == j) for j in range(len(tall))] for i, row in enumerate(tall)])
    if pivots[:n] != list(range(n)):
        raise Undefined("a matrix without a left inverse")
    put(left, [row[n:] for row in reduced[:n]])


def null_space(rows: list) -> list:
    reduced, pivots = reduce_rows(rows)
    width, basis = len(rows[0]), []
    for free in (k for k in range(width) if k not in pivots):
        v = [mpf(k == free) for k in range(width)]
        for row, pivot in zip(reduced, pivots):
            v[pivot] = -row[free]
        basis.append(v)
    return basis


def index_values(trees: tuple, env: dict):
    """env with every value of the index variables that no sum binds."""
    free = sorted({i for t in trees for i in free_indices(t)}, key=lambda i: i.data[0])
    for chosen in product(*(range(size_of(i.data[1], env)) for i in free)):
        yield env | {("index", i.data[0]): k for i, k in zip(free, chosen)}


def holds(a, env: dict) -> bool:
    if a.kind in SIGNS:
        return all(SIGNS[a.kind](scalar(a.args[0], here)) for here in index_values(a.args, env))
    if a.kind == "representable":
        return all(scalar(Expr("rounded", (x,), (), "fp32"), env) == scalar(x, env) for x in a.args)
    if a.kind == "invertible":
        entry(Expr("inverse", a.args, a.args[0].shape), (0, 0), env)
    if a.kind == "product":
        both = Expr("matmul", a.args[:2], a.args[0].shape[:1] + a.args[1].shape[1:])
        return all(abs(entry(both, p, env) - (a.args[2].data.numerator if p[0] == p[1] else 0)) < ZERO for p in places_of(both.shape, env))
    if a.kind == "variance":
        return scalar(a.args[1], env) > -ZERO
    return True


# Distributions: each random entry takes finitely many values, such that all the moments that are needed are right


def has(claim: Claim, *operations) -> bool:
    return any(n.op in operations for tree in claim.trees for n in walk(tree))


def laws(claim: Claim) -> bool:
    return has(claim, "expectation", "variance")


def exponential_law(claim: Claim) -> bool:
    return laws(claim) and has(claim, "function")


@cache
def normal_points(n: int) -> tuple:
    """Values and weights that average every polynomial of degree below 2n like a standard normal variable."""
    with mp.workdps(DIGITS):
        values, vectors = mp.eigsy(mp.matrix([[mp.sqrt(min(i, j) + 1) if abs(i - j) == 1 else 0 for j in range(n)] for i in range(n)]))
        return tuple((values[k], vectors[0, k] ** 2) for k in range(n))


@cache
def two_points(high: int) -> tuple:
    """Mean 0 and variance 1 on two values; even for high = 1, askew else."""
    with mp.workdps(DIGITS):
        chance = mpf(1) / (1 + high**2)
        return (mpf(high), chance), (-1 / mpf(high), 1 - chance)


def outcomes(claim: Claim, env: dict, generator: Random) -> list:
    """(weight, values by name and place) for one joint distribution that the assumptions allow."""
    told = {
        (a.kind, x.data[0]): a
        for a in claim.given
        for x in a.args
        if a.kind in ("gaussian", "mean", "variance") and x.op == "symbol" and x.data[1] == "random"
    }
    randoms = [s for s in symbols(*claim.trees).values() if s.data[1] == "random"]
    entries = [(s.data[0], p) for s in randoms for p in places_of(s.shape, env)]
    together = max((tuple(x.data[0] for x in a.args) for a in claim.given if a.kind == "independent"), key=len, default=())
    loose = [e for e in entries if e[0] not in together]
    # What is not stated to be independent follows the first that is, or one variable of its own.
    drivers = {e: e for e in entries if e[0] in together} | {e: ("followed", e[1]) for e in loose}
    if together and loose:
        drivers |= {e: (together[0], e[1]) if (together[0], e[1]) in drivers else ("followed", ()) for e in loose}
    family = {d: two_points(generator.choice((1, 2))) for d in sorted({d[0] for d in drivers.values()})}
    nodes = (30 if len(set(drivers.values())) < 3 else 8) if exponential_law(claim) else 5
    for name in {e[0] for e in entries}:
        if ("gaussian", name) in told:
            family |= {drivers[e][0]: normal_points(nodes) for e in entries if e[0] == name}

    def parameter(kind, name, default):
        return scalar(told[kind, name].args[1], env) if (kind, name) in told else default

    unstated = {e[0]: (mpf(generator.randint(-1, 2)), mpf(generator.randint(1, 3)) ** 2) for e in entries}
    scales = {name: (parameter("mean", name, m), parameter("variance", name, v)) for name, (m, v) in unstated.items()}
    if any(mp.im(v) or v < -ZERO for _, v in scales.values()):
        raise Undefined("a negative variance")
    roots = {name: (m, mp.sqrt(max(v, 0))) for name, (m, v) in scales.items()}
    independent = sorted(set(drivers.values()), key=repr)
    if prod(len(family[d[0]]) for d in independent) > MOST_OUTCOMES:
        raise Undefined("an average over too many outcomes")
    found = []
    for chosen in product(*(family[d[0]] for d in independent)):
        value, weight = dict(zip(independent, (x for x, _ in chosen))), mpf(1)
        for _, w in chosen:
            weight = weight * w
        drawn = {}
        for e in entries:
            m, width = roots[e[0]]
            drawn.setdefault(e[0], {})[e[1]] = m + width * value[drivers[e]]
        found.append((weight, drawn))
    return found


# Judging


def judge(claim: Claim, partial: bool = False) -> tuple:
    """("true" | "false" | "cannot tell", reason).

    With partial=True the claim is taken as a witness takes it that never asks where the sides exist, whether the assumptions
    can hold, or how a rank was bounded. Otherwise a side that does not exist under the stated assumptions makes it false, as
    does a certificate that is wrong, and nothing is said where no values are found at which the assumptions hold.
    """
    with mp.workdps(DIGITS):
        try:
            return JUDGES.get(claim.kind, everywhere_same)(claim, partial)
        except CannotTell as reason:
            return "cannot tell", str(reason)
        except (KernelError, KeyError, OverflowError, ZeroDivisionError, ValueError, TypeError) as error:
            return "cannot tell", f"{type(error).__name__}: {error}"


def differ(a, b, claim: Claim) -> bool:
    same, other = (SAME_BY_QUADRATURE, OTHER_BY_QUADRATURE) if exponential_law(claim) else (SAME, OTHER)
    if has(claim, "rounded"):
        return abs(a - b) > SAME * max(abs(a), abs(b))
    gap = abs(a - b) / (1 + abs(a) + abs(b))
    if same < gap < other:
        raise CannotTell("two values that are close, and not certainly equal")
    return gap >= other


def over_points(claim: Claim, partial: bool, broken) -> tuple:
    """broken(env) says what is wrong at one point, or ''."""
    tried = skipped = 0
    drawn = list(points(claim))
    if partial and not drawn:
        return "true", f"its assumptions held at none of {DRAWS} points drawn, so that nothing is claimed"
    for env in drawn:
        try:
            problem = broken(env)
        except Undefined as error:
            if not partial:
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


def shown(env: dict) -> str:
    return "at " + ", ".join(
        f"{k} = {v if isinstance(v, int) else [mp.nstr(x, 5) for x in v.values()]}"
        for k, v in env.items()
        if isinstance(k, str) and k != "outcomes" and not (isinstance(v, dict) and len(v) > 4)
    )


def everywhere_same(claim: Claim, partial: bool) -> tuple:
    sides = (claim.start, *(s.expr for s in claim.steps))

    def broken(env):
        for left, right in zip(sides, sides[1:]):
            for here in index_values((left, right), env):
                for p in places_of(left.shape, here):
                    if differ(entry(left, p, here), entry(right, p, here), claim):
                        return f"{show(left)} is not {show(right)}"

    return over_points(claim, partial, broken)


def at_most(claim: Claim, partial: bool) -> tuple:
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

    return over_points(claim, partial, broken)


def tends_to(claim: Claim, partial: bool) -> tuple:
    variable, to = claim.towards
    right = claim.steps[0].expr
    if any(variable in (*n.shape, *([n.data[1]] if n.op in ("index", "sum") else [])) for n in walk(claim.start)):
        raise CannotTell("a limit in the size of a sum")

    def broken(env):
        gaps = []
        for k in (12, 24):
            x = mpf(10) ** (k if to == "oo" else -k)
            if variable.data[1] == "size" and to != "oo":
                return "a size does not go to 0"
            here = env | {variable.data[0]: int(x) if variable.data[1] == "size" else {(): x}}
            with mp.workdps(2 * DIGITS):
                gaps.append(abs(scalar(claim.start, here) - scalar(right, here)))
        if gaps[1] > mpf(10) ** -6:
            return f"it stays {mp.nstr(gaps[1], 5)} away"
        return "it moves away" if gaps[1] > max(gaps[0], ZERO) else ""

    return over_points(claim, partial, broken)


def refuted(claim: Claim, partial: bool) -> tuple:
    """The two sides differ at the counterexample, and the assumptions hold there."""
    env = {}
    named = symbols(*claim.trees)
    for name, value in claim.at:
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
                claim.refuted == "="
                if left.shape != right.shape
                else any(
                    differ(a := entry(left, p, at), b := entry(right, p, at), claim) and (claim.refuted == "=" or larger(a, b))
                    for at in index_values((left, right), here)
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
