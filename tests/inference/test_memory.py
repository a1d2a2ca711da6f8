"""Bytes of caches against tensors of that size, and operations for each byte against PyTorch's counter."""

import pytest
import torch

from snippets.inference.memory import (
    attention_intensity,
    bytes_per_token,
    counted_intensity,
    prefill_intensity,
    shared_intensity,
    six_models,
    step_intensity,
    weights_intensity,
    weights_less_cache,
)

HEADS = {"num_heads": 8, "num_kv_heads": 2, "d_k": 16, "itemsize": 2}


@pytest.mark.parametrize("itemsize", [1, 2, 4])
def test_bytes_are_those_of_tensors(itemsize):
    dtype = {1: torch.int8, 2: torch.bfloat16, 4: torch.float32}[itemsize]
    key, value = (torch.zeros(3, 2, 1, 16, dtype=dtype) for _ in range(2))  # (layers, heads, token, d_k)
    assert bytes_per_token(3, 2, 16, itemsize) == key.nbytes + value.nbytes


def test_heads_of_a_model_are_shared_evenly():
    assert len({model.name for model in six_models()}) == 6
    for model in six_models():
        assert model.heads % model.kv_heads == 0


def test_a_larger_model_may_need_a_smaller_cache():
    found = {model.name: bytes_per_token(model.layers, model.kv_heads, model.head_width, 2) for model in six_models()}
    assert found["Llama 2 70B"] < found["Llama 2 7B"]
    assert found["GPT-3 175B"] == 36 * found["Llama 3.1 8B"]


def test_six_widths_of_tokens_outweigh_the_weights():
    assert weights_less_cache(6 * 16, 16, 4, 2) == 0
    assert weights_less_cache(6 * 16 - 1, 16, 4, 2) == 2 * 16 * 4 * 2 == -weights_less_cache(6 * 16 + 1, 16, 4, 2)


@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("n", [1, 100, 5000])
def test_neither_batch_nor_context_changes_the_intensity_of_attention(batch, n):
    assert attention_intensity(batch, n, **HEADS) == 2 * 8 / (2 * 2)
    assert attention_intensity(batch, n, **{**HEADS, "num_kv_heads": 8}) == 1


def test_the_intensity_is_what_pytorch_counts():
    for batch, n, dtype in ((1, 3, torch.float32), (4, 9, torch.float64)):
        query, key, value = (torch.zeros(batch, 8, m, 16, dtype=dtype) for m in (1, n, n))
        expected = attention_intensity(batch, n, **{**HEADS, "num_kv_heads": 8, "itemsize": dtype.itemsize})
        assert counted_intensity(query, key, value) == expected


def test_numbers_in_the_text():
    llama = {"num_heads": 32, "num_kv_heads": 32, "d_k": 128, "itemsize": 2}
    assert attention_intensity(1, 4096, **llama) == 1
    assert attention_intensity(1, 4096, **{**llama, "num_kv_heads": 8}) == 4
    machine = 989.4e12 / 3.352e12  # operations over bytes of an H100
    assert round(machine) == 295 and 1 / machine == pytest.approx(0.0034, abs=0.00005)
    weights = 12 * 4096**2 * 32
    assert weights / (4096 * 32 * 32 * 128 * 2) + 1 == 7
    assert 6.9 < step_intensity(10**4, 4096, weights, layers=32, **llama) < 7


def test_weights_are_shared_by_the_batch():
    assert [weights_intensity(batch, 1000, 2) for batch in (1, 2, 300)] == [1, 2, 300]


def test_a_step_is_bounded_whatever_the_batch():
    n, weights, layers = 1000, 10**7, 4
    bound = weights / (n * layers * 2 * 16 * 2) + 2 * 8 / (2 * 2)
    found = [step_intensity(batch, n, weights, layers, **HEADS) for batch in (1, 10, 1000, 10**7)]
    assert found == sorted(found)
    assert all(one < bound for one in found)
    assert found[-1] == pytest.approx(bound, rel=1e-3)
    assert step_intensity(3, n, weights, layers, **HEADS) == (6 * weights + 12 * n * 4 * 8 * 16) / (2 * (weights + 6 * n * 4 * 2 * 16))


def test_a_prefill_works_more_for_each_byte_the_longer_it_is():
    assert [prefill_intensity(n, 64, 2) for n in (1, 2, 4096)] == [0.5, 1, 2048]


def test_a_shared_prefix_is_read_once():
    assert shared_intensity(1, 100, 10, **HEADS) == attention_intensity(1, 110, **HEADS)
    assert shared_intensity(64, 100, 10, **HEADS) == pytest.approx(attention_intensity(1, 110, **HEADS) * 64 * 110 / (100 + 640))
    assert shared_intensity(10**9, 100, 10, **HEADS) == pytest.approx(4 * 11, rel=1e-6)
