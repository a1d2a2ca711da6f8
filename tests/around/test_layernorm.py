"""Test layer normalisation and its gradient against PyTorch, and its position in a stack of blocks."""

import pytest
import torch

from snippets.around.layernorm import layer_norm, mean_square, post_norm, pre_norm, rms_norm


def draw(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("shape", [(1,), (8,), (2, 5, 8), (0, 5, 8), (3, 1)])
@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_layer_norm_and_rms_norm_agree_with_pytorch(shape, eps):
    x = 3 * draw(0, *shape) + 1
    torch.testing.assert_close(layer_norm(x, eps=eps), torch.nn.functional.layer_norm(x, shape[-1:], eps=eps))
    torch.testing.assert_close(rms_norm(x, eps=eps), torch.nn.functional.rms_norm(x, shape[-1:], eps=eps))


def test_the_default_epsilon_is_that_of_pytorchs_module():
    x = draw(1, 4, 6) / 1000
    torch.testing.assert_close(layer_norm(x), torch.nn.LayerNorm(6, elementwise_affine=False)(x))


def test_mean_and_mean_square():
    x = draw(2, 50, 7)
    variance = x.var(-1, correction=0)
    torch.testing.assert_close(layer_norm(x).mean(-1), torch.zeros(50, dtype=torch.float64))
    torch.testing.assert_close(mean_square(layer_norm(x, eps=0.1)), variance / (variance + 0.1))
    torch.testing.assert_close(mean_square(rms_norm(x, eps=0)), torch.ones(50, dtype=torch.float64))


def test_two_features_become_plus_and_minus_one():
    assert layer_norm(torch.tensor([3.0, 7.0]), eps=0).tolist() == [-1.0, 1.0]


def test_a_shift_and_a_positive_factor_drop_out():
    x = draw(3, 5, 8)
    torch.testing.assert_close(layer_norm(4 * x - 9, eps=0), layer_norm(x, eps=0))
    torch.testing.assert_close(layer_norm(-x, eps=0), -layer_norm(x, eps=0))
    torch.testing.assert_close(rms_norm(4 * x, eps=0), rms_norm(x, eps=0))
    assert not torch.allclose(rms_norm(x + 1, eps=0), rms_norm(x, eps=0))


@pytest.mark.parametrize("eps", [0.0, 0.5])
def test_gradient_agrees_with_autograd(eps):
    d, x = 6, draw(4, 6)
    y, spread = layer_norm(x, eps=eps), (x.var(correction=0) + eps).sqrt()
    slope = torch.autograd.functional.jacobian(lambda x: layer_norm(x, eps=eps), x)
    torch.testing.assert_close(slope, (torch.eye(d, dtype=torch.float64) - 1 / d - torch.outer(y, y) / d) / spread)
    torch.testing.assert_close(slope @ torch.ones(d, dtype=torch.float64), torch.zeros(d, dtype=torch.float64))
    torch.testing.assert_close(slope @ (x - x.mean()), y * eps / spread**2)


def test_a_token_without_variance():
    constant = torch.full((4,), 5.0, dtype=torch.float64)
    assert layer_norm(constant).tolist() == [0.0] * 4
    assert layer_norm(constant, eps=0).isnan().all()


def test_gain_and_bias_fold_into_the_next_layer():
    x, gain, bias, W = draw(5, 3, 4), draw(6, 4), draw(7, 4), draw(8, 4, 2)
    affine = torch.nn.functional.layer_norm(x, (4,), gain, bias)
    torch.testing.assert_close(affine @ W, layer_norm(x) @ (gain[:, None] * W) + bias @ W)


def test_normalising_before_and_after_a_layer():
    x, W = draw(9, 3, 4), draw(10, 4, 4)
    block = lambda x: x @ W
    torch.testing.assert_close(post_norm(x, block), torch.nn.functional.layer_norm(x + x @ W, (4,)))
    torch.testing.assert_close(pre_norm(x, block), x + torch.nn.functional.layer_norm(x, (4,)) @ W)


@pytest.mark.parametrize("function", [layer_norm, rms_norm])
def test_a_token_without_features_is_empty(function):
    assert function(torch.zeros(3, 0)).shape == (3, 0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_large_tokens_do_not_overflow_in_half_precision(name, dtype):
    x = torch.tensor([[300.0, -300.0], [60000.0, -60000.0], [1.0, 3.0]], dtype=dtype)
    ours = {"layer_norm": layer_norm, "rms_norm": rms_norm}[name](x)
    assert ours.dtype == dtype and ours[:2].tolist() == [[1.0, -1.0]] * 2
    theirs = getattr(torch.nn.functional, name)(x.float(), (2,), eps=1e-5)
    assert (ours.float() - theirs).abs().max() <= torch.finfo(dtype).eps * theirs.abs().max() / 2


def test_a_centred_token_may_be_larger_than_fp16_holds():
    x = torch.tensor([6e4, -6e4, -6e4, -6e4], dtype=torch.float16)
    assert (
        layer_norm(x).tolist()
        == torch.nn.functional.layer_norm(x, (4,)).tolist()
        == torch.tensor([3, -1, -1, -1]).div(3**0.5).half().tolist()
    )


def test_mean_square_of_tokens_whose_squares_overflow_fp16():
    assert mean_square(torch.full((4,), 255.0).half()).item() == 65024  # 255 squared, four of them beyond fp16


def test_numbers_in_the_text():
    token = torch.tensor([1.0, 2, 3, 6]).double()
    centred = token - token.mean()
    assert centred.tolist() == [-2, -1, 0, 3] and mean_square(centred).item() == 3.5 and round(3.5**0.5, 2) == 1.87
    assert [round(one, 2) for one in layer_norm(token).tolist()] == [-1.07, -0.53, 0, 1.6]
    jacobian = torch.autograd.functional.jacobian(lambda features: layer_norm(features, eps=0), token)
    assert torch.linalg.matrix_rank(jacobian).item() == 2
    gradient = jacobian[0]  # that of the first output
    assert [round(one, 3) for one in gradient.tolist()] == [0.248, -0.21, -0.134, 0.095]
    assert abs(gradient.sum().item()) < 1e-12 and abs((gradient @ centred).item()) < 1e-12
    assert 0.99 < mean_square(layer_norm(torch.tensor([0.1, 0.1, 0.1, 0.2]).double())).item() < 1
    # PyTorch's default for RMSNorm, found from what it divides by; 16-bit tensors are computed in single precision.
    assert torch.nn.RMSNorm(4).eps is None and round(torch.finfo(torch.float32).eps * 1e7, 1) == 1.2
    for dtype, rtol in ((torch.float32, 1e-4), (torch.bfloat16, 0.2)):
        small = torch.tensor([1e-3, -2e-3, 3e-3, 1e-3], dtype=dtype)
        ratio = small.double() / torch.nn.functional.rms_norm(small, (4,)).double()
        eps = ratio.square() - small.double().square().mean()
        torch.testing.assert_close(eps, torch.full((4,), torch.finfo(torch.float32).eps).double(), rtol=rtol, atol=0)
