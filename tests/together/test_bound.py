"""The bound on rounding covers what rounding does; that slips leave it is tested beside the model."""

import copy

import pytest
import torch

from snippets.order.rotary import apply_rotary
from snippets.together import bound
from snippets.together.gpt import GPT, Config

VOCABULARY = 11


def small(seed=0, dtype=torch.float64):
    """A model whose weights are large enough that each part matters."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = GPT(Config(VOCABULARY, num_layers=2, num_heads=4, num_kv_heads=2, d=16, d_ff=24))
        for parameter in model.parameters():
            parameter.data = parameter.data * 5 if parameter.dim() == 2 else torch.rand_like(parameter) + 0.5
    return model.to(dtype)


def drawn(*shape, seed=0):
    return torch.randint(VOCABULARY, shape, generator=torch.Generator().manual_seed(seed))


def test_the_bound_covers_what_single_precision_loses():
    """Against double precision, whose own rounding is a billionth of that. The angles of both are the same."""
    for seed in range(5):
        model, tokens = small(seed=seed, dtype=torch.float32), drawn(12, seed=seed)
        error = (model(tokens)[0][-1] - copy.deepcopy(model).double()(tokens)[0][-1]).abs()
        assert (error <= bound.logits_bound(model, tokens)).all()


def test_the_bound_looks_at_the_model_that_computes():
    model, tokens = small(), drawn(9)
    sites = bound.Sites(torch.float64)
    x = model.embedding.detach()[tokens].requires_grad_()
    for block in model.blocks:
        x = bound.round_block(sites, x, block)
    torch.testing.assert_close(sites.project(bound.round_norm(sites, x, model.norm.gain), model.embedding), model(tokens)[0])
    assert len(sites.numbers) == 2 * 17 + 2


def test_the_bound_counts_roundings_times_slopes():
    sites = bound.Sites(torch.float32)
    x = torch.tensor([3.0], dtype=torch.float64).requires_grad_()
    y = sites.rounded(x * 5, count=1)
    z = sites.rounded(y * y, count=2)
    u = 2.0**-24
    assert sites.bound(z).item() == pytest.approx(u * 15 * 30 + 2 * u * 225, rel=1e-6)


def test_the_parts_compute_what_the_model_does():
    sites = bound.Sites(torch.float64)
    query, key, value = torch.randn(3, 2, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(bound.round_attention(sites, query, key, value), expected)
    torch.testing.assert_close(bound.round_rotary(sites, query), apply_rotary(query, torch.arange(5)))
    gain = torch.tensor([0.5, 1.0, 2.0, -1.0], dtype=torch.float64)
    torch.testing.assert_close(bound.round_norm(sites, query, gain), torch.nn.functional.rms_norm(query, (4,), gain, eps=1e-5))
    assert all((most >= 0).all() and most.isfinite().all() for most in sites.most)
