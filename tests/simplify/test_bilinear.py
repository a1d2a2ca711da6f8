"""The merged scores against the split ones, what the merged matrix does not determine, and what each form costs."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

from snippets.simplify.bilinear import (
    change_gauge,
    merge_projections,
    merged_multiplications,
    merged_output,
    merged_scores,
    merging_saves,
    split_multiplications,
    split_output,
    split_scores,
)
from tests.shapes import mutually_broadcastable_shapes

varied = settings(derandomize=True, deadline=None, max_examples=60)
input_and_projections = mutually_broadcastable_shapes(signature="(n,d),(d,k),(d,k)->(n,n)", max_side=4)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


# The merge


@given(input_and_projections, st.integers(0, 99), st.sampled_from([None, 1.0, 0.3]))
@varied
def test_merged_scores_are_the_split_scores(shapes, seed, scale):
    X, W_Q, W_K = random(seed, *shapes.input_shapes)
    split = split_scores(X, W_Q, W_K, scale=scale)
    expected = torch.einsum("...id,...dk,...ek,...je->...ij", X, W_Q, W_K, X)
    expected = expected * (W_Q.shape[-1] ** -0.5 if scale is None else scale)
    assert split.shape == shapes.result_shape
    torch.testing.assert_close(split, expected)
    torch.testing.assert_close(merged_scores(X, merge_projections(W_Q, W_K, scale=scale)), expected)


def test_merged_scores_give_the_weights_of_pytorch():
    X, W_Q, W_K = random(0, (2, 5, 8), (8, 3), (8, 3))
    weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, torch.eye(5, dtype=torch.float64).expand(2, 5, 5))
    torch.testing.assert_close(merged_scores(X, merge_projections(W_Q, W_K)).softmax(-1), weights)


@pytest.mark.parametrize(("d", "d_k"), [(8, 1), (8, 3), (8, 8), (4, 9)])
def test_the_merged_matrix_has_the_rank_of_the_head_at_most(d, d_k):
    W_Q, W_K = random(d_k, (d, d_k), (d, d_k))
    W = merge_projections(W_Q, W_K)
    assert W.shape == (d, d)
    assert torch.linalg.matrix_rank(W).item() == min(d, d_k)


def test_a_matrix_of_higher_rank_than_d_k_is_no_merge_of_a_head():
    # The nearest matrix of rank d_k, cut from the singular value decomposition, is a merge; eye(3) itself is not.
    U, S, Vh = torch.linalg.svd(torch.eye(3, dtype=torch.float64))
    W = merge_projections(U[:, :2] * S[:2], Vh[:2].mT, scale=1.0)
    assert torch.linalg.matrix_norm(W - torch.eye(3), ord=2).item() == pytest.approx(1.0)


# What the scores do not determine


@given(mutually_broadcastable_shapes(signature="(d,k),(d,k),(k,k)->()", max_side=4), st.integers(0, 99))
@varied
def test_a_change_of_gauge_leaves_the_scores(shapes, seed):
    W_Q, W_K, M = random(seed, *shapes.input_shapes)
    M = M + 4 * torch.eye(M.shape[-1], dtype=torch.float64)  # invertible, and no identity
    V_Q, V_K = change_gauge(W_Q, W_K, M)
    torch.testing.assert_close(V_Q, W_Q @ M)
    torch.testing.assert_close(V_K, W_K @ torch.linalg.inv(M).transpose(-2, -1))
    W = merge_projections(W_Q, W_K)
    torch.testing.assert_close(merge_projections(V_Q, V_K), W.expand(merge_projections(V_Q, V_K).shape))
    assert not torch.allclose(V_Q, W_Q)


def test_a_singular_change_of_gauge_is_refused():
    singular = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], dtype=torch.float64)
    W_Q, W_K = random(0, (4, 3), (4, 3))
    with pytest.raises(ValueError, match="M has rank 2; expected 3, an invertible matrix"):
        change_gauge(W_Q, W_K, torch.stack([torch.eye(3, dtype=torch.float64), singular]))


@given(input_and_projections, st.integers(0, 99))
@varied
def test_swapping_query_and_key_transposes_the_scores(shapes, seed):
    X, W_Q, W_K = random(seed, *shapes.input_shapes)
    torch.testing.assert_close(split_scores(X, W_K, W_Q), split_scores(X, W_Q, W_K).transpose(-2, -1))
    torch.testing.assert_close(merge_projections(W_K, W_Q), merge_projections(W_Q, W_K).transpose(-2, -1))


def test_swapping_query_and_key_does_not_transpose_the_weights():
    X, W_Q, W_K = (torch.tensor(rows, dtype=torch.float64) for rows in ([[1, 0], [0, 1]], [[0], [1]], [[3], [1]]))
    W_K = W_K.log()  # the scores are ((0, 0), (log 3, 0))
    weights = torch.tensor([[1 / 2, 1 / 2], [3 / 4, 1 / 4]], dtype=torch.float64)
    swapped = torch.tensor([[1 / 4, 3 / 4], [1 / 2, 1 / 2]], dtype=torch.float64)
    torch.testing.assert_close(split_scores(X, W_Q, W_K).softmax(-1), weights)
    torch.testing.assert_close(split_scores(X, W_K, W_Q).softmax(-1), swapped)
    assert not torch.allclose(swapped, weights.T)


# The merge on the other side


@given(
    mutually_broadcastable_shapes(signature="(n,m),(m,d),(d,v),(v,d)->(n,d)", max_side=4),
    st.integers(0, 99),
)
@varied
def test_merged_output_is_the_split_output(shapes, seed):
    P, X, W_V, W_O = random(seed, *shapes.input_shapes)
    P = P.softmax(-1)
    expected = torch.einsum("...nm,...md,...dv,...ve->...ne", P, X, W_V, W_O)
    assert split_output(P, X, W_V, W_O).shape == shapes.result_shape
    torch.testing.assert_close(split_output(P, X, W_V, W_O), expected)
    torch.testing.assert_close(merged_output(P, X, W_V @ W_O), expected)


def test_split_output_is_a_head_of_pytorch():
    X, W_Q, W_K, W_V, W_O = random(0, (2, 5, 8), (8, 3), (8, 3), (8, 4), (4, 8))
    output = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V) @ W_O
    torch.testing.assert_close(split_output(split_scores(X, W_Q, W_K).softmax(-1), X, W_V, W_O), output)


# What each form costs


def multiplications(function, *args):
    """As PyTorch counts them: two floating-point operations for each."""
    with FlopCounterMode(display=False) as counter:
        function(*args)
    operations = counter.get_total_flops()
    assert operations > 0 and operations % 2 == 0
    return operations // 2


@pytest.mark.parametrize(("n", "d", "d_k"), [(1, 1, 1), (5, 8, 3), (7, 4, 4), (16, 6, 10)])
def test_the_counts_are_those_of_pytorch(n, d, d_k):
    X, W_Q, W_K, P = random(0, (n, d), (d, d_k), (d, d_k), (n, n))
    W = merge_projections(W_Q, W_K)
    assert multiplications(split_scores, X, W_Q, W_K) == split_multiplications(n, d, d_k)
    assert multiplications(merged_scores, X, W) == merged_multiplications(n, d)
    # The other merge costs the same, with d_v for d_k.
    assert multiplications(split_output, P, X, W_Q, W_K.mT) == split_multiplications(n, d, d_k)
    assert multiplications(merged_output, P, X, W) == merged_multiplications(n, d)


def test_merging_saves_exactly_when_the_merged_count_is_smaller():
    for n, d, d_k in itertools.product(range(1, 13), repeat=3):
        assert merging_saves(n, d, d_k) == (merged_multiplications(n, d) < split_multiplications(n, d, d_k))
        if 2 * d_k <= d:
            assert not merging_saves(n, d, d_k)
        if d_k >= d:
            assert merging_saves(n, d, d_k)


def test_merging_saves_is_exact_for_large_sizes():
    # At the threshold d_k = d (d + n) / (2 d + n), which is whole here, the counts are equal and nothing is saved.
    n, d = 3 * 10**30, 3 * 10**30
    d_k = 2 * 10**30
    assert split_multiplications(n, d, d_k) == merged_multiplications(n, d)
    assert not merging_saves(n, d, d_k) and merging_saves(n, d, d_k + 1)


def test_a_gauge_of_an_empty_batch_is_empty_and_one_that_is_not_square_is_refused():
    W_Q, W_K, M, tall = random(31, (5, 2), (5, 2), (0, 2, 2), (3, 2))
    assert [one.shape for one in change_gauge(W_Q, W_K, M)] == [(0, 5, 2), (0, 5, 2)]
    with pytest.raises(ValueError, match="M has rank 2; expected 3, an invertible matrix"):
        change_gauge(W_Q, W_K, tall)


# What the page says


def test_a_change_of_gauge_keeps_the_column_spaces():
    W_Q, W_K, M = random(21, (8, 3), (8, 3), (3, 3))
    for old, new in zip((W_Q, W_K), change_gauge(W_Q, W_K, M)):
        assert not torch.allclose(old, new)
        assert torch.linalg.matrix_rank(torch.cat([old, new], dim=-1)) == 3


def test_numbers_in_the_text():
    assert f"{split_multiplications(128, 512, 64) / 1e6:.1f} {merged_multiplications(128, 512) / 1e6:.1f}" == "9.4 41.9"
    assert not merging_saves(128, 512, 256)
    W_Q, W_K = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [0.0]])  # a head of width one, and two tokens
    X, W = torch.tensor([[1.0, 1.0], [2.0, 5.0]]), merge_projections(W_Q, W_K, scale=1.0)
    assert W.tolist() == [[1, 0], [2, 0]] and (X @ W_Q)[0].item() == 3 and (X @ W_K)[1].item() == 2 and (X[0] @ W).tolist() == [3, 0]
    for found in (split_scores(X, W_Q, W_K, scale=1.0), merged_scores(X, W), split_scores(X, 2 * W_Q, W_K / 2, scale=1.0)):
        assert found[0, 1].item() == 6
