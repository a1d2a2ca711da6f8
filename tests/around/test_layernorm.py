"""Layer normalisation against PyTorch's, its slope against autograd, and where it stands in a stack."""

import pytest
import torch

from snippets.around.layernorm import layer_norm, mean_square, post_norm, pre_norm, rms_norm


def draw(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("shape", [(1,), (8,), (2, 5, 8), (0, 5, 8), (3, 1)])
@pytest.mark.parametrize("epsilon", [1e-5, 0.3])
def test_layer_norm_and_rms_norm_are_pytorchs(shape, epsilon):
    x = 3 * draw(0, *shape) + 1
    torch.testing.assert_close(layer_norm(x, epsilon), torch.nn.functional.layer_norm(x, shape[-1:], eps=epsilon))
    torch.testing.assert_close(rms_norm(x, epsilon), torch.nn.functional.rms_norm(x, shape[-1:], eps=epsilon))


def test_the_default_epsilon_is_that_of_pytorchs_module():
    x = draw(1, 4, 6) / 1000
    torch.testing.assert_close(layer_norm(x), torch.nn.LayerNorm(6, elementwise_affine=False)(x))


def test_mean_and_mean_square():
    x = draw(2, 50, 7)
    variance = x.var(-1, correction=0)
    torch.testing.assert_close(layer_norm(x).mean(-1), torch.zeros(50, dtype=torch.float64))
    torch.testing.assert_close(mean_square(layer_norm(x, 0.1)), variance / (variance + 0.1))
    torch.testing.assert_close(mean_square(rms_norm(x, 0)), torch.ones(50, dtype=torch.float64))


def test_two_features_become_plus_and_minus_one():
    assert layer_norm(torch.tensor([3.0, 7.0]), epsilon=0).tolist() == [-1.0, 1.0]


def test_a_shift_and_a_positive_factor_drop_out():
    x = draw(3, 5, 8)
    torch.testing.assert_close(layer_norm(4 * x - 9, epsilon=0), layer_norm(x, epsilon=0))
    torch.testing.assert_close(layer_norm(-x, epsilon=0), -layer_norm(x, epsilon=0))
    torch.testing.assert_close(rms_norm(4 * x, epsilon=0), rms_norm(x, epsilon=0))
    assert not torch.allclose(rms_norm(x + 1, epsilon=0), rms_norm(x, epsilon=0))


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_the_slope(epsilon):
    d, x = 6, draw(4, 6)
    y, spread = layer_norm(x, epsilon), (x.var(correction=0) + epsilon).sqrt()
    slope = torch.autograd.functional.jacobian(lambda x: layer_norm(x, epsilon), x)
    torch.testing.assert_close(slope, (torch.eye(d, dtype=torch.float64) - 1 / d - torch.outer(y, y) / d) / spread)
    torch.testing.assert_close(slope @ torch.ones(d, dtype=torch.float64), torch.zeros(d, dtype=torch.float64))
    torch.testing.assert_close(slope @ (x - x.mean()), y * epsilon / spread**2)


def test_a_token_without_variance():
    constant = torch.full((4,), 5.0, dtype=torch.float64)
    assert layer_norm(constant).tolist() == [0.0] * 4
    assert layer_norm(constant, epsilon=0).isnan().all()


def test_gain_and_bias_fold_into_the_next_layer():
    x, gain, bias, W = draw(5, 3, 4), draw(6, 4), draw(7, 4), draw(8, 4, 2)
    affine = torch.nn.functional.layer_norm(x, (4,), gain, bias)
    torch.testing.assert_close(affine @ W, layer_norm(x) @ (gain[:, None] * W) + bias @ W)


def test_before_and_after():
    x, W = draw(9, 3, 4), draw(10, 4, 4)
    block = lambda x: x @ W
    torch.testing.assert_close(post_norm(x, block), torch.nn.functional.layer_norm(x + x @ W, (4,)))
    torch.testing.assert_close(pre_norm(x, block), x + torch.nn.functional.layer_norm(x, (4,)) @ W)


@pytest.mark.parametrize("function", [layer_norm, rms_norm])
def test_a_token_without_features_is_refused(function):
    with pytest.raises(ValueError, match=r"d is 0 in (x|u) \(3, 0\) and must be at least 1"):
        function(torch.zeros(3, 0))
    with pytest.raises(ValueError, match="too few axes"):
        function(torch.tensor(1.0))
