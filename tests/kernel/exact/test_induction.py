"""Sums in closed form, proved by induction on their size."""

import pytest

from derivations.kernel import (
    Derivation,
    cos,
    diff,
    exp,
    index,
    matrix,
    nonzero,
    scalars,
    sin,
    sizes,
    total,
    vector,
)
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.induction import proved_by_induction
from derivations.kernel.exact.witness import exact

n, m, d = sizes("n m d")
x, y, a, g = scalars("x y a g")
i, j, k, q = index("i", n), index("j", n), index("k", m), index("q", d)
z, w, K = vector("z", m), vector("w", n), matrix("K", n, d)
apart = nonzero(1 - x)

TRUE = {
    "a geometric sum": (total(x ** (i - 1), i), (1 - x**n) / (1 - x), [apart]),
    "from the first power": (total(x**i, i), x * (1 - x**n) / (1 - x), [apart]),
    "multiplied out": ((1 - x) * total(x ** (i - 1), i), 1 - x**n, []),
    "backwards": (total(x ** (n - i), i), (1 - x**n) / (1 - x), [apart]),
    "powers of two": (total(2 ** (i - 1), i), 2**n - 1, []),
    "an arithmetic factor": (total(i * x ** (i - 1), i), (1 - (n + 1) * x**n + n * x ** (n + 1)) / (1 - x) ** 2, [apart]),
    "powers of a difference": (total((1 - x) ** (i - 1), i), (1 - (1 - x) ** n) / x, [nonzero(x)]),
    "exponentials": (total(exp(-a * i), i), (1 - exp(-a * n)) / (exp(a) - 1), [nonzero(exp(a) - 1)]),
    "it telescopes": (total(1 / (i * (i + 1)), i), 1 - 1 / (n + 1), []),
    "Dirichlet's kernel": (2 * sin(a / 2) * total(cos(a * i), i), sin(a * n + a / 2) - sin(a / 2), []),
    "within another sum": (total(total(x ** (i - 1), i) * z[k], k), (1 - x**n) / (1 - x) * total(z[k], k), [apart]),
    "a state with decay": (
        total(g ** (i - j) * K[j, q] * w[j], j, where=j <= i),
        g * total(g ** (i - 1 - j) * K[j, q] * w[j], j, where=j < i) + K[i, q] * w[i],
        [],
    ),
}


@pytest.mark.parametrize("left, right, given", TRUE.values(), ids=TRUE)
def test_a_closed_form(left, right, given, proved):
    verdict = proved(lambda D: D.identity("claim", left, right, given=given))
    assert verdict.scope == "every shape" and ("induction on n" in verdict.note or "every order" in verdict.note)


FALSE = {
    "one term too many": (total(x ** (i - 1), i), (1 - x ** (n + 1)) / (1 - x), [apart, nonzero(x)]),
    "the first power forgotten": (total(x**i, i), (1 - x**n) / (1 - x), [apart]),
    "the one forgotten": (total(2 ** (i - 1), i), 2**n, []),
    "an arithmetic factor of n": (total(i * x**i, i), n * total(x**i, i), []),
    "true for one term": (total(1 / i, i), 1 + (n - 1) / 3, []),
    "equal growth alone": (total(2**i, i), 2 ** (n + 1), []),
    "a factor within": (total(total(x**i, i) * z[k], k), n * total(z[k], k), []),
    "backwards": (total(i * x ** (n - i), i), total(i * x ** (i - 1), i), [nonzero(x)]),
}


@pytest.mark.parametrize("left, right, given", FALSE.values(), ids=FALSE)
def test_a_false_closed_form_has_a_counterexample(left, right, given, rejection):
    assert rejection(lambda D: D.identity("claim", left, right, given=given)).code == "false-claim"


def test_what_is_missing_is_what_the_closed_form_divides_by(rejection):
    error = rejection(lambda D: D.identity("claim", total(x ** (i - 1), i), (1 - x**n) / (1 - x)))
    assert error.code == "assumption-missing" and "given=[nonzero(1 - x)]" in error.message


NOT_BY_INDUCTION = {
    "an axis of this length": (total(w[i], i) * 2**n, w[1] * 2**n, []),
    "an open index": (total(x**j, j) * i, total(x**j, j) * i + 0 * i, []),
    "an assumption about the size": (total(x**i, i), total(x**i, i) * 1, [nonzero(n - 2)]),
    "a sum within a sum": (total(total(j, j), i), 1 + (n - 1) * n * (n + 1) / 3, []),
    "a power of a sum": (total(x**i, i) ** 2, x**2, []),
    "a quotient of sums": (x / total(x**i, i), 1 + 0 * x, []),
}


@pytest.mark.parametrize("left, right, given", NOT_BY_INDUCTION.values(), ids=NOT_BY_INDUCTION)
def test_induction_needs_a_size_that_is_only_a_number_and_the_range_of_sums(left, right, given):
    assert not proved_by_induction(left, right, n, collect_facts(tuple(given)))


def test_a_chain_names_the_way_of_its_hardest_step():
    derivation = Derivation("test")
    derivation.chain(
        "claim", total(x**i, i) + y, (y + total(x**i, i), "swap"), (y + x * (1 - x**n) / (1 - x), "closed form"), given=[apart]
    )
    assert "induction" in exact(derivation.claims[0]).note


def test_the_derivative_of_a_sum_grows_by_the_derivative_of_its_last_term():
    left = diff(total(exp(a * i), i), a) * (exp(a) - 1)
    assert proved_by_induction(left, diff(total(exp(a * i), i), a) * (exp(a) - 1) + 0 * a, n, collect_facts(()))
