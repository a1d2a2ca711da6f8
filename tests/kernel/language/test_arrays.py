"""Tensors written out entry by entry, and refuted inequalities: what each witness does with them, and what is rejected."""

from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    E,
    array,
    exp,
    index,
    matrix,
    mean,
    nonnegative,
    random,
    scalars,
    sizes,
    softmax,
    variance,
    vector,
)
from derivations.kernel.check.claim_records import check_claim
from derivations.kernel.core.expr import lift, show
from derivations.kernel.errors import KernelError

n = sizes("n")
a, b = scalars("a b")
X, z = matrix("X", 2, n), vector("z", 2)
q = random("q", n)


def record_of(state):
    derivation = Derivation("test")
    state(derivation)
    return check_claim(derivation.claims[-1])


PRODUCTS = {
    "numbers": lambda D: D.identity("claim", array([[1, 2], [3, 4]]) @ array([[0, 1], [1, 0]]), array([[2, 1], [4, 3]])),
    "beside a symbolic size": lambda D: D.identity("claim", array([[0, 1], [1, 0]]) @ (array([[0, 1], [1, 0]]) @ X), X),
    "scalars": lambda D: D.identity("claim", array([[a, b]]).T @ array([[b, a]]), array([[a * b, a**2], [b**2, a * b]])),
    "inside softmax": lambda D: D.identity("claim", softmax(array([0, a]))[2], exp(a) / (1 + exp(a))),
    "of a vector's entries": lambda D: D.identity("claim", array([z[2], z[1]]) @ z, 2 * z[1] * z[2]),
}


@pytest.mark.parametrize("state", PRODUCTS.values(), ids=PRODUCTS)
def test_every_witness_reads_a_tensor_written_out(state):
    assert [w["verdict"] for w in record_of(state)["witnesses"]] == ["proved", "proved", "agrees"]


@pytest.mark.parametrize("right", [[[2, 1], [4, 4]], [[2, 4], [1, 3]]], ids=["an entry off by one", "transposed"])
def test_a_wrong_entry_is_rejected(right, rejection):
    error = rejection(lambda D: D.identity("claim", array([[1, 2], [3, 4]]) @ array([[0, 1], [1, 0]]), array(right)))
    assert error.code == "false-claim"


@pytest.mark.parametrize("rows", [[], [[]], [[1, 2], [3]], [1, [2]], [[1], [[2]]], ["1"], [0.5], [[1, True]], [z]])
def test_what_is_no_tensor_is_refused(rows):
    with pytest.raises(KernelError):
        array(rows)


def test_entries_stand_row_by_row_and_are_exact():
    made = array([[1, Fraction(1, 3)], [a, a + 1], [0, -2]])
    assert made.shape == (lift(3), lift(2)) and made.args[3] == a + 1
    assert show(made) == "[[1, 1/3], [a, a + 1], [0, -2]]"


def test_an_index_over_what_is_written_out_is_each_of_its_places_on_whichever_side_it_stands(proved, rejection):
    k = index("k", 2)
    for left, right in ((array([a, a])[k], a + 0), (a + 0, array([a, a])[k])):
        proved(lambda D: D.identity("claim", left, right))
        assert rejection(lambda D: D.identity("claim", left + array([0, b])[k], right)).code == "false-claim"


AT_MOST = {
    "numbers": lambda D: D.refute("claim", a, a**2, at={a: Fraction(1, 2)}, relation="<="),
    "weights": lambda D: D.refute("claim", softmax(z)[1], softmax(z)[2], at={z: [1, 0]}, relation="<="),
    "one entry of several": lambda D: D.refute("claim", z, softmax(z), at={z: [-5, 1]}, relation="<="),
    "a law": lambda D: D.refute("claim", E(q @ q), n, given=[mean(q, 0), variance(q, 2)], at={n: 3}, relation="<="),
}


@pytest.mark.parametrize("state", AT_MOST.values(), ids=AT_MOST)
def test_an_inequality_is_refuted_where_the_left_side_is_larger(state):
    record = record_of(state)
    assert [w["verdict"] for w in record["witnesses"]] == ["refuted", "refuted", "agrees"]
    assert record["refuted"] == "<=" and record["steps"][0]["relation"] == r"\nleq"


HOLDS = {
    "smaller": lambda D: D.refute("claim", a, a**2, at={a: 2}, relation="<="),
    "equal": lambda D: D.refute("claim", a, a**2, at={a: 1}, relation="<="),
    "equal, as balls": lambda D: D.refute("claim", exp(a) * exp(a), exp(2 * a), at={a: 1}, relation="<="),
    "in every entry": lambda D: D.refute("claim", softmax(z), array([1, 1]), at={z: [3, 4]}, relation="<="),
    "a law": lambda D: D.refute("claim", E(q @ q), 2 * n, given=[mean(q, 0), variance(q, 2)], at={n: 3}, relation="<="),
}


@pytest.mark.parametrize("state", HOLDS.values(), ids=HOLDS)
def test_an_inequality_that_holds_is_not_refuted(state, rejection, sympy_rejection):
    assert rejection(state).code in ("no-counterexample", "not-settled")  # balls that overlap settle nothing
    assert sympy_rejection(state).code == "sympy-disagrees"


def test_what_has_another_shape_is_not_larger(rejection):
    assert rejection(lambda D: D.refute("claim", z, array([0, 0, 0]), at={z: [1, 1]}, relation="<=")).code == "mismatched-sides"


def test_a_relation_that_is_none_is_rejected(rejection):
    assert rejection(lambda D: D.refute("claim", a, 0, at={a: 1}, relation=">=")).code == "unknown-relation"


def test_a_counterexample_to_an_inequality_keeps_to_the_assumptions(rejection):
    error = rejection(lambda D: D.refute("claim", 0, a, at={a: -1}, given=[nonnegative(a)], relation="<="))
    assert error.code == "broken-assumption" and "a = -1" in error.message


# Where a witness would have believed too much, or too little


def test_sympy_believes_nothing_where_the_assumptions_contradict_each_other():
    """Two orthonormal families that are orthogonal to each other need a space twice as wide; in a narrower one everything would follow."""
    from derivations.kernel import product_is
    from derivations.kernel.sympy.witness import witness

    d = sizes("d")
    A, B, Y = (matrix(name, d, d) for name in "ABY")
    derivation = Derivation("test")
    derivation.identity("claim", Y, 2 * Y, given=[product_is(A, A.T, 1), product_is(B, B.T, 1), product_is(B, A.T, 0)])
    assert witness(derivation.claims[0])[0] == "not applicable"


def test_the_allowance_for_underflow_is_not_itself_lost():
    import torch

    from derivations.kernel.pytorch.error_bounds import TINY, underflow_error

    assert underflow_error(torch.tensor([True, False])).tolist() == [TINY, 0.0] and TINY > 0
