"""The Coq witness: expectations and variances, at every size."""

import re
from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    absolute,
    each,
    exp,
    gaussian,
    has_moment,
    independent,
    index,
    mean,
    nonnegative,
    nonzero,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.coq import coq_process, file_audit
from derivations.kernel.coq import witness as coq
from derivations.kernel.coq.laws import prelude
from derivations.kernel.coq.reserved_words import FORBIDDEN
from tests.kernel.coq.sources import written

n, m = sizes("n m")
q, k, x, M = random("q", n), random("k", n), random("x"), random("M", n, m)
a, w, z = vector("a", n), vector("w", m), vector("z", n)
c, s, t = scalars("c s t")
i, j, l = index("i", n), index("j", m), index("l", n)

STANDARD = [mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]
UNIT = [mean(x, 0), variance(x, 1)]
NORMAL = [gaussian(q), gaussian(k), *STANDARD]


def true(of):
    of.identity("mean", E(c * x + 1), c * t + 1, given=[mean(x, t)])
    of.identity("variance", Var(c * x + 1), c**2 * t, given=[variance(x, t), nonnegative(t)])
    of.identity("product", Var(q @ k), n, given=[independent(q, k), *STANDARD])
    of.identity("scaled", Var((q @ k) / sqrt(n)), Var(q @ k) / n, given=[independent(q, k), *STANDARD])
    of.identity("entry", Var(M[i, j] - x), s + t, given=[independent(M, x), variance(M, s), variance(x, t)])
    of.identity("row", E(total(M[i, j] * w[j], j)), c * total(w[j], j), given=[mean(M, c)])
    of.identity("two", E((a @ M @ w) ** 2), (a @ a) * (w @ w), given=[independent(M), mean(M, 0), variance(M, 1)])
    of.identity("fourth", E(x**4), 3 * s**2, given=[gaussian(x), mean(x, 0), variance(x, s)])
    of.identity("squares", Var(q @ q), 2 * n, given=[independent(q), gaussian(q), mean(q, 0), variance(q, 1)])
    of.identity("moved", Var(q @ q), 2 * n * (1 + 2 * c**2), given=[independent(q), gaussian(q), mean(q, c), variance(q, 1)])
    of.identity("odd", E((q @ k) ** 3), 0, given=[independent(q, k), gaussian(q), mean(q, 0), has_moment(k, 3)])
    of.identity("weighed", E(total(softmax(z)[i] * q[i], i)), c, given=[mean(q, c)])
    of.identity("tensor", E(each(q[i] / c, i) @ a), total(a[i], i), given=[mean(q, c), nonzero(c)])
    of.identity("exponential", E(exp(c * x)), exp(c * s + c**2 * t / 2), given=[gaussian(x), mean(x, s), variance(x, t), nonnegative(t)])
    of.identity("features", E(exp(x * c - c**2 / 2) * exp(x * s - s**2 / 2)), exp(c * s), given=[gaussian(x), *UNIT])
    of.identity("exponentials", E(exp(a @ q)), exp((a @ a) / 2), given=[independent(q, k), *NORMAL])
    of.identity("of-a-sum", E(exp(q @ a + k @ z + c)), exp((a @ a + z @ z) / 2 + c), given=[independent(q, k), *NORMAL])
    of.identity("of-one-entry", E(exp(q[i])) ** 2 / E(exp(c * q[i])), exp(1 - c**2 / 2), given=NORMAL[:1] + NORMAL[2:])
    of.identity("spread", Var(exp(c * x)), exp(c**2) * (exp(c**2) - 1), given=[gaussian(x), *UNIT])
    of.identity("of-a-matrix", E(exp(M[i, j])), exp(c + s / 2), given=[gaussian(M), mean(M, c), variance(M, s), nonnegative(s)])


def false(of):
    of.identity("squared", Var(q @ k), n**2, given=[independent(q, k), *STANDARD])
    of.identity("dependent", Var(q @ k), n, given=STANDARD)
    of.identity("dependent-at-one-place", E(q[i] * q[l]), 0, given=[mean(q, 0), independent(q)])
    of.identity("apart", Var(q @ k), n, given=[independent(q), independent(k), *STANDARD])
    of.identity("without-a-mean", Var(q @ k), n, given=[independent(q, k), mean(q, 0), variance(q, 1), variance(k, 1)])
    of.identity("fourth", E(x**4), 3 * s**2, given=[mean(x, 0), variance(x, s)])
    of.identity("kurtosis", E(x**4), s**2, given=[gaussian(x), mean(x, 0), variance(x, s)])
    of.identity("squares", Var(q @ q), n, given=[independent(q), gaussian(q), mean(q, 0), variance(q, 1)])
    of.identity("exponential", E(exp(c * x)), exp(c * s + c**2 * t), given=[gaussian(x), mean(x, s), variance(x, t), nonnegative(t)])
    of.identity("exponential-of-any", E(exp(x)), exp(Fraction(1, 2)), given=UNIT)
    of.identity("exponential-without-a-mean", E(exp(x)), exp(Fraction(1, 2)), given=[gaussian(x), variance(x, 1)])
    of.identity("exponentials-apart", E(exp(a @ q)), exp((a @ a) / 2), given=NORMAL)
    of.identity("exponentials-of-any", E(exp(c * q[i] + k[i])), exp((c**2 + 1) / 2), given=[independent(q, k), gaussian(q), *STANDARD])
    of.identity("features", E(exp(x * c) * exp(x * s)), exp((c**2 + s**2) / 2), given=[gaussian(x), *UNIT])
    of.identity("no-moment", Var(q @ k), 0, given=[independent(q, k), mean(q, 0), has_moment(k, 1)])


def refuted(of):
    of.refute("squared", Var(q @ k), n**2, at={n: 2}, given=[independent(q, k), *STANDARD])
    of.refute("squares", Var(q @ q), n, at={n: 1}, given=[independent(q), gaussian(q), mean(q, 0), variance(q, 1)])
    of.refute("moved", Var(q @ k + x), n, at={n: 1}, given=[independent(q, x, k), *STANDARD[1:], mean(q, 1), mean(x, -1), variance(x, 2)])
    of.refute("matrix", E(total(total(M[i, j] * x, j), i)), 1, at={n: 2, m: 1}, given=[independent(M, x), mean(M, 2), mean(x, 3)])


def held(of):
    of.refute("holds", Var(q @ k), n, at={n: 2}, given=[independent(q, k), *STANDARD])
    of.refute("at-one", Var(q @ k), n**2, at={n: 1}, given=[independent(q, k), *STANDARD])


def test_what_is_assumed_of_what_is_random_are_hypotheses():
    text = written(true)["product"]
    for line in (
        "Variables q k : 'M[Random]_(n, 1).",
        "Hypothesis expectation_one : expectation 1 = 1.",
        "Hypothesis size_n : (0 < n)%N.",
        "Hypothesis assumed_1 : independent_to expectation 2 (along (entries q) (entries k)).",
        "Hypothesis assumed_2 : forall row : 'I_n, expectation (q row ord0) = 0.",
        "Hypothesis assumed_4 : forall row : 'I_n, variance constant expectation (q row ord0) = 1.",
    ):
        assert line in text
    assert "variance constant expectation ((q^T *m k) ord0 ord0) =\n  n%:R :> R" in text


def test_independence_is_of_powers_that_have_an_expectation():
    texts = written(true)
    assert "independent_to expectation 2 (along (entries M) (single x))" in texts["entry"]
    assert "independent_to expectation 3 (along (entries q) (entries k))" in texts["odd"]
    assert "independent expectation (entries q)" in texts["squares"]
    assert "independent_to expectation 1 " in written(false)["no-moment"]


def test_of_several_gaussians_each_is_said_to_be():
    (text,) = written(lambda of: of.identity("c", E(x * q[1]), 0, given=[gaussian(x, q)])).values()
    assert "Hypothesis assumed_1a : normal_moments constant expectation x." in text
    assert "Hypothesis assumed_1b : forall row : 'I_n, normal_moments constant expectation (q row ord0)." in text


def test_a_number_that_is_not_random_stands_as_a_constant():
    assert "expectation (constant c * x + constant 1) =" in written(true)["mean"]
    assert "q i ord0 * constant (c^-1)" in written(true)["tensor"]
    (text,) = written(lambda of: of.identity("c", E(x * E(x)), E(x) ** 2, given=[has_moment(x, 1)])).values()
    assert "expectation (x * constant (expectation x)) =" in text


@pytest.mark.parametrize(
    "side, reason",
    [
        (E(absolute(x)), "no polynomial"),
        (E(softmax(q)[1]), "no polynomial"),
        (E(exp(x**2)), "an exponential of products of what is random"),
        (E(exp(q @ k)), "an exponential of products of what is random"),
        (E(exp(1 / x)), "an exponential of products of what is random"),
        (E(exp(exp(x))), "an exponential of products of what is random"),
        (E(x * exp(x)), "beside an exponential"),
        (E(1 / x), "by what is random"),
        (E(sqrt(x)), "not a whole number"),
        (E(x ** (-1)), "not a whole number"),
        (E(random("T", n, n, n)[i, i, i]), "more than two axes"),
        (x, "outside of an expectation"),
    ],
)
def test_what_is_no_polynomial_is_given_back_with_a_reason(side, reason):
    derivation = Derivation("test")
    derivation.identity("c", side, 0)
    source = coq.source(derivation.claims[0])
    assert source.text is None and reason in source.reason


def test_what_is_gaussian_has_exponentials_of_which_the_expectation_is_known():
    texts = written(true)
    assert "Hypothesis assumed_1b : normal_exponentials constant expectation exp exponential x." in texts["exponential"]
    assert "expectation (exponential (constant c * x)) =\n  exp (" in texts["exponential"]
    assert "independent_exponentials constant expectation exponential (along (entries q) (entries k))" in texts["of-a-sum"]
    assert all("exponential" not in texts[id] for id in ("squares", "fourth", "weighed"))
    some = written(false)["exponentials-of-any"]
    assert "independent_to expectation 2 " in some and "independent_exponentials" not in some


def test_a_symbol_is_not_called_as_a_word_of_the_prelude():
    named = random("expectation")
    (text,) = written(lambda of: of.identity("c", E(named), c, given=[mean(named, c)])).values()
    assert "expectation expectation_ =\n  c" in text


def test_what_is_refuted_is_said_of_all_random_variables_and_sizes():
    text = written(refuted)["squared"]
    assert "~ (forall (Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R)," in text
    assert "forall (n : nat) (q : 'M[Random]_(n, 1)) (k : 'M[Random]_(n, 1))," in text
    assert "(independent expectation (along (entries q) (entries k))) ->" in text
    assert "n%:R ^+ 2 :> R)." in text and "At n = 2" in text


@pytest.mark.parametrize(
    "state, reason",
    [
        (lambda of: of.refute("c", E(c * x), c, at={c: 1}, given=[mean(x, 2)]), "made of sizes"),
        (lambda of: of.refute("c", E(x), 1, at={}, relation="<=", given=[mean(x, 2)]), "no equality"),
        (lambda of: of.refute("c", Var(q @ k), n, at={}, given=[independent(q, k), *STANDARD]), "what the size n is"),
        (lambda of: of.refute("c", E(absolute(x)), 0, at={}, given=[mean(x, 1)]), "no polynomial"),
        (lambda of: of.refute("c", E(exp(x)), 1, at={}, given=[gaussian(x), *UNIT]), "with exponentials of what is random"),
    ],
)
def test_a_refuted_law_that_cannot_be_stated_says_why(state, reason):
    derivation = Derivation("test")
    state(derivation)
    source = coq.source(derivation.claims[0])
    assert source.text is None and reason in source.reason, source.reason


@pytest.mark.parametrize(
    "state, reason",
    [
        (lambda of: of.identity("claim", E(x), 1, given=[mean(x, 0), mean(x, 1)]), "states a mean or a variance twice"),
        (lambda of: of.identity("claim", Var(x), 4, given=[variance(x, 1), variance(x, 4)]), "states a mean or a variance twice"),
        (lambda of: of.identity("claim", E(x**2), -1, given=[mean(x, 0), variance(x, -1)]), "a negative variance"),
        (lambda of: of.refute("claim", E(x**2), 1, at={}, given=[variance(x, -1), mean(x, 2)]), "not seen to be none below zero"),
        (lambda of: of.refute("claim", E(q[i]), 1, at={n: 1, i: 1}, given=[mean(q, 0)]), "of one entry by its index"),
    ],
    ids=["two means", "two variances", "negative", "refuted", "index"],
)
def test_what_no_random_variables_may_satisfy_is_not_stated(state, reason):
    derivation = Derivation("test")
    state(derivation)
    assert reason in coq.source(derivation.claims[-1]).reason


def test_what_is_denied_of_independent_variables_is_independence_of_all_powers():
    (text,) = written(lambda of: of.refute("claim", Var(q @ k), n**2, at={n: 2}, given=[independent(q, k), *STANDARD])).values()
    assert "independent expectation" in text and "independent_to" not in text


def test_every_source_is_read_before_coq_reads_it():
    assert {id: file_audit.find_loophole(text) for id, text in written(refuted).items()} == dict.fromkeys(written(refuted), "")
    assert {id: file_audit.find_loophole(text) for id, text in written(true).items()} == dict.fromkeys(written(true), "")
    assert all(file_audit.imported_preludes(text) == {prelude.LAWS_NAME} for text in written(true).values())


def test_the_prelude_takes_nothing_for_granted():
    bare = file_audit.strip_comments(prelude.LAWS_PRELUDE)
    assert not FORBIDDEN.search(re.sub(r"Unset Strict Implicit", "", bare))
    assert set(re.findall(r"\b(?:Hypothesis|Context)\b[^.]*", bare)) == {
        "Hypothesis linear : is_linear constant expectation",
        "Hypothesis ind : independent_to expectation n x",
        "Hypothesis first : moment 0%N = 1",
        "Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y",
        "Hypothesis exp_positive : forall x, 0 < exp x",
        "Hypothesis exponential_add : forall x y, exponential (x + y) = exponential x * exponential y",
        "Hypothesis exponential_constant : forall c, exponential (constant c) = constant (exp c)",
    }


@pytest.mark.coq
@pytest.mark.parametrize("state", [true, refuted], ids=["laws", "refuted"])
def test_laws_are_proved_and_assume_nothing(program, tmp_path, state):
    program("coqc")
    results = coq_process.prove(written(state), tmp_path)
    assert {id: message for id, (ok, message) in results.items() if not ok} == {}
    assert all("nothing assumed" in message for _, message in results.values()), results


@pytest.mark.coq
def test_a_false_law_is_not_proved(program):
    program("coqc")
    results = coq_process.prove(written(false) | written(held))
    assert all(not ok and message.startswith(coq_process.NO_PROOF) for ok, message in results.values()), results


@pytest.mark.coq
def test_no_law_is_proved_without_what_it_assumes(program):
    program("coqc")
    text = written(true)["product"]
    planted = {}
    for k in range(1, 6):
        planted[f"c{k}"] = re.sub(rf"Hypothesis assumed_{k} : .*\n", "", text)
    assert all(t != text for t in planted.values())
    results = coq_process.prove(planted)
    assert all(not ok and message.startswith(coq_process.NO_PROOF) for ok, message in results.values()), results
