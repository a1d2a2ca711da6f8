"""Decoding with a cache against one pass over all tokens; output_jacobians against autograd by hand; counts against sums and PyTorch's counter."""

import pytest
import torch

from snippets.attention.formula import attention
from snippets.inference.cache import (
    KeyValueCache,
    attend,
    chunked_pairs,
    decode_operations,
    last_output_after_dropping,
    masked_output,
    output_jacobians,
    prefill_in_chunks,
    saving,
    trace_of_dropped_token,
)
from snippets.order.causal import Cache
from snippets.order.cost import attention_layer, forward_operations, operations, step_operations


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def layer(seed=0, n=7):
    return random(seed, (2, n, 6), (6, 3), (6, 3), (6, 4))


@pytest.mark.parametrize("split", [[7], [1] * 7, [4, 1, 1, 1], [3, 2, 2], [1, 6]])
def test_however_a_text_is_split_the_outputs_are_those_of_one_pass(split):
    x, *W = layer()
    whole = attention(*(x @ one for one in W), is_causal=True)
    outputs, cache = [], None
    for part in x.split(split, dim=1):
        output, cache = attend(part, *W, cache=cache)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, dim=1), whole)
    torch.testing.assert_close(cache.key, x @ W[1])
    torch.testing.assert_close(cache.value, x @ W[2])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_chunks_of_any_size_give_the_whole(size):
    x, *W = layer(1)
    output, cache = prefill_in_chunks(x, *W, size=size)
    torch.testing.assert_close(output, attention(*(x @ one for one in W), is_causal=True))
    assert cache.key.shape == (2, 7, 3)


def test_a_cache_of_another_width_is_refused():
    x, *W = layer()
    with pytest.raises(RuntimeError):
        attend(x, *W, cache=Cache(torch.zeros(2, 1, 5).double(), torch.zeros(2, 1, 4).double()))


def test_later_tokens_may_hold_finite_numbers_only():
    x, *W = layer(8)
    expected, _ = attend(x[:, :6], *W)
    for number, same in [(-1e9, True), (torch.nan, False), (torch.inf, False)]:
        x[:, 6] = number
        found, _ = attend(x, *W)
        assert torch.allclose(found[:, :6], expected) == same


def test_hidden_scores_and_values_do_not_count_and_others_do():
    scores, value = random(2, (5,), (5, 3))
    keep = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0]).double()
    row = masked_output(scores, value, keep)
    torch.testing.assert_close(row, torch.softmax(scores[[0, 2, 3]], 0) @ value[[0, 2, 3]])
    for place, same in ((1, True), (4, True), (0, False), (3, False)):
        changed = scores.clone(), value.clone()
        changed[0][place] += 50
        changed[1][place] += 50
        assert torch.equal(masked_output(*changed, keep), row) == same


def test_an_output_moves_with_its_own_query_and_with_every_key():
    query, key, value = random(3, (3, 4), (5, 4), (5, 2))
    by_query, by_key = output_jacobians(query, key, value)
    moves = by_query.abs().amax((1, 3)) > 1e-9  # (n, n)
    assert torch.equal(moves, torch.eye(3, dtype=torch.bool))
    assert (by_key.abs().amax((1, 3)) > 1e-9).all()
    step = 1e-6 * torch.eye(5, 1).double() * torch.eye(1, 4).double()  # one feature of the first key
    moved = (torch.softmax(query @ (key + step).T, -1) - torch.softmax(query @ (key - step).T, -1)) @ value / 2e-6
    torch.testing.assert_close(by_key[:, :, 0, 0], moved, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 1), (9, 4), (50, 3), (200, 1000)])
def test_the_saving_lies_between_its_bounds(n, d):
    anew = sum(forward_operations(i, d) for i in range(1, n + 1))
    assert saving(n, d) == anew / sum(8 * d * d + 4 * i * d for i in range(1, n + 1))
    assert (n + 1) / 2 <= saving(n, d) <= (2 * n + 1) / 3


def test_a_token_of_a_prefill_costs_a_step_as_pytorch_counts():
    x, *W = random(4, (16, 8), *[(8, 8)] * 4)
    assert operations(attention_layer, x, *W, num_heads=2) == 16 * step_operations(16, 8)


def test_decode_operations_are_steps_after_the_prompt():
    assert decode_operations(3, 2, 4) == step_operations(4, 4) + step_operations(5, 4)
    assert decode_operations(3, 0, 4) == 0


def test_chunked_pairs_counts_rectangles():
    assert chunked_pairs(3, 2) == 3 * 3 + 3 * 6
    assert chunked_pairs(8, 1) == 64
    assert chunked_pairs(1, 8) == 36


def two_layers(tokens, forget):
    """Means of what is seen, token by token, with lists as caches."""
    first, second = [], []
    for place, token in enumerate(tokens):
        if place == len(tokens) - 1:
            first, second = first[forget:], second[forget:]
        first.append(token)
        second.append(sum(first) / len(first))
    return sum(second) / len(second)


@pytest.mark.parametrize("forget", [0, 1, 3])
def test_last_row_is_two_layers_with_caches(forget):
    (tokens,) = random(5, (5,))
    torch.testing.assert_close(last_output_after_dropping(tokens, forget=forget), two_layers(list(tokens), forget))


def test_the_echo_is_a_quarter_of_a_difference():
    x, y, z = random(6, (), (), ())
    torch.testing.assert_close(trace_of_dropped_token(x, y, z), (x - y) / 4)


def test_numbers_in_the_text():
    """The example with three stored tokens and a fourth, at width one."""
    query, key = torch.ones(1, 1), torch.tensor([[0.0], [1], [2], [1]])
    value = torch.tensor([[5.0], [1], [3], [1]])
    assert [round(100 * one) for one in (query @ key.T).softmax(-1)[0].tolist()] == [7, 20, 53, 20]
    assert round(attention(query, key, value).item(), 2) == 2.36


def test_an_allocated_cache_keeps_its_memory_and_returns_what_was_stored():
    key, value = random(7, (2, 5, 3), (2, 5, 4))
    cache, places = KeyValueCache(capacity=6), set()
    for start, end in ((0, 3), (3, 4), (4, 5)):
        found = cache.append(key[:, start:end], value[:, start:end])
        assert torch.equal(found[0], key[:, :end]) and torch.equal(found[1], value[:, :end])
        places.add((found[0].data_ptr(), found[1].data_ptr()))
    assert len(places) == 1 and cache.key.shape == (2, 6, 3) and cache.length == 5


def test_a_full_cache_says_so_and_stays_as_it_was():
    cache = KeyValueCache(capacity=4)
    cache.append(torch.ones(3, 2), torch.ones(3, 2))
    with pytest.raises(ValueError, match="the cache has room for 4 tokens; found 5"):
        cache.append(torch.ones(2, 2), torch.ones(2, 2))
    assert cache.length == 3


FOUND = {
    "one text for three": lambda key, value: (key[:1], value[:1]),
    "keys of one text": lambda key, value: (key[:1], value),
    "values of one text": lambda key, value: (key, value[:1]),
    "fewer values": lambda key, value: (key, value[:, :1]),
    "another width": lambda key, value: (key[..., :1], value),
    "another format": lambda key, value: (key, value.half()),
    "another device": lambda key, value: (key.to("meta"), value.to("meta")),
}


@pytest.mark.parametrize("change", FOUND.values(), ids=FOUND)
def test_a_cache_takes_only_what_is_like_what_it_holds(change):
    key, value = random(8, (3, 2, 4), (3, 2, 5))
    cache = KeyValueCache(capacity=4)
    cache.append(key, value)
    with pytest.raises(ValueError, match=r"the cache expected \(\(3, 2, [45]\), torch.float64, device\(type='cpu'\)\); found"):
        cache.append(*change(key, value))
    assert cache.length == 2


@pytest.mark.parametrize("change", ["values of one text", "fewer values"])
def test_the_first_keys_and_values_have_the_same_tokens(change):
    cache = KeyValueCache(capacity=4)
    with pytest.raises(ValueError, match=r"the cache expected \(\(3, 2, 5\)"):
        cache.append(*FOUND[change](*random(8, (3, 2, 4), (3, 2, 5))))
    assert cache.key is None


def test_an_allocated_cache_is_for_inference():
    with pytest.raises(ValueError, match=r"for inference; expected torch.no_grad\(\)"):
        KeyValueCache(capacity=4).append(torch.ones(3, 2, requires_grad=True), torch.ones(3, 2))
