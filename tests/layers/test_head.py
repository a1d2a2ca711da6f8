"""The head: its loss and errors, what no gradient touches, its rank, and its share of a model."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from snippets.around.transformer import block_parameters
from snippets.layers.head import centred_logs, feature_gradients, logit_gradients, table_share, token_losses, winners


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_the_losses_are_pytorchs(scale):
    (z,) = random(0, (3, 7))
    found = token_losses(scale * z)
    assert found.isfinite().all()
    for token in range(7):
        expected = cross_entropy(scale * z, torch.full((3,), token), reduction="none")
        torch.testing.assert_close(found[:, token], expected)


def test_errors_and_pulls_are_those_of_autograd():
    x, U = random(1, (4,), (7, 4))
    z = U @ x
    torch.testing.assert_close(logit_gradients(z), torch.autograd.functional.jacobian(token_losses, z))
    torch.testing.assert_close(logit_gradients(z).sum(1), torch.zeros(7, dtype=torch.float64))
    torch.testing.assert_close(feature_gradients(x, U), torch.autograd.functional.jacobian(lambda x: token_losses(U @ x), x))


def test_the_mean_of_the_embeddings_gets_no_gradient():
    x, U = random(2, (4,), (7, 4))
    U.requires_grad_()
    (slope,) = torch.autograd.grad(token_losses(U @ x)[3], U)
    torch.testing.assert_close(slope.sum(0), torch.zeros(4, dtype=torch.float64))
    assert slope.abs().max() > 0.1


@pytest.mark.parametrize("d", [1, 3, 8])
def test_the_rank_of_the_logs_is_the_width(d):
    H, U, v = random(3, (30, d), (50, d), (d,))
    logs = centred_logs(H, U)
    torch.testing.assert_close(logs, H @ (U - U.mean(0)).T)
    torch.testing.assert_close(centred_logs(H, U + v), logs)
    assert torch.linalg.matrix_rank(logs) == d
    assert torch.linalg.matrix_rank((H @ U.T).softmax(-1)) > d


def test_a_mean_of_embeddings_is_never_ahead():
    U, t, contexts = random(4, (6, 3), (6,), (500, 3))
    inside = t.softmax(0) @ U
    assert (contexts @ inside <= (contexts @ U.T).max(1).values).all()
    assert not (contexts @ (3 * inside) <= (contexts @ U.T).max(1).values).all()


def test_embeddings_of_width_two_lock_tokens_out_and_wider_ones_fewer():
    counts = []
    for d in (2, 4, 8):
        U, contexts = random(5, (1000, d), (10_000, d))
        found = winners(U, contexts)
        assert set(found.tolist()) == {int(row.argmax()) for row in contexts @ U.T}
        counts.append(len(found))
    assert counts[0] < 25 and counts[0] < counts[1] < counts[2]


@pytest.mark.parametrize(("N", "d", "blocks"), [(1, 1, 1), (50257, 768, 12), (1000, 64, 3)])
def test_the_share_is_counted(N, d, blocks):
    in_blocks = blocks * (block_parameters(d, 4 * d) - 13 * d)  # its matrices alone
    assert table_share(N, d, blocks) == pytest.approx(N * d / (N * d + in_blocks))
    assert table_share(N, d, blocks) == pytest.approx(N / (N + 12 * blocks * d))


def test_numbers_in_the_text():
    z = torch.tensor([2.0, 0, 1, -1]).double()
    assert [round(one, 2) for one in z.softmax(0).tolist()] == [0.64, 0.09, 0.24, 0.03]
    assert round(token_losses(z)[2].item(), 2) == 1.44
    assert round(z.logsumexp(0).item(), 2) == 2.44
    assert [round(one, 2) for one in logit_gradients(z)[2].tolist()] == [0.64, 0.09, -0.76, 0.03]
    U, x = torch.tensor([[1.0], [2], [3]]).double(), torch.zeros(1).double()  # three tokens at width one
    torch.testing.assert_close(feature_gradients(x, U)[2].item(), 2.0 - 3)
    logits = torch.tensor([[1.0], [-2]]).double() @ U.T
    centred_rows = logits - logits.mean(1, keepdim=True)
    assert logits[1].tolist() == [-2, -4, -6] and centred_rows.tolist() == [[-1, 0, 1], [2, 0, -2]]
    assert (16 * 768, 8 * 12) == (12288, 96)  # GPT-3's width and its number of blocks


def test_adam_moves_the_mean_of_the_embeddings_and_gradient_descent_does_not():
    H, start = random(6, (30, 4), (7, 4))
    for optimiser, moves in ((torch.optim.SGD, False), (torch.optim.Adam, True)):
        U = start.clone().requires_grad_()
        step = optimiser([U], lr=0.1)
        for _ in range(5):
            step.zero_grad()
            token_losses(H @ U.T)[:, :3].sum().backward()
            step.step()
        assert ((U - start).mean(0).abs().max() > 1e-3) == moves
