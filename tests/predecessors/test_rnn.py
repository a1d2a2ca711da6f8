"""The recurrent step against PyTorch's network, and how far its gradients reach, against products and closed forms."""

import math

import pytest
import torch

from snippets.predecessors.rnn import attention_reach, linear_step, reach, rnn, rnn_step, squash, squash_gradient


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def theirs(p, d, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.RNN(p, d, batch_first=True, dtype=torch.float64)


@pytest.mark.parametrize(("batch", "n", "p", "d"), [(1, 1, 1, 1), (2, 5, 3, 4), (0, 3, 2, 2)])
def test_run_is_pytorchs_network_weight_for_weight(batch, n, p, d):
    network = theirs(p, d)
    x, start = draw(1, (batch, n, p), (batch, d))
    weights, bias = (network.weight_ih_l0.T, network.weight_hh_l0.T), network.bias_ih_l0 + network.bias_hh_l0
    expected, _ = network(x, start.unsqueeze(0))
    torch.testing.assert_close(rnn(x, start, *weights, bias=bias), expected)


def test_a_step_is_the_squashed_linear_step():
    x, h, U, W, bias = draw(2, (2, 3), (2, 4), (3, 4), (4, 4), (4,))
    expected = [[math.tanh(z) for z in row] for row in linear_step(x, h, U, W, bias=bias).tolist()]
    torch.testing.assert_close(rnn_step(x, h, U, W, bias=bias), torch.tensor(expected, dtype=torch.float64))
    by_hand = torch.einsum("bd,de->be", h, W) + torch.einsum("bp,pe->be", x, U) + bias
    torch.testing.assert_close(linear_step(x, h, U, W, bias=bias), by_hand)


def test_the_slope_is_autograds_and_does_not_cancel():
    t = torch.linspace(-3, 3, 13, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(squash(t).sum(), t)
    torch.testing.assert_close(squash_gradient(t.detach()), expected)
    far = torch.tensor(25.0, dtype=torch.float64)
    assert 1 - squash(far) ** 2 == 0
    assert squash_gradient(far).item() == pytest.approx(4 * math.exp(-50), rel=1e-12, abs=0)


def test_the_state_moves_with_the_state_before_as_the_product_of_the_slopes():
    x, h, U, W = draw(3, (4, 3), (5,), (3, 5), (5, 5))
    W = W / 2
    product = torch.eye(5, dtype=torch.float64)
    state = h
    for token in x:
        product = product @ (W * squash_gradient(linear_step(token, state, U, W)))  # entry i, j: new j by old i
        state = rnn_step(token, state, U, W)
    jacobian = torch.autograd.functional.jacobian(lambda h: rnn(x, h, U, W)[-1], h)
    torch.testing.assert_close(jacobian, product.T)
    assert jacobian.norm() <= W.norm() ** 4


@pytest.mark.parametrize("T", [1, 3, 20])
@pytest.mark.parametrize("w", [0.5, 1.0, 1.5])
def test_without_tanh_a_rotation_reaches_as_the_power_of_its_factor(T, w):
    assert reach(linear_step, T=T, w=w, generator=torch.Generator().manual_seed(T), dtype=torch.float64).item() == pytest.approx(
        w**T, rel=1e-9, abs=0
    )


@pytest.mark.parametrize("w", [0.5, 1.0, 1.5])
def test_tanh_only_shrinks_the_reach(w):
    for seed in range(3):
        assert reach(rnn_step, T=6, w=w, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).item() < w**6


def test_a_large_matrix_need_not_explode():
    W = torch.tensor([[0.0, 2.0], [0.0, 0.0]], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(
        lambda h: linear_step(W[0], linear_step(W[0], h, torch.eye(2).double(), W), torch.eye(2).double(), W), W[1]
    )
    assert W.norm() == 2 and not jacobian.any()


@pytest.mark.parametrize("T", [1, 2, 50])
@pytest.mark.parametrize("score", [0.0, 1.5, 16.0])
def test_attention_reaches_by_the_weight(T, score):
    weight = math.exp(score) / (math.exp(score) + T - 1)
    assert attention_reach(T=T, score=score, dtype=torch.float64).item() == pytest.approx(weight, rel=1e-12)


@pytest.mark.parametrize(("dtype", "far"), [(torch.float32, 100.0), (torch.float64, 800.0)])
def test_the_slope_far_out_has_a_slope_itself(dtype, far):
    t = torch.tensor([-far, far], dtype=dtype, requires_grad=True)
    (second,) = torch.autograd.grad(squash_gradient(t).sum(), t)
    torch.testing.assert_close(second, torch.zeros_like(t))


def test_numbers_in_the_text():
    """Powers of 0.9 and of 1.5, and the norm of 0.9 times a rotation of eight features."""
    assert [f"{0.9**T:.1%}" for T in (16, 64)] == ["18.5%", "0.1%"] and [f"{1.5**T:.3g}" for T in (16, 64)] == ["657", "1.86e+11"]
    rotation = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64))[0]
    assert f"{(0.9 * rotation).norm().item():.1f}" == "2.5"
