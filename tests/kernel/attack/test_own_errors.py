"""Errors of the judge, a witness or the drafting are raised or reported, and never count as "cannot tell" or as a killed mutant."""

from dataclasses import replace

import pytest

from derivations.kernel import (
    Derivation,
    E,
    exp,
    gaussian,
    independent,
    largest,
    mean,
    nonzero,
    random,
    scalars,
    sizes,
    softmax,
    variance,
    vector,
)
from derivations.kernel.attack import claim_families, fuzz_claim, judge, limit_intervals, mutant_trials
from derivations.kernel.attack.claim_mutants import make_mutants
from derivations.kernel.check import fuzz_run
from derivations.kernel.core.claims import Step
from derivations.kernel.core.constructors import I, Var
from derivations.kernel.errors import KernelError


class PlantedError(KernelError):
    code = "not-supported"


ERRORS = [TypeError, KeyError, ValueError, ZeroDivisionError, AttributeError, PlantedError]

n, m = sizes("n m")
x, y = scalars("x y")
u, q = vector("u", n), random("q", n)


def stated(method, *arguments, **more):
    derivation = Derivation("test")
    getattr(derivation, method)("claim", *arguments, **more)
    return derivation.claims[-1]


IDENTITY = stated("identity", (x - y) ** 2, x**2 - 2 * x * y + y**2)


def failing(error):
    def fail(*arguments, **keywords):
        raise error("planted")

    return fail


# The judge


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    "claim",
    [
        IDENTITY,
        stated("inequality", 2 * x * y, x**2 + y**2, because=(x - y) ** 2),
        stated("refute", x * y, x, at={x: 2, y: 3}),
    ],
    ids=["identity", "inequality", "refutation"],
)
def test_an_error_of_the_judge_is_raised(claim, error, monkeypatch):
    monkeypatch.setattr(judge, "differ", failing(error))
    with pytest.raises(error, match="planted"):
        judge.judge(claim)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_in_interval_arithmetic_is_raised(error, monkeypatch):
    monkeypatch.setattr(limit_intervals, "enclose", failing(error))
    with pytest.raises(error, match="planted"):
        judge.judge(stated("limit", (x + 1) / x, x, "oo", 1))


def test_the_judge_cannot_tell_what_is_too_large_for_its_numbers():
    verdict, reason = judge.judge(stated("identity", exp(exp(exp(500 + x**2))), exp(exp(exp(500 + x**2))) + 0 * y))
    assert verdict == "cannot tell" and reason.startswith("OverflowError")


@pytest.mark.parametrize(
    "claim, verdict",
    [
        (stated("inequality", I * I * x**2, 0, because=-(I * I) * x**2), "true"),
        (stated("inequality", -(I * I) * x**2, 0, because=I * I * x**2), "false"),
        (stated("identity", x ** (-(I * I)), x), "true"),
        (stated("identity", x ** (I * I), 1 / x, given=[nonzero(x)]), "true"),
        (stated("identity", x ** (I * I), x, given=[nonzero(x)]), "false"),
        (stated("identity", largest(-(I * I) * u), largest(u)), "true"),
        (stated("identity", largest(I * I * u), largest(u)), "false"),
        (stated("identity", largest(I * u), largest(u)), "cannot tell"),
    ],
)
def test_the_judge_orders_complex_numbers_without_an_imaginary_part(claim, verdict):
    assert judge.judge(claim)[0] == verdict


def test_the_judge_has_no_value_for_a_random_entry_where_nothing_is_averaged():
    assert judge.judge(stated("identity", x * q[1], q[1] * x)) == ("cannot tell", "a random entry outside an expectation")
    assert judge.judge(stated("identity", q[1] * E(q[1]), E(q[1]) * q[1], given=[variance(q, 1)]))[0] == "true"


def test_a_counterexample_has_no_value_for_a_random_entry_outside_an_expectation():
    outside = stated("refute", Var(q[1]) + n, q[1], at={n: 1}, given=[variance(q, 1)])
    assert judge.judge(outside) == ("cannot tell", "a random entry outside an expectation")
    inside = stated("refute", Var(q[1]) + n, E(q[1] - q[1]), at={n: 1}, given=[variance(q, 1)])
    assert judge.judge(inside)[0] == "true"


# Mutants


def test_a_mutant_on_which_a_witness_breaks_is_not_killed(monkeypatch):
    monkeypatch.setitem(mutant_trials.WITNESSES, "exact", lambda claim: "broke: TypeError")
    (told,) = mutant_trials.try_mutant_with_witnesses(make_mutants(IDENTITY)[0], IDENTITY, ["exact"])
    assert (told["outcome"], told["how"]) == ("unclassified", "broke: TypeError")


def test_pytorch_does_not_break_on_a_size_that_only_the_snippet_has():
    claim = stated("identity", softmax(u * n / m), softmax(n * u / m), code=[("snippets.attention.formula.attention_weights", u, m)])
    told = mutant_trials.WITNESSES["torch"](replace(claim, start=softmax(u * n), steps=(Step("=", softmax(n * u)),)))
    assert told == "refused"


def test_pytorch_does_not_break_on_a_random_entry_outside_an_expectation():
    k = random("k", n)
    given = [independent(q, k), gaussian(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]
    claim = stated("identity", E(exp(I * x * (q @ k))), (1 + x**2) ** (-n / 2), given=given)
    assert mutant_trials.WITNESSES["torch"](claim) == "accepted"
    assert mutant_trials.WITNESSES["torch"](replace(claim, start=claim.start.args[0])) == "not applicable"


# Random claims


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_of_the_judge_is_a_fault_of_the_random_claim(error, monkeypatch):
    monkeypatch.setattr(fuzz_claim, "judge", failing(error))
    outcome = fuzz_claim.fuzz_one(12, 0, {"exact": lambda claim: "refused"}, "polynomials", {"exact": 1})
    ((who, what, script),) = outcome.faults
    assert who == "judge" and f"{error.__name__}: " in what and "seed 12, claim 0" in what
    assert 'Derivation("pasted")' in script and outcome.truth == "undecided"
    counts = fuzz_run.empty_counts() | {"witnesses": {name: {"true, accepted": 1, "false, refused": 1} for name in fuzz_claim.SHARES}}
    assert fuzz_run.passes(counts)
    fuzz_run.add_counts(counts, fuzz_run.count_outcome(outcome))
    assert not fuzz_run.passes(counts)


@pytest.mark.parametrize("error", [IndexError, TypeError])
def test_an_error_of_the_drafting_is_raised(error, monkeypatch):
    monkeypatch.setitem(claim_families.FAMILIES, "polynomials", (failing(error), 1))
    with pytest.raises(error, match="planted"):
        claim_families.draw_claim(1, 1, "polynomials")
