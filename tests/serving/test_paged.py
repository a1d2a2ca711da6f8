"""Attention through page tables against attention to the plain rows, and the pages of a cache against rows that are kept apart."""

import pytest
import torch

from snippets.attention.formula import attention
from snippets.order.rotary import apply_rotary
from snippets.serving.paged import (
    PagedCache,
    attention_by_pages,
    average_empty,
    bytes_saved_by_sharing,
    exchange_pages,
    gather_pages,
    mean_through_table,
    next_layer_input,
    overhead_bytes,
    paged_attention,
    pairs_after_prefix,
    pairs_saved_by_prefix,
    separate_bytes,
    shared_bytes,
    through_exchanged_table,
)


def draw(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def stored_rows(cache, name):
    """The keys and values of a sequence, read through its table."""
    table = torch.tensor(cache.tables[name])
    return [gather_pages(pages, table)[: cache.lengths[name]] for pages in (cache.key, cache.value)]


@pytest.mark.parametrize("length", [1, 7, 8, 12])
@pytest.mark.parametrize("seed", range(4))
def test_output_has_the_same_bits_wherever_the_pages_are(seed, length):
    generator = torch.Generator().manual_seed(seed)
    key, value, query = draw(seed, 12, 8), draw(seed + 10, 12, 5), draw(seed + 20, 3, 8)
    expected = attention(query, key[:length], value[:length])
    table = torch.randperm(6, generator=generator)[:3]
    key_pages, value_pages = (torch.full((6, 4, width), torch.nan, dtype=torch.float64) for width in (8, 5))
    for k, page in enumerate(table):
        rows = range(4 * k, min(4 * k + 4, length))
        for place, row in enumerate(rows):
            key_pages[page, place], value_pages[page, place] = key[row], value[row]
    assert torch.equal(paged_attention(query, key_pages, value_pages, table, length=length), expected)
    torch.testing.assert_close(attention_by_pages(query, key_pages, value_pages, table, length=length), expected)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 16])
@pytest.mark.parametrize("prefix", [1, 4, 6, 7])
def test_sequences_that_share_a_prefix_read_what_they_wrote(size, prefix):
    cache = PagedCache(40, size)
    written = {name: [] for name in "ABC"}

    def append(name, seed):
        token = draw(seed, 3), draw(seed + 1000, 2)
        cache.append(*token, name=name)
        written[name].append(token)

    for seed in range(7):
        append("A", seed)
    for new, tokens in (("B", prefix), ("C", 7)):
        cache.share("A", new, tokens=tokens)
        written[new] = written["A"][:tokens]
    for seed in range(7, 28):
        append("ABCCBABC"[seed % 8], seed)
    for name, tokens in written.items():
        for found, expected in zip(stored_rows(cache, name), zip(*tokens)):
            assert torch.equal(found, torch.stack(expected)), name
    counted = [sum(page in table for table in cache.tables.values()) for page in range(40)]
    assert cache.uses == counted


def test_sums_through_a_table_give_the_output_of_each_feature():
    query, pages, values, table = draw(0, 3), draw(1, 5, 4, 3), draw(2, 5, 4, 2), torch.tensor([3, 0])
    expected = paged_attention(query[None], pages, values, table, scale=1.0)[0]
    rows = torch.eye(5, dtype=torch.float64)[table]
    terms = (pages @ query).exp().unsqueeze(-1)
    found = [mean_through_table(rows, above, terms.sum((1, 2))) for above in (terms * values).sum(1).unbind(-1)]
    torch.testing.assert_close(torch.stack(found), expected)


def test_exchanged_pages_are_read_in_the_first_order():
    query, pages, values = draw(0, 3), draw(1, 5, 4, 3), draw(2, 5, 4, 2)
    moved = [exchange_pages(x[0], x[1], x[2:]) for x in (pages, values)]
    assert torch.equal(moved[0][0], pages[1]) and torch.equal(moved[1][2:], values[2:])
    assert torch.equal(through_exchanged_table(query, *moved), paged_attention(query[None], pages, values, torch.arange(5), scale=1.0)[0])


def test_only_a_page_that_others_list_is_copied():
    cache = PagedCache(8, 4)
    for seed in range(6):
        cache.append(draw(seed, 1), draw(seed, 1), name="A")
    cache.share("A", "B", tokens=6)
    cache.append(draw(6, 1), draw(6, 1), name="B")
    assert cache.tables == {"A": [0, 1], "B": [0, 2]} and cache.uses[:3] == [2, 1, 1]
    cache.append(draw(7, 1), draw(7, 1), name="A")
    assert cache.tables["A"] == [0, 1]  # its page is no longer shared


def test_tokens_that_were_not_written_cannot_be_shared():
    cache = PagedCache(3, 2)
    cache.append(draw(0, 1), draw(0, 1), name="A")
    with pytest.raises(ValueError, match="A has 1 tokens; found 2 to share"):
        cache.share("A", "B", tokens=2)


def test_a_page_is_free_once_no_table_lists_it():
    cache = PagedCache(3, 2)
    for seed in range(4):
        cache.append(draw(seed, 1), draw(seed, 1), name="A")
    cache.share("A", "B", tokens=2)
    cache.release("A")
    assert cache.uses == [1, 0, 0]
    for seed in range(4):
        cache.append(draw(seed, 1), draw(seed, 1), name="C")
    with pytest.raises(ValueError, match="none of the 3 pages is free"):
        cache.append(draw(4, 1), draw(4, 1), name="C")


@pytest.mark.parametrize("branches", [2, 3, 5])
def test_branches_copy_the_last_page_all_but_once(branches):
    cache = PagedCache(30, 4)
    for seed in range(11):  # two full pages, and three tokens
        cache.append(draw(seed, 1), draw(seed, 1), name="0")
    for branch in range(1, branches):
        cache.share("0", str(branch), tokens=11)
    before = {name: list(table) for name, table in cache.tables.items()}
    for name in before:
        cache.append(draw(0, 1), draw(0, 1), name=name)
    changed = sum(cache.tables[name][2] != table[2] for name, table in before.items())
    assert changed == branches - 1 and all(cache.tables[name][:2] == table[:2] for name, table in before.items())


def test_bytes_are_those_of_the_stored_tokens():
    cache = PagedCache(40, 1)  # no empty places
    for _ in range(6):
        cache.append(torch.zeros(3), torch.zeros(3), name="0")
    for name in "123":
        cache.share("0", name, tokens=6)
    for name in "0123" * 2:
        cache.append(torch.zeros(3), torch.zeros(3), name=name)
    used = sum(use > 0 for use in cache.uses)
    itemsize = 2 * 3 * 4  # a key and a value, three numbers each, four bytes
    assert used * itemsize == shared_bytes(4, 6, 2, itemsize)
    apart = sum(map(len, cache.tables.values()))
    assert apart * itemsize == separate_bytes(4, 6, 2, itemsize)
    assert (apart - used) * itemsize == bytes_saved_by_sharing(4, 6, 2, itemsize)


@pytest.mark.parametrize("size", [1, 2, 5, 16])
def test_empty_places_are_those_of_a_cache(size):
    empty = []
    for tokens in range(1, size + 1):
        cache = PagedCache(2, size)
        for _ in range(tokens):
            cache.append(torch.zeros(1), torch.zeros(1), name="A")
        empty.append(size * sum(cache.uses) - tokens)
    assert average_empty(size) == sum(empty) / size
    assert overhead_bytes(8 * size, size, 3, 5) == (3 * average_empty(size), 40)


@pytest.mark.parametrize("prefix", [0, 1, 5])
def test_pairs_after_a_prefix_are_the_kept_entries_of_a_mask(prefix):
    mask = torch.ones(prefix + 4, prefix + 4).tril()
    assert pairs_after_prefix(prefix, 4) == mask[prefix:].sum()
    assert pairs_saved_by_prefix(prefix, 4) == mask[:prefix].sum()


def test_a_shared_prefix_leaves_the_outputs_of_causal_attention_alone():
    X, W = draw(0, 9, 4), draw(1, 3, 4, 4)
    query, key, value = (X @ one for one in W)
    cache = PagedCache(8, 2)
    for row in range(6):
        cache.append(key[row], value[row], name="A")
    cache.share("A", "B", tokens=5)  # within a page
    for row in range(5, 9):
        cache.append(key[row], value[row], name="B")
    expected = attention(query, key, value, is_causal=True)[5:]
    torch.testing.assert_close(
        torch.cat([attention(query[row : row + 1], *(x[: row + 1] for x in stored_rows(cache, "B"))) for row in range(5, 9)]), expected
    )


def test_a_key_of_another_position_or_another_beginning_is_another_key():
    key = draw(0, 8)
    assert not torch.allclose(apply_rotary(key, 3), apply_rotary(key, 4))
    token, one, other = draw(1, 3, 4)
    assert not torch.allclose(next_layer_input(one, token), next_layer_input(other, token))
