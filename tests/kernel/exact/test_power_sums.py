"""Closed forms of sums of powers of an index; other sums have none."""

import pytest

from derivations.kernel import exp, eye, index, scalars, sizes, sqrt, total, vector
from derivations.kernel.exact.index_sums import sum_over_index
from derivations.kernel.exact.normal_form import MAX_SUMMED_POWER, Facts, power_sum
from derivations.kernel.exact.polynomials import atom, bernoulli_number, constant

n, m = sizes("n m")
z, x = vector("z", n), scalars("x")
i, l, j = index("i", n), index("l", n), index("j", m)

TRUE = {
    "the first numbers": (total(i, i), n * (n + 1) / 2),
    "squares": (total(i**2, i), n * (n + 1) * (2 * n + 1) / 6),
    "cubes": (total(i**3, i), total(l, l) ** 2),
    "fourth powers": (total(i**4, i), n * (n + 1) * (2 * n + 1) * (3 * n**2 + 3 * n - 1) / 30),
    "a polynomial, within a larger term": (
        total((i + x) ** 2 * z[l], i, l),
        total(z[l], l) * (n * x**2 + n * (n + 1) * x + n * (n + 1) * (2 * n + 1) / 6),
    ),
    "two indices": (total(i * j, i, j), n * (n + 1) * m * (m + 1) / 4),
    "squared distances": (total((i - l) ** 2, i, l), n**2 * (n**2 - 1) / 6),
    "a delta first": (total(eye(n)[i, l] * i, i, l), n * (n + 1) / 2),
    "beside an index that is open": (total(i * l, i), l * n * (n + 1) / 2),
    "in an exponential": (exp(total(i, i)), exp(n) ** ((n + 1) / 2)),
    "what an index divides": (total(z[i] * i / i, i), total(z[i], i)),
    "a root of an index": (total(sqrt(i) ** 2, i), n * (n + 1) / 2),
}


@pytest.mark.parametrize("left, right", TRUE.values(), ids=TRUE)
def test_a_sum_of_powers_is_a_polynomial_in_its_size(left, right, proved):
    assert proved(lambda D: D.identity("claim", left, right)).scope == "every shape"


FALSE = {
    "one too few": (total(i, i), n * (n - 1) / 2),
    "another size": (total(i, i), m * (m + 1) / 2),
    "squares of the sum": (total(i**2, i), total(i, i) ** 2),
    "something else that the index picks": (total(i * z[i], i), n * (n + 1) / 2 * z[1]),
    "an index below": (total(1 / i, i), 2 / (n + 1)),
    "a root": (total(sqrt(i), i) ** 2, n * (n + 1) / 2),
    "the open index summed": (total(i * l, i), l * l * (l + 1) / 2),
    "one index for two": (total(i * l, i, l), total(i * i, i)),
}


@pytest.mark.parametrize("left, right", FALSE.values(), ids=FALSE)
def test_what_is_false_is_refused_by_exact_and_by_sympy(left, right, rejection, sympy_rejection):
    def state(D):
        D.identity("claim", left, right)

    assert rejection(state).code == "false-claim"
    assert sympy_rejection(state).code == "sympy-disagrees"


def test_a_polynomial_that_vanishes_at_small_sizes_is_refused(rejection):
    """Exact decides it at every size, and not at some."""
    vanishing = (n - 1) * (n - 2) * (n - 3) * (n - 4)
    assert rejection(lambda D: D.identity("claim", total(i, i), n * (n + 1) / 2 + vanishing)).code == "not-proved"


@pytest.mark.parametrize("power", range(MAX_SUMMED_POWER + 1))
def test_every_power_has_the_value_of_its_sum(power):
    for size in (0, 1, 2, 7):
        assert power_sum(constant(size), power, Facts()) == constant(sum(k**power for k in range(1, size + 1)))


def test_a_larger_power_is_left_as_a_sum():
    facts, index_ = Facts(), ("f", "i")
    for power, counted in ((MAX_SUMMED_POWER, False), (MAX_SUMMED_POWER + 1, True)):
        ((bound, _), *_) = sum_over_index(atom(("value",), index_, power=power), index_, n, facts)
        assert bool(bound) == counted


def test_bernoullis_numbers():
    assert [str(bernoulli_number(k)) for k in range(7)] == ["1", "1/2", "1/6", "0", "-1/30", "0", "1/42"]
