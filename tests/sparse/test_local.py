"""Local and global layers, counted by going through masks; paths, by multiplying matrices; documents, that never meet."""

import pytest
import torch

from snippets.sparse.local import cache_entries, cache_fraction, document_mask, global_pairs, hops, local_global_mask, paths
from snippets.sparse.window import window_mask


@pytest.mark.parametrize(("n", "local", "window"), [(5, 1, 9), (9, 3, 4), (64, 5, 16)])
def test_a_cache_holds_what_the_last_query_sees(n, local, window):
    near, every = window_mask(n, window)[-1].sum().item(), n
    assert cache_entries(n, local, window) == local * near + every
    assert cache_fraction(n, local, window) == pytest.approx((local * near + every) / ((local + 1) * every))


def test_a_short_text_saves_nothing():
    assert cache_fraction(100, 5, 100) == cache_fraction(7, 5, 100) == 1


@pytest.mark.parametrize(("n", "num_global"), [(6, 0), (6, 1), (9, 4), (3, 3)])
def test_global_tokens_see_and_are_seen(n, num_global):
    mask, near = local_global_mask(n, window=2, num_global=num_global), local_global_mask(n, window=2, num_global=0)
    assert mask[:num_global].all() and mask[:, :num_global].all()
    assert torch.equal(mask[num_global:, num_global:], near[num_global:, num_global:])
    assert torch.equal(near, near.T) and near.sum() == 3 * n - 2  # itself and a neighbour on each side
    everywhere = torch.zeros(n, n, dtype=torch.bool)
    everywhere[:num_global] = True
    everywhere[:, :num_global] = True
    assert global_pairs(n, num_global) == everywhere.sum()


def test_hops():
    assert hops(torch.ones(3, 3, dtype=torch.bool)) == 1 and hops(torch.ones(1, 1, dtype=torch.bool)) == 0
    assert hops(local_global_mask(40, window=2, num_global=0)) == 39
    assert hops(local_global_mask(40, window=2, num_global=1)) == 2
    with pytest.raises(ValueError, match="never meet"):
        hops(window_mask(4, 2))  # what is later never reaches what is earlier


@pytest.mark.parametrize("gaps", [(), (1,), (1, 1, 1), (2, 2), (1, 2, 4, 8), (3, 1)])
def test_paths_are_entries_of_a_product(gaps):
    n = sum(gaps) + 1
    stack = torch.eye(n, dtype=torch.int64)
    for gap in gaps:
        stack = stack @ (torch.eye(n, dtype=torch.int64) + torch.diag(torch.ones(n - gap, dtype=torch.int64), -gap))
    assert torch.equal(paths(*gaps), stack[-1].flip(0))


def test_gaps_that_double_are_even_and_equal_gaps_leave_holes():
    assert paths(1, 2, 4, 8, 16).eq(1).all() and len(paths(1, 2, 4, 8, 16)) == 32
    assert paths(2, 2, 2, 2)[1::2].eq(0).all()


def test_documents_keep_to_themselves():
    document = torch.tensor([[0, 0, 1, 1], [0, 1, 2, 2]])
    mask = document_mask(document)
    for b in range(2):
        for i in range(4):
            for j in range(4):
                assert mask[b, i, j] == (j <= i and document[b, i] == document[b, j])
    many = torch.linalg.matrix_power(mask.double(), 20)
    assert many[0, 2:, :2].eq(0).all() and many[0, 1, 0] > 0


def test_numbers_in_the_text():
    assert cache_fraction(4096, 5, 1024) == 0.375 and round(cache_fraction(131_072, 5, 1024), 3) == 0.173 and round(1 / 6, 3) == 0.167
    assert cache_fraction(2560, 5, 1024) == 0.5  # two and a half windows
    assert cache_fraction(2048, 5, 1024) > 0.5
    assert len(paths(*(2**layer for layer in range(10)))) == 1024 and len(paths(*[1] * 7)) == 8


def test_fewer_than_no_global_tokens_are_rejected():
    with pytest.raises(ValueError, match="num_global is -1; expected at least 0"):
        local_global_mask(4, window=1, num_global=-1)
