"""Old rows, keys that were rotated once, and a tied table, against what is written out here."""

import pytest
import torch

from snippets.together.pieces import old_row, rotated, scores_by_distance, scores_from_cache, tied_gradients, tied_logits


def drawn(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("m", [1, 6])
def test_a_later_token_changes_an_old_row_only_without_the_mask(m):
    query, K, V, key, value = drawn((3,), (m, 3), (m, 2), (3,), (2,))
    torch.testing.assert_close(old_row(query, K, V, key, value), torch.softmax(K @ query, 0) @ V)
    with_it = torch.softmax(torch.cat([K, key[None]]) @ query, 0) @ torch.cat([V, value[None]])
    torch.testing.assert_close(old_row(query, K, V, key, value, masked=False), with_it)


def test_scores_from_kept_keys_know_the_distance_alone():
    q_1, q_2, K_1, K_2, omega = drawn((3,), (3,), (5, 3), (5, 3), (3,))
    places = torch.tensor([0, 1, 2, 5, 9])
    kept = scores_from_cache(q_1, q_2, K_1, K_2, torch.tensor(11), places, omega)
    torch.testing.assert_close(kept, scores_by_distance(q_1, q_2, K_1, K_2, torch.tensor(11), places, omega))
    torch.testing.assert_close(kept, scores_from_cache(q_1, q_2, K_1, K_2, torch.tensor(111), places + 100, omega))
    as_complex = torch.polar(torch.ones(5, 3).double(), (places - 11)[:, None] * omega) * torch.complex(K_1, K_2)
    torch.testing.assert_close(kept, (as_complex * torch.complex(q_1, -q_2)).real.sum(-1))
    torch.testing.assert_close(rotated(q_1, q_2, torch.tensor(0), omega), torch.cat([q_1, q_2]))


def test_a_tied_table_learns_from_both_ends():
    u, E, W = drawn((4,), (4, 3), (3, 3))
    gradients = tied_gradients(u, E, W)
    torch.testing.assert_close(tied_logits(u, E, W), torch.einsum("n,nd,de,me->m", u, E, W, E))
    expected = torch.einsum("cb,a->cba", torch.eye(4).double(), u @ E @ W) + torch.einsum("b,ca->cba", u, E @ W.T)
    torch.testing.assert_close(gradients, expected)
