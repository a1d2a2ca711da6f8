"""FlashAttention, with a slow memory that counts what moves.

The same output, with fewer numbers moved:

--8<-- [start:example-moved]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.io.flash import SlowMemory, flash_attention, plain_attention
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(
...     3, 1024, 64, generator=generator, dtype=torch.float64)
>>> expected = scaled_dot_product_attention(query, key, value)
>>> plain, tiled = SlowMemory(), SlowMemory()
>>> output = plain_attention(query, key, value, block_size=128, memory=plain)
>>> torch.allclose(output, expected)
True
>>> output = flash_attention(query, key, value, block_size=128, memory=tiled)
>>> torch.allclose(output, expected)
True
>>> plain.moved, tiled.moved, plain.moved - tiled.moved
(5373952, 1179648, 4194304)

--8<-- [end:example-moved]

The counts follow two formulas. The longer the tile, the larger their ratio:

--8<-- [start:example-ratio]
>>> from snippets.io.flash import moved_ratio, plain_moved, tiled_moved
>>> plain_moved(1024, 64, 128), tiled_moved(1024, 64, 128)
(5373952, 1179648)
>>> for block_size in (16, 32, 64, 128, 256):
...     times = [f"{moved_ratio(n, 64, block_size):.2f}" for n in (1024, 8192)]
...     print(f"tiles of {block_size:3}: fewer by a factor of", *times)
tiles of  16: fewer by a factor of 1.49 1.50
tiles of  32: fewer by a factor of 1.97 2.00
tiles of  64: fewer by a factor of 2.88 2.98
tiles of 128: fewer by a factor of 4.56 4.94
tiles of 256: fewer by a factor of 7.40 8.76

--8<-- [end:example-ratio]

In a small fast memory, square tiles move less. Four tiles of FlashAttention fill it here, or one
square of scores:

--8<-- [start:example-small]
>>> from snippets.io.flash import squares_moved
>>> n, d = 8192, 64
>>> for side in (16, 32, 64):
...     fast = side**2  # numbers
...     block_size = fast // (4 * d)  # tokens
...     print(f"fast memory {fast:4}: tiles of {block_size:2}"
...           f" {tiled_moved(n, d, block_size) / 1e6:5.0f} million,"
...           f" squares {squares_moved(n, d, side) / 1e6:5.0f} million")
fast memory  256: tiles of  1  8591 million, squares  1276 million
fast memory 1024: tiles of  4  2149 million, squares   739 million
fast memory 4096: tiles of 16   538 million, squares   470 million

--8<-- [end:example-small]

PyTorch counts the same operations in the products:

--8<-- [start:example-operations]
>>> from snippets.io.flash import multiplications_ratio
>>> from snippets.order.cost import operations
>>> operations(plain_attention, query, key, value, block_size=128)
268435456
>>> operations(flash_attention, query, key, value, block_size=128)
268435456
>>> f"{multiplications_ratio(64, 128):.4f}"  # with the corrections
'1.0040'

--8<-- [end:example-operations]

Under a causal mask, tiles above the diagonal are never read:

--8<-- [start:example-causal]
>>> from snippets.io.flash import causal_moved
>>> memory = SlowMemory()
>>> output = flash_attention(
...     query, key, value, block_size=128, is_causal=True, memory=memory)
>>> expected = scaled_dot_product_attention(query, key, value, is_causal=True)
>>> torch.allclose(output, expected)
True
>>> memory.moved, causal_moved(1024, 64, 128)
(720896, 720896)

--8<-- [end:example-causal]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores as scores_of
from snippets.attention.formula import upcast


# --8<-- [start:memory]
class SlowMemory:
    """A slow memory that counts the numbers read from it and written to it."""

    def __init__(self):
        self.moved = 0

    def load(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Read a tensor."""
        self.moved += x.numel()
        return x

    def store(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Write a tensor."""
        self.moved += x.numel()
        return x


# --8<-- [end:memory]


# --8<-- [start:plain]
def plain_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    block_size: int,
    memory: SlowMemory | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """Three kernels. Each reads what the one before it wrote.

    The products go tile by tile. Softmax reads each score once, so its fast memory
    must hold a row of them. Raises RuntimeError for a block_size below 1.
    """
    memory = memory or SlowMemory()
    load, store = memory.load, memory.store
    rows, keys, values = (
        x.split(block_size, -2) for x in map(upcast, (query, key, value))
    )
    scores = []
    for q in map(load, rows):  # a tile of queries stays in fast memory
        tiles = [store(scores_of(q, load(k))) for k in keys]
        scores.append(torch.cat(tiles, -1))
    weights = [store(torch.softmax(load(row), dim=-1)) for row in scores]
    outputs = []
    for row in weights:  # a tile of outputs stays in fast memory
        tiles = zip(row.split(block_size, -1), values)
        outputs.append(store(sum(load(p) @ load(v) for p, v in tiles)))
    return torch.cat(outputs, -2).to(query.dtype)


# --8<-- [end:plain]


# --8<-- [start:squares]
def square_product(
    a: Float[Tensor, "*#batch n k"],
    b: Float[Tensor, "*#batch k m"],
    *,
    side: int,
    memory: SlowMemory,
) -> Float[Tensor, "*batch n m"]:
    """A product by square tiles: one tile of the result stays in fast memory while
    a column of `a` and a row of `b` after the other are read for it.

    Raises RuntimeError for a side below 1.
    """
    rows = []
    for left in a.split(side, -2):
        tiles = [
            memory.store(memory.load(left) @ memory.load(right))
            for right in b.split(side, -1)
        ]
        rows.append(torch.cat(tiles, -1))
    return torch.cat(rows, -2)


def square_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    side: int,
    memory: SlowMemory | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """Plain attention, with products by square tiles.

    Raises RuntimeError for a side below 1.
    """
    how = {"side": side, "memory": memory or SlowMemory()}
    query, key, value, format = *map(upcast, (query, key, value)), query.dtype
    scale = max(query.shape[-1], 1) ** -0.5
    scores = square_product(scale * query, key.mT, **how)
    weights = torch.softmax(how["memory"].load(scores), dim=-1)
    return square_product(how["memory"].store(weights), value, **how).to(format)


# --8<-- [end:squares]


# --8<-- [start:flash]
def flash_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    block_size: int,
    is_causal: bool = False,
    offset: int = 0,
    memory: SlowMemory | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """One kernel, tile by tile, as Dao (2023) orders the loops.

    With is_causal, the first query is token `offset` and sees the keys up to
    its own token. With a cache, offset is the number of tokens before it.
    Without keys the output is 0. Raises ValueError for a block_size below 1.
    """
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}; expected at least 1")
    memory = memory or SlowMemory()
    tiles = enumerate(query.split(block_size, -2))
    how = {"block_size": block_size, "is_causal": is_causal, "memory": memory}
    outputs = [
        flash_tile(q, key, value, first=offset + tile * block_size, **how)
        for tile, q in tiles
    ]
    return torch.cat(outputs, -2).to(query.dtype)


def flash_tile(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    first: int,
    block_size: int,
    is_causal: bool,
    memory: SlowMemory,
) -> Float[Tensor, "*batch n d_v"]:
    """The output for a tile of queries, whose first query is token `first`."""
    q = upcast(memory.load(query))  # stays in fast memory
    reference = q.new_full((*q.shape[:-1], 1), -torch.inf)
    total = torch.zeros_like(reference)  # (*batch, n, 1)
    mixed = q.new_zeros(*q.shape[:-1], value.shape[-1])
    tiles = (x.split(block_size, -2) for x in (key, value))
    for tile, (k, v) in enumerate(zip(*tiles, strict=True)):
        later = tile * block_size - first
        if not k.shape[-2] or (is_causal and later >= q.shape[-2]):
            break  # no key, or none that a query of the tile may look at
        scores = scores_of(q, memory.load(k))  # never leave fast memory
        if is_causal:
            hide = torch.ones_like(scores, dtype=torch.bool).triu(1 - later)
            scores = scores.masked_fill(hide, -torch.inf)
        larger = torch.maximum(reference, scores.amax(-1, keepdim=True))
        finite = larger.masked_fill(larger == -torch.inf, 0)  # no key as yet
        terms = torch.exp(scores - finite)
        factor = torch.exp(reference - finite)  # corrects what came before
        total = factor * total + terms.sum(-1, keepdim=True)
        mixed = factor * mixed + terms @ upcast(memory.load(v))
        reference = larger
    return memory.store(mixed / total.masked_fill(total == 0, 1))


# --8<-- [end:flash]


# --8<-- [start:counts]
def plain_moved(n: int, d: int, block_size: int) -> int:
    """Numbers that plain_attention reads and writes, for n tokens of width d.

    Tiles divide the tokens, here and below.
    """
    return 4 * n * n + 2 * n * d + 2 * (n // block_size) * n * d


def tiled_moved(n: int, d: int, block_size: int) -> int:
    """The same for flash_attention."""
    return 2 * n * d + 2 * (n // block_size) * n * d


def moved_ratio(n: int, d: int, block_size: int) -> float:
    """How many times as much plain_attention moves."""
    return plain_moved(n, d, block_size) / tiled_moved(n, d, block_size)


def squares_moved(n: int, d: int, side: int) -> int:
    """The same for square_attention, where the side divides the width, too."""
    return 3 * n * n + n * d + (3 * n * d) * (n // side) + n * n * (d // side)


def causal_moved(n: int, d: int, block_size: int) -> int:
    """As tiled_moved, under a causal mask, if hidden tiles are not read."""
    return n * d * (n // block_size + 3)


# --8<-- [end:counts]


# --8<-- [start:operations]
def multiplications_ratio(d: int, block_size: int) -> float:
    """Multiplications of flash_attention, relative to plain_attention.

    For each query and tile: two products, and corrections to a sum and to d
    numbers.
    """
    products = 2 * block_size * d
    return (products + d + 1) / products


# --8<-- [end:operations]
