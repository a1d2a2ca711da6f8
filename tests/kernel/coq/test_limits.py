"""The Coq witness over the reals: limits of a variable at infinity or 0, and of a size at infinity."""

import re

import pytest

from derivations.kernel import (
    array,
    cos,
    exp,
    eye,
    index,
    log,
    nonnegative,
    nonzero,
    ones,
    positive,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    vector,
    zero_or_one,
)
from derivations.kernel.coq import coq_process, file_audit
from derivations.kernel.coq.reals import prelude
from derivations.kernel.coq.reserved_words import FORBIDDEN
from tests.kernel.coq.sources import stated, written

n, m = sizes("n m")
z, b, w = vector("z", n), vector("b", n), vector("w", 2)
t, s, c = scalars("t s c")
j, k = index("j", n), index("k", n)
kept = total(b[k] * exp(z[k]), k)
eye_of_two = array([[1, 0], [0, 1]])


def true(of):
    of.limit("fraction", (2 * m + 1) / (m + 3), m, "oo", 2)
    of.limit("squares", m * (m + 1) / (2 * m**2), m, "oo", 1 / (1 + sqrt(1)))
    of.limit("vanishes", 1 / (1 + exp(t)), t, "oo", 0)
    of.limit("falls", exp(s - t) + c, t, "oo", c)
    of.limit("tangent", tanh(t) * c + tanh(s - t), t, "oo", c - 1)
    of.limit("both", exp(t) / (exp(t) + n - 1), t, "oo", 1)
    of.limit("halves", exp(t / 2) * exp(2 * t) / (exp(5 * t / 2) + t**3), t, "oo", 1)
    of.limit("down", exp(t * s) / (1 + sqrt(1 + t)), t, 0, 1 / (1 + sqrt(1)))
    of.limit("quotient", t * s / t, t, 0, s)
    of.limit("functions", (sin(s * t) + tanh(c * t) + log(1 + 2 * t)) / t, t, 0, s + c + 2)
    of.limit("whirls", cos(s / t) + log(c + 1 / t), t, "oo", 1 + log(c), given=[positive(c)])
    of.limit("compounded", (1 + s / m) ** m, m, "oo", exp(s))
    of.limit("sum", total(exp(z[k] / t), k) / n, t, "oo", 1)
    of.limit("masked", softmax(z - t * (ones(n) - b))[j], t, "oo", b[j] * exp(z[j]) / kept, given=[zero_or_one(b), nonzero(kept)])
    of.limit("kept", total(exp(z[k] - 2 * t * b[k]), k), t, "oo", total((1 - b[k]) * exp(z[k]), k), given=[zero_or_one(b)])
    of.limit("found", (softmax(t * array([[0, 1], [2, 0]])) @ w)[2], t, "oo", w[1])
    of.limit("matrix", (softmax(t * eye_of_two) @ eye_of_two.T)[1, 2], t, "oo", 0)
    of.limit("first-order", t * (exp(s / t) - exp(c / t)), t, "oo", s - c)
    of.limit("weights", t * (softmax(w / t)[1] - softmax(w / t)[2]), t, "oo", (w[1] - w[2]) / 2)
    of.limit("difference", (1 / (1 + s * t) - exp(c * t)) / t, t, 0, -s - c)


def false(of):
    of.limit("fraction", (2 * m + 1) / (m + 3), m, "oo", 3)
    of.limit("vanishes", 1 / (1 + exp(t)), t, "oo", 1)
    of.limit("falls", exp(t - s) / exp(t) + c, t, "oo", c)
    of.limit("down", exp(t * s), t, 0, s)
    of.limit("sign", tanh(s - t), t, "oo", 1)
    of.limit("slope", sin(s * t) / t, t, 0, 1)
    of.limit("order", t * (softmax(w / t)[1] - softmax(w / t)[2]), t, "oo", w[1] - w[2])
    of.limit("masked", softmax(z - t * (ones(n) - b))[j], t, "oo", b[j] * exp(z[j]) / total(exp(z[k]), k), given=[zero_or_one(b)])
    of.limit("undefined", s + 1 / (c + t) * 0, t, 0, s)


def test_a_limit_is_one_of_coquelicot():
    texts = written(true)
    assert "Theorem claim :\n  is_lim_seq (fun m : nat => (2 * number m + 1) / (number m + 3)) 2." in texts["fraction"]
    assert "is_lim (fun t : R => 1 / (1 + exp t)) p_infty 0." in texts["vanishes"]
    assert "filterlim (fun t : R => t * s / t) (at_right 0) (locally s)." in texts["quotient"]


def test_what_must_not_be_zero_is_a_premise_or_holds_near_the_limit():
    texts = written(lambda of: of.limit("c", (exp(-t) + s) / (c * (exp(-t) + c)), t, "oo", s / c**2, given=[positive(c)]))
    assert "Hypothesis assumed_1 : 0 < c." in texts["c"]
    assert "Theorem defined :\n  Rbar_locally p_infty (fun t : R => c * (exp (- t) + c) <> 0)." in texts["c"]
    assert file_audit.theorem_names(texts["c"]) == ["defined", "claim"]
    assert "Hypothesis needed_1 : c <> 0." in written(lambda of: of.limit("c", t / (t + s / c), t, "oo", 1))["c"]


def test_every_source_is_read_before_coq_reads_it():
    texts = written(true)
    assert all(file_audit.imported_preludes(text) == {prelude.LIMITS_NAME} for text in texts.values())
    assert {id: file_audit.find_loophole(text) for id, text in texts.items()} == dict.fromkeys(texts, "")


def test_a_symbol_is_not_called_as_a_word_of_coq():
    locally = scalars("locally")
    assert "(locally locally_)" in written(lambda of: of.limit("c", exp(t) * locally, t, 0, locally))["c"]


@pytest.mark.parametrize(
    "state, reason",
    [
        (lambda of: of.limit("c", t**2 * (exp(s / t) - 1 - s / t), t, "oo", s**2 / 2), "what grows fastest cancels"),
        (lambda of: of.limit("c", total(1 / (n + z[k] ** 2), k), n, "oo", 1), "the length of an axis"),
        (lambda of: of.limit("c", tanh(s * t), t, "oo", 1), "a sign that is not seen"),
        (lambda of: of.limit("c", total(1 / (t - z[k]), k), t, "oo", 0), "at each of many places"),
        (lambda of: of.limit("c", eye(n) * exp(-t), t, "oo", 0 * eye(n)), "a limit of a tensor"),
        (lambda of: of.limit("c", t * exp(-(t**2)), t, "oo", 0), "an exponential of what grows otherwise"),
        (lambda of: of.limit("c", 1 / t, t, "oo", t), "names what moves in its value"),
        (lambda of: of.limit("c", 1 / t, t, "oo", 0, given=[nonnegative(t - 2)]), "in an assumption beside its sign"),
        (lambda of: of.limit("c", exp(-t) + log(z)[k], t, "oo", log(z)[k]), "a logarithm of a tensor"),
    ],
)
def test_what_is_not_stated_says_why(state, reason):
    (source,) = stated(state).values()
    assert source.text is None and reason in source.reason


def test_the_prelude_takes_nothing_for_granted():
    bare = file_audit.strip_comments(prelude.LIMITS_PRELUDE)
    assert not FORBIDDEN.search(bare)
    assert set(re.findall(r"\b(?:Hypothesis|Hypotheses|Variables?|Context)\b[^.]*", bare)) == {
        "Context {T : Type} {F : (T -> Prop) -> Prop} {FF : Filter F}",
        "Variable b : T -> R",
        "Context {grows : Grows F b}",
    }


@pytest.mark.coq
def test_limits_are_proved(program):
    program("coqc")
    results = coq_process.prove(written(true))
    assert {id: message for id, (ok, message) in results.items() if not ok} == {}
    assert all("choice" not in message for _, message in results.values())


@pytest.mark.coq
def test_a_false_limit_is_not_proved(program):
    program("coqc")
    results = coq_process.prove(written(false))
    assert all(not ok and message.startswith(coq_process.NO_PROOF) for ok, message in results.values()), results
