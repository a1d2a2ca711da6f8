"""The Coq witness over the reals: derivatives, at every size."""

import re
from fractions import Fraction

import pytest

from derivations.kernel import (
    absolute,
    array,
    cos,
    diff,
    each,
    exp,
    eye,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    norm,
    positive,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)
from derivations.kernel.coq import coq_process, file_audit
from derivations.kernel.coq.reals import axioms, prelude
from derivations.kernel.coq.reserved_words import FORBIDDEN
from tests.kernel.coq.sources import written

n, m = sizes("n m")
z, g = vector("z", n), vector("g", n)
W, V, G = matrix("W", n, m), matrix("V", m, n), matrix("G", n, n)
x, y = scalars("x y")
i, j, k, r, c = index("i", n), index("j", n), index("k", n), index("r", n), index("c", n)
a = index("a", m)


def weighed(index):
    return total(exp(G[i, index]), index) ** 2


def true(of):
    of.identity("softmax", diff(softmax(z)[i], z[j]), softmax(z)[i] * (eye(n)[i, j] - softmax(z)[j]))
    of.identity("inside", total(diff(softmax(z)[i], z[j]) * g[j], j), softmax(z)[i] * (g[i] - total(softmax(z)[j] * g[j], j)))
    of.identity("log", diff(log(total(exp(z[k]), k)), z[j]), softmax(z)[j])
    of.identity("product", diff(total(total(G[r, c] * (W @ V)[r, c], c), r), W[i, a]), (G @ V.T)[i, a])
    of.identity("number", diff(exp(x * y) + x**3, x), y * exp(x * y) + 3 * x**2)
    of.identity("log-of-a-weight", log(softmax(z)[i]) - log(softmax(z)[j]), z[i] - z[j])
    of.identity("cosine", cos(x - y), cos(x) * cos(y) + sin(x) * sin(y))
    of.identity("circle", cos(x * y) ** 2 + sin(x * y) ** 2, 1)
    of.identity("lengths", total((g[k] * cos(z[k])) ** 2, k) + total((g[k] * sin(z[k])) ** 2, k), total(g[k] ** 2, k))
    of.identity("power", exp(x) ** (y + 1), exp(x) ** y * exp(x))
    of.identity("symmetric", diff(softmax(z)[i], z[j]), diff(softmax(z)[j], z[i]))
    of.identity("half-angle", 2 * sin((x - y) / 2) ** 2, 1 - cos(x - y))
    of.identity("powers-of-powers", (exp(x) * exp(y) ** (m / n)) ** (-k / m), exp(x) ** (-k / m) / exp(y) ** (k / n))
    of.identity("whole-power", ((1 + exp(x)) ** (-3 / n)) ** n, 1 / (1 + exp(x)) ** 3)
    of.identity("clipped", diff(absolute(x + y), x), 1, given=[positive(y), positive(x - y)])
    of.identity("length", diff(norm(z), z[j]), z[j] / norm(z), given=[nonzero(z @ z)])
    of.identity("entries", diff(z[i] / total((exp(x) * each(exp(z[k]), k))[k], k), x), -z[i] / total(exp(x) * exp(z[k]), k))
    of.identity("fractions", exp(x - array([10])[1] / 4) * log(exp(y)), y * exp(x) / exp(Fraction(5, 2)))
    of.identity("below-a-fraction", log(exp(x)) * total(g[k] / (1 + exp(-z[k])), k), x * total(g[k] * exp(z[k]) / (1 + exp(z[k])), k))
    of.identity(
        "turned",
        log(exp(x)) * total(z[i] * weighed(j) * total(exp(G[i, k]) * g[k], k), i),
        x * total(total(z[i] * weighed(j) * exp(G[i, k]), i) * g[k], k),
    )
    of.inequality("rises", exp(-(log(n + 1) * x)), 1, because=1 - exp(-(log(n + 1) * x)), given=[nonnegative(x)])
    of.identity("root", diff(sqrt(1 + exp(x)), x), exp(x) / (2 * sqrt(1 + exp(x))))


def false(of):
    of.identity("sign", diff(softmax(z)[i], z[j]), softmax(z)[i] * (softmax(z)[j] - eye(n)[i, j]))
    of.identity("place", diff(log(total(exp(z[k]), k)), z[j]), softmax(z)[i])
    of.identity("turned", diff(total(total(G[r, c] * (W @ V)[r, c], c), r), W[i, a]), (G.T @ V.T)[i, a])
    of.identity("factor", diff(exp(x * y), x), exp(x * y))
    of.identity("clipped", diff(absolute(x + y), x), 1, given=[positive(y)])
    of.identity("log-of-a-sum", log(exp(x) + exp(y)), x + y)
    of.identity("cosine", cos(x + y), cos(x) * cos(y) + sin(x) * sin(y))
    of.identity("power", exp(x) ** (y + 1), exp(x) ** y)
    of.identity("half-angle", sin(x / 2) ** 2, 1 - cos(x))
    of.identity("fractions", exp(x - array([10])[1] / 4) * log(exp(y)), y * exp(x) / exp(Fraction(7, 2)))
    of.identity("below-a-fraction", log(exp(x)) * total(g[k] / (1 + exp(-z[k])), k), x * total(g[k] / (1 + exp(z[k])), k))
    of.inequality("rises", exp(-(log(n + 1) * x)), 1, because=1 - exp(-(log(n + 1) * x)))
    of.inequality("falls", exp(-(log(x + 1) * y)), 1, because=1 - exp(-(log(x + 1) * y)), given=[nonnegative(y)])
    of.identity("whole-power", ((1 + exp(x)) ** (-3 / n)) ** n, 1 / (1 + exp(x)) ** 2)


def test_the_derivative_is_by_a_number_that_moves_and_its_existence_is_a_theorem():
    text = written(true)["softmax"]
    assert "slope (fun moving => let z := marked z j ord0 moving in (softmax_column exp z) i ord0) (z j ord0) =" in text
    assert file_audit.theorem_names(text) == ["derivative", "claim"] and "has_slope (fun moving" in text
    assert "slope (fun x => exp (x * y) + x ^+ 3) x" in written(true)["number"]


def test_a_derivative_under_a_sum_exists_at_each_place():
    assert "forall j : 'I_n, has_slope" in written(true)["inside"]


def test_every_source_is_read_before_coq_reads_it():
    assert {id: file_audit.find_loophole(text) for id, text in written(true).items()} == dict.fromkeys(written(true), "")
    assert all(file_audit.imported_preludes(text) == {prelude.SLOPES_NAME} for text in written(true).values())


def test_what_is_no_derivative_stays_over_every_structure():
    (text,) = written(lambda of: of.identity("c", x * y, y * x)).values()
    assert not file_audit.imports_reals(text)


def test_a_symbol_is_not_called_as_a_word_of_the_prelude():
    moving, slope = scalars("moving slope")
    (text,) = written(lambda of: of.identity("c", diff(moving * slope, moving), slope)).values()
    assert "slope (fun moving_ => moving_ * slope_) moving_ =" in text


def test_the_prelude_takes_nothing_for_granted():
    bare = file_audit.strip_comments(prelude.SLOPES_PRELUDE)
    assert not FORBIDDEN.search(re.sub(r"Unset Strict Implicit", "", bare))
    assert set(re.findall(r"\b(?:Hypothesis|Variables?|Context)\b[^.]*", bare)) == {
        "Variables (f : R -> R) (x a : R)",
        "Hypothesis fa : is_slope f x a",
    }


@pytest.mark.coq
def test_derivatives_are_proved_and_rest_on_axioms_that_are_named(program, tmp_path):
    program("coqc")
    results = coq_process.prove(written(true), tmp_path)
    assert {id: message for id, (ok, message) in results.items() if not ok} == {}
    assert all(axioms.CHOICE_WORDS in message for _, message in results.values()), results


@pytest.mark.coq
def test_a_false_derivative_is_not_proved(program):
    program("coqc")
    results = coq_process.prove(written(false))
    assert all(not ok and message.startswith(coq_process.NO_PROOF) for ok, message in results.values()), results


@pytest.mark.coq
def test_a_derivative_that_does_not_exist_is_not_said_to(program):
    program("coqc")
    text = written(lambda of: of.identity("c", diff(log(1 + exp(x)), x), exp(x) / (1 + exp(x))))["c"]
    other = text.replace("ln (1 + exp x)", "ln x")
    assert other != text
    ok, message = coq_process.prove({"c": other})["c"]
    assert not ok and message.startswith(coq_process.NO_PROOF)


@pytest.mark.coq
def test_another_axiom_is_caught(program, monkeypatch):
    program("coqc")
    text = written(true)["number"]
    planted = text.replace("Section", "Axiom swap : forall P : Prop, P.\nSection", 1)
    planted = re.sub(r"Proof\.(.*?)Qed\.", "Proof. apply swap. Qed.", planted, flags=re.DOTALL)
    assert planted != text and not coq_process.prove({"c": planted})["c"][0]
    monkeypatch.setattr(coq_process, "find_loophole", lambda text: "")
    ok, message = coq_process.prove({"c": planted})["c"]
    assert not ok and "assumes something" in message and "swap" in message
