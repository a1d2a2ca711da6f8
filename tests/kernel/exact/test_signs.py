"""The exact witness never infers a wrong sign, in particular for nested sums, whose indices are easily confused."""

from fractions import Fraction
from random import Random

import pytest

from derivations.kernel import (
    Derivation,
    absolute,
    diff,
    each,
    exp,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    ones,
    positive,
    scalars,
    sizes,
    sqrt,
    total,
    vector,
    zero_or_one,
)
from derivations.kernel.attack import mutant_trials
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import normal_form
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.counterexample_search import is_satisfied
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import Undefined, to_fmpq
from derivations.kernel.exact.tree_to_normal_form import normalize
from tests.nightly import nightly_after

n = sizes("n")
i, j = index("i", n), index("j", n)
x = scalars("x")
S, u, v, k = matrix("S", n, n), vector("u", n), vector("v", n), vector("k", n)
FACTS = (
    positive(S[i, i]),
    nonnegative(S[i, i]),
    positive(S[i, j]),
    nonnegative(S[1, i]),
    nonzero(S[i, j]),
    nonzero(u[j] * S[j, i]),
    nonzero(u[i] * total(S[i, j], j)),
    positive(u[i]),
    nonnegative(u[i] - v[j]),
    nonnegative(u[i] - 1 / sqrt(i)),
    zero_or_one(k),
)
NUMBERS = (0, 1, -1, 1, -1, 2, -2, Fraction(1, 2))
WRONG = {"is_positive": lambda value: value <= 0, "is_nonnegative": lambda value: value < 0, "is_nonzero": lambda value: value == 0}


def tree(random):
    """Two sums, one in the other, of what facts are known of."""
    parts = (
        S[i, j],
        S[i, j],
        S[i, i],
        S[j, i],
        S[i, j] * u[j],
        u[i] - v[j],
        S[i, j] + u[i],
        exp(S[i, j]) - 1,
        k[j] * S[i, j],
        k[j] * log(1 + k[j]),
    )
    part = random.choice(parts)
    inner = total(random.choice((part, part, absolute(part), part**2, 1 / part)), j)
    return total(random.choice((inner, absolute(inner), absolute(inner), inner**2, 1 / inner, u[i] * inner, k[i] * inner)), i)


def values_at(random, size):
    drawn = {"S": (size, size), "u": (size,), "v": (size,), "k": (size,)}

    def entries(name, shape):
        places = [(a, b) for a in range(shape[0]) for b in range(shape[1])] if len(shape) == 2 else [(a,) for a in range(shape[0])]
        return {place: to_fmpq(random.choice((0, 1) if name == "k" else NUMBERS)) for place in places}

    return {"n": size} | {name: entries(name, shape) for name, shape in drawn.items()}


def seen_wrongly(seed):
    """What is said of the sign of a random tree, and is not so at some values."""
    random = Random(seed)
    given, e = tuple(dict.fromkeys(random.choice(FACTS) for _ in range(2))), tree(random)
    facts = collect_facts(given)
    try:
        p = normalize(e, facts)
        said = [question for question in WRONG if getattr(facts, question)(p)]
    except KernelError:
        return []
    for _ in range(40 if said else 0):
        env = values_at(random, random.choice((1, 2, 2, 3)))
        try:
            value = evaluate(e, env)[()] if all(is_satisfied(a, env, e, e) for a in given) else None
        except (Undefined, KernelError):
            continue
        if wrong := [question for question in said if value is not None and WRONG[question](value)]:
            return wrong
    return []


@pytest.mark.parametrize("seeds", nightly_after(1, [range(80), range(80, 400)]))
def test_no_sign_is_seen_that_is_not_there(seeds):
    assert {seed: wrong for seed in seeds if (wrong := seen_wrongly(seed))} == {}


@pytest.mark.nightly
def test_two_levels_of_indices_that_are_held_by_one_name_are_found_out(monkeypatch):
    monkeypatch.setattr(normal_form, "free_bound_indices", lambda indices: tuple(("held", (*a, 1)) if a[0] == "b" else a for a in indices))
    assert sum(bool(seen_wrongly(seed)) for seed in range(400)) > 2


# The scripts in which it once mattered ------------------------------------------------------------------------------------------

h = total(absolute(total(S[i, j], j)), i)
gap = 2**40 * absolute(u[i] - Fraction(3, 7))
row = total((gap + S[i, j]) / (1 + gap + S[i, j] ** 2), j)
score = total(k[j] * ((gap + S[i, j]) / (1 + gap + S[i, j] ** 2)), j)
T, five, two = matrix("T", 5, 2), index("five", 5), index("two", 2)


def stated(method, *arguments, **more):
    derivation = Derivation("test")
    getattr(derivation, method)("claim", *arguments, **more)
    return derivation.claims[-1]


@pytest.mark.parametrize(
    "left, right",
    [
        (x * h / h, x),
        (each(absolute(total(S[i, j], j)) / h, i) @ ones(n), 1),
        (sqrt(h) * sqrt(h) / h, 1),
        (diff(x * h / h, x), 1),
    ],
)
@pytest.mark.parametrize("witness", ["exact", "torch"])
def test_a_sum_of_sums_may_vanish_though_a_diagonal_is_positive(left, right, witness):
    """Two witnesses ask whether what is divided by may be 0, each in its own way."""
    assert mutant_trials.WITNESSES[witness](stated("identity", left, right, given=[positive(S[i, i])])) == "refused"
    assert mutant_trials.WITNESSES[witness](stated("identity", left, right, given=[positive(h)])) == "accepted"


@pytest.mark.parametrize(
    "left, right, because, given",
    [
        (0, 1 / h, 1 / h, [positive(S[i, i])]),
        (0, total(1 / row, i), total(1 / row, i), [nonnegative(S[i, i]), nonzero(row)]),
        (
            0,
            total(k[i] * log(k[i] * exp(score) + 1 - k[i]), i),
            total(k[i] * log(k[i] * exp(score) + 1 - k[i]), i),
            [zero_or_one(k), nonnegative(S[i, i])],
        ),
        (1, T[5, 1], T[5, 1] - 1 + 0 * T[1, 1], [nonnegative(T[five, two] - 1 / sqrt(five))]),
    ],
)
def test_no_bound_rests_on_a_sign_that_is_not_there(left, right, because, given):
    claim = stated("inequality", left, right, because=because, given=given)
    assert mutant_trials.WITNESSES["exact"](claim) == "refused"


def test_an_edge_is_met_where_two_indices_are_open():
    claim = stated("inequality", 1, T[5, 1], because=T[5, 1] - 1 + 0 * T[1, 1], given=[nonnegative(T[five, two] - 1 / sqrt(five))])
    assert mutant_trials.WITNESSES["torch"](claim) == "refused"
    true = stated("inequality", 0, T[5, 1], because=T[5, 1] - 1 / sqrt(five) * 0, given=[nonnegative(T[five, two] - 1 / sqrt(five))])
    assert mutant_trials.WITNESSES["torch"](true) == "accepted"


def test_a_root_of_an_index_stays_one_where_the_index_is_a_number():
    facts = collect_facts(())
    assert normalize(total(1 / sqrt(five), five), facts) == normalize(1 + 1 / sqrt(2) + 1 / sqrt(3) + Fraction(1, 2) + 1 / sqrt(5), facts)


def test_what_rests_on_itself_is_not_shown(rejection):
    """u is at least sqrt(u), and sqrt(u) is not negative where u is not: that says nothing of u."""
    left, right, known = sqrt(u[i] - sqrt(u[i])) ** 2, u[i] - sqrt(u[i]), nonnegative(u[i] - sqrt(u[i]))
    error = rejection(lambda D: D.identity("claim", left, right, given=[known]))
    assert error.code == "assumption-missing" and "nonnegative(u[i])" in error.message
    assert rejection(lambda D: D.identity("claim", left, right, given=[nonnegative(u[i]), known])).code == "need-not-shown"
    facts = collect_facts((nonnegative(u[i]), known))
    assert not facts.unstated and normalize(left, facts) == normalize(right, facts) and not facts.unstated
