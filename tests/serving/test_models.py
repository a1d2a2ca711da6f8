"""The table of models: sizes that fit together, and caches against tensors of that size."""

import math

import pytest
import torch

from snippets.serving.models import (
    Model,
    cache_bytes_per_token,
    cache_parts,
    cached_numbers,
    fitting_sequences,
    models,
    reading_time,
    source_addresses,
)

EVERY = sorted(models())


def test_there_are_many_models():
    assert len(EVERY) >= 25


@pytest.mark.parametrize("name", EVERY)
def test_the_sizes_of_a_model_fit_together(name):
    model = models()[name]
    assert isinstance(model, Model)
    assert model.heads % model.kv_heads == 0 and model.kv_heads <= model.heads
    assert bool(model.window) + bool(model.state) + bool(model.latent) <= 1
    assert (model.full_layers is not None) == bool(model.window or model.state)
    assert 0 <= (model.full_layers or 0) < model.layers
    assert model.billions > 0
    if model.experts:
        assert model.experts[1] < model.experts[0]


@pytest.mark.parametrize("name", EVERY)
def test_each_model_has_a_source_that_can_be_opened(name):
    addresses = source_addresses(models()[name])
    assert addresses and all(address.startswith("https://") and "{" not in address for address in addresses)


def test_a_cache_of_keys_and_values_is_counted_on_tensors():
    model = models()["Llama 3.1 8B"]
    key, value = torch.empty(2, model.layers, model.kv_heads, 10, model.head_width, dtype=torch.bfloat16, device="meta")
    assert cache_bytes_per_token(model, tokens=10, itemsize=2) * 10 == key.nbytes + value.nbytes


def test_layers_with_a_window_keep_its_tokens():
    model = models()["gpt-oss-20b"]
    row = 2 * model.kv_heads * model.head_width
    assert cached_numbers(model, tokens=5) == model.layers * 5 * row
    assert cached_numbers(model, tokens=128) == model.layers * 128 * row
    assert cached_numbers(model, tokens=129) - cached_numbers(model, tokens=128) == model.full_layers * row


def test_a_state_does_not_grow():
    model = models()["Qwen3-Next-80B-A3B"]
    state = (model.layers - model.full_layers) * math.prod(model.state)
    assert cached_numbers(model, tokens=7) - state == 7 * (cached_numbers(model, tokens=2) - cached_numbers(model, tokens=1))


def test_full_layers_may_have_other_heads():
    model = models()["Gemma 4 31B"]
    grown = cached_numbers(model, tokens=2000) - cached_numbers(model, tokens=1999)
    assert grown == 10 * 2 * 4 * 512


def test_mla_keeps_one_row():
    model = models()["DeepSeek-V3"]
    assert cached_numbers(model, tokens=3) == 61 * 3 * 576


@pytest.mark.parametrize("name", EVERY)
def test_a_cache_is_the_sum_of_its_parts(name):
    model = models()[name]
    each, in_window, states = cache_parts(model)
    assert bool(in_window) == bool(model.window) and bool(states) == bool(model.state)
    assert cached_numbers(model, tokens=1) == each + in_window + states


def test_one_more_sequence_does_not_fit():
    assert fitting_sequences(80.0, 16.0, 3.0) == 21
    assert fitting_sequences(79.0, 16.0, 3.0) == 21 and fitting_sequences(78.9, 16.0, 3.0) == 20
    assert fitting_sequences(16.0, 80.0, 3.0) == 0


def test_everything_is_read_once():
    assert reading_time(16.0, 3.0, sequences=4, bandwidth=7.0) * 7.0 == pytest.approx(16 + 3 * 4)
