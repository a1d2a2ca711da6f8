"""Intensities against PyTorch's counter, and the lengths at which computing takes longer."""

import pytest
import torch

from snippets.inference.latent import absorbed_intensity
from snippets.inference.memory import attention_intensity
from snippets.serving.models import models
from snippets.serving.roofline import (
    MACHINES,
    Machine,
    attended_queries,
    counted_with_queries,
    intensity_with_queries,
    latent_intensity,
    model_intensity,
    new_tokens_at_ridge,
    queries_per_key,
    ridge,
)

A100 = next(machine for machine in MACHINES if machine.name == "A100 SXM")


@pytest.mark.parametrize("new", [1, 4, 9])
@pytest.mark.parametrize("kv_heads", [1, 2, 6])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_intensity_is_what_pytorch_counts(new, kv_heads, dtype):
    query = torch.zeros(kv_heads, 6 // kv_heads, new, 8, dtype=dtype)
    key, value = torch.zeros(2, kv_heads, 11, 8, dtype=dtype)
    expected = intensity_with_queries(new, 11, 6, kv_heads, 8, dtype.itemsize)
    assert counted_with_queries(query, key, value) == pytest.approx(expected, rel=1e-12)


def test_a_long_cache_hides_queries_and_outputs():
    assert intensity_with_queries(1, 10**9, 32, 8, 128, 2) == pytest.approx(attention_intensity(1, 10**9, 32, 8, 128, 2), rel=1e-6)
    assert latent_intensity(1, 10**9, 128, 512, 64, 2) == pytest.approx(absorbed_intensity(10**9, 128, 512, 64, 2), rel=1e-6)


@pytest.mark.parametrize("name", sorted(models()))
@pytest.mark.parametrize("new, cached", [(1, 10), (3, 1000), (1000, 1000)])
def test_queries_for_each_key_and_keys_for_each_query_give_the_intensity(name, new, cached):
    model = models()[name]
    u = attended_queries(model, new=new)
    assert model_intensity(model, new=new, cached=cached, itemsize=2) == pytest.approx(u * cached / (u + cached), rel=1e-12)


def test_each_key_meets_the_queries_of_its_group():
    assert queries_per_key(3, 8, 2) == 12


def test_a_machine_is_balanced_at_its_ridge():
    machine = Machine("a machine", 600.0, 3.0)
    most = ridge(machine.flops, machine.bandwidth)
    assert 1000 * most / machine.flops == pytest.approx(1000 / machine.bandwidth)


def test_decoding_with_latent_rows_computes_longer_than_it_reads_on_an_a100():
    needed = ridge(A100.flops, A100.bandwidth)
    assert model_intensity(models()["DeepSeek-V3"], new=1, cached=32_768, itemsize=2) > needed
    assert all(model_intensity(model, new=1, cached=32_768, itemsize=2) < needed for model in models().values() if not model.latent)


@pytest.mark.parametrize("heads, kv_heads", [(8, 8), (32, 8), (71, 1)])
def test_with_enough_new_tokens_the_intensity_is_the_ridge(heads, kv_heads):
    new = new_tokens_at_ridge(1000, heads, kv_heads, needed=156.0)
    assert intensity_with_queries(new, 1000, heads, kv_heads, 64, 2) == pytest.approx(156)


def test_a_short_cache_is_read_longer_however_many_tokens_are_new():
    needed = ridge(A100.flops, A100.bandwidth)
    model = models()["Llama 3.1 8B"]
    assert all(model_intensity(model, new=10**power, cached=156, itemsize=2) < needed for power in range(7))
    assert model_intensity(model, new=10**6, cached=158, itemsize=2) > needed
