"""Tests of SwiGLU: its gradients, its symmetries, its values near zero, and its size."""

import pytest
import torch
from torch.nn.functional import gelu, relu, silu

from snippets.layers.swiglu import (
    balance_lengths,
    down_gradient_products,
    extra_parameters,
    gated_width,
    imbalance,
    swiglu_jacobian,
    swiglu_layer,
    swish,
    up_gradient_products,
)
from snippets.together.gpt import swiglu


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


WEIGHTS = (6, 10), (6, 10), (10, 6)


def test_swiglu_agrees_with_the_layer_of_the_gpt():
    x, W_g, W_u, W_d = random(0, (2, 3, 6), *WEIGHTS)
    torch.testing.assert_close(swiglu_layer(x, W_g, W_u, W_d), swiglu(x, W_g, W_u) @ W_d)
    torch.testing.assert_close(swiglu_layer(x, W_g, W_u, W_d), ((x @ W_g).sigmoid() * (x @ W_g) * (x @ W_u)) @ W_d)


def test_the_slopes_are_those_of_autograd_and_vanish_at_zero():
    x, *weights = random(1, (6,), *WEIGHTS)
    torch.testing.assert_close(swiglu_jacobian(x, *weights), torch.autograd.functional.jacobian(lambda x: swiglu_layer(x, *weights), x))
    assert swiglu_jacobian(0 * x, *weights).eq(0).all()


def test_a_factor_moves_from_down_to_up_and_not_to_the_gate():
    x, W_g, W_u, W_d, c = random(2, (6,), *WEIGHTS, (10,))
    y = swiglu_layer(x, W_g, W_u, W_d)
    torch.testing.assert_close(swiglu_layer(x, W_g, W_u * c, W_d / c[:, None]), y)
    assert not torch.allclose(swiglu_layer(x, 2 * W_g, W_u, W_d / 2), y)


def test_weight_gradients_agree_with_autograd_and_balance():
    x, W_g, W_u, W_d, upstream = random(3, (6,), *WEIGHTS, (6,))
    up, down = W_u.clone().requires_grad_(), W_d.clone().requires_grad_()
    of_up, of_down = torch.autograd.grad(swiglu_layer(x, W_g, up, down) @ upstream, (up, down))
    torch.testing.assert_close(up_gradient_products(x, W_g, W_u, W_d, upstream), (of_up * W_u).sum(0))
    torch.testing.assert_close(down_gradient_products(x, W_g, W_u, W_d, upstream), (of_down * W_d).sum(1))
    torch.testing.assert_close((of_up * W_u).sum(0), (of_down * W_d).sum(1))


def test_balanced_weights_are_the_same_layer():
    x, W_g, W_u, W_d = random(4, (6,), *WEIGHTS)
    evened = balance_lengths(W_u, W_d)
    torch.testing.assert_close(swiglu_layer(x, W_g, *evened), swiglu_layer(x, W_g, W_u, W_d))
    torch.testing.assert_close(imbalance(*evened), torch.zeros(10, dtype=torch.float64))
    torch.testing.assert_close(imbalance(W_u, W_d), W_u.norm(dim=0) ** 2 - W_d.norm(dim=1) ** 2)
    assert imbalance(W_u, W_d).abs().min() > 0


def test_near_zero_swiglu_is_half_a_product():
    x, W_g, W_u, W_d = random(5, (6,), *WEIGHTS)
    t = 1e-4
    torch.testing.assert_close(swiglu_layer(t * x, W_g, W_u, W_d) / t**2, ((x @ W_g) * (x @ W_u)) @ W_d / 2, rtol=1e-2, atol=1e-3)


def test_swish_is_silu_and_its_ends_are_a_line_and_relu():
    (z,) = random(6, (50,))
    torch.testing.assert_close(swish(z, steepness=1.0), silu(z))
    torch.testing.assert_close(swish(z, steepness=3.0), silu(3 * z) / 3)
    torch.testing.assert_close(swish(z, steepness=1e-9), z / 2)
    torch.testing.assert_close(swish(z, steepness=1e6), relu(z))
    assert (swish(z, steepness=1.702) - gelu(z)).abs().max() < 0.03 < (silu(z) - gelu(z)).abs().max()


@pytest.mark.parametrize("d", [3, 6, 768, 4096, 5120])
def test_the_width_is_eight_thirds_rounded_up(d):
    assert 0 <= gated_width(d, multiple=1) - 8 * d / 3 < 1
    width = gated_width(d)
    assert width % 256 == 0 and 0 <= width - 8 * d / 3 < 256
    assert extra_parameters(d, width) == 3 * d * width - 8 * d * d
    if d % 3 == 0:
        assert extra_parameters(d, 8 * d // 3) == 0


def test_numbers_in_the_text():
    gate, value = torch.tensor([2.0, 0.2]).double(), torch.tensor([3.0, 0.3]).double()
    assert round(silu(gate)[0].item(), 2) == 1.76
    products = silu(gate) * value
    assert round(products[0].item(), 2) == 5.28 and round(products[1].item(), 3) == 0.033 and products[1] < products[0] / 100
    assert gated_width(768) == 2048 and gated_width(4096) == 11008 and extra_parameters(4096, 11008) == 1_048_576


def test_weight_decay_shrinks_the_imbalance():
    x, W_g, *start = random(7, (6,), *WEIGHTS)
    weights = [one.clone() for one in start]
    for _ in range(100):
        weights = [one.requires_grad_() for one in weights]
        gradients = torch.autograd.grad(swiglu_layer(x, W_g, *weights).square().mean(), weights)
        weights = [(one - 1e-3 * (gradient + one)).detach() for one, gradient in zip(weights, gradients)]
    torch.testing.assert_close(imbalance(*weights), (1 - 1e-3) ** 200 * imbalance(*start), rtol=0.05, atol=0.05)
