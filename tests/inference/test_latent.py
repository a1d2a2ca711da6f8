"""Both forms of latent attention against a loop over heads; the cache against one pass; operations against PyTorch's counter."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.inference.latent import (
    LatentCache,
    absorbed_head,
    absorbed_intensity,
    absorbed_operations,
    decode_latent,
    decoupled_scores,
    expanded_operations,
    latent_attention,
    latent_head,
    saved_by_input,
)
from snippets.order.cost import operations
from snippets.order.rotary import apply_rotary

h, d, d_c, d_k, d_v, d_R = 3, 10, 7, 4, 5, 2


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) / 2 for shape in shapes]


def made(seed=0):
    x, *W = random(seed, (2, 6, d), (h, d, d_k), (d, d_c), (h, d_c, d_k), (h, d_c, d_v), (h, d_v, d), (h, d, d_R), (d, d_R))
    return x, W


def test_a_head_is_the_same_absorbed():
    x, context, W_Q, W_D, W_UK, W_UV, W_O = random(1, (2, 3, d), (2, 5, d), (d, d_k), (d, d_c), (d_c, d_k), (d_c, d_v), (d_v, d))
    latent = context @ W_D
    expected = scaled_dot_product_attention(x @ W_Q, latent @ W_UK, latent @ W_UV) @ W_O
    torch.testing.assert_close(latent_head(x, context, W_Q, W_D, W_UK, W_UV, W_O), expected)
    torch.testing.assert_close(absorbed_head(x, context, W_Q, W_D, W_UK, W_UV, W_O), expected)


@pytest.mark.parametrize("split", [[6], [1] * 6, [4, 1, 1], [2, 4]])
def test_decoding_with_latent_rows_gives_the_rows_of_a_prefill(split):
    x, W = made(2)
    outputs, cache = [], None
    for part in x.split(split, dim=1):
        output, cache = decode_latent(part, *W, cache=cache)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, 1), latent_attention(x, *W))
    assert isinstance(cache, LatentCache)
    assert [kept.shape for kept in cache] == [(2, 6, d_c), (2, 6, d_R)]


@pytest.mark.parametrize("batch", [(), (3,), (2, 5), (5, 1, 2)])
def test_any_number_of_axes_may_precede_the_tokens(batch):
    _, W = made(4)
    (x,) = random(5, (*batch, 6, d))
    rows, outputs, cache = x.reshape(-1, 6, d), [], None
    expected = torch.stack([latent_attention(row, *W) for row in rows]).view(x.shape)
    torch.testing.assert_close(latent_attention(x, *W), expected)
    for part in x.split([3, 1, 2], dim=-2):
        output, cache = decode_latent(part, *W, cache=cache)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, -2), expected)
    assert [kept.shape for kept in cache] == [(*batch, 6, d_c), (*batch, 6, d_R)]


def test_a_prefill_is_a_sum_of_heads_with_two_kinds_of_features():
    x, W = made(3)
    place, latent, expected = torch.arange(6), x @ W[1], 0
    mask = torch.ones(6, 6).tril().bool()
    for W_Q, W_UK, W_UV, W_O, W_QR in zip(W[0], *W[2:6]):
        scores = (x @ W_Q) @ (latent @ W_UK).mT
        scores = scores + apply_rotary(x @ W_QR, place) @ apply_rotary(x @ W[6], place).mT
        weights = torch.softmax((scores / (d_k + d_R) ** 0.5).masked_fill(~mask, -torch.inf), -1)
        expected = expected + weights @ (latent @ W_UV) @ W_O
    torch.testing.assert_close(latent_attention(x, *W), expected)


def test_an_odd_rotary_width_is_refused():
    x, W = made()
    for function in (decode_latent, latent_attention):
        with pytest.raises(ValueError, match="expected an even number"):
            function(x, *W[:5], W[5][..., :1], W[6][..., :1])


def test_decoupled_scores_are_those_of_both_kinds_of_features_side_by_side():
    query, key, turned_query, turned_key = random(4, (3, 7), (5, 7), (3, 2), (5, 2))
    both = torch.cat([query, turned_query], -1) @ torch.cat([key, turned_key], -1).T
    torch.testing.assert_close(decoupled_scores(query, key, turned_query, turned_key), both)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 20), (20, 20), (3, 20)])
def test_operations_are_those_that_pytorch_counts(n, m):
    width = 4  # of queries, keys and values

    def expanded(query, latent, W_UK, W_UV):
        return (query @ (latent @ W_UK).mT) @ (latent @ W_UV)

    def absorbed(query, latent, W_UK, W_UV):
        return ((query @ W_UK.mT) @ latent.mT @ latent) @ W_UV

    inputs = [torch.zeros(shape) for shape in ((h, n, width), (h, m, d_c), (h, d_c, width), (h, d_c, width))]
    assert operations(expanded, *inputs) == expanded_operations(n, m, h, width, d_c)
    assert operations(absorbed, *inputs) == absorbed_operations(n, m, h, width, d_c)


def test_decoding_absorbs_and_a_prefill_does_not():
    for m in (2, 10, 1000):
        assert absorbed_operations(1, m, 8, 16, 64) < expanded_operations(1, m, 8, 16, 64)
        assert absorbed_operations(m, m, 8, 16, 64) > expanded_operations(m, m, 8, 16, 64)


def test_a_norm_on_the_latent_row_changes_neither_form():
    x, W_Q, W_D, W_UK, W_UV, W_O = random(6, (2, 5, d), (d, d_k), (d, d_c), (d_c, d_k), (d_c, d_v), (d_v, d))
    latent = torch.nn.functional.rms_norm(x @ W_D, (d_c,))  # cached as it is
    expected = scaled_dot_product_attention(x @ W_Q, latent @ W_UK, latent @ W_UV) @ W_O
    head = x, latent, W_Q, torch.eye(d_c).double(), W_UK, W_UV, W_O
    torch.testing.assert_close(latent_head(*head), expected)
    torch.testing.assert_close(absorbed_head(*head), expected)


def test_intensity_is_counted_work_over_bytes():
    query, key, value = torch.zeros(h, 1, d_c + d_R), torch.zeros(20, d_c + d_R), torch.zeros(20, d_c)
    work = operations(lambda q, k, v: (q @ k.T) @ v, query, key, value)
    assert absorbed_intensity(20, h, d_c, d_R, 4) == pytest.approx(work / key.nbytes)


def test_numbers_in_the_text():
    heads, width, latent, rotary = 128, 128, 512, 64
    ours = absorbed_intensity(1, heads, latent, rotary, 2)
    machine = 989.4e12 / 3.352e12  # operations over bytes of an H100
    assert (round(ours), round(machine)) == (242, 295)
    assert 2 * ours > machine and absorbed_intensity(1, heads, latent, rotary, 1) > machine
    assert 2 * heads * width == 32768 and round(32768 / (latent + rotary)) == 57
    for m in (1024, 8192, 10**6):
        assert 100 * absorbed_operations(1, m, heads, width, latent) < expanded_operations(1, m, heads, width, latent)
    assert 3.8 < absorbed_operations(8192, 8192, heads, width, latent) / expanded_operations(8192, 8192, heads, width, latent) < 4


def test_the_input_is_smaller_than_keys_and_values_of_more_than_half_the_heads():
    assert [saved_by_input(64, 8, h_kv) for h_kv in (8, 5, 4, 1)] == [64, 16, 0, -48]
