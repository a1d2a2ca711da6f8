"""A KV cache in pages: attention through a page table, and prefixes that sequences share.

The same sequence through two tables, and without pages:

--8<-- [start:example-tables]
>>> import torch
>>> from snippets.attention.formula import attention
>>> from snippets.serving.paged import (
...     attention_by_pages, gather_pages, paged_attention)
>>> generator = torch.Generator().manual_seed(0)
>>> pool = torch.randn(2, 5, 4, 8, generator=generator)  # 5 pages of 4 tokens
>>> query = torch.randn(1, 8, generator=generator)
>>> table = torch.tensor([3, 0, 2])
>>> output = paged_attention(query, *pool, table, length=10)
>>> moved = torch.tensor([4, 2, 0, 1, 3])  # which page comes to each place
>>> other = moved.argsort()[table]  # where the three pages are now
>>> other
tensor([4, 2, 1])
>>> elsewhere = paged_attention(query, *pool[:, moved], other, length=10)
>>> torch.equal(elsewhere, output)
True
>>> key, value = (gather_pages(pages, table)[:10] for pages in pool)
>>> torch.equal(attention(query, key, value), output)
True
>>> by_pages = attention_by_pages(query, *pool, table, length=10)
>>> torch.allclose(by_pages, output)
True

--8<-- [end:example-tables]

Two sequences with the same first three tokens, in pages of two tokens:

--8<-- [start:example-share]
>>> from snippets.serving.paged import PagedCache
>>> token = lambda: torch.randn(2, 4, generator=generator)  # a key, a value
>>> cache = PagedCache(pages=6, size=2)
>>> for _ in range(3):
...     cache.append(*token(), name="A")
>>> cache.share("A", "B", tokens=3)
>>> cache.tables, cache.uses
({'A': [0, 1], 'B': [0, 1]}, [2, 2, 0, 0, 0, 0])
>>> cache.append(*token(), name="B")  # page 1 is shared: B copies it first
>>> cache.append(*token(), name="A")  # page 1 is now A's alone
>>> cache.tables, cache.uses
({'A': [0, 1], 'B': [0, 2]}, [2, 1, 1, 0, 0, 0])
>>> cache.release("A")
>>> cache.uses
[1, 0, 1, 0, 0, 0]

--8<-- [end:example-share]

Bytes of a hundred answers of 200 tokens each to the same prompt of 992 tokens, which fill 62 pages of 16:

--8<-- [start:example-bytes]
>>> from snippets.inference.memory import bytes_per_token
>>> from snippets.serving.paged import separate_bytes, shared_bytes
>>> token_bytes = bytes_per_token(32, 8, 128, 2)  # Llama 3.1 8B, 16 bits
>>> for count in (separate_bytes, shared_bytes):
...     print(f"{count(100, 62 * 16, 200, token_bytes) / 1e9:.1f} GB")
15.6 GB
2.8 GB

--8<-- [end:example-bytes]

Empty places on average, for a reservation of 8,192 tokens and for pages of 16:

--8<-- [start:example-empty]
>>> from snippets.serving.paged import average_empty
>>> average_empty(8192), average_empty(16)
(4095.5, 7.5)

--8<-- [end:example-empty]

Empty places and the table, for 8,192 tokens of the same model and entries of four bytes:

--8<-- [start:example-table]
>>> from snippets.serving.paged import overhead_bytes
>>> round((2 * 8192 * 4 / token_bytes) ** 0.5, 2)  # both sides are equal
0.71
>>> for size in (1, 4, 16, 64, 256):
...     empty, table = overhead_bytes(8192, size, token_bytes, 4)
...     print(f"{size:4}   {empty:12,.0f}   {table:6,.0f}")
   1              0   32,768
   4        196,608    8,192
  16        983,040    2,048
  64      4,128,768      512
 256     16,711,680      128

--8<-- [end:example-table]

A token after two beginnings, as the next layer reads it:

--8<-- [start:example-beginnings]
>>> from snippets.serving.paged import next_layer_input
>>> zero, one = torch.tensor([0.0]), torch.tensor([1.0])
>>> next_layer_input(zero, zero).item(), next_layer_input(one, zero).item()
(0.0, 0.5)

--8<-- [end:example-beginnings]

Empty places that are not masked:

--8<-- [start:example-wrong]
>>> from snippets.serving.paged import mean_with_empty_places_wrong
>>> scores, values = torch.zeros(4), torch.ones(4)
>>> for empty in (0, 4, 12):
...     print(mean_with_empty_places_wrong(scores, values, empty=empty).item())
1.0
0.5
0.25

--8<-- [end:example-wrong]

A key at position 3, moved to position 10 and computed there:

--8<-- [start:example-rotate]
>>> from snippets.order.rotary import apply_rotary
>>> key = torch.randn(8, generator=generator, dtype=torch.float64)
>>> again = apply_rotary(apply_rotary(key, 3), 7)
>>> torch.allclose(again, apply_rotary(key, 10))
True

--8<-- [end:example-rotate]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.attention.formula import attention
from snippets.io.split import merge_outputs, partial_attention


# --8<-- [start:read]
def gather_pages(
    pages: Float[Tensor, "N size width"], table: Int[Tensor, " p"]
) -> Float[Tensor, "m width"]:
    """The rows of a sequence in its own order, from the pages of its table."""
    return pages[table].flatten(0, 1)  # (p, size, width) -> (m, width)


def paged_attention(
    query: Float[Tensor, "n d_k"],
    key_pages: Float[Tensor, "N size d_k"],
    value_pages: Float[Tensor, "N size d_v"],
    table: Int[Tensor, " p"],
    *,
    length: int | None = None,
    scale: float | None = None,
) -> Float[Tensor, "n d_v"]:
    """Attention to the first `length` tokens of a sequence, or to all places
    of its pages: Kwon et al. (2023)."""
    key, value = (
        gather_pages(pages, table)[:length]
        for pages in (key_pages, value_pages)
    )
    return attention(query, key, value, scale=scale)


# --8<-- [end:read]


# --8<-- [start:by-pages]
def attention_by_pages(
    query: Float[Tensor, "n d_k"],
    key_pages: Float[Tensor, "N size d_k"],
    value_pages: Float[Tensor, "N size d_v"],
    table: Int[Tensor, " p"],
    *,
    length: int,
) -> Float[Tensor, "n d_v"]:
    """The same page by page, without copying the pages together."""
    size = key_pages.shape[-2]
    answers = []
    for start, page in zip(range(0, length, size), table.split(1)):
        filled = min(size, length - start)  # the last page may be partly empty
        key, value = (
            pages[page][0, :filled] for pages in (key_pages, value_pages)
        )
        answers.append(partial_attention(query, key, value))
    outputs, log_sums = zip(*answers)
    output, _ = merge_outputs(torch.stack(outputs), torch.stack(log_sums))
    return output.to(query.dtype)


# --8<-- [end:by-pages]


# --8<-- [start:layouts]
def mean_through_table(
    table: Float[Tensor, "p N"],
    above: Float[Tensor, " N"],
    below: Float[Tensor, " N"],
) -> Float[Tensor, ""]:
    """One feature of an output, from the sums of each page. Each row of the
    table has a 1 at its page."""
    return (table @ above).sum() / (table @ below).sum()


def exchange_pages(
    first: Float[Tensor, "size width"],
    second: Float[Tensor, "size width"],
    others: Float[Tensor, "N size width"],
) -> Float[Tensor, "N+2 size width"]:
    """A pool of pages whose first two have changed places."""
    return torch.cat([second[None], first[None], others])


def through_exchanged_table(
    query: Float[Tensor, " d_k"],
    key_pages: Float[Tensor, "N size d_k"],
    value_pages: Float[Tensor, "N size d_v"],
) -> Float[Tensor, " d_v"]:
    """The output of one query through a table that begins with the pages 1 and
    0, and continues with the others in order."""
    others = torch.arange(2, len(key_pages), device=query.device)
    table = torch.cat([torch.tensor([1, 0], device=query.device), others])
    output = paged_attention(
        query[None], key_pages, value_pages, table, scale=1.0
    )
    return output[0]


# --8<-- [end:layouts]


# --8<-- [start:cache]
class PagedCache:
    """Keys and values of one layer, in pages of `size` tokens.

    The table of a sequence lists its pages. `uses` counts the tables that list
    each page; a page that no table lists is free.
    """

    def __init__(self, pages: int, size: int) -> None:
        """A pool of free pages."""
        self.size, self.uses = size, [0] * pages
        self.tables: dict[str, list[int]] = {}
        self.lengths: dict[str, int] = {}
        self.key: Tensor | None = None  # (pages, size, d_k)
        self.value: Tensor | None = None  # (pages, size, d_v)

    def append(
        self,
        key: Float[Tensor, " d_k"],
        value: Float[Tensor, " d_v"],
        *,
        name: str,
    ) -> None:
        """Write a token behind the sequence `name`, which may be new.

        A page that other tables list, too, is copied first. Raises ValueError
        if no page is free.
        """
        if self.key is None or self.value is None:
            room = len(self.uses), self.size
            self.key = key.new_zeros(*room, len(key))
            self.value = value.new_zeros(*room, len(value))
        table = self.tables.setdefault(name, [])
        length = self.lengths.setdefault(name, 0)
        place = length % self.size
        if place == 0:
            table.append(self._take())
        elif self.uses[table[-1]] > 1:  # copy-on-write
            old, new = table[-1], self._take()
            for pages in (self.key, self.value):
                pages[new, :place] = pages[old, :place]
            self.uses[old] -= 1
            table[-1] = new
        self.key[table[-1], place] = key
        self.value[table[-1], place] = value
        self.lengths[name] = length + 1

    def share(self, name: str, new: str, *, tokens: int) -> None:
        """Begin the new sequence `new` with the first tokens of the sequence
        `name`. Nothing is copied.

        Raises ValueError for more tokens than that sequence has.
        """
        if tokens > self.lengths[name]:
            raise ValueError(
                f"{name} has {self.lengths[name]} tokens; found {tokens} to share"
            )
        pages = -(-tokens // self.size)  # rounded up
        self.tables[new] = self.tables[name][:pages]
        self.lengths[new] = tokens
        for page in self.tables[new]:
            self.uses[page] += 1

    def release(self, name: str) -> None:
        """Forget a sequence. Its pages are free unless another table lists
        them."""
        for page in self.tables.pop(name):
            self.uses[page] -= 1
        del self.lengths[name]

    def _take(self) -> int:
        if 0 not in self.uses:
            raise ValueError(f"none of the {len(self.uses)} pages is free")
        page = self.uses.index(0)
        self.uses[page] = 1
        return page


# --8<-- [end:cache]


# --8<-- [start:counts]
def separate_bytes(
    sequences: int, prefix: int, own: int, token_bytes: int
) -> int:
    """Bytes of keys and values if each sequence stores its own prefix."""
    return sequences * (prefix + own) * token_bytes


def shared_bytes(
    sequences: int, prefix: int, own: int, token_bytes: int
) -> int:
    """Bytes of keys and values if the prefix is stored once."""
    return (prefix + sequences * own) * token_bytes


def bytes_saved_by_sharing(
    sequences: int, prefix: int, own: int, token_bytes: int
) -> int:
    """The difference of the two."""
    return separate_bytes(sequences, prefix, own, token_bytes) - shared_bytes(
        sequences, prefix, own, token_bytes
    )


def average_empty(size: int) -> float:
    """Empty places of a last page, averaged over 1, 2, ..., `size` tokens."""
    return sum(size - tokens for tokens in range(1, size + 1)) / size


def pairs_after_prefix(prefix: int, new: int) -> int:
    """Scores of a causal prefill whose prefix is in the cache."""
    return sum(prefix + token for token in range(1, new + 1))


def pairs_saved_by_prefix(prefix: int, new: int) -> int:
    """How many fewer these are than without a cache."""
    return pairs_after_prefix(0, prefix + new) - pairs_after_prefix(prefix, new)


# --8<-- [end:counts]


# --8<-- [start:overhead]
def overhead_bytes(
    tokens: int, size: int, token_bytes: int, entry_bytes: int
) -> tuple[float, float]:
    """Bytes of the empty places, on average, and of the page table."""
    return average_empty(size) * token_bytes, tokens / size * entry_bytes


# --8<-- [end:overhead]


# --8<-- [start:beginnings]
def next_layer_input(
    earlier: Float[Tensor, " d"], token: Float[Tensor, " d"]
) -> Float[Tensor, " d"]:
    """The output of self-attention for a token that another one precedes."""
    seen = torch.stack([earlier, token])
    return attention(token[None], seen, seen, scale=1.0)[0]


# --8<-- [end:beginnings]


# --8<-- [start:wrong]
def mean_with_empty_places_wrong(
    scores: Float[Tensor, " m"], values: Float[Tensor, " m"], *, empty: int
) -> Float[Tensor, ""]:
    """The output if empty places, which hold zeros, count as keys."""
    rest = scores.new_zeros(empty)
    weights = torch.cat([scores, rest]).softmax(-1)
    return weights @ torch.cat([values, rest])


# --8<-- [end:wrong]
