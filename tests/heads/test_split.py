"""Splitting and combining against loops over plain indices, the fused products against loops over heads, and the slip."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import scores
from snippets.heads.split import (
    combine_and_project,
    combine_heads,
    one_wide_head,
    project_and_add,
    project_each,
    project_fused,
    split_heads,
    split_heads_wrong,
    sum_of_heads,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


SIZES = [((), 1, 1, 1), ((), 5, 4, 3), ((2,), 3, 1, 6), ((2, 3), 4, 6, 1), ((0,), 4, 2, 3)]  # leading axes, n, heads, d_k


@pytest.mark.parametrize(("leading", "n", "heads", "d_k"), SIZES)
def test_a_split_puts_each_feature_where_it_belongs(leading, n, heads, d_k):
    (x,) = random(0, (*leading, n, heads * d_k))
    split = split_heads(x, num_heads=heads)
    assert split.shape == (*leading, heads, n, d_k)
    for i in range(heads):
        for t in range(n):
            for f in range(d_k):
                assert split[..., i, t, f].equal(x[..., t, i * d_k + f])


@pytest.mark.parametrize(("leading", "n", "heads", "d_k"), SIZES)
def test_combining_undoes_splitting_and_the_other_way_round(leading, n, heads, d_k):
    x, O = random(1, (*leading, n, heads * d_k), (*leading, heads, n, d_k))
    assert combine_heads(split_heads(x, num_heads=heads)).equal(x)
    assert split_heads(combine_heads(O), num_heads=heads).equal(O)
    assert combine_heads(O).equal(torch.cat(O.unbind(-3), dim=-1))


def test_a_split_copies_nothing():
    (x,) = random(2, (5, 12))
    assert split_heads(x, num_heads=3).data_ptr() == x.data_ptr()


@pytest.mark.parametrize(("leading", "n", "heads", "d_k"), SIZES)
def test_one_projection_is_a_loop_over_heads(leading, n, heads, d_k):
    x, W = random(3, (*leading, n, 7), (7, heads * d_k))
    expected = torch.einsum("...nd,dhk->...hnk", x, W.view(7, heads, d_k))
    torch.testing.assert_close(project_fused(x, W, num_heads=heads), expected)
    torch.testing.assert_close(project_each(x, W, num_heads=heads), expected)


@pytest.mark.parametrize("project", [project_fused, project_each])
def test_each_of_a_batch_may_have_a_projection_of_its_own(project):
    x, W = random(6, (2, 5, 4), (2, 4, 6))
    expected = torch.stack([project(one, weight, num_heads=2) for one, weight in zip(x, W)])
    torch.testing.assert_close(project(x, W, num_heads=2), expected)


@pytest.mark.parametrize(("leading", "n", "heads", "d_v"), SIZES)
def test_projecting_the_combination_is_the_sum_over_heads(leading, n, heads, d_v):
    O, W_O = random(4, (*leading, heads, n, d_v), (heads, d_v, 7))
    expected = torch.einsum("...hnv,hvd->...nd", O, W_O)
    torch.testing.assert_close(combine_and_project(O, W_O), expected)
    torch.testing.assert_close(project_and_add(O, W_O), expected)


def test_the_columns_may_stand_in_any_order():
    O, W_O = random(5, (3, 5, 2), (3, 2, 7))
    wide, tall = combine_heads(O), W_O.flatten(0, 1)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(wide[:, order] @ tall[order], project_and_add(O, W_O))
    assert not torch.allclose(wide[:, order] @ tall, project_and_add(O, W_O))


def test_the_scores_of_the_heads_add_up_to_those_of_one_wide_head():
    Q, K = random(6, (2, 5, 12), (2, 7, 12))
    of_heads = scores(split_heads(Q, num_heads=4), split_heads(K, num_heads=4), scale=1)
    torch.testing.assert_close(of_heads.sum(-3), torch.einsum("bnd,bmd->bnm", Q, K))
    assert (torch.linalg.matrix_rank(of_heads) == 3).all()
    assert (torch.linalg.matrix_rank(of_heads.sum(-3)) == 5).all()


def test_two_heads_and_one_wide_head_against_pytorch():
    A, C, V = random(7, (2, 5, 6), (2, 5, 6), (2, 6, 3))
    eye = torch.eye(6, dtype=torch.float64).expand(2, 6, 6)  # keys that make the queries the scores
    heads = scaled_dot_product_attention(A, eye, V, scale=1.0) + scaled_dot_product_attention(C, eye, V, scale=1.0)
    torch.testing.assert_close(sum_of_heads(A, C, V), heads)
    torch.testing.assert_close(one_wide_head(A, C, V), scaled_dot_product_attention(A + C, eye, 2 * V, scale=1.0))


def test_a_view_alone_mixes_tokens():
    (x,) = random(8, (4, 4))
    assert split_heads_wrong(x, num_heads=4)[..., 0].equal(x) and split_heads(x, num_heads=4)[..., 0].equal(x.T)
    x, changed = random(9, (2, 6, 8), (2, 6, 8))
    changed[:, 0] = x[:, 0]  # only the first token stays
    assert split_heads_wrong(x, num_heads=2).shape == split_heads(x, num_heads=2).shape == (2, 2, 6, 4)
    # Of the right split, every head keeps its first token; of the view, the first head keeps two of its tokens.
    same = split_heads(x, num_heads=2).isclose(split_heads(changed, num_heads=2)).all(-1)
    assert same[0].tolist() == [[True] + [False] * 5] * 2
    same = split_heads_wrong(x, num_heads=2).isclose(split_heads_wrong(changed, num_heads=2)).all(-1)
    assert same[0].tolist() == [[True, True] + [False] * 4, [False] * 6]


def test_with_one_head_or_one_token_nothing_can_be_mixed():
    (x,) = random(10, (2, 5, 6))
    assert split_heads_wrong(x, num_heads=1).equal(split_heads(x, num_heads=1))
    assert split_heads_wrong(x[:, :1], num_heads=3).equal(split_heads(x[:, :1], num_heads=3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda z: split_heads(z(5, 8), num_heads=3), r"3 heads do not divide the 8 features of x \(5, 8\); expected x \(..., n, d\)"),
        (lambda z: split_heads(z(2, 5, 8), num_heads=3), r"3 heads do not divide the 8 features of x \(2, 5, 8\)"),
        (lambda z: split_heads(z(5, 8), num_heads=0), r"0 heads do not divide the 8 features"),
        (lambda z: split_heads(z(5, 8), num_heads=-2), r"-2 heads do not divide the 8 features"),
    ],
)
def test_heads_that_do_not_divide_the_width_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(torch.zeros)


def test_no_loop_leaves_a_head_out():
    """Six columns are no four heads: in chunks, they would be three."""
    x, W = random(11, (5, 8), (8, 6))
    for projected in (project_each, project_fused):
        with pytest.raises((ValueError, RuntimeError)):
            projected(x, W, num_heads=4)
