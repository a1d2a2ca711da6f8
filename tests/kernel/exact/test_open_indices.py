"""An assumption about an entry with an open index holds at every value of the index, and for no other entry."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from derivations.kernel import (
    Derivation,
    E,
    absolute,
    diff,
    exp,
    eye,
    index,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    random,
    scalars,
    sizes,
    sqrt,
    total,
    vector,
)
from derivations.kernel.attack.judge import judge
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import lift, symbols
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.counterexample_search import draw_entries, is_satisfied
from derivations.kernel.exact.exact_evaluation import evaluate_everywhere
from derivations.kernel.exact.flint_numbers import Undefined, certainly_differ, to_fmpq
from derivations.kernel.exact.tree_to_normal_form import normalize
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch.witness import witness as by_pytorch
from derivations.kernel.sympy.witness import witness as by_sympy
from tests.nightly import nightly_after

n, m = sizes("n m")
x, y, c = scalars("x y c")
z, g, h, u = vector("z", n), vector("g", n), vector("h", n), vector("u", m)
A, K, v = matrix("A", n, n), matrix("K", n, m), vector("v", 3)
i, j, l = (index(name, n) for name in "ijl")
k, p = index("k", m), index("p", m)
q = random("q", n)
a, b = index("a", 3), index("b", 3)


def equal(left, right, *given):
    return lambda D: D.identity("claim", left, right, given=list(given))


def least(left, right, because, *given):
    return lambda D: D.inequality("claim", left, right, because=because, given=list(given))


TRUE = {
    "under a sum over it": equal(total(z[l] * g[l] / g[l], l), total(z[l], l), nonzero(g[l])),
    "under a sum over another": equal(total(z[l] * g[l] / g[l], l), total(z[l], l), nonzero(g[j])),
    "at another free index": equal(z[i] * g[i] / g[i], z[i], nonzero(g[j])),
    "at the same free index": equal(z[i] * g[i] / g[i], z[i], nonzero(g[i])),
    "at the first": equal(z[1] * g[1] / g[1], z[1], nonzero(g[l])),
    "under two sums": equal(total(K[i, k] * x / K[i, k], k, i), m * n * x, nonzero(K[j, p])),
    "turned": equal(x * A[j, i] / A[j, i], x, nonzero(A[i, j])),
    "on the diagonal": equal(x * A[i, i] / A[i, i], x, nonzero(A[j, j])),
    "on the diagonal too": equal(x * A[l, l] / A[l, l], x, nonzero(A[i, j])),
    "of a difference": equal(total(z[l] * (g[l] - h[l]) / (g[l] - h[l]), l), total(z[l], l), nonzero(g[i] - h[i])),
    "of a sum inside": equal(total(K[i, k], k) * x / total(K[i, k], k), x, nonzero(total(K[j, p], p))),
    "a root of each": equal(total(sqrt(z[l] ** 2), l), total(z[l], l), nonnegative(z[j])),
    "a logarithm of each": equal(total(exp(log(z[l])), l), total(z[l], l), positive(z[l])),
    "a logarithm of a vector": equal(exp(log(z)), z, positive(z[l])),
    "an absolute value": equal(total(absolute(z[l]), l), total(z[l], l), nonnegative(z[i])),
    "of a known size": equal(sqrt(v[a] ** 2), v[a], nonnegative(v[b])),
    "of a known size, summed": equal(total(sqrt(v[a] ** 2), a), v[1] + v[2] + v[3], nonnegative(v[b])),
    "a sum that is not negative": least(0, total(z[l], l), total(z[l], l), nonnegative(z[i])),
    "a product that is not negative": least(0, total(z[l] * g[l], l), total(z[l] * g[l], l), nonnegative(z[i]), nonnegative(g[j])),
    "a bound by a number": least(j, x + z[j] ** 2, x - j + z[j] ** 2, nonnegative(x - z[l] ** 2 - l)),
    "an upper bound": least(z[i], c, c - z[i] + 0 * c, nonnegative(c - z[j])),
    "an upper bound of a sum": least(total(z[l], l), n * c, total(c - z[l], l), nonnegative(c - z[j])),
    "an exponential beside it": equal(x * (exp(z[i]) - g[j]) / (exp(z[i]) - g[j]), x, nonzero(exp(z[l]) - g[i])),
    "the derivative of a logarithm": equal(z[i] * diff(log(z[i]), z[i]), 1, positive(z[j])),
}


@pytest.mark.parametrize("state", TRUE.values(), ids=TRUE)
def test_what_is_assumed_for_every_value_is_used_at_each_by_every_witness(state):
    D = Derivation("test")
    state(D)
    (claim,) = D.claims
    verdict = exact(claim)
    assert verdict.verdict == "proved" and all(verdict.needed)
    assert by_sympy(claim)[0] in ("proved", "not applicable") and by_pytorch(claim)[0] in ("agrees", "not applicable")


FALSE = {
    "of another vector": equal(total(z[l] * g[l] / g[l], l), total(z[l], l), nonzero(h[l])),
    "of the vector divided": equal(total(z[l] * g[l] / g[l], l), total(z[l], l), nonzero(z[l])),
    "shifted": equal(total(z[l] * (g[l] - 1) / (g[l] - 1), l), total(z[l], l), nonzero(g[l])),
    "shifted in the assumption": equal(total(z[l] * g[l] / g[l], l), total(z[l], l), nonzero(g[l] - 1)),
    "a polynomial of it": equal(z[i] * (g[i] ** 2 - g[i]) / (g[i] ** 2 - g[i]), z[i], nonzero(g[l])),
    "over another size": equal(u[k] * x / u[k], x, nonzero(g[l])),
    "its sum": equal(total(g[l], l) * x / total(g[l], l), x, nonzero(g[l])),
    "a slip beside a division under a sum": equal(total(z[l] * (g[l] - 2 * h[l]) / (g[l] - h[l]), l), total(z[l], l), nonzero(g[i] - h[i])),
    "each where the sum is known": equal(g[i] * x / g[i], x, nonzero(total(g[l], l))),
    "two of it": equal((g[i] + g[j]) * x / (g[i] + g[j]), x, nonzero(g[l])),
    "a difference of two": equal((g[i] - g[j]) * x / (g[i] - g[j]), x, positive(g[l])),
    "each where the first is known": equal(g[l] * x / g[l], x, nonzero(g[1])),
    "another constant place": equal(v[2] * x / v[2], x, nonzero(v[1])),
    "a sum of constant places": equal((v[1] + v[2]) * x / (v[1] + v[2]), x, nonzero(v[a])),
    "beside the diagonal": equal(A[i, j] * x / A[i, j], x, nonzero(A[l, l])),
    "a difference across the diagonal": equal((A[i, j] - A[j, i]) * x / (A[i, j] - A[j, i]), x, positive(A[i, j])),
    "a product of rows": equal((K @ K.T)[i, j] * x / (K @ K.T)[i, j], x, nonzero(K[i, k])),
    "the sums of the other axis": equal(total(K[i, k], i) * x / total(K[i, k], i), x, nonzero(total(K[i, k], k))),
    "one entry of two in a difference": equal((z[i] - z[j]) * x / (z[i] - z[j]), x, nonzero(z[i] - g[j])),
    "a function of another": equal((exp(g[i]) - 1) * x / (exp(g[i]) - 1), x, nonzero(exp(z[l]) - 1)),
    "another function": equal((exp(2 * z[i]) - 2) * x / (exp(2 * z[i]) - 2), x, nonzero(exp(z[l]) - 2)),
    "a number, over another size": equal((k - x) * y / (k - x), y, nonzero(l - x)),
    "a bound by a number, over another size": least(k, x + u[k] ** 2, x - k + u[k] ** 2, nonnegative(x - g[l] - l), nonnegative(g[l])),
    "an identity of another size": equal((eye(m)[k, p] + x) * y / (eye(m)[k, p] + x), y, nonzero(eye(n)[i, j] + x)),
    "not zero, not a sign": equal(total(sqrt(z[l] ** 2), l), total(z[l], l), nonzero(z[l])),
    "the other sign": equal(sqrt(z[i] ** 2), z[i], nonnegative(-z[l])),
    "another lower bound": equal(sqrt(z[i] ** 2), z[i], nonnegative(z[l] + 1)),
    "an upper bound": equal(sqrt((z[i] - c) ** 2), z[i] - c, nonnegative(c - z[j])),
    "a sign of a product": equal(sqrt(z[i] ** 2), z[i], positive(z[l] * g[l])),
    "a root of another": equal(sqrt(z[i]) ** 2, z[i], nonnegative(g[i])),
    "a division by what may be zero": equal(total(z[l] * g[l] / g[l], l), total(z[l], l), nonnegative(g[l])),
    "a sum of another": least(0, total(z[l], l), total(z[l], l), nonnegative(g[l])),
    "a product with another": least(0, total(z[l] * g[l], l), total(z[l] * g[l], l), nonnegative(z[l])),
    "a sum less one": least(0, total(z[l], l) - 1, total(z[l], l) - 1 + 0 * x, positive(z[l])),
    "a bound the wrong way": least(c, z[i], z[i] - c + 0 * c, nonnegative(c - z[j])),
    "a known size": least(0, v[1] - v[2], v[1] + -v[2], nonnegative(v[a])),
    "the derivative of an absolute value at zero": equal(diff(absolute(z[i]), z[i]) * sqrt(z[i]), sqrt(z[i]), nonnegative(z[l])),
    "the derivative of a root at zero": equal(diff(sqrt(z[i] ** 2), z[i]) * sqrt(z[i]), sqrt(z[i]), nonnegative(z[l])),
}


@pytest.mark.parametrize("state", FALSE.values(), ids=FALSE)
def test_what_is_assumed_of_one_thing_is_not_used_for_another(state, rejection):
    assert rejection(state).code not in ("assumption-not-needed", "need-not-shown")  # then the proof itself would have gone through


REFUTED = {
    "an entry": lambda D: D.refute("claim", z[i], 2 * z[i], at={z: [0, 2], i: 2}),
    "beside an entry without a value": lambda D: D.refute("claim", 1 / z[i], z[i], at={z: [0, 2], i: 2}),
    "a sum": lambda D: D.refute("claim", total(K[i, k], k), 2 * total(K[i, k], k), at={K: [[0, 0], [1, 2]], i: 2}),
    "the number itself": lambda D: D.refute("claim", z[i] * i, z[i], at={z: [3, 2], i: 2}, relation="<="),
    "a known size": lambda D: D.refute("claim", eye(3)[a, 1], 1 + 0 * a, at={a: 2}),
    "two": lambda D: D.refute("claim", A[i, j], A[j, i], at={A: [[1, 2], [3, 1]], j: 1, i: 2}),
    "given before its size": lambda D: D.refute("claim", z[i] + i, z[i] + 1, at={i: 2, z: [1, 1]}),
    "where another sum has its name": lambda D: D.refute("claim", total(z[i], i) + z[i], z[i], at={z: [0, 2], i: 1}),
    "under an assumption about every value": lambda D: D.refute(
        "claim", z[i] / g[i], z[i], at={z: [1, 1], g: [1, 2], i: 2}, given=[nonzero(g[j])], without={nonzero(g[j]): {z: [1], g: [0], i: 1}}
    ),
    "in a law": lambda D: D.refute("claim", E(q[i]) * i, E(q[i]), at={n: 2, i: 2}, given=[mean(q, 1)]),
}


@pytest.mark.parametrize("state", REFUTED.values(), ids=REFUTED)
def test_a_counterexample_may_give_values_to_free_indices(state):
    D = Derivation("test")
    state(D)
    (claim,) = D.claims
    assert exact(claim).verdict == "refuted"
    assert by_sympy(claim)[0] in ("refuted", "not applicable") and by_pytorch(claim)[0] == "agrees"
    assert judge(claim)[0] == "true"


NOT_REFUTED = {
    "equal there": lambda D: D.refute("claim", z[i], 2 * z[i], at={z: [0, 2], i: 1}),
    "outside": lambda D: D.refute("claim", z[i], 2 * z[i], at={z: [1, 2], i: 3}),
    "before the first": lambda D: D.refute("claim", z[i], 2 * z[i], at={z: [1, 2], i: 0}),
    "a fraction": lambda D: D.refute("claim", z[i], 2 * z[i], at={z: [1, 2], i: Fraction(3, 2)}),
    "an assumption broken elsewhere": lambda D: D.refute("claim", z[i], 2 * z[i], at={z: [1, -2], i: 1}, given=[positive(z[j])]),
}


@pytest.mark.parametrize("state", NOT_REFUTED.values(), ids=NOT_REFUTED)
def test_every_witness_refuses_values_of_indices_that_are_no_counterexample(state, request):
    D = Derivation("test")
    state(D)
    (claim,) = D.claims
    # SymPy leaves what a counterexample breaks to the others.
    witnesses = (exact, by_pytorch) if "assumption" in request.node.name else (exact, by_pytorch, by_sympy)
    for witness in witnesses:
        with pytest.raises(Rejected):
            witness(claim)
    assert judge(claim)[0] == "false"


# What the facts say of random polynomials, against their values at random places where the assumption holds for every index.


def some_term(r: Random, indices: list):
    first, second = (r.choice(indices) for _ in range(2))
    return r.choice(
        [z[first], g[first], A[first, second], A[second, second], eye(n)[first, second], first, x, lift(1), u[r.choice([k, p])], v[1], v[a]]
        + [z[1], K[first, k], total(A[first, l], l), total(z[l] * A[l, first], l), absolute(z[first]), exp(z[first])]
    )


def some_polynomial(r: Random, indices: list):
    result = lift(0)
    for _ in range(r.randint(1, 3)):
        term = some_term(r, indices)
        if r.random() < 0.3:
            term = term * some_term(r, indices)
        result = result + r.choice([1, 1, 1, -1, 2]) * term
    return result


ASKED = {"positive": lambda w: w > 0, "nonnegative": lambda w: w >= 0, "nonzero": lambda w: certainly_differ(w, to_fmpq(0))}


@pytest.mark.parametrize("seed, rounds", nightly_after(1, [(7, 300), (8, 1500)]))
def test_what_follows_from_open_assumptions_holds_wherever_they_do(seed, rounds):
    r, settled, by_assumption = Random(seed), 0, 0
    for _ in range(rounds):
        given = [r.choice([positive, nonnegative, nonzero])(some_polynomial(r, [i, j])) for _ in range(r.randint(1, 2))]
        (stated,) = r.choice(given).args
        asked = r.choice([stated, some_polynomial(r, [i, j, l]), stated + some_term(r, [i, l]), stated * some_term(r, [i, l])])
        swap = {i: r.choice([i, j, l]), j: r.choice([i, j, l])}
        asked = replaced(asked, swap)
        facts = collect_facts(tuple(given))
        kinds = [kind for kind in ASKED if getattr(facts, f"is_{kind}")(normalize(asked, facts))]
        without = collect_facts(())
        by_assumption += any(not getattr(without, f"is_{kind}")(normalize(asked, without)) for kind in kinds)
        for env in places(r, given, asked) if kinds else ():
            settled += 1
            assert all(ASKED[kind](w) for kind in kinds for w in evaluate_everywhere(asked, env)), (given, asked, env)
    assert settled > rounds / 8 and by_assumption > rounds / 30


def replaced(e, swap: dict):
    """The free indices replaced; a sum over one of them keeps its own."""
    if e in swap:
        return swap[e]
    inner = {old: new for old, new in swap.items() if e.op != "sum" or e.data[0] not in (old.data[0], new.data[0])}
    return type(e)(e.op, tuple(replaced(part, inner) for part in e.args), e.shape, e.data)


def places(r: Random, given: list, asked):
    """Values at which the assumptions hold for every value of their indices."""
    named = symbols(asked, *(e for assumption in given for e in assumption.args)).values()
    lengths = [s.data[0] for s in named if s.data[1] == "size"]
    for chosen in product((1, 2), repeat=len(lengths)):
        env = dict(zip(lengths, chosen))
        for _ in range(6):
            env |= {s.data[0]: draw_entries(s, env, r) for s in named if s.data[1] != "size"}
            try:
                if all(is_satisfied(assumption, env, asked, asked) for assumption in given):
                    yield dict(env)
            except Undefined:
                continue
