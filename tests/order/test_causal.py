"""A causal mask: slopes that are exactly zero, a cache that changes nothing, what a window leaves out, and counts."""

import itertools
import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention
from snippets.order.causal import (
    Cache,
    cache_bytes,
    causal_pairs,
    decode_step,
    kept_mean,
    kept_weights,
    marker_share,
    token_gradients,
    window_outputs,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("compute", [attention, scaled_dot_product_attention], ids=["ours", "PyTorch's"])
def test_no_output_moves_with_a_later_token(compute):
    X, W_Q, W_K, W_V = random(0, (5, 4), (4, 3), (4, 3), (4, 2))

    def causal(tokens):
        return compute(tokens @ W_Q, tokens @ W_K, tokens @ W_V, is_causal=True)

    gradients = torch.func.jacrev(causal)(X)  # (n, d_v, n, d)
    moves = (gradients != 0).any(3).any(1)
    assert torch.equal(moves, torch.ones(5, 5, dtype=torch.bool).tril())  # exactly 0, not nearly


@pytest.mark.parametrize("scale", [1e3, 1e5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_scores_leave_weights_and_gradients_finite(scale, dtype):
    """The largest score of all may be that of a token which the query may not look at."""
    query, X = (x.to(dtype) for x in random(5, (3,), (5, 3)))
    for best in range(5):
        keep = (torch.arange(5) != (X @ query).argsort()[best]).to(dtype)
        expected = (scale * X @ query).masked_fill(keep == 0, -torch.inf).softmax(0)
        torch.testing.assert_close(kept_weights(scale * query, X, keep), expected)
        assert token_gradients(scale * query, X, keep).isfinite().all()


def test_token_gradients_are_those_of_the_formula():
    q, X = random(1, (3,), (5, 3))
    keep = torch.tensor([1.0, 0.5, 0.0, 1.0, 0.0], dtype=torch.float64)
    weights = keep * (X @ q).exp()
    weights = weights / weights.sum()
    output = weights @ X
    torch.testing.assert_close(kept_weights(q, X, keep), weights)
    torch.testing.assert_close(kept_mean(q, X, keep), output)
    expected = torch.zeros(3, 5, 3, dtype=torch.float64)
    for a, j, b in itertools.product(range(3), range(5), range(3)):
        expected[a, j, b] = weights[j] * ((a == b) + (X[j, a] - output[a]) * q[b])
    gradients = token_gradients(q, X, keep)
    torch.testing.assert_close(gradients, expected)
    assert (gradients[:, keep == 0] == 0).all() and (gradients[:, keep != 0] != 0).any()


@pytest.mark.parametrize("peak", [800.0, 1e5])
def test_kept_weights_of_large_scores(peak):
    """The largest score is that of a key which is not kept, and the next one is as far above the others."""
    X = torch.tensor([[3 * peak], [2 * peak], [0.0], [2 * peak - 1]], dtype=torch.float64)
    keep = torch.tensor([0.0, 1.0, 1.0, 0.5], dtype=torch.float64)
    weights = kept_weights(torch.ones(1, dtype=torch.float64), X, keep)
    share = 1 / (1 + 0.5 * math.exp(-1))
    torch.testing.assert_close(weights, torch.tensor([0.0, share, 0.0, 1 - share], dtype=torch.float64))


def test_kept_mean_is_masked_attention():
    q, X = random(2, (3,), (5, 3))
    keep = torch.tensor([True, True, False, True, False])
    expected = scaled_dot_product_attention(q[None], X, X, attn_mask=keep[None], scale=1.0)[0]
    torch.testing.assert_close(kept_mean(q, X, keep.double()), expected)


@pytest.mark.parametrize("leading", [(), (2, 3), (0,)])
def test_a_cache_gives_every_row_of_causal_attention(leading):
    X, W_Q, W_K, W_V = random(3, (*leading, 6, 4), (4, 3), (4, 3), (4, 2))
    whole = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, is_causal=True)
    cache, outputs = None, []
    for i in range(6):
        output, cache = decode_step(X[..., i : i + 1, :], W_Q, W_K, W_V, cache=cache)
        assert isinstance(cache, Cache) and cache.key.shape == (*leading, i + 1, 3) and cache.value.shape == (*leading, i + 1, 2)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, dim=-2), whole)
    torch.testing.assert_close(cache.key, X @ W_K)
    torch.testing.assert_close(cache.value, X @ W_V)


def test_every_causal_row_is_attention_on_the_tokens_so_far():
    query, key, value = random(4, (6, 3), (6, 3), (6, 2))
    whole = attention(query, key, value, is_causal=True)
    for i in range(1, 7):
        torch.testing.assert_close(attention(query[i - 1 : i], key[:i], value[:i]), whole[i - 1 : i])


@pytest.mark.parametrize("keep", [1, 3, 6])
def test_what_is_cut_off_counts_by_its_share(keep):
    scores, value = random(keep, (2, 5, 7), (2, 7, 3))
    kept, rest, share = window_outputs(scores, value, keep=keep)
    weights = scores.softmax(-1)
    torch.testing.assert_close(share, weights[..., keep:].sum(-1, keepdim=True))
    torch.testing.assert_close((1 - share) * kept + share * rest, weights @ value)
    mask = torch.arange(7) < keep
    alone = scores.masked_fill(~mask, -torch.inf).softmax(-1) @ value
    torch.testing.assert_close(kept, alone)
    torch.testing.assert_close(rest, scores.masked_fill(mask, -torch.inf).softmax(-1) @ value)


@pytest.mark.parametrize("keep", [0, 7, -1])
def test_a_window_leaves_something_on_both_sides(keep):
    with pytest.raises(ValueError, match=f"keep is {keep}; expected at least 1 and less than m, 7"):
        window_outputs(torch.zeros(5, 7), torch.zeros(7, 3), keep=keep)


def test_pairs_are_those_of_the_mask():
    for n in range(1, 30):
        assert causal_pairs(n) == sum(1 for i in range(n) for j in range(n) if j <= i) == n * (n + 1) // 2


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_a_marker_at_the_start_counts_the_tokens(n):
    assert marker_share(n) == pytest.approx(1 / n)


def test_cache_bytes_are_those_of_the_tensors():
    layers, heads, n, d_k = 3, 4, 5, 6
    for dtype in (torch.float16, torch.float32):
        key = value = torch.zeros(layers, heads, n, d_k, dtype=dtype)
        size = key.element_size()
        assert cache_bytes(n, layers, heads, d_k, size) == key.numel() * size + value.numel() * size


def test_a_step_takes_one_token():
    x, W = torch.zeros(2, 4), torch.zeros(4, 3)
    with pytest.raises(ValueError, match=r"x \(2, 4\) holds 2 tokens; expected x \(..., 1, d\)"):
        decode_step(x, W, W, W)


def test_numbers_in_the_text():
    """The example with three tokens. The query may see two of them."""
    scores, value = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([[1.0], [2.0], [30.0]])
    assert [round(x, 3) for x in scores.softmax(-1)[0].tolist()] == [0.665, 0.245, 0.09]
    assert [round(x, 3) for x in scores[:, :2].softmax(-1)[0].tolist()] == [0.731, 0.269]
    assert [round(x, 2) for x in [*scores.exp()[0].tolist(), scores.exp().sum().item()]] == [7.39, 2.72, 1.0, 11.11]
    kept, others, share = window_outputs(scores, value, keep=2)
    assert [round(x.item(), 2) for x in (kept, others, attention(torch.eye(1), scores.T, value, scale=1.0))] == [1.27, 30.0, 3.86]
    assert round(100 * share.item(), 1) == 9.0
    query, tokens, keep = torch.ones(1).double(), torch.tensor([[0.0], [1.0]]).double(), torch.ones(2).double()
    weights = kept_weights(query, tokens, keep)
    assert [round(x, 2) for x in weights.tolist()] == [0.27, 0.73]
    change = token_gradients(query, tokens, keep)[0, 1, 0].item()
    assert [round(change, 2), round(change - weights[1].item(), 2)] == [0.93, 0.2]
