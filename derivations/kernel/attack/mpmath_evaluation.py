"""Evaluate an entry of a tree by recursion in mpmath, to sixty digits and without simplification.

An environment maps the name of a size to an integer, the name of a symbol to its entries by place, ("index", name) to the value of an
index, and "outcomes" to the weighted outcomes of the random variables. Places and index values count from 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from operator import mul

from mpmath import mp, mpf

from ..core.expr import Expr, contains_average, free_indices, symbols, walk
from ..core.number_formats import FORMATS
from ..core.operators import AVERAGE_OPERATORS

DIGITS = 60
EQUAL, DIFFERENT = mpf(10) ** -25, mpf(10) ** -15  # relative differences below which numbers are equal, and from which they differ
ZERO = mpf(10) ** -40  # smaller numbers are zero up to rounding


class Undefined(Exception):
    """A value that does not exist."""


class NoDerivative(Undefined):
    """A derivative that does not exist: the one from the left differs from the one from the right."""


class CannotTell(Exception):
    """Something that the judge cannot evaluate."""


class UndecidedHere(CannotTell):
    """Something that the judge cannot tell at one point; other points may decide."""


def evaluate_entry(e: Expr, place: tuple, env: dict):
    """Return the entry of a tree at a place. Raise Undefined if it has no value, CannotTell if the operator has no rule."""
    rule = RULES.get(e.op)
    if rule is None:
        raise CannotTell(f"the node '{e.op}'")
    return VALUE_CACHE.value(e, place, env, rule) if e.op in COSTLY else rule(e, place, env)


COSTLY = ("matmul", "inverse", "sum", "function", "softmax", "derivative", "rank", *AVERAGE_OPERATORS)


class ValueCache:
    """A cache of the values of trees at places.

    A value is found again if all names in the tree have the same values. These are compared by identity; the cache holds them, so that
    their ids are not reused, and they are never changed.
    """

    MOST = 100_000

    def __init__(self):
        self.values, self.names = {}, {}

    def value(self, e: Expr, place: tuple, env: dict, rule):
        spoken_of = [env.get(name) for name in self.names_in(e)]
        key = (id(e), place, mp.prec, *[x if type(x) is int else id(x) for x in spoken_of])
        found = self.values.get(key)
        if found is None:
            if len(self.values) >= self.MOST:
                self.values.clear()
            found = self.values[key] = rule(e, place, env), e, spoken_of
        return found[0]

    def names_in(self, e: Expr) -> tuple:
        """Return the keys of an environment on which a tree depends."""
        found = self.names.get(id(e))
        if found is None:
            if len(self.names) >= self.MOST:
                self.names.clear()
            indices = sorted(i.data[0] for i in free_indices(e))
            random = ["outcomes"] if contains_average(e) else []
            found = self.names[id(e)] = (*sorted(symbols(e)), *(("index", i) for i in indices), *random), e
        return found[0]

    def moved(self, values: dict, at: tuple, shift) -> dict:
        """Return the values of a name with one of them shifted; the same object for the same arguments."""
        key = id(values), at, shift, mp.prec
        if key not in self.values:
            self.values[key] = {**values, at: values[at] + shift}, values
        return self.values[key][0]


VALUE_CACHE = ValueCache()


def evaluate_scalar(e: Expr, env: dict):
    """Return the value of a scalar tree."""
    return evaluate_entry(e, (), env)


def evaluate_size(size: Expr, env: dict) -> int:
    """Return the value of a size, which is a symbol or a constant."""
    return int(size.data) if size.op == "const" else env[size.data[0]]


def all_places(shape: tuple, env: dict) -> list:
    """Return all places of a tensor of this shape, as tuples that count from 0."""
    return list(product(*(range(evaluate_size(s, env)) for s in shape)))


def evaluate_arguments(e: Expr, place: tuple, env: dict) -> list:
    """Return the entries of a node's arguments at a place; of scalar arguments, their values."""
    return [evaluate_entry(a, place if a.shape else (), env) for a in e.args]


def of_symbol(e, place, env):
    value = env[e.data[0]]
    return mpf(value) if e.data[1] == "size" else value[place]


def quotient(a, b):
    if not b or is_rounding_noise(b):
        raise Undefined("a division by zero")
    return a / b


def is_rounding_noise(b) -> bool:
    """Return whether a number may be what rounding leaves of a zero. With more digits less is left; even smaller numbers occur near limits."""
    lowest, highest = noise_bounds(mp.dps)
    return lowest < abs(b) < highest


@cache
def noise_bounds(digits: int) -> tuple:
    """Return the bounds of what rounding to so many digits leaves of a zero."""
    return mpf(10) ** (-digits * 5 // 3), mpf(10) ** (-digits * 5 // 6)


def of_power(e, place, env):
    base, exponent = evaluate_arguments(e, place, env)
    exponent = exponent if mp.im(exponent) else mp.re(exponent)  # -I*I is a complex number for mpmath, and has no order
    if mp.isint(exponent):
        return base ** int(exponent) if exponent >= 0 else quotient(mpf(1), base ** -int(exponent))
    if abs(mp.im(base)) > ZERO:
        raise Undefined("a root of what is not real")
    base = mp.re(base)
    if mp.im(exponent):
        raise CannotTell("a power with a complex exponent")
    if base < -ZERO:
        raise Undefined("a root of a negative number")
    if base < ZERO and exponent < 0:
        raise Undefined("a division by zero")
    return mp.power(max(base, 0), exponent)


def number(x: Fraction):
    return mpf(x.numerator) if x.denominator == 1 else mpf(x.numerator) / x.denominator


def of_product(e, place, env):
    left, right = e.args
    split = len(left.shape) - 1
    return sum(
        (
            evaluate_entry(left, place[:split] + (k,), env) * evaluate_entry(right, (k,) + place[split:], env)
            for k in range(evaluate_size(left.shape[-1], env))
        ),
        mpf(0),
    )


def of_inverse(e, place, env):
    n = evaluate_size(e.shape[0], env)
    rows = [[evaluate_entry(e.args[0], (i, j), env) for j in range(n)] + [mpf(i == j) for j in range(n)] for i in range(n)]
    reduced, pivots = reduce_rows(rows)
    if pivots != list(range(n)):
        raise Undefined("the inverse of a singular matrix")
    return reduced[place[0]][n + place[1]]


def reduce_rows(rows: list) -> tuple:
    """Return the reduced echelon form of a matrix, and the columns of its pivots."""
    rows = [list(r) for r in rows]
    pivots: list[int] = []
    for column in range(len(rows[0]) if rows else 0):
        at = len(pivots)
        pivot = max(range(at, len(rows)), key=lambda i: abs(rows[i][column]), default=None)
        if pivot is None or abs(rows[pivot][column]) < EQUAL:
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
    return sum((evaluate_scalar(e.args[0], {**env, ("index", name): k}) for k in range(evaluate_size(size, env))), mpf(0))


def of_each(e, place, env):
    return evaluate_entry(e.args[0], place[1:], {**env, ("index", e.data[0]): place[0]})


def of_where(e, place, env):
    left, right = (evaluate_scalar(x, env) for x in e.args[1:])
    holds = left <= right if e.data == "<=" else left < right
    return evaluate_scalar(e.args[0], env) if holds else mpf(0)


def of_entry(e, place, env):
    at = tuple(int(i.data) - 1 if i.op == "const" else env["index", i.data[0]] for i in e.args[1:])
    if any(k >= evaluate_size(s, env) for k, s in zip(at, e.args[0].shape)):
        raise Undefined("an index outside its axis")
    if e.args[0].op in ("symbol", "eye", "fill"):
        return evaluate_entry(e.args[0], at, env)
    return VALUE_CACHE.value(e.args[0], ("all",), env, all_entries)[at]


def all_entries(e, _, env):
    """Return the entries of a tensor by place. Taking one entry needs a value for each of them."""
    return {place: evaluate_entry(e, place, env) for place in all_places(e.shape, env)}


def of_function(e, place, env):
    if e.data in OF_VECTORS:
        return OF_VECTORS[e.data]([evaluate_entry(e.args[0], p, env) for p in all_places(e.args[0].shape, env)])
    if e.data not in OF_NUMBERS:
        raise CannotTell(f"the function '{e.data}'")
    return OF_NUMBERS[e.data](*evaluate_arguments(e, place, env))


def logarithm(x):
    if abs(mp.im(x)) > ZERO or mp.re(x) < -ZERO or not x:
        raise Undefined("a logarithm of what is not positive")
    if mp.re(x) < ZERO:
        raise UndecidedHere("a logarithm of what is almost 0")
    return mp.log(mp.re(x))


def norm(entries: list):
    return mp.sqrt(sum((x**2 for x in entries), mpf(0)))


def largest(entries: list):
    if any(mp.im(x) for x in entries):
        raise CannotTell("the largest of complex numbers, which have no order")
    return max(map(mp.re, entries))


OF_NUMBERS = {"exp": mp.exp, "log": logarithm, "abs": abs, "cos": mp.cos, "sin": mp.sin, "tanh": mp.tanh}
OF_VECTORS = {"norm": norm, "largest": largest}


def of_softmax(e, place, env):
    row, whole = VALUE_CACHE.value(e, ("row", *place[:-1]), env, softmax_row)
    return row[place[-1]] / whole


def softmax_row(e, place, env):
    """Return the exponentials of a row, and their sum."""
    row = [mp.exp(evaluate_entry(e.args[0], (*place[1:], k), env)) for k in range(evaluate_size(e.shape[-1], env))]
    return row, sum(row)


STEP = mpf(10) ** -18  # of a difference quotient; its error is far below OTHER
SMOOTH = mpf(10) ** -12  # the one-sided derivatives of a smooth function are closer than this


def of_derivative(e, place, env):
    """Return a central difference. Raise NoDerivative if the one-sided ones differ, and still do with a smaller step."""
    body, by = e.args
    target, at = (
        (by.args[0], tuple(int(i.data) - 1 if i.op == "const" else env["index", i.data[0]] for i in by.args[1:]))
        if by.op == "entry"
        else (by, ())
    )

    def value(shift):
        return evaluate_scalar(body, {**env, target.data[0]: VALUE_CACHE.moved(env[target.data[0]], at, shift)})

    with mp.workdps(mp.dps + 2 * DIGITS // 3):  # a derivative in the body loses digits as well
        right, left = value(STEP), value(-STEP)
        slope = (right - left) / (2 * STEP)
        if any(n.op not in WITHOUT_CORNERS for n in walk(body)) and is_kink(gap := measure_kink(value, right, left, STEP), slope):
            step = STEP / 10**6
            if measure_kink(value, value(step), value(-step), step) > gap / 100:
                raise NoDerivative("a derivative that does not exist")
        return slope


WITHOUT_CORNERS = (  # operators that are differentiable wherever their arguments are; the others may have a kink
    *("const", "imaginary", "symbol", "index", "defined", "paren", "add", "neg", "mul", "matmul", "transpose", "inverse", "eye", "fill"),
    *("array", "sum", "each", "entry", "softmax", "rank", *AVERAGE_OPERATORS),
)


def measure_kink(value, right, left, step):
    """Return the difference between the derivatives from the right and from the left."""
    return abs(right + left - 2 * value(mpf(0))) / step


def is_kink(gap, slope) -> bool:
    """Return whether the one-sided derivatives differ by more than the error of a smooth function's."""
    return gap > SMOOTH * (1 + abs(slope))


def of_rank(e, place, env):
    rows, columns = (evaluate_size(s, env) for s in e.args[0].shape)
    return mpf(len(reduce_rows([[evaluate_entry(e.args[0], (i, j), env) for j in range(columns)] for i in range(rows)])[1]))


def of_rounded(e, place, env):
    """Round to the nearest number of the format, ties to even. Raise Undefined on overflow.

    The exponent is unlimited where the environment says so, since the claim assumes that no exponent leaves the range.
    """
    x = evaluate_scalar(e.args[0], env)
    if not x:
        return x
    bits, lowest, largest = FORMATS[e.data]
    place = int(mp.floor(mp.log(abs(x), 2))) - bits + 1
    step = mpf(2) ** (place if "unbounded" in env else max(place, lowest))
    result = mp.nint(x / step) * step  # mpmath's nint rounds a half to even
    if abs(result) > number(largest) and "unbounded" not in env:
        raise Undefined("an overflow")
    return result


def of_expectation(e, place, env):
    return sum((weight * evaluate_scalar(e.args[0], {**env, **drawn}) for weight, drawn in env["outcomes"]), mpf(0))


def of_variance(e, place, env):
    """Return E[X^2] - E[X]^2. For complex X, E|X|^2 - |E[X]|^2 would be another definition."""
    square = Expr("mul", (e.args[0], e.args[0]))
    return of_expectation(Expr("expectation", (square,)), (), env) - of_expectation(e, (), env) ** 2


RULES = {
    "const": lambda e, place, env: number(e.data),
    "imaginary": lambda e, place, env: mp.mpc(0, 1),
    "symbol": of_symbol,
    "index": lambda e, place, env: mpf(env["index", e.data[0]] + 1),
    "defined": lambda e, place, env: evaluate_entry(e.args[0], place, env),
    "paren": lambda e, place, env: evaluate_entry(e.args[0], place, env),
    "add": lambda e, place, env: sum(evaluate_arguments(e, place, env)),
    "neg": lambda e, place, env: -evaluate_entry(e.args[0], place, env),
    "mul": lambda e, place, env: mul(*evaluate_arguments(e, place, env)),
    "div": lambda e, place, env: quotient(*evaluate_arguments(e, place, env)),
    "pow": of_power,
    "matmul": of_product,
    "transpose": lambda e, place, env: evaluate_entry(e.args[0], place[::-1], env),
    "inverse": of_inverse,
    "eye": lambda e, place, env: mpf(place[0] == place[1]),
    "fill": lambda e, place, env: number(e.data),
    "array": lambda e, place, env: evaluate_scalar(e.args[all_places(e.shape, env).index(place)], env),
    "sum": of_sum,
    "each": of_each,
    "where": of_where,
    "entry": of_entry,
    "function": of_function,
    "softmax": of_softmax,
    "derivative": of_derivative,
    "rank": of_rank,
    "rounded": of_rounded,
    "expectation": of_expectation,
    "variance": of_variance,
}
