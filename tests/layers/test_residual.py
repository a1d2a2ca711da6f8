"""The residual stream: attribution, ablation, rotation, and growth with depth."""

import pytest
import torch
from torch.nn.functional import layer_norm, rms_norm

from snippets.layers.residual import (
    cosines,
    direct_and_indirect_effect,
    logit_parts,
    random_stack,
    relu_block,
    squared_cosine,
    stream,
    stream_logits,
    turned_weights,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def test_the_stream_is_what_came_in_and_every_write():
    x, writes = random(0, (3, 6), (3, 4, 6))
    expected = x.clone()
    for write in writes.unbind(1):
        expected = expected + write
    torch.testing.assert_close(stream(x, writes), expected)


def test_the_parts_of_logits_add_up():
    x, writes, W = random(1, (3, 6), (3, 4, 6), (6, 10))
    whole = stream_logits(x, writes, W)
    torch.testing.assert_close(whole, rms_norm(stream(x, writes), (6,), eps=0.0) @ W)
    shares = logit_parts(x, writes, W)
    assert shares.shape == (3, 5, 10)
    torch.testing.assert_close(shares.sum(1), whole)
    size = stream(x, writes).square().mean(-1, keepdim=True).sqrt()
    torch.testing.assert_close(shares[:, 2], writes[:, 1] / size @ W)


def test_a_write_taken_away_changes_the_divisor():
    x, writes, W = random(2, (6,), (4, 6), (6, 10))
    less_its_row = stream_logits(x, writes, W) - logit_parts(x, writes, W)[2]
    anew = stream_logits(x, writes[[0, 2, 3]], W)
    assert not torch.allclose(less_its_row, anew)
    sizes = [stream(x, some).square().mean().sqrt() for some in (writes, writes[[0, 2, 3]])]
    torch.testing.assert_close(less_its_row * sizes[0] / sizes[1], anew)


def test_silencing_a_block_takes_away_two_terms():
    x, M, T = random(3, (2, 6), (6, 6), (6, 6))
    one = torch.eye(6, dtype=torch.float64)
    direct, later = direct_and_indirect_effect(x, M, T)
    torch.testing.assert_close(direct + later, x @ (one + M) @ (one + T) - x @ (one + T))
    torch.testing.assert_close(direct, x @ M)


def test_a_turned_block_does_the_same_and_a_layer_norm_does_not():
    x, A, B, R = random(4, (3, 6), (6, 8), (8, 6), (6, 6))
    R, _ = torch.linalg.qr(R)
    torch.testing.assert_close(relu_block(x @ R, *turned_weights(A, B, R)), relu_block(x, A, B) @ R)
    torch.testing.assert_close(relu_block(x, A, B), x + (rms_norm(x, (6,), eps=1e-5) @ A).relu() @ B)
    assert not torch.allclose(layer_norm(x @ R, (6,)) @ R.T, layer_norm(x, (6,)))
    assert not torch.allclose(relu_block(x @ R, A, B), relu_block(x, A, B) @ R)


@pytest.mark.parametrize("count", [1, 16, 64])
def test_scaled_writes_reach_the_same_variance_at_every_depth(count):
    (x,) = random(5, (512,))
    generator = torch.Generator().manual_seed(6)
    states = random_stack(x, count=count, scale=count**-0.5, generator=generator)
    assert states.shape == (count + 1, 512) and states[0].equal(x)
    assert 1.6 < states[-1].square().mean().item() < 2.6


def test_the_stream_grows_and_turns_less_and_less():
    (x,) = random(7, (512,))
    states = random_stack(x, count=30, generator=torch.Generator().manual_seed(8))
    assert 24 < states[-1].square().mean().item() < 40
    measured = cosines(states)
    torch.testing.assert_close(measured[3], states[3] @ states[4] / states[3].norm() / states[4].norm())
    expected = torch.arange(1, 31, dtype=torch.float64) / torch.arange(2, 32, dtype=torch.float64)
    assert squared_cosine(stream=30.0, write=1.0) == expected[-1]
    assert (measured.square() - expected).abs().max() < 0.12
    assert measured[-5:].min() > measured[:3].max()


def test_numbers_in_the_text():
    x, writes, W = torch.tensor([1.0, 0]).double(), torch.tensor([[1.0, 1], [0, 2]]).double(), torch.eye(2).double()
    assert stream(x, writes).tolist() == [2, 3] and round(6.5**0.5, 2) == 2.55
    assert [round(one, 2) for one in logit_parts(x, writes, W)[:, 1].tolist()] == [0, 0.39, 0.78]
    assert round(stream_logits(x, writes, W)[1].item(), 2) == 1.18
    first, tenth = (squared_cosine(stream=float(variance), write=1.0) for variance in (1, 10))
    assert first == 0.5 and tenth == 10 / 11
    angles = torch.tensor([first, tenth]).sqrt().arccos().rad2deg()
    assert angles.round().tolist() == [45, 18]


def test_gradient_descent_does_not_depend_on_the_basis_and_adam_does():
    """Train rotated weights on a rotated stream, rotate back, and compare with the weights trained without rotation."""
    X, target, A, B, R = random(9, (20, 6), (20, 6), (6, 8), (8, 6), (6, 6))
    R, _ = torch.linalg.qr(R)
    for optimiser, same in ((torch.optim.SGD, True), (torch.optim.Adam, False)):
        trained = []
        for rotation in (torch.eye(6, dtype=torch.float64), R):
            weights = [one.detach().clone().requires_grad_() for one in turned_weights(A, B, rotation)]
            step = optimiser(weights, lr=0.01)
            for _ in range(5):
                step.zero_grad()
                (relu_block(X @ rotation, *weights) - target @ rotation).square().mean().backward()
                step.step()
            trained.append([one.detach() for one in turned_weights(*weights, rotation.T)])
        assert torch.allclose(trained[0][0], trained[1][0]) == same == torch.allclose(trained[0][1], trained[1][1])
