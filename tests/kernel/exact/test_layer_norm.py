"""Facts that layer normalisation needs: a variance is nonnegative, however it is written; a variance plus a positive number is positive."""

import pytest

from derivations.kernel import (
    Derivation,
    E,
    absolute,
    cos,
    diff,
    exp,
    gaussian,
    index,
    matrix,
    mean,
    nonnegative,
    positive,
    random,
    scalars,
    sin,
    sizes,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch.witness import witness as by_pytorch
from derivations.kernel.sympy.witness import witness as by_sympy
from tests.kernel.common import has_code

n, m = sizes("n m")
z, u, X = vector("z", n), vector("u", n), matrix("X", m, n)
c, t, x = scalars("c t x")
i, j, k, l, a = index("i", n), index("j", n), index("k", n), index("l", n), index("a", m)
R = random("R")


def mu(z=z):
    return total(z[k], k) / n


def spread(z=z):
    return total((z[j] - total(z[l], l) / n) ** 2, j) / n


def normed(given, var):
    return claim("identity", total((z[i] - mu()) / sqrt(var + t), i), 0, given=[given])


def claim(kind, *arguments, **more):
    derivation = Derivation("test")
    getattr(derivation, kind)("claim", *arguments, **more)
    return derivation.claims[-1]


WRITTEN = {
    "as a mean square": spread(),
    "as a mean of squares less a square": total(z[j] ** 2, j) / n - mu() ** 2,
    "as differences of all pairs": total(total((z[j] - z[k]) ** 2, j), k) / (2 * n**2),
}


@pytest.mark.parametrize("var", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("given", [positive(t), positive(spread() + t)], ids=["epsilon", "variance and epsilon"])
def test_a_layer_norm_sums_to_zero(given, var):
    one = normed(given, var)
    assert exact(one).verdict == "proved"
    assert by_pytorch(one)[0] == "agrees"


def test_of_each_row_too():
    var = total((X[a, j] - total(X[a, l], l) / n) ** 2, j) / n
    one = claim("identity", total((X[a, i] - total(X[a, k], k) / n) / sqrt(var + t), i), 0, given=[positive(t)])
    assert exact(one).verdict == "proved"


def test_its_scale_does_not_matter():
    left = (c * z[i] - total(c * z[j], j) / n) / sqrt(total((c * z[j] - total(c * z[l], l) / n) ** 2, j) / n)
    one = claim("identity", left, (z[i] - mu()) / sqrt(spread()), given=[positive(c), positive(spread()), nonnegative(n - 2)])
    assert exact(one).verdict == "proved"


FALSE = {
    "without epsilon it may be zero": total((z[i] - mu()) / sqrt(spread()), i),
    "more than the mean's square": sqrt(total(z[j] ** 2, j) / n - 2 * mu() ** 2 + t),
    "too few squares": sqrt(total(z[j] ** 2, j) / 2 - total(z[j], j) ** 2 / 2 + t),
    "two vectors": sqrt(total(z[j] ** 2, j) / n - mu() * total(u[j], j) / n + t),
    "times what may be negative": sqrt(c * spread() + t),
}


@pytest.mark.parametrize("left", FALSE.values(), ids=FALSE)
def test_what_is_no_variance_is_not_taken_for_one(left):
    with pytest.raises(Rejected, check=has_code("assumption-missing")):
        exact(claim("identity", left * x, x * left + left - left, given=[positive(t)]))


def test_nothing_is_assumed_of_a_number():
    given = [mean(R, 0), variance(R, 1), gaussian(R)]
    with pytest.raises(Rejected, check=has_code("assumption-missing")) as caught:
        exact(claim("identity", E(exp(R**2 / 2)), 1, given=given))
    assert "0 is positive" in caught.value.message and "positive(0)" not in caught.value.message


def test_a_modulus_of_a_sine_is_no_crash():
    one = claim("identity", diff(absolute(sin(x)) * sin(x), x), 2 * absolute(sin(x)) * cos(x))
    try:
        assert by_sympy(one)[0] in ("proved", "not applicable")
    except Rejected as refused:
        assert "the SymPy witness does not confirm it" in str(refused)


def mean_square(divisor):
    """The mean square of the entries of z after their mean is subtracted and they are divided by the root of sum / divisor."""
    sum_ = total((z[l] - mu()) ** 2, l)
    return total(((z[i] - mu()) / sqrt(sum_ / divisor)) ** 2, i) / n, [positive(sum_), nonnegative(n - 2)]


@pytest.mark.parametrize("divisor, value", [(n, 1), (n - 1, (n - 1) / n)], ids=["n", "n - 1"])
def test_normed_entries_have_a_mean_square(proved, divisor, value):
    left, given = mean_square(divisor)
    proved(lambda D: D.identity("claim", left, value, given=given))


def test_a_wrong_mean_square_is_refuted(rejection):
    left, given = mean_square(n - 1)
    assert rejection(lambda D: D.identity("claim", left, 1, given=given)).code == "false-claim"


def test_a_claim_without_values_at_one_size_names_that_size(rejection):
    left, (given, _) = mean_square(n)
    assert "nonnegative(n - 2)" in str(rejection(lambda D: D.identity("claim", left, 1, given=[given])))
