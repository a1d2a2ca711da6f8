"""The largest entry of a vector: claims about it that are proved, and claims that each witness rejects."""

from contextlib import suppress
from dataclasses import replace

import pytest

from derivations.kernel import (
    Derivation,
    E,
    I,
    absolute,
    array,
    diff,
    each,
    exp,
    gaussian,
    has_moment,
    independent,
    index,
    largest,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    ones,
    positive,
    random,
    scalars,
    sizes,
    softmax,
    total,
    variance,
    vector,
)
from derivations.kernel.attack import judge
from derivations.kernel.attack.parse_latex import parse_latex
from derivations.kernel.attack.parse_plain import parse_plain
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.coq.witness import source
from derivations.kernel.core.acceptance import collect_verdicts
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import strip_brackets
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import max_facts
from derivations.kernel.exact import max_normal_form as normal_form
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.polynomial_printing import show_polynomial
from derivations.kernel.exact.polynomials import add, scale
from derivations.kernel.exact.tree_to_normal_form import normalize
from derivations.kernel.exact.witness import exact
from derivations.kernel.printing.latex import latex
from derivations.kernel.printing.plain_text import plain
from derivations.kernel.pytorch.witness import witness as pytorch
from derivations.kernel.sympy.witness import witness as sympy
from tests.kernel.common import has_code

n, m = sizes("n m")
z, y, w, three = vector("z", n), vector("y", n), vector("w", m), vector("s", 3)
A, B = matrix("A", n, m), matrix("B", m, n)
c, x, b = scalars("c x b")
i, j, k, l = index("i", n), index("j", n), index("k", n), index("l", m)
r, s = index("r", 3), index("t", 3)
q = random("q", n)
one = ones(n)
spread = total(exp(z[j] - largest(z)), j)
log_sum = log(total(exp(z[j]), j))
leads = nonnegative(z[1] - z[j])

IDENTITIES = {
    "a shift": (largest(z + c * one), largest(z) + c),
    "a scale": (largest(c * z), c * largest(z), nonnegative(c)),
    "a scale by what is positive": (largest((c**2 + 1) * z), (c**2 + 1) * largest(z)),
    "a division": (largest(z / c), largest(z) / c, positive(c)),
    "the gap below it": (largest(c * z + x * one) - (c * z + x * one)[j], c * (largest(z) - z[j]), nonnegative(c)),
    "an exponential": (largest(exp(2 * z)), exp(largest(z)) ** 2),
    "the largest weight": (largest(softmax(z)), exp(largest(z)) / total(exp(z[j]), j)),
    "a weight beside it": (softmax(z)[k], largest(softmax(z)) * exp(-(largest(z) - z[k]))),
    "entries written out, in another order": (largest(array([x, b])) + c, largest(array([c + b, x + c]))),
    "one entry, twice": (largest(array([x, x])), x),
    "scores": (largest(A @ (2 * w)), 2 * largest(A @ w)),
    "one in another": (largest(largest(z) * one + y), largest(z) + largest(y)),
    "more entries than are written out": (largest(vector("a", 6) + c * ones(6)), largest(vector("a", 6)) + c),
    "beside what is random": (E(c * largest(z) * q[1]), c * largest(z) * E(q[1]), has_moment(q, 1)),
    "a slope beside it": (diff(c * largest(z), c), largest(z)),
}
INEQUALITIES = {
    "no entry is larger": (z[j], largest(z), largest(z) - z[j]),
    "an exponential of the gap": (exp(z[j] - largest(z)), 1, 1 - exp(z[j] - largest(z))),
    "their sum": (1, spread, spread - 1),
    "their sum, from above": (spread, n, total(1 - exp(z[j] - largest(z)), j)),
    "the logarithm of the sum": (largest(z), log_sum, log(spread)),
    "that, from above": (log_sum, largest(z) + log(n), log(n) - log(spread)),
    "of a sum": (largest(z + y), largest(z) + largest(y), largest(z) + largest(y) - largest(z + y)),
    "a mean": (total(z[j], j) / n, largest(z), total(largest(z) - z[j], j) / n),
    "a mean by weights": (total(softmax(z)[j] * y[j], j), largest(y), total(softmax(z)[j] * (largest(y) - y[j]), j)),
    "the share of the largest": (1, n * largest(softmax(z)), largest(softmax(z)) * total(1 - exp(z[j] - largest(z)), j)),
    "no weight is larger": (softmax(z)[j], largest(softmax(z)), largest(softmax(z)) - softmax(z)[j]),
    "an exponential of that gap": (exp(softmax(z)[j] - largest(softmax(z))), 1, 1 - exp(softmax(z)[j] - largest(softmax(z)))),
    "of exponentials": (total(exp(z)[j], j), n * largest(exp(z)), total(largest(exp(z)) - exp(z)[j], j)),
    "absolute values": (absolute(z[j]), largest(absolute(z)), largest(absolute(z)) - absolute(z[j])),
    "one is not negative": (0, largest(array([x, -x])), largest(array([x, -x]))),
    "of two of them": (largest(array([z[k], z[j]])), largest(z), largest(z) - largest(array([z[k], z[j]]))),
    "of a known size": (three[2], largest(three), largest(three) - three[2]),
    "a key that leads": (largest(z), z[1], z[1] - largest(z), leads),
    "its weight leads": (softmax(z)[j], softmax(z)[1], (exp(z[1]) - exp(z[j])) / total(exp(z[k]), k), leads),
    "larger throughout": (largest(z), largest(y), largest(y) - largest(z), nonnegative(y[j] - z[j])),
}


def stated(kind, left, right, *more, **options):
    derivation = Derivation("Tests")
    if kind == "inequality":
        options["because"], more = more[0], more[1:]
    getattr(derivation, kind)("c", left, right, given=list(more), **options)
    return derivation.claims[-1]


@pytest.mark.parametrize("name", IDENTITIES)
def test_what_is_equal_to_it_is_proved_by_two_and_seen_by_a_third(name):
    assert [v.verdict for v in collect_verdicts(stated("identity", *IDENTITIES[name]), WITNESSES)] == ["proved", "proved", "agrees"]


@pytest.mark.parametrize("name", INEQUALITIES)
def test_what_it_bounds_is_proved_by_two_and_seen_by_a_third(name):
    assert [v.verdict for v in collect_verdicts(stated("inequality", *INEQUALITIES[name]), WITNESSES)] == ["proved", "proved", "agrees"]


FALSE = {
    "of a sum": ("identity", largest(z + y), largest(z) + largest(y)),
    "of a negative": ("identity", largest(-z), -largest(z)),
    "a scale without its sign": ("identity", largest(c * z), c * largest(z)),
    "a division without its sign": ("identity", largest(z / c), largest(z) / c, nonzero(c)),
    "of a product": ("identity", largest(z * y), largest(z) * largest(y)),
    "of a square": ("identity", largest(z * z), largest(z) ** 2),
    "of absolute values": ("identity", largest(absolute(z)), absolute(largest(z))),
    "of a matrix": ("identity", largest(w @ B), largest(w) * largest(ones(m) @ B)),
    "its slope": ("identity", diff(largest(z), z[j]), softmax(z)[j]),
    "an entry that need not lead": ("inequality", largest(z), z[1], z[1] - largest(z)),
    "any entry": ("inequality", largest(z), z[j], z[j] - largest(z)),
    "a key that leads others": ("inequality", largest(z), z[1], z[1] - largest(z), nonnegative(z[1] - y[j])),
    "two of them, from above": ("inequality", largest(z) + largest(y), largest(z + y), largest(z + y) - largest(z) - largest(y)),
    "the sum is no more than one": ("inequality", spread, 1, 1 - spread),
    "the sum is two": ("inequality", 2, spread, spread - 2),
    "the sum is n": ("inequality", n, spread, spread - n),
    "the sum about another": ("inequality", 1, total(exp(y[j] - largest(z)), j), total(exp(y[j] - largest(z)), j) - 1),
    "it is positive": ("inequality", 0, largest(z), largest(z)),
    "of entries written out": ("inequality", exp(c - largest(array([x, b]))), 1, 1 - exp(c - largest(array([x, b])))),
    "larger at one place": ("inequality", largest(z), largest(y), largest(y) - largest(z), nonnegative(y[1] - z[1])),
    "a sum less one over another index": ("inequality", 0, *[total(exp(x**2 + z[j]), j) - total(exp(w[l]), l)] * 2),
    "a size less a sum of what may be more": ("inequality", 0, *[n - total(exp(z[j]), j)] * 2),
    "another size less a sum": ("inequality", 0, *[m - spread] * 2),
    "a weight and the largest of others": ("inequality", 0, *[largest(softmax(y)) - softmax(z)[j]] * 2),
    "absolute values of it": ("inequality", absolute(z[j]), absolute(largest(z)), absolute(largest(z)) - absolute(z[j])),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_of_it_is_refused_with_a_counterexample_and_by_pytorch_too(name):
    claim = stated(*FALSE[name])
    assert judge.judge(claim)[0] == "false"
    with pytest.raises(Rejected, check=has_code("false-claim")):
        WITNESSES["exact"](claim)
    with pytest.raises(Rejected):
        pytorch(claim)


@pytest.mark.parametrize("name", FALSE)
def test_sympy_proves_nothing_that_is_false_of_it(name):
    with suppress(Rejected):
        assert sympy(stated(*FALSE[name]))[0] == "not applicable"


def test_it_is_not_averaged():
    given = (mean(q, 0), variance(q, 1), gaussian(q), independent(q))
    with pytest.raises(Rejected, check=has_code("unknown-expectation")):
        WITNESSES["exact"](stated("identity", E(largest(q)), 0 * c, *given))
    with pytest.raises(Rejected, check=has_code("false-claim")):
        WITNESSES["exact"](stated("identity", E(largest(q)), 0 * c, mean(q, 0), independent(q)))


SLOPES = {
    "by an entry": (diff(exp(largest(z)), z[1]), exp(largest(z)) * softmax(z)[1], ()),
    "by a factor": (diff(largest(c * z), c), largest(z), (positive(c),)),
    "in a definition": (diff(largest(z) ** 2, z[j]), 2 * largest(z) * softmax(z)[j], ()),
}


@pytest.mark.parametrize("name", SLOPES)
def test_a_slope_of_it_is_refused_at_the_root(name):
    left, right, given = SLOPES[name]
    claim = stated("identity", left, right, *given)
    with pytest.raises(KernelError, check=has_code("no-derivative")):
        normalize(left, collect_facts(given))
    with pytest.raises(Rejected):
        WITNESSES["exact"](claim)
    with pytest.raises(Rejected, check=has_code("no-derivative")):
        sympy(claim)


REFUTED = {
    "of a sum": (largest(z + y), largest(z) + largest(y), {z: [1, 0], y: [0, 1]}),
    "of a negative": (largest(-z), -largest(z), {z: [1, 0]}),
    "a scale": (largest(c * z), c * largest(z), {z: [1, 0], c: -1}),
    "its slope": (diff(largest(z), z[1]), softmax(z)[1], {z: [1, 0]}),
    "a slope beside smaller ones that tie": (diff(largest(z), z[1]), 0, {z: [1, 0, 0]}),
    "a sum of slopes": (total(diff(largest(z), z[j]), j), 2, {z: [0, 1]}),
}


@pytest.mark.parametrize("name", REFUTED)
def test_what_is_wrong_of_it_is_refuted_by_all(name):
    left, right, at = REFUTED[name]
    derivation = Derivation("Tests")
    derivation.refute("c", left, right, at=at)
    assert [v.verdict for v in collect_verdicts(derivation.claims[-1], WITNESSES)] == ["refuted", "refuted", "agrees"]


def test_a_slope_at_a_tie_is_no_counterexample():
    derivation = Derivation("Tests")
    derivation.refute("c", diff(largest(z), z[1]), softmax(z)[1], at={z: [1, 1]})
    claim = derivation.claims[-1]
    with pytest.raises(Rejected, check=has_code("undefined-value")):
        WITNESSES["exact"](claim)
    for witness in (sympy, pytorch):
        with pytest.raises(Rejected):
            witness(claim)


def test_entries_that_tie_all_along_are_no_corner():
    """At z = (0, 0), both entries of c z are 0 for each c: there is a slope, and no counterexample."""
    claim = stated("identity", diff(largest(c * z), c), largest(z), positive(c))
    with pytest.raises(Rejected) as refused:
        WITNESSES["exact"](claim)
    assert "false: at" not in str(refused.value)


def test_a_limit_of_entries_that_move_is_refused_and_one_beside_is_not():
    derivation = Derivation("Tests")
    derivation.limit("moves", largest(array([b, 1 / x])), x, "oo", largest(array([b, 0 * b])))
    derivation.limit("beside", largest(z) * (1 + 1 / x), x, "oo", largest(z))
    moves, beside = derivation.claims
    with pytest.raises(Rejected, check=has_code("unknown-limit")):
        WITNESSES["exact"](moves)
    assert [v.verdict for v in collect_verdicts(beside, WITNESSES)] == ["proved", "proved", "agrees"]


@pytest.mark.parametrize("wrong", [x, A])
def test_it_is_taken_of_a_vector_alone(wrong):
    with pytest.raises(KernelError, check=has_code("wrong-shape")):
        largest(wrong)


def test_complex_numbers_have_no_largest():
    with pytest.raises(Rejected, check=has_code("not-real")):
        WITNESSES["exact"](stated("identity", largest(I * z), I * largest(z)))


def test_coq_says_that_it_has_no_such_function():
    found = source(stated("identity", *IDENTITIES["a shift"]))
    assert found.text is None and "the function largest" in str(found)


PRINTED = {
    "of a vector": (largest(z), "largest(z)", r"\max(z)"),
    "of a sum": (largest(z + c * one) ** 2, "largest(z + c*ones(n))^2", r"(\max(z + c \cdot \mathbf{1}))^{2}"),
    "written out": (largest(array([x, b])) * x, "largest([x, b])*x", r"\max((x, b)) x"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_it_is_printed_as_what_it_is_and_read_back(name):
    tree, text, formula = PRINTED[name]
    names = {"z": z, "c": c, "x": x, "b": b, "n": n}
    assert (plain(tree), latex(tree)) == (text, formula)
    assert strip_brackets(parse_plain(text, names)) == strip_brackets(tree) == strip_brackets(parse_latex(formula, names, [one]))


@pytest.mark.parametrize("name", ["largest", "max"])
def test_nothing_else_has_its_name(name):
    with pytest.raises(KernelError, check=has_code("reserved-name")):
        scalars(name)


def test_a_message_shows_the_entries():
    facts = collect_facts(())
    assert show_polynomial(normalize(largest(array([x, -x])) - largest(2 * z), facts)) in (
        "largest([x, -x]) - 2*largest(z)",
        "largest([-x, x]) - 2*largest(z)",
    )


# Each rule, taken away


def difference(left, right, given=()):
    facts = collect_facts(given)
    return add(normalize(left, facts), scale(normalize(right, facts), -1))


def test_without_the_sign_of_a_factor_nothing_is_taken_out(monkeypatch):
    assert difference(largest(c * z), c * largest(z)) and not difference(largest(c * z), c * largest(z), (nonnegative(c),))
    monkeypatch.setattr(normal_form, "split_varying_part", lambda p, facts, runs: ())
    monkeypatch.setattr(normal_form, "factor_sign", lambda f, power, facts: "positive")
    assert not difference(largest(c * z), c * largest(z))  # so that this is what keeps the false one out


def test_a_bound_needs_that_no_other_entry_is_larger(monkeypatch):
    whole = max_facts.list_cases
    monkeypatch.setattr(max_facts, "list_cases", lambda found, facts: ((entry, [], place) for entry, _, place in whole(found, facts)))
    with pytest.raises(Rejected):
        WITNESSES["exact"](stated("inequality", *INEQUALITIES["of a sum"]))


def test_a_sum_of_exponentials_needs_that_it_is_one_of_them(monkeypatch):
    claim = stated("inequality", *INEQUALITIES["their sum"])
    assert WITNESSES["exact"](claim).verdict == "proved"
    monkeypatch.setattr(max_facts, "keep_one_term", lambda p, *rest: p)
    with pytest.raises(Rejected):
        WITNESSES["exact"](replace(claim))


TALL = matrix("T", n, n)
MOST, MOST_OF_THREE = largest(each(z[j] * y[i], j)), largest(each(three[r] * y[i], r))
MOST_OF_A_COLUMN = largest(each(TALL[j, i] * y[k], j))


@pytest.mark.parametrize(
    "left, right, holds",
    [
        (z[k] * y[i], MOST, True),
        (TALL[j, i] * y[k], MOST_OF_A_COLUMN, True),
        (z[j] * y[k], MOST * y[k] / y[i], False),
        (three[s] * y[k], MOST_OF_THREE * y[k] / y[i], False),
        (TALL[j, k] * y[i], MOST_OF_A_COLUMN * y[i] / y[k], False),
        (z[j] * y[k] - 10**9, MOST * y[k] / y[i], False),
    ],
)
def test_what_holds_where_one_entry_is_the_largest_holds_at_these_values_of_the_other_indices_alone(left, right, holds):
    """At another value of i another entry may be the largest of z[j]*y[i]."""
    claim = stated("inequality", left, right, right - left + 0 * x, *([] if holds else [nonzero(y[i])]))
    if holds:
        assert exact(claim).verdict == "proved"
        return
    with pytest.raises(Rejected):
        exact(claim)
