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
    fewest_tokens_at_ridge,
    intensity_with_queries,
    kept_pairs,
    latent_intensity,
    model_intensity,
    queries_per_key,
    ridge_point,
)

A100 = next(machine for machine in MACHINES if machine.name == "A100 80GB")


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
    u, keys = attended_queries(model, new=new), cached + new
    without_mask = u * keys / (u + keys)
    assert model_intensity(model, new=new, cached=cached, itemsize=2) == pytest.approx(without_mask * kept_pairs(new, cached), rel=1e-12)


@pytest.mark.parametrize("new, cached", [(1, 0), (1, 7), (4, 3), (5, 0)])
def test_a_causal_mask_keeps_this_share_of_the_pairs(new, cached):
    mask = torch.ones(new, cached + new).tril(diagonal=cached)
    assert mask.mean().item() == pytest.approx(kept_pairs(new, cached))


def test_one_token_of_absorbed_attention_reaches_the_ridge_point_of_an_a100_from_440_tokens_on():
    ridge = ridge_point(A100.flops, A100.bandwidth)
    assert all((latent_intensity(1, n, 128, 512, 64, 2) > ridge) == (n >= 440) for n in range(1, 5000))
    fastest = ridge_point(*next(machine[1:] for machine in MACHINES if machine.name == "H100 SXM"))
    assert latent_intensity(1, 10**12, 128, 512, 64, 2) < fastest < latent_intensity(2, 10**5, 128, 512, 64, 2)


def test_each_key_meets_the_queries_of_its_group():
    assert queries_per_key(3, 8, 2) == 12


def test_a_machine_is_balanced_at_its_ridge_point():
    machine = Machine("a machine", 600.0, 3.0)
    most = ridge_point(machine.flops, machine.bandwidth)
    assert 1000 * most / machine.flops == pytest.approx(1000 / machine.bandwidth)


def test_decoding_with_latent_rows_computes_longer_than_it_reads_on_an_a100():
    needed = ridge_point(A100.flops, A100.bandwidth)
    assert model_intensity(models()["DeepSeek-V3"], new=1, cached=32_768, itemsize=2) > needed
    assert all(model_intensity(model, new=1, cached=32_768, itemsize=2) < needed for model in models().values() if not model.latent)


@pytest.mark.parametrize("name", ["Llama 2 7B", "Llama 3.1 8B", "DeepSeek-V3"])
@pytest.mark.parametrize("cached", [0, 300, 5000])
def test_with_fewer_new_tokens_reading_takes_longer(name, cached):
    step = dict(cached=cached, itemsize=2)
    new = fewest_tokens_at_ridge(models()[name], needed=400.0, **step)
    assert model_intensity(models()[name], new=new - 1, **step) < 400 <= model_intensity(models()[name], new=new, **step)


def test_few_keys_are_read_longer_however_many_tokens_are_new():
    needed = ridge_point(A100.flops, A100.bandwidth)
    assert all(intensity_with_queries(10**power, 156, 32, 8, 128, 2) < needed for power in range(7))
    assert intensity_with_queries(10**6, 158, 32, 8, 128, 2) > needed
