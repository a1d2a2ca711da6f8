"""Rates: which of exponentials, powers and logarithms wins in a limit, by the signs of their coefficients."""

import re
from fractions import Fraction

import pytest

from derivations import kernel
from derivations.kernel import (
    Derivation,
    absolute,
    exp,
    index,
    log,
    nonnegative,
    nonzero,
    positive,
    scalars,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import lift
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.growth_scales import UnknownSign, find_sign
from derivations.kernel.exact.tree_to_normal_form import normalize
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch import sampling
from derivations.kernel.pytorch.witness import witness as numbers
from derivations.kernel.sympy.witness import witness as by_sympy
from tests.kernel.common import has_code

n, m = sizes("n m")
x, y, a, b, c, t = scalars("x y a b c t")
z = vector("z", m)
k, l = index("k", m), index("l", m)
BELOW_ONE = positive(1 - absolute(x))
LEADS = positive(x - z[k])

TRUE = {
    "decay": (exp(-a * n), n, "oo", 0, [positive(a)]),
    "decay beats a power": (n**3 * exp(-a * n), n, "oo", 0, [positive(a)]),
    "a square beats a multiple": (exp(b * x - a * x**2), x, "oo", 0, [positive(a)]),
    "a square of a number": (exp(-(a**2) * x), x, "oo", 0, [nonzero(a)]),
    "an inverse at zero": (exp(-a / t) / t**3, t, 0, 0, [positive(a)]),
    "a power of a half": (lift(Fraction(1, 2)) ** n, n, "oo", 0, []),
    "a power of minus a half": (lift(Fraction(-1, 2)) ** n, n, "oo", 0, []),
    "a power": (x**n, n, "oo", 0, [BELOW_ONE]),
    "a power of a positive number": (x**n, n, "oo", 0, [positive(x), positive(1 - x)]),
    "a power of a product of sizes": (n * x ** (m * n), n, "oo", 0, [BELOW_ONE]),
    "the inverse of a power": (1 / x**n, n, "oo", 0, [positive(absolute(x) - 1)]),
    "a quotient of powers": (x**n / y**n, n, "oo", 0, [positive(absolute(y) - absolute(x))]),
    "a geometric sum": ((1 - x**n) / (1 - x), n, "oo", 1 / (1 - x), [BELOW_ONE]),
    "an alternating geometric sum": ((1 - (-x) ** n) / (1 + x), n, "oo", 1 / (1 + x), [BELOW_ONE]),
    "an alternating denominator": (1 / (2 + lift(Fraction(-1, 2)) ** n), n, "oo", Fraction(1, 2), []),
    "a logarithm": (log(n) / n, n, "oo", 0, []),
    "a logarithm beside a root": (log(n) ** 2 / sqrt(n), n, "oo", 0, []),
    "an inverse logarithm": (1 / log(n + 1), n, "oo", 0, []),
    "a quotient of logarithms": (log(2 * n + 3) / log(n), n, "oo", 1, []),
    "a logarithm at zero": (x * log(x), x, 0, 0, []),
    "a power of itself": (x**x, x, 0, 1, []),
    "a root of itself": (n ** (1 / n), n, "oo", 1, []),
    "a negative power": (exp(-a * log(n)), n, "oo", 0, [positive(a)]),
    "a root of a logarithm": (exp(sqrt(log(n))) / n, n, "oo", 0, []),
    "two keys": (exp(c * x) / (exp(c * x) + exp(c * y)), c, "oo", 1, [positive(x - y)]),
    "every number of keys": (exp(x / t) / (exp(x / t) + total(exp(z[k] / t), k)), t, 0, 1, [LEADS]),
    "the largest by its exponential": (log(exp(c * x) + total(exp(c * z[k]), k)) / c, c, "oo", x, [LEADS]),
    "a sum of decays": (total(exp(-z[k] * x), k), x, "oo", 0, [positive(z[k])]),
    "a square of a sum of decays": (total(exp(-z[k] * x), k) ** 2, x, "oo", 0, [positive(z[k])]),
    "a hot softmax": (softmax(z / t)[k], t, "oo", 1 / m, []),
    "its logarithm": (t * log(total(exp(z[k] / t), k) / m), t, "oo", total(z[k], k) / m, []),
    "a slope that is known": (tanh(a * x), x, "oo", 1, [positive(a)]),
    "a modulus": (absolute(exp(a * x) - exp(b * x)) / exp(a * x), x, "oo", 1, [positive(a - b)]),
}
OVERFLOWS = ("the largest by its exponential",)  # near the limit, in fp64
SLOW_NUMBERS = ("an inverse logarithm", "a quotient of logarithms", "a negative power")


def stated(e, variable, to, value, given, **without):
    return lambda D: D.limit("claim", e, variable, to, value, given=given, **without)


def claim_of(state):
    derivation = Derivation("test")
    state(derivation)
    return derivation.claims[0]


@pytest.mark.parametrize("name", TRUE)
def test_the_fastest_part_decides(name):
    claim = claim_of(stated(*TRUE[name]))
    assert exact(claim).verdict == "proved"
    assert numbers(claim)[0] == ("not applicable" if name in SLOW_NUMBERS + OVERFLOWS else "agrees")


def test_numbers_do_not_agree_where_a_side_is_far_away_before_it_overflows():
    wrong = claim_of(stated(1 / (1 + exp((2 * y - x) / t)), t, 0, 1, [positive(x - y)]))
    with pytest.raises(Rejected):
        exact(wrong)
    assert numbers(wrong)[0] == "not applicable" and "still far apart" in numbers(wrong)[2]


def test_numbers_do_not_agree_where_a_slow_side_looks_close_beside_a_large_number():
    """The logarithm of a small multiple of n is negative at all n that are tried, and comes closer to 0."""
    wrong = claim_of(stated(exp(y) + log(n / 10**9), n, "oo", exp(y), []))
    assert numbers(wrong)[0] == "not applicable" and "still far apart" in numbers(wrong)[2]


def test_a_point_where_the_sides_have_not_moved_tells_nothing(monkeypatch):
    """With 4^12 equal keys and a lead of 40, the first weight is still 1."""
    monkeypatch.setattr(sampling, "FIRST_SEED", 4_000_000)
    assert numbers(claim_of(stated(1 / (1 + n * exp(-(x * y))), n, "oo", 0, [])))[0] == "agrees"
    assert numbers(claim_of(stated(1 / (1 + n * exp(-(x**2 + 40))), n, "oo", 0, [])))[0] == "not applicable"


@pytest.mark.parametrize("name", SLOW_NUMBERS)
def test_where_numbers_are_too_slow_sympy_proves_it(name):
    assert by_sympy(claim_of(stated(*TRUE[name])))[0] == "proved"


@pytest.mark.parametrize("e, variable, to, value, given", TRUE.values(), ids=TRUE)
def test_another_limit_is_refused(e, variable, to, value, given, rejection):
    state = stated(e, variable, to, lift(value) + 1, given)
    assert rejection(state).code in ("wrong-limit", "false-claim")
    with pytest.raises(Rejected, check=has_code("numbers-disagree")):
        numbers(claim_of(state))


@pytest.mark.parametrize("name", [name for name in TRUE if TRUE[name][-1]])
def test_without_its_assumptions_nothing_is_proved(name, rejection):
    """The assumptions that the message proposes are enough, and each is needed."""
    e, variable, to, value, _ = TRUE[name]
    error = rejection(stated(e, variable, to, value, []))
    assert error.code in ("assumption-missing", "false-claim")
    if error.code == "assumption-missing":
        advice = eval(re.search(r"given=(\[.*\])", error.message)[1], vars(kernel) | globals())
        assert exact(claim_of(stated(e, variable, to, value, advice))).verdict == "proved"


@pytest.mark.parametrize("e, value", [(1 / log(n + 1), 10), (1 / sqrt(n), 100), (1 / n, 10**5)], ids=str)
def test_numbers_whose_approach_fades_tend_to_another_limit(e, value):
    with pytest.raises(Rejected, check=has_code("numbers-disagree")):
        numbers(claim_of(stated(e, n, "oo", lift(Fraction(1, value)), [])))


FALSE = {
    "decay that may stand still": (exp(-a * n), n, "oo", 0, [nonnegative(a)], "at a = 0 the series gives 1"),
    "decay of the wrong sign": (exp(a * n), n, "oo", 0, [positive(a)], "no finite limit"),
    "a power of one": (x**n, n, "oo", 0, [nonnegative(1 - absolute(x))], "at x = 1 the series gives 1"),
    "a power of minus two": (x**n, n, "oo", 0, [positive(1 - x)], "at x = -2 the left side has no finite limit"),
    "a geometric sum at minus two": ((1 - x**n) / (1 - x), n, "oo", 1 / (1 - x), [positive(1 - x)], "at x = -2 the left side has no"),
    "equal keys": (exp(c * x) / (exp(c * x) + exp(c * y)), c, "oo", 1, [nonnegative(x - y)], "gives 1/2"),
    "a cold softmax": (softmax(z / t)[k], t, 0, 1 / m, [], "at z = [1, 2], k = 2 the series gives 1"),
    "a power beats a logarithm": (n / log(n + 1), n, "oo", 0, [], "grows like n/log(n)"),
    "decay that stands still at one index": (total(exp(-z[k] * x), k), x, "oo", 0, [nonnegative(z[k])], "at z = [0] the series gives 1"),
    "the other key": (exp(c * y) / (exp(c * x) + exp(c * y)), c, "oo", 1, [positive(x - y)], "gives another limit: 0"),
    "a limit that alternates": (lift(-1) ** n, n, "oo", 1, [], "alternates"),
    "a bound on a product of sums": (total(exp(z[k] * x), k) * total(exp(-z[k] * x) / x, k), x, "oo", 0, [], ""),
}


@pytest.mark.parametrize("e, variable, to, value, given, says", FALSE.values(), ids=FALSE)
def test_a_false_rate_is_refused(e, variable, to, value, given, says, rejection):
    assert says in rejection(stated(e, variable, to, value, given)).message


def test_an_assumption_about_one_index_is_none_about_another(rejection):
    """Where every z[k] is below x there may still be a z[k] below 0."""
    assert rejection(stated(total(exp(-z[k] * t), k), t, "oo", 0, [LEADS])).code == "assumption-missing"


def test_no_more_is_proposed_than_is_needed(rejection):
    """How y and t compare does not matter."""
    weight = exp(c * x) / (exp(c * x) + exp(c * y) + exp(c * t))
    message = rejection(stated(weight, c, "oo", 1, [])).message
    assert "x - y" in message and "x - t" in message and "t - y" not in message and "y - t" not in message


UNKNOWN = "unknown"
SIGNS = {
    "a difference": (a - b, [positive(a - b)], 1),
    "the opposite of a difference": (b - a, [positive(a - b)], -1),
    "a product": (a * (x - y), [positive(a), positive(y - x)], -1),
    "a logarithm of a number": (log(lift(Fraction(2, 3))), [], -1),
    "a difference of logarithms": (log(a) - log(b), [positive(b), positive(a - b)], 1),
    "a multiple of a logarithm": (a * log(b), [positive(a), positive(b), positive(1 - b)], -1),
    "an even power": (a**2 * b, [nonzero(a), positive(-b)], -1),
    "a number": (exp(lift(1)) - 3, [], -1),
    "a modulus and its argument": (2 * absolute(a) + a + 1, [], 1),
    "what may be zero": (a, [nonnegative(a)], UNKNOWN),
    "a logarithm of what may be one": (log(a), [positive(a)], UNKNOWN),
    "a modulus and twice its argument": (absolute(a) + 2 * a + 1, [], UNKNOWN),
    "a product of unknowns": (a * b, [], UNKNOWN),
    "zero": (exp(2 * log(lift(3))) - 9 + 0 * a, [], UNKNOWN),
}


@pytest.mark.parametrize("e, given, sign", SIGNS.values(), ids=SIGNS)
def test_signs_of_coefficients(e, given, sign):
    facts = collect_facts(tuple(given))
    p = normalize(e, facts)
    if sign != UNKNOWN:
        assert find_sign(p, facts) == sign and find_sign({term: -q for term, q in p.items()}, facts) == -sign
    elif p:
        with pytest.raises(UnknownSign):
            find_sign(p, facts)
