"""Logarithms of products, quotients and powers: which factors may leave the logarithm, and which may not."""

import pytest

from derivations.kernel import (
    absolute,
    diff,
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
    total,
    vector,
)

n = sizes("n")
z, w = vector("z", n), vector("w", n)
x, y, c = scalars("x y c")
i, l, k = index("i", n), index("l", n), index("k", n)


def lse(scores):
    return log(total(exp(scores), i))


TRUE = {
    "a shift of every score": (lse(z[i] + c), lse(z[i]) + c, []),
    "the largest score may be taken out": (z[l] + lse(z[i] - z[l]), lse(z[i]), []),
    "a mean of exponentials": (log(total(exp(z[i]), i) / n), lse(z[i]) - log(n), []),
    "a product": (log((x + y) * c), log(x + y) + log(c), [positive(x + y), positive(c)]),
    "a quotient": (log((x + y) / c), log(x + y) - log(c), [positive(x + y), positive(c)]),
    "a quotient of sums": (
        log(total(exp(z[i] + c), i) / total(exp(w[i] + y), i)),
        lse(z[i]) - lse(w[i]) + c - y,
        [],
    ),
    "a power of a sum": (log(total(exp(z[i]), i) ** 3), 3 * lse(z[i]), []),
    "a root": (log(sqrt(x + y)), log(x + y) / 2, [positive(x + y)]),
    "a number": (log(2 * x + 4 * y), log(2) + log(x + 2 * y), [positive(x + 2 * y)]),
    "a root of a number": (log(sqrt(2) * x), log(2) / 2 + log(x), [positive(x)]),
    "numbers alone": (log(6) - log(2), log(3), []),
    "softplus": (log(1 + exp(-x)), log(1 + exp(x)) - x, []),
    "a probability": (log(softmax(z)[l]), z[l] - lse(z[i]), []),
    "within a sum": (total(w[k] * lse(z[i] + c), k), total(w[k] * lse(z[i]), k) + c * total(w[k], k), []),
    "an even power of what may be negative": (log(x**2), 2 * log(absolute(x)), [nonzero(x)]),
    "an even power beside a sum": (log((1 - c) ** 2 * total(exp(z[i]), i)), log((1 - c) ** 2) + lse(z[i]), [nonzero(1 - c)]),
    "a product over an index": (log(exp(total(log(w[k]), k)) * x), total(log(w[k]), k) + log(x), [positive(w[k]), positive(x)]),
    "a slope": (diff(lse(z[i] + c), c), 1 + 0 * c, []),
}


@pytest.mark.parametrize("left, right, given", TRUE.values(), ids=TRUE)
def test_what_comes_out_of_a_logarithm(left, right, given, proved):
    proved(lambda D: D.identity("claim", left, right, given=given))


# Not true, or not defined wherever the other side is.
FALSE = {
    "a root of an even power": (exp(log(x**2) / 2), x, [nonzero(x)]),
    "a logarithm of what may be negative": (log(x**2), 2 * log(x), [nonzero(x)]),
    "a product of two that may both be negative": (log(x * y), log(x) + log(y), [positive(x * y)]),
    "a product that is positive as a whole": (log((x + y) * c), log(x + y) + log(c), [positive((x + y) * c)]),
    "what may be zero": (log((x + 1) * c), log(x + 1) + log(c), [positive(x + 1), nonnegative(c)]),
    "a square that may be zero": (log(x**2 * total(exp(z[i]), i)), log(x**2) + lse(z[i]), []),
    "a factor instead of a shift": (lse(c * z[i]), c * lse(z[i]), []),
    "a shift that differs": (lse(z[i] + w[i]), lse(z[i]) + lse(w[i]), []),
    "the wrong sign of a shift": (lse(z[i] + c), lse(z[i]) - c, []),
    "a sum for a product": (log(1 + exp(x)), log(1) + x, []),
    "a power of a shift": (lse(z[i] + c), lse(z[i]) + c**2, []),
    "a shift counted at each score": (lse(z[i] + c), lse(z[i]) + n * c, []),
}


@pytest.mark.parametrize("left, right, given", FALSE.values(), ids=FALSE)
def test_what_is_false_is_refused_by_exact_and_by_sympy(left, right, given, rejection, sympy_rejection):
    def state(D):
        D.identity("claim", left, right, given=given)

    assert rejection(state).code in ("false-claim", "assumption-missing")
    if left != log(x**2 * total(exp(z[i]), i)) and given != [positive(x + 1), nonnegative(c)]:  # SymPy does not ask where a side exists
        assert sympy_rejection(state).code == "sympy-disagrees"


def test_of_what_may_be_negative_only_the_even_power_is_taken(rejection):
    error = rejection(lambda D: D.identity("claim", exp(log(x**2) / 2), x, given=[nonzero(x)]))
    assert error.code == "false-claim" and "at x = -" in error.message


SIGNED_LOGARITHMS = {
    "of two": (exp(x), 2 ** (x / log(2)), True),
    "of another base": (exp(x), 3 ** (x / log(2)), False),
    "of a number above one": (absolute(log(1 + exp(x))), log(1 + exp(x)), True),
    "of any positive number": (absolute(log(exp(x) / 2)), log(exp(x) / 2), False),
}


@pytest.mark.parametrize("left, right, holds", SIGNED_LOGARITHMS.values(), ids=SIGNED_LOGARITHMS)
def test_a_logarithm_has_the_sign_of_its_argument_less_one(proved, rejection, left, right, holds):
    if holds:
        proved(lambda D: D.identity("claim", left, right))
    else:
        assert rejection(lambda D: D.identity("claim", left, right)).code == "false-claim"


def test_the_logarithm_of_a_size_may_be_zero(rejection):
    n = sizes("n")
    assert "nonzero(log(n))" in str(rejection(lambda D: D.identity("claim", log(n) / log(n), 1)))
