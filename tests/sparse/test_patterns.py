"""Keys that are left out, against attention on those that are left."""

import math

import pytest
import torch

from snippets.attention.formula import attention
from snippets.sparse.patterns import block_mask, dropping_error, tail_weight, top_k_attention, top_k_mask


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def test_error_is_full_attention_less_attention_on_the_kept_keys():
    scores, values = random(0, (3, 7), (3, 7))
    keep = torch.tensor([1, 0, 1, 1, 0, 0, 1], dtype=torch.float64)
    kept = keep.bool()
    full = (scores.softmax(-1) * values).sum(-1)
    sparse = (scores[:, kept].softmax(-1) * values[:, kept]).sum(-1)
    torch.testing.assert_close(dropping_error(scores, values, keep), full - sparse)
    torch.testing.assert_close(dropping_error(scores, values, torch.ones(7).double()), torch.zeros(3).double())


def test_error_within_the_dropped_weight_times_the_range():
    for seed in range(20):
        scores, values, draw = random(seed, (9,), (9,), (9,))
        keep = (draw > 0).double()
        keep[0] = 1
        dropped = ((1 - keep) * scores.softmax(-1)).sum()
        assert dropping_error(scores, values, keep).abs() <= dropped * (values.max() - values.min()) + 1e-12


@pytest.mark.parametrize(("m", "gap"), [(1, 0.0), (5, 2.0), (1000, 3.5)])
def test_tail_weight_is_that_of_a_softmax(m, gap):
    scores = torch.full((m + 1,), -gap, dtype=torch.float64)
    scores[0] = 0
    assert tail_weight(torch.tensor(gap).double(), m=m).item() == pytest.approx(scores.softmax(-1)[1:].sum().item())


def test_a_crowd_outvotes_its_leader():
    gap = torch.tensor(math.log(50)).double()
    assert tail_weight(gap, m=49) < 0.5 < tail_weight(gap, m=51)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_top_k_keeps_the_largest(k):
    (scores,) = random(k, (2, 4, 6))
    keep = top_k_mask(scores, k=k)
    assert keep.sum(-1).eq(k).all()
    smallest_kept = scores.masked_fill(~keep, torch.inf).amin(-1)
    assert (scores.masked_fill(keep, -torch.inf).amax(-1) < smallest_kept).all()


def test_top_k_attention_is_attention_on_those_keys():
    query, key, value = random(4, (3, 4), (8, 4), (8, 5))
    torch.testing.assert_close(top_k_attention(query, key, value, k=8), attention(query, key, value))
    output = top_k_attention(query, key, value, k=3)
    for i in range(3):
        best = (query[i] @ key.T).topk(3).indices
        torch.testing.assert_close(output[i : i + 1], attention(query[i : i + 1], key[best], value[best]))


def test_a_dropped_key_gets_no_gradient():
    query, key, value = random(5, (1, 4), (6, 4), (6, 2))
    key.requires_grad_()
    top_k_attention(query, key, value, k=2).sum().backward()
    assert key.grad.abs().sum(-1).count_nonzero() == 2


def test_blocks_are_kept_whole_and_by_their_mean():
    query, key = random(6, (3, 4), (12, 4))
    keep = block_mask(query, key, block_size=3, blocks=2)
    assert keep.shape == (3, 12) and keep.sum(-1).eq(6).all()
    for i in range(3):
        found = {j // 3 for j in keep[i].nonzero().flatten().tolist()}
        means = torch.stack([query[i] @ key[3 * b : 3 * b + 3].mean(0) for b in range(4)])
        assert found == set(means.topk(2).indices.tolist())
    with pytest.raises(RuntimeError):
        block_mask(query, key, block_size=5, blocks=1)


def test_numbers_in_the_text():
    scores, values = torch.tensor([4.0, 3, 3]).double().log(), torch.tensor([5.0, 2, 0]).double()
    assert (scores.softmax(0) @ values).item() == pytest.approx(2.6)
    first, second = torch.tensor([1.0, 0, 0]).double(), torch.tensor([0.0, 1, 0]).double()
    assert dropping_error(scores, values, first).item() == pytest.approx(-2.4) and dropping_error(
        scores, values, second
    ).item() == pytest.approx(0.6)
    assert (scores.softmax(0)[1:] @ values[1:] / 0.6).item() == pytest.approx(1)
    gap = torch.tensor(10.0).double()
    assert round(tail_weight(gap, m=100).item(), 3) == 0.005 and round(tail_weight(gap, m=131_072).item(), 2) == 0.86
