"""The sizes at which SymPy is asked, the point that is looked at where what is assumed is an equation of matrices, and the points at which
code is tried at many sizes."""

import pytest
import sympy as sp
import torch

from derivations.kernel import (
    Derivation,
    E,
    diff,
    exp,
    gaussian,
    independent,
    index,
    matrix,
    mean,
    nonnegative,
    ones,
    product_is,
    random,
    representable,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch.identities import further_trials
from derivations.kernel.pytorch.sampling import draw, draw_entries
from derivations.kernel.pytorch.trial_sizes import LONG
from derivations.kernel.pytorch.witness import witness
from derivations.kernel.sympy.prelude.steps import unit_rows

Q = {(i, j): sp.Symbol(f"Q[{i},{j}]") for i in (1, 2) for j in (1, 2, 3)}
LENGTHS = [sum(Q[i, j] ** 2 for j in (1, 2, 3)) - 1 for i in (1, 2)]
RIGHT_ANGLE = sum(Q[1, j] * Q[2, j] for j in (1, 2, 3))


def test_rows_that_are_orthogonal_are_looked_at_as_unit_vectors():
    assert unit_rows([*LENGTHS, RIGHT_ANGLE]) == {x: int(i == j) for (i, j), x in Q.items()}


def test_there_is_no_such_point_where_an_equation_rules_it_out():
    assert unit_rows([*LENGTHS, RIGHT_ANGLE - 1]) == {} and unit_rows([]) == {}


def test_of_a_matrix_and_its_inverse_each_has_unit_vectors_of_its_own():
    L, A = ({(i, j): sp.Symbol(f"{name}[{i},{j}]") for i in (1, 2) for j in (1, 2)} for name in "LA")
    inverse = [sum(L[i, k] * A[k, j] for k in (1, 2)) - int(i == j) for i in (1, 2) for j in (1, 2)]
    assert unit_rows(inverse) == {x: int(i == j) for matrix in (L, A) for (i, j), x in matrix.items()}


def test_only_entries_of_matrices_are_rows():
    assert unit_rows([sp.Symbol("z[1]") - 1]) == {} and unit_rows([sp.Symbol("x") ** 2 - x for x in Q.values()]) == {}


def test_what_needs_three_of_something_is_seen_where_it_is_hard_to_prove(sympy_rejection):
    """Half the sum of all differences' squares, with an index that nothing binds: so it is with one entry, and with two."""
    m = sizes("m")
    z, i, j = vector("z", m), index("i", m), index("j", m)
    p = softmax(z)
    pairs = total((z[j] - z[i]) ** 2 * p[i] * p[j], i, j) / 2
    open_ = total((z[j] - z[i]) ** 2 * p[i] * p[j], j) * m / 2
    assert "m = 3" in sympy_rejection(lambda D: D.identity("claim", pairs, open_)).message


n, d = sizes("n d")
W, X = matrix("W", n, d), matrix("X", n, n)


def vanishing(size):
    """What is 0 at 1, 2, 3 and 4."""
    return (size - 1) * (size - 2) * (size - 3) * (size - 4)


def test_beside_softmax_a_size_takes_more_values_than_its_degree(sympy_rejection):
    """What vanishes at one, two, three and five, and is of degree seven."""
    m = sizes("m")
    v, i, j = vector("v", m), index("i", m), index("j", m)
    term = m**3 * (m - 1) * (m - 2) * (m - 3) * (m - 5)
    assert "m = 4" in sympy_rejection(lambda D: D.identity("claim", softmax(v)[j] + term, (exp(v) / total(exp(v[i]), i))[j])).message


def test_beside_a_derivative_a_false_term_is_seen_before_sizes_that_take_minutes(sympy_rejection):
    m, d_k = sizes("m d_k")
    q, K, j, l = vector("q", d_k), matrix("K", m, d_k), index("j", m), index("l", d_k)
    slope = diff(softmax(K @ q)[j], q[l])
    said = sympy_rejection(lambda D: D.identity("claim", slope + vanishing(d_k), slope)).message
    assert "d_k = 5" in said and "m = 1" in said


def test_a_term_that_counts_at_large_sizes_only_is_seen_beside_an_assumption_about_a_product(sympy_rejection):
    given = [product_is(W, W.T, 1)]
    said = sympy_rejection(lambda D: D.identity("claim", X @ W @ W.T, X + vanishing(n) * ones(n, n), given=given)).message
    assert "n = 5" in said and "unit vectors" in said


def points(*given, seed=0, rounds=False):
    """The numbers at which code would be tried at a size of 9, a row a point."""
    m = sizes("m")
    v, j = vector("v", m), index("j", m)
    D = Derivation("Tried")
    left = v[j] + (rounded(v[j]) if rounds else v[j])
    D.identity("claim", left, 2 * v[j], given=[one(v[j]) for one in given])
    return draw(D.claims[0], {"m": 9}, seed, telling=2).values["v"].value.flatten(1).tolist()


def test_code_is_tried_with_ordinary_numbers_and_by_turns_with_one_number_zeros_among_others_and_unlike_ones():
    for seed in range(9):
        ordinary, beside = points(seed=seed)
        assert len(set(ordinary)) == 9 and 0.1 < max(map(abs, ordinary)) < 9
        kinds = (len(set(beside)) == 1, 0 in beside and len(set(beside)) > 1, 0 not in beside and len(set(beside)) == 9)
        assert kinds == tuple(kind == seed % 3 for kind in range(3)) and any(beside)
    assert max(abs(x) for seed in range(2, 27, 3) for x in points(seed=seed)[1]) > 50
    assert all(x >= 0 for row in points(nonnegative) for x in row)


def test_code_about_rounding_is_tried_at_many_sizes_with_ordinary_numbers_too():
    ordinary, alike = points(representable, rounds=True)
    assert len(set(ordinary)) == 9 and 0.1 < max(map(abs, ordinary)) < 9 and len(set(alike)) == 1


def test_where_these_break_what_is_assumed_it_is_tried_with_numbers_of_other_kinds():
    rows = points(lambda x: nonnegative(x**2 - 9))
    assert rows and all(abs(x) >= 3 for row in rows for x in row)


def test_at_many_sizes_code_is_not_tried_on_the_edge_of_what_is_assumed_alone():
    """Where a slope is claimed, some points are moved there: ordinary numbers beside a 0 hide what is wrong with code that multiplies by it."""
    m, a = sizes("m"), scalars("a")
    z, j, k = vector("z", m), index("j", m), index("k", m)
    D = Derivation("Tried")
    D.identity("slope", diff(sqrt(a) * total(exp(z[j]), j), z[k]), sqrt(a) * exp(z[k]), given=[nonnegative(a)])
    for size, telling in ((16, 2), (65, 1)):
        assert (draw(D.claims[0], {"m": size}, 0, telling=telling).values["a"].value > 0).all()
        for seed in (3, 5):  # where no other numbers are 0
            drawn = draw(D.claims[0], {"m": size}, seed, telling=telling).values["a"].value.flatten().tolist()
            assert [x > 0 for x in drawn] == [True, False][:telling]


def test_at_many_sizes_code_meets_rotations_and_permutations_with_ordinary_numbers():
    m = sizes("m")
    x, R = vector("x", m), matrix("R", m, m)
    D = Derivation("Tried")
    D.identity("turned", (x @ R) @ R.T, x, given=[product_is(R, R.T, 1)])
    for size, telling in ((16, 2), (65, 1)):
        for seed in range(4):
            found = draw(D.claims[0], {"m": size}, seed, telling=telling).values
            turned, row = found["R"].value[0], found["x"].value[0]
            assert bool((turned != turned.round()).any()) == (seed % 2 == 0) and row.unique().numel() == size


def test_numbers_that_overflow_are_drawn_where_those_of_quadrature_are_small():
    """With what is rounded beside what is random: the first are tried as far as they overflow."""
    generator = torch.Generator().manual_seed(0)
    drawn = draw_entries(generator, (4,), 64, small=True, rough=True, coarse=True).abs()
    assert drawn.max() > 2.0**60 and ((drawn <= 0.5) | (drawn > 2.0**40)).all()
    assert draw_entries(generator, (4,), 64, small=True, rough=False, coarse=False).abs().max() <= 0.5


def test_at_some_long_sizes_code_is_tried_with_other_than_ordinary_numbers_too():
    m = sizes("m")
    v, j = vector("v", m), index("j", m)
    D = Derivation("Tried")
    D.identity("claim", v[j] + v[j], 2 * v[j])
    points = {t.sizes["m"]: len(t.values["v"].value) for t in further_trials(D.claims[0]) if t.sizes["m"] in LONG}
    assert points == {65: 1, 100: 2, 129: 1, 257: 1, 1025: 2}


def test_a_law_holds_beside_what_is_rounded():
    """Whole numbers up to 9 as coefficients would be too large for the few points at which three laws at once are averaged."""
    x, y, z = map(random, "xyz")
    b = scalars("b")
    given = [one for v in (x, y, z) for one in (gaussian(v), mean(v, 0), variance(v, 1))] + [independent(x, y, z), representable(b)]
    D = Derivation("Tried")
    D.identity("claim", E(exp(b * (x + y + z))) + rounded(b), exp(3 * b**2 / 2) + rounded(b), given=given)
    assert witness(D.claims[0])[0] == "agrees"


@pytest.mark.parametrize(
    ("here", "there", "at"),
    [
        (lambda m, n: m > 2, lambda m, n: [m > 2, n > 1], "m = 3, n = 1"),
        (lambda m, n: [n <= 1, m <= 1], lambda m, n: [n - 1 < 2, m <= 1], "m = 1, n = 2"),
    ],
)
def test_small_sizes_are_combined_if_a_claim_has_conditions(here, there, at):
    n, m = sizes("n m")
    y, k = scalars("y"), index("k", m)
    derivation = Derivation("test")
    derivation.identity("claim", total(y, k, where=here(m, n)), total(y, k, where=there(m, n)), title="Wrong at one shape alone")
    with pytest.raises(Rejected, match=f"at {at}"):
        witness(derivation.claims[0])


def test_sympy_also_tries_sizes_that_are_large_together_if_a_claim_has_conditions(sympy_rejection):
    n, m = sizes("n m")
    w, A = vector("w", m), matrix("A", n, m)
    l, i, b = index("l", m), index("i", n), index("b", m)
    term, where = w[l] * A[i, l], [i >= 2, i <= 2]
    error = sympy_rejection(
        lambda D: D.identity("claim", total(-term, l, where=where), total(total(i, b, where=i < m - 1) - term, l, where=where))
    )
    assert "m = 5, n = 4" in str(error)
