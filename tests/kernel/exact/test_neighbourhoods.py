"""Derivatives and limits are taken of what is written, under such assumptions as hold in a neighbourhood.

A fact about one point (x is not negative, x is y, x is a floating-point number) is not used inside of a derivative by x, or of a limit in x.
"""

from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    E,
    absolute,
    diff,
    exp,
    in_range,
    index,
    inverse,
    invertible,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    random,
    representable,
    rounded,
    scalars,
    sizes,
    sqrt,
    total,
    vector,
)
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.core.claims import Rejected

n = sizes("n")
x, y, mu, nu = scalars("x y mu nu")
v, M = vector("v", n), matrix("M", n, n)
X = random("X")
i, j = index("i", n), index("j", n)
HALF, HUGE = Fraction(1, 2), 10**9
KINK = (x + absolute(x)) / 2


def chain(start, *steps, given=(), without=None):
    return lambda D: D.chain("claim", start, *((step, "a step") for step in steps), given=given, without=without)


def identity(left, right, *given, **more):
    return lambda D: D.identity("claim", left, right, given=given, **more)


def limit(e, to, value, *given):
    return lambda D: D.limit("claim", e, x, to, value, given=given)


def defined(D):
    size = D.define("size", sqrt(x**2), given=[])
    D.chain("claim", size, (x, "x is not negative"), (x * diff(size, x), "slope"), given=[nonnegative(x)])


THIRD = {representable(x): {x: Fraction(1, 3)}}
MEET = (nonnegative(x - y), nonnegative(y - x))

# What is false, and the witnesses that refuse it, each with words of its reason.
FALSE = {
    "the root of a square at 0": chain(sqrt(x**2), x, x * diff(sqrt(x**2), x), given=[nonnegative(x)]),
    "the modulus at 0": chain(KINK, x, x + diff(KINK, x) - 1, given=[nonnegative(x)]),
    "the modulus alone at 0": chain(absolute(x), x, x * diff(absolute(x), x), given=[nonnegative(x)]),
    "a root at 0": chain(sqrt(x) * sqrt(x), x, 2 * x * sqrt(x) * diff(sqrt(x), x), given=[nonnegative(x)]),
    "a root of a cube at 0": chain(
        sqrt(x) * sqrt(x), x, x + diff(x ** Fraction(3, 2), x) - Fraction(3, 2) * sqrt(x), given=[nonnegative(x)]
    ),
    "within a sum": chain(sqrt(x**2), x, x * diff(total(sqrt(x**2), i), x) / n, given=[nonnegative(x)]),
    "within another derivative": chain(sqrt(x**2), x, x * diff(diff(x * sqrt(x**2), x), x) / 2, given=[nonnegative(x)]),
    "through a definition": defined,
    "by an entry": chain(sqrt(v[i] ** 2), v[i], v[i] * diff(sqrt(v[i] ** 2), v[i]), given=[nonnegative(v[i])]),
    "facts that meet": chain(absolute(x - y), x - y, diff(absolute(x - y), x) - 1 + x - y, given=[nonnegative(x - y)]),
    "two facts that meet": chain(absolute(x - y) + absolute(y - x), 0 * x, diff(absolute(x - y) + absolute(y - x), x), given=MEET),
    "the root of a difference": chain(sqrt((x - y) ** 2), x - y, (x - y) * diff(sqrt((x - y) ** 2), x), given=[nonnegative(x - y)]),
    "a number that is representable": chain(rounded(x), x, x * diff(rounded(x), x), given=[representable(x)], without=THIRD),
    "an entry of an inverse": chain(
        absolute(inverse(M)[1, 1]),
        inverse(M)[1, 1],
        inverse(M)[1, 1] + diff(absolute(inverse(M)[1, 1]) - inverse(M)[1, 1], M[1, 1]),
        given=[invertible(M), nonnegative(inverse(M)[1, 1])],
    ),
    "a mean": chain(E(X), mu, mu * diff(E(X), mu), given=[mean(X, mu)]),
    "a limit of a rounding": limit(rounded(x) / x - 1, "oo", 0, positive(x), representable(x)),
    "an exponent of a thousand million": limit(rounded(y) + log(1 + exp(-HUGE * x)) / exp(-HUGE * x), "oo", rounded(y), in_range()),
    "a larger exponent": limit(log(1 + exp(-(HUGE + 1) * x)) / exp(-(HUGE + 1) * x), "oo", 0),
}

# Their true neighbours: an assumption that holds near the point as well, or nothing that needs one.
TRUE = {
    "the root of a square, positive": chain(sqrt(x**2), x, x * diff(sqrt(x**2), x), given=[positive(x)]),
    "the modulus, positive": chain(KINK, x, x + diff(KINK, x) - 1, given=[positive(x)]),
    "the root of a square, not zero": identity(x * diff(sqrt(x**2), x), sqrt(x**2), nonzero(x)),
    "the modulus, not zero": identity(diff(absolute(x), x) * absolute(x), x, nonzero(x)),
    "a root, positive": identity(2 * sqrt(x) * diff(sqrt(x), x), x**0, positive(x)),
    "a root of a cube, positive": identity(diff(x ** Fraction(3, 2), x), Fraction(3, 2) * sqrt(x), positive(x)),
    "a logarithm": identity(x * diff(log(x), x), x**0, positive(x)),
    "a logarithm away from its end": identity((1 + x) * diff(log(1 + x), x), x**0, nonnegative(x)),
    "a modulus away from its corner": identity(diff(absolute(1 + x), x), x**0, nonnegative(x)),
    "a polynomial at a boundary": chain(sqrt(x**2), x, x * diff(x**2, x) - 2 * x**2 + x, given=[nonnegative(x)]),
    "within a sum": identity(x * diff(total(sqrt(x**2), i), x), n * sqrt(x**2), nonzero(x)),
    "another symbol's fact": identity(diff(x * sqrt(y**2), x), y, nonnegative(y)),
    "another symbol's modulus": identity(diff(x**2 * absolute(y), x), 2 * x * y, nonnegative(y)),
    "facts that hold apart": identity(diff(absolute(x - y), x), x**0, positive(x - y)),
    "an entry that is positive": identity(v[i] * diff(sqrt(v[i] ** 2), v[i]), v[i], positive(v[j])),
    "a norm": identity(diff(sqrt(v @ v), v[i]) * sqrt(v @ v), v[i], positive(v @ v)),
    "a second derivative": identity(diff(diff(x**2 * absolute(y), x), x), 2 * y, nonnegative(y)),
    "a mean that stands still": chain(E(X), 2, diff(nu * E(X), nu), given=[mean(X, 2)]),
    "a rounding that stands still": identity(
        diff(x * rounded(y), x), y, representable(y), without={representable(y): {x: 0, y: Fraction(1, 3)}}
    ),
    "a limit beside a rounding": limit(rounded(y) + log(1 + exp(-x)) / exp(-x), "oo", rounded(y) + 1, in_range()),
    "a larger exponent": limit(log(1 + exp(-(HUGE + 1) * x)) / exp(-(HUGE + 1) * x), "oo", 1),
    "a large power": limit((sqrt(1 + 1 / x**40) - 1) * x**40, "oo", HALF),
    "a limit from above": limit(sqrt(x) + absolute(x) / x, 0, 1),
}


def said(state):
    """What each witness says of the last claim: its verdict, or why it refuses it."""
    derivation = Derivation("test")
    state(derivation)
    found = {}
    for name, witness in WITNESSES.items():
        try:
            found[name] = witness(derivation.claims[-1]).verdict
        except Rejected as error:
            found[name] = f"refused: {error.message}"
    return found


NO_SLOPE, STEPS, TIED = "has no value at", "goes in steps", "ties"
# What each witness says of what is false; "" where it has nothing to say, or is not asked for its own reason here.
REASONS = {
    "the root of a square at 0": ("x is not zero", "0 at x = 0", NO_SLOPE),
    "the modulus at 0": ("x is not zero (its absolute value is differentiated", "0 at x = 0", NO_SLOPE),
    "the modulus alone at 0": ("x is not zero (its absolute value is differentiated", "0 at x = 0", NO_SLOPE),
    "a root at 0": ("says nothing of what is near", "0 at x = 0", NO_SLOPE),
    "a root of a cube at 0": ("says nothing of what is near", "0 at x = 0", NO_SLOPE),
    "within a sum": ("x is not zero", "0 at x = 0", NO_SLOPE),
    "within another derivative": ("x is not zero", "0 at x = 0", ""),
    "through a definition": ("x is not zero", "0 at x = 0", NO_SLOPE),
    "by an entry": ("v[i] is not zero", "0 at v[1] = 0", "has no value at v = [0.0]"),
    "facts that meet": ("x - y is not zero (its absolute value is differentiated", "there it has no slope", NO_SLOPE),
    "two facts that meet": ("x - y is not zero (its absolute value is differentiated", "there it has no slope", NO_SLOPE),
    "the root of a difference": ("x - y is not zero (its absolute value is differentiated", "there it has no slope", NO_SLOPE),
    "a number that is representable": (STEPS, "", "goes in steps is differentiated"),
    "an entry of an inverse": ("[1, 1] is not zero (its absolute value is differentiated", "", ""),
    "a mean": ("the derivative of a moment by mu, which an assumption ties to it", TIED, "the two sides differ"),
    "a limit of a rounding": ("need not hold on the way", STEPS, STEPS),
    "an exponent of a thousand million": ("the series gives another limit: fl(y) + 1", "SymPy's limit is rounded_fp32(y) + 1", ""),
    "a larger exponent": ("the series gives another limit: 1", "SymPy's limit is 1", ""),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_holds_at_a_point_alone_is_not_differentiated(name):
    assert FALSE.keys() == REASONS.keys()
    for (witness, verdict), reason in zip(said(FALSE[name]).items(), REASONS[name], strict=True):
        if reason:
            assert verdict.startswith("refused: ") and reason in verdict, f"{witness}: {verdict}"


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_near_the_point_as_well_is_used(name):
    found = said(TRUE[name])
    assert found["exact"] == "proved" and not any(verdict.startswith("refused") for verdict in found.values()), found
    assert [verdict for verdict in found.values() if verdict in ("proved", "agrees")][1:], found
