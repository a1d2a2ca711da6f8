"""Random quantities that are 0 or 1: their moments, functions of them, and what may depend on them."""

import re
from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    array,
    exp,
    gaussian,
    has_moment,
    independent,
    index,
    log,
    mean,
    nonzero,
    positive,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
    zero_or_one,
)
from derivations.kernel.attack import judge
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.coq.witness import source
from derivations.kernel.core.claims import Rejected
from derivations.kernel.exact import assumption_facts, normal_form
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch.witness import witness as pytorch
from derivations.kernel.sympy.witness import witness as sympy
from tests.kernel.common import has_code

n = sizes("n")
a, b, x, y, rho = scalars("a b x y rho")
u, v, w = random("u"), random("v"), random("w")
U, p = random("U", n), vector("p", n)
i, j = index("i", n), index("j", n)
coin, toss, coins = zero_or_one(u), mean(u, a), zero_or_one(U)
half = Fraction(1, 2)
mask = [independent(U), coins, mean(U, 1 - rho), nonzero(1 - rho)]
choice = softmax(array([x, y * u]))[1]

# name -> (left, right, assumptions, what SymPy says)
TRUE = {
    "a variance": (Var(u), a * (1 - a), [coin, toss], "proved"),
    "a fifth power": (E(u**5), E(u), [coin], "proved"),
    "a root": (E(sqrt(u)), E(u), [coin], "not applicable"),
    "dropout": (Var(u / (1 - rho)), rho / (1 - rho), [coin, mean(u, 1 - rho), nonzero(1 - rho)], "proved"),
    "an exponential": (E(exp(x * u)), 1 - a + a * exp(x), [coin, toss], "proved"),
    "an inverse": (E(1 / (1 + u)), 1 - a / 2, [coin, toss], "proved"),
    "a logarithm": (E(log(1 + u)), a * log(2), [coin, toss], "not applicable"),
    "a softmax": (E(choice), (1 - a) * softmax(array([x, 0]))[1] + a * softmax(array([x, y]))[1], [coin, toss], "proved"),
    "a mask": (Var(total(U[j] / (1 - rho) * p[j], j)), rho / (1 - rho) * total(p[j] ** 2, j), mask, "proved"),
    "a binomial": (Var(total(U[i], i)), n * a * (1 - a), [independent(U), coins, mean(U, a)], "proved"),
    "one of two": (E((u - v) ** 2), a + b - 2 * a * b, [independent(u, v), coin, zero_or_one(v), toss, mean(v, b)], "proved"),
    "times something": (Var(u * w), a * Var(w) + a * (1 - a) * E(w) ** 2, [independent(u, w), coin, toss, has_moment(w, 2)], "proved"),
    "times an exponential": (
        E(u * exp(x * w)),
        E(u) * exp(x**2 / 2),
        [independent(u, w), has_moment(u, 1), gaussian(w), mean(w, 0), variance(w, 1)],
        "not applicable",
    ),
    "dependent": (E(u**2 * w), E(u * w), [coin, has_moment(w, 1)], "proved"),
}
# name -> (left, right, assumptions, code of the rejection, whether PyTorch and SymPy reject it, too)
FALSE = {
    "a variance": (Var(u), a, [coin, toss], "false-claim", True),
    "a constant": (Var(u), 0, [coin], "false-claim", True),
    "not a coin": (Var(u), a * (1 - a), [toss, has_moment(u, 2)], "false-claim", True),
    "the exponential of a mean": (E(exp(x * u)), exp(a * x), [coin, toss], "false-claim", True),
    "one over zero": (E(1 / u), 1 / a, [coin, toss, nonzero(a)], "false-claim", False),
    "one entry twice": (E(U[i] * U[j]), a**2, [independent(U), coins, mean(U, a)], "false-claim", True),
    "two coins that may be one": (E(u * v), a * b, [coin, toss, zero_or_one(v), mean(v, b)], "assumption-missing", False),
    "a coin without a mean, which may be the other": (E(u * v), a * E(v), [coin, toss, zero_or_one(v)], "assumption-missing", True),
    "something that follows the coin": (E(u * w), a * E(w), [coin, toss, has_moment(w, 1)], "assumption-missing", True),
    "something else that follows it": (E(u * w), 0, [coin, mean(w, 0), variance(w, 3)], "assumption-missing", False),
    "entries that may be equal": (Var(total(U[i], i)), n * a * (1 - a), [coins, mean(U, a)], "assumption-missing", True),
    "a second moment of the other": (E(u * w**2), E(u**2 * w**2), [coin, has_moment(w, 1)], "assumption-missing", True),
}


def claim(left, right, given):
    D = Derivation("Tests")
    D.identity("claim", left, right, given=given)
    return D.claims[-1]


@pytest.mark.parametrize("name", TRUE)
def test_a_law_of_a_coin_is_proved_and_seen_by_another_witness(name):
    *stated, by_sympy = TRUE[name]
    law = claim(*stated)
    assert [WITNESSES[witness](law).verdict for witness in ("exact", "sympy", "torch")] == ["proved", by_sympy, "agrees"]


@pytest.mark.parametrize("name", FALSE)
def test_what_a_coin_does_not_do_is_refused(name):
    *stated, code, others = FALSE[name]
    law = claim(*stated)
    with pytest.raises(Rejected, check=has_code(code)) as caught:
        exact(law)
    assert re.search("left [=≈] ", str(caught.value)) or "Student's law" in str(caught.value)
    if others:
        assert judge.judge(law)[0] == "false"
        for witness in (pytorch, sympy):
            with pytest.raises(Rejected):
                witness(law)


def test_the_need_of_a_coin_is_shown_by_another_distribution():
    shown = exact(claim(Var(u), a * (1 - a), [coin, toss])).needed
    assert "Var[u] = 1" in shown[0] and "0 or 1" in shown[1]


def test_the_mean_of_a_coin_is_between_zero_and_one():
    for form, bound in ((1 - E(u), (E(u), 1)), (E(u), (0, E(u)))):
        D = Derivation("Tests")
        D.inequality("claim", *bound, because=form, given=[coin])
        assert exact(D.claims[-1]).verdict == "proved"


@pytest.mark.parametrize(
    "given, code",
    [
        ([coin, mean(u, 3)], "contradictory-assumptions"),
        ([coin, mean(u, n)], "single-value"),
        ([coin, toss, positive(a - 1)], "contradictory-assumptions"),
        ([coin, toss, variance(u, 2)], "stated-twice"),
        ([coin, toss, gaussian(u)], "stated-twice"),
        ([coin, toss, has_moment(u, 2)], "assumption-not-needed"),
    ],
)
def test_what_no_coin_has_is_refused(given, code):
    m = next((s.args[1] for s in given if s.kind == "mean"), a)
    with pytest.raises(Rejected, check=has_code(code)):
        exact(claim(Var(u), m - m**2, given))


def test_a_mean_that_depends_on_a_size_limits_the_scope():
    chance = n / 4
    assert exact(claim(Var(u), chance - chance**2, [coin, mean(u, chance)])).scope == "every shape that the assumptions allow"


def test_no_more_is_stated_than_that_a_mean_exists():
    with pytest.raises(Rejected, check=has_code("assumption-too-strong")) as caught:
        exact(claim(E(u * x), x * E(u), [coin]))
    assert "has_moment(u, 1)" in str(caught.value)


@pytest.mark.parametrize("at, code", [(half, None), (Fraction(2), "broken-assumption"), (Fraction(0), "no-counterexample")])
def test_a_refutation_takes_a_probability(at, code):
    D = Derivation("Tests")
    D.refute("claim", Var(u), a, given=[coin, toss], at={a: at})
    if code is None:
        assert exact(D.claims[-1]).verdict == "refuted"
        return
    with pytest.raises(Rejected, check=has_code(code)):
        exact(D.claims[-1])


def test_coq_says_that_it_cannot_state_it():
    found = source(claim(Var(u), a * (1 - a), [coin, toss]))
    assert found.text is None and "zero_or_one" in found.reason


@pytest.mark.parametrize("module, name, wrong", [(normal_form, "is_bit", lambda head, facts: False)])
def test_the_exact_witness_needs_the_rule_for_powers(monkeypatch, module, name, wrong):
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(Rejected):
        exact(claim(E(u**2 * w), E(u * w), [coin, has_moment(w, 1)]))


def test_without_the_bounds_on_means_a_contradiction_would_be_proved(monkeypatch):
    law = claim(Var(u), Fraction(-6), [coin, mean(u, 3)])
    with pytest.raises(Rejected, check=has_code("contradictory-assumptions")):
        exact(law)
    monkeypatch.setattr("derivations.kernel.exact.witness.list_implied", lambda given: ())
    monkeypatch.setattr("derivations.kernel.exact.counterexample_search.list_implied", lambda given: ())
    assert assumption_facts.list_implied(law.given) and exact(law).verdict == "proved"
