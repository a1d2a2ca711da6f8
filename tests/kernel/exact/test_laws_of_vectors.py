"""Laws with fixed vectors, exponentials beside powers, and the inequality of Cauchy and Schwarz for expectations."""

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    exp,
    eye,
    gaussian,
    has_moment,
    independent,
    index,
    mean,
    random,
    scalars,
    sizes,
    total,
    variance,
    vector,
)
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.core.claims import Rejected
from derivations.kernel.exact.exact_evaluation import evaluate_polynomial, list_atom_values
from derivations.kernel.exact.flint_numbers import to_fmpq
from derivations.kernel.exact.normal_form import Facts
from derivations.kernel.exact.tree_to_normal_form import normalize
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch.witness import witness as pytorch
from tests.kernel.common import has_code

d = sizes("d")
k, q, p = random("k", d), vector("q", d), vector("p", d)
u, v, w, x, y = random("u"), random("v"), random("w"), *scalars("x y")
i, j = index("i", d), index("j", d)
standard = [gaussian(k), mean(k, 0), variance(k, 1)]
normal = [gaussian(w), mean(w, 0), variance(w, 1)]
pair = [gaussian(u), gaussian(v), mean(u, 0), mean(v, 0), variance(u, 1), variance(v, 1)]
second = [has_moment(u, 2), has_moment(v, 2)]

TRUE = {
    "random features": (E(exp(k @ q - q @ q / 2) * exp(k @ p - p @ p / 2)), exp(q @ p), [independent(k), *standard]),
    "an exponential of a sum": (E(exp(total(k[i] * q[i], i))), exp(q @ q / 2), [independent(k), *standard]),
    "a fourth power": (E((q @ k) ** 4), 3 * (q @ q) ** 2, [independent(k), *standard]),
    "a number times a sum": (E(exp(w * total(q[i], i))), exp(total(q[i], i) ** 2 / 2), normal),
    "two fourth moments": (E((u * v) ** 4), 9, [independent(u, v), *pair]),
    "an entry beside an exponential": (E(k[i] * exp(k @ q)), q[i] * exp(q @ q / 2), [independent(k), *standard]),
    "two entries": (E(k[i] * k[j] * exp(k @ q)), (q[i] * q[j] + eye(d)[i, j]) * exp(q @ q / 2), [independent(k), *standard]),
    "a square beside it": (E(w**2 * exp(x * w)), (1 + x**2) * exp(x**2 / 2), normal),
    "another mean": (E(w * exp(x * w)), (y + 4 * x) * exp(x * y + 2 * x**2), [gaussian(w), mean(w, y), variance(w, 4)]),
    "something independent": (E(u * exp(x * w)), E(u) * exp(x**2 / 2), [independent(u, w), has_moment(u, 1), *normal]),
}
FALSE = {
    "dependent entries": (E(exp(k @ q)), exp(q @ q / 2), standard, "assumption-missing"),
    "a wrong fourth power": (E((q @ k) ** 4), 3 * total(q[i] ** 4, i), [independent(k), *standard], "false-claim"),
    "not shifted": (E(w**2 * exp(x * w)), exp(x**2 / 2), normal, "false-claim"),
    "without the delta": (E(k[i] * k[j] * exp(k @ q)), q[i] * q[j] * exp(q @ q / 2), [independent(k), *standard], "false-claim"),
    "another distribution": (E(w * exp(x * w)), x * exp(x**2 / 2), normal[1:], "false-claim"),
    "one of two is not Gaussian": (E((u * v) ** 4), 9, [independent(u, v), *pair[1:], has_moment(u, 4)], "false-claim"),
    "weights that differ": (Var(k @ q), d, [independent(k), variance(k, 1)], "false-claim"),
}


def claim(left, right, given):
    D = Derivation("Tests")
    D.identity("claim", left, right, given=given)
    return D.claims[-1]


def bound(smaller, larger, given, form=None):
    D = Derivation("Tests")
    D.inequality("claim", smaller, larger, because=larger - smaller if form is None else form, given=given)
    return D.claims[-1]


@pytest.mark.parametrize("name", TRUE)
def test_a_law_is_proved_with_the_need_of_each_assumption(name):
    law = claim(*TRUE[name])
    assert all("left = " in shown or "Student's law" in shown or "Cauchy" in shown for shown in exact(law).needed)
    assert WITNESSES["torch"](law).verdict == "agrees"


@pytest.mark.parametrize("name", FALSE)
def test_a_false_law_has_a_counterexample(name):
    *stated, code = FALSE[name]
    with pytest.raises(Rejected, check=has_code(code)) as caught:
        exact(claim(*stated))
    assert "left = " in str(caught.value)
    with pytest.raises(Rejected):
        pytorch(claim(*stated))


def test_no_values_are_asked_for_to_show_the_need_of_an_assumption_about_a_law(monkeypatch):
    monkeypatch.setattr("derivations.kernel.exact.assumption_needs.search_without", lambda claim, others: None)
    with pytest.raises(Rejected, check=has_code("need-not-shown")) as caught:
        exact(claim(*TRUE["two fourth moments"]))
    assert "without={" not in str(caught.value)


def test_partly_independent_symbols_are_not_taken_to_be_equal():
    law = claim(E(u * v) + E(w), E(u) * E(v) + E(w) + 0, [independent(u, v), has_moment(u, 1), has_moment(v, 1), has_moment(w, 1)])
    assert "Cauchy" in exact(law).needed[-1]


def test_a_mean_that_is_stated_of_one_symbol_holds_for_what_is_equal_to_it():
    law = claim(E(u + v), E(u), [mean(v, 0), has_moment(u, 1)])
    assert exact(law).verdict == "proved"
    with pytest.raises(Rejected, check=has_code("assumption-missing")) as caught:
        exact(claim(E(u * v), 0, [mean(v, 0), variance(v, 1), has_moment(u, 2)]))
    assert "E[v] = 1" not in str(caught.value) and "E[u] = 1" not in str(caught.value)


BOUNDS = {
    "of a product": (E(u * v) ** 2, E(u**2) * E(v**2), second),
    "of a mean": (E(u) ** 2, E(u**2), second[:1]),
    "of a square": (E(u**2) ** 2, E(u**4), [has_moment(u, 4)]),
    "of a cube": (E(u**3) ** 2, E(u**2) * E(u**4), [has_moment(u, 4)]),
    "of a sum": (E(u + x * v) ** 2, E((u + x * v) ** 2), second),
    "of an entry": (E(k[i] * w) ** 2, E(k[i] ** 2) * E(w**2), [has_moment(k, 2), has_moment(w, 2)]),
}
WRONG_BOUNDS = {
    "the wrong way round": (E(u**2) * E(v**2), E(u * v) ** 2, second),
    "twice": (2 * E(u * v) ** 2, E(u**2) * E(v**2), second),
    "a factor that may be negative": (E(u**2) ** 2, E(u) * E(u**3), [has_moment(u, 3)]),
    "not a square": (E(u) ** 2, E(u**3), [has_moment(u, 3)]),
    "another product": (E(u * v) ** 2, E(u**2) * E(v), second),
    "shifted": (E(u + 1) ** 2, E(u**2), second[:1]),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_product_of_means_bounds_the_mean_of_a_product(name):
    stated = bound(*BOUNDS[name])
    assert exact(stated).verdict == "proved" and WITNESSES["torch"](stated).verdict == "agrees"


@pytest.mark.parametrize("name", WRONG_BOUNDS)
def test_another_bound_is_refuted(name):
    stated = bound(*WRONG_BOUNDS[name])
    code = "assumption-missing" if name == "twice" else "false-claim"  # false, and not decided for independent entries
    with pytest.raises(Rejected, check=has_code(code)) as caught:
        exact(stated)
    assert "left = " in str(caught.value)
    with pytest.raises(Rejected):
        pytorch(stated)


def test_the_moments_of_a_bound_must_exist():
    with pytest.raises(Rejected, check=has_code("assumption-missing")):
        exact(bound(E(u * v) ** 2, E(u**2) * E(v**2), second[:1]))


def test_a_normal_form_is_evaluated_at_the_entries_of_a_vector():
    form = normalize(total(i * q[i] ** 2, i) + eye(d)[i, j] * q[i], Facts(), {"i": 2, "j": 2})
    env = {"d": 3, "q": {(0,): to_fmpq(2), (1,): to_fmpq(-1), (2,): to_fmpq(3)}}
    assert evaluate_polynomial(form, list_atom_values(env)) == 4 + 2 + 27 - 1
