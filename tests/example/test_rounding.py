"""Rounded weights, their outputs, and the bound on the error."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.example.closed import closed_weights
from snippets.example.integers import project_tokens, projections, tokens
from snippets.example.rounding import gap_bound, output_gap, to_places

varied = settings(derandomize=True, deadline=None, max_examples=60)


def test_the_weights_of_the_example_to_one_place():
    rounded = to_places(closed_weights(), places=1)
    assert rounded.tolist() == [[0.1, 0.5, 0.5], [0.0, 1.0, 0.0], [0.0, 0.9, 0.1]]
    assert rounded.sum(-1).tolist() == pytest.approx([1.1, 1.0, 1.0])
    # The source has the second and the third row, and 0 where the first has 0.1.
    assert rounded[0, 0] - closed_weights()[0, 0] < 0.05


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (["0", "1/2", "1/2"], ["2", "7", "3/2"]),
        (["1/10", "1/2", "1/2"], ["21/10", "36/5", "9/5"]),
    ],
)
def test_the_outputs_of_rounded_rows(row, expected):
    row, values = [Fraction(w) for w in row], [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
    assert [sum(w * v for w, v in zip(row, column)) for column in zip(*values)] == [Fraction(one) for one in expected]
    V = project_tokens(tokens(), projections()[2])
    weights_of, output = (torch.tensor([float(Fraction(one)) for one in ones]).double() for ones in (row, expected))
    torch.testing.assert_close(weights_of @ V, output)


def test_the_weighted_values_of_rounded_rows():
    """What the source adds up in its last step: each value by its rounded weight, in the source's first row and the other two."""
    weights = to_places(closed_weights(), places=1)
    weights[0, 0] = 0.0  # the source's, where 0.1 is nearer
    found = weights.unsqueeze(-1) * project_tokens(tokens(), projections()[2])  # (query, key, feature)
    printed = """
        0.0 0.0 0.0   1.0 4.0 0.0   1.0 3.0 1.5
        0.0 0.0 0.0   2.0 8.0 0.0   0.0 0.0 0.0
        0.0 0.0 0.0   1.8 7.2 0.0   0.2 0.6 0.3
    """
    assert [f"{one:.1f}" for one in found.flatten().tolist()] == printed.split()
    rows, values = ["0 1/2 1/2", "0 1 0", "0 9/10 1/10"], [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
    exact = [[[Fraction(w) * v for v in value] for w, value in zip(row.split(), values)] for row in rows]
    torch.testing.assert_close(found, torch.tensor([[[float(one) for one in value] for value in row] for row in exact]).double())
    assert [sum(feature) for feature in zip(*exact[0])] == [2, 7, Fraction("1.5")]


def test_ties_go_to_the_even_digit():
    assert to_places(torch.tensor([0.5, 1.5, 2.5, -0.5]).double(), places=0).tolist() == [0, 2, 2, 0]
    assert to_places(torch.tensor([0.25, 0.75]).double(), places=1).tolist() == [0.2, 0.8]


@given(st.integers(0, 9999), st.integers(1, 6), st.integers(1, 4))
@varied
def test_the_gap_stays_within_its_bound(seed, m, d_v):
    generator = torch.Generator().manual_seed(seed)
    p, r = torch.randn(2, 3, m, generator=generator, dtype=torch.float64).softmax(-1)
    V = torch.randn(m, d_v, generator=generator, dtype=torch.float64)
    gap, bound = output_gap(p, r, V), gap_bound(p, r, V)
    torch.testing.assert_close(gap, torch.einsum("bm,mv->bv", r - p, V).abs())
    assert gap.shape == bound.shape == (3, d_v)
    assert (gap <= bound * (1 + 1e-12)).all()
    # The bound is reached where the values are in proportion to the rounding.
    reached = output_gap(p[0], r[0], (r - p)[0].unsqueeze(-1)), gap_bound(p[0], r[0], (r - p)[0].unsqueeze(-1))
    torch.testing.assert_close(*reached)


def test_rounding_scores_is_not_rounding_weights():
    z = torch.tensor([0.0, 0.5]).double()
    assert to_places(z.softmax(-1), places=1).tolist() == [0.4, 0.6] and to_places(z, places=0).softmax(-1).tolist() == [0.5, 0.5]


def test_numbers_in_the_text():
    P, V = closed_weights()[0], project_tokens(tokens(), projections()[2])
    rounded = to_places(P, places=1)
    assert [f"{w:.3f}" for w in P.tolist()] == ["0.063", "0.468", "0.468"] and [f"{x:.2f}" for x in P @ V] == ["1.94", "6.68", "1.60"]
    assert (output_gap(P, rounded, V) / (P @ V)).max().item() == pytest.approx(0.128, abs=5e-4)
    assert [f"{x:.2f}" for x in output_gap(P, rounded, V)] == ["0.16", "0.52", "0.20"]
    assert [f"{x:.2f}" for x in gap_bound(P, rounded, V)] == ["0.17", "0.59", "0.25"]
    # Neither rounded row gives the exact output to one place.
    source, exact = torch.tensor([0.0, 0.5, 0.5]).double(), to_places(P @ V, places=1)
    assert not torch.equal(to_places(rounded @ V, places=1), exact) and not torch.equal(to_places(source @ V, places=1), exact)
