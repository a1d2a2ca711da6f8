"""FlashAttention, with a slow memory that counts what moves.

The same output, fewer numbers moved:

--8<-- [start:example-moved]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.io.flash import SlowMemory, flash_attention, plain_attention
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(
...     3, 1024, 64, generator=generator, dtype=torch.float64)
>>> expected = scaled_dot_product_attention(query, key, value)
>>> plain, tiled = SlowMemory(), SlowMemory()
>>> output = plain_attention(query, key, value, memory=plain)
>>> torch.allclose(output, expected)
True
>>> output = flash_attention(query, key, value, block_size=128, memory=tiled)
>>> torch.allclose(output, expected)
True
>>> plain.moved, tiled.moved
(4456448, 1179648)

--8<-- [end:example-moved]

The counts follow two formulas; and the shorter the tile, the less is saved:

--8<-- [start:example-ratio]
>>> from snippets.io.flash import moved_ratio, plain_moved, tiled_moved
>>> plain_moved(1024, 64), tiled_moved(1024, 64, 128)
(4456448, 1179648)
>>> for block_size in (16, 32, 64, 128, 256):
...     times = [f"{moved_ratio(n, 64, block_size):.2f}" for n in (1024, 8192)]
...     print(f"tiles of {block_size:3}: fewer by a factor of", *times)
tiles of  16: fewer by a factor of 0.52 0.50
tiles of  32: fewer by a factor of 1.03 1.00
tiles of  64: fewer by a factor of 2.00 2.00
tiles of 128: fewer by a factor of 3.78 3.97
tiles of 256: fewer by a factor of 6.80 7.82

--8<-- [end:example-ratio]

PyTorch's counter finds the same operations in the products:

--8<-- [start:example-operations]
>>> from snippets.io.flash import multiplications_ratio
>>> from snippets.order.cost import operations
>>> operations(plain_attention, query, key, value)
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
    """Hands out tensors, takes them back, and counts the numbers that move."""

    def __init__(self):
        self.moved = 0

    def load(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """What is read."""
        self.moved += x.numel()
        return x

    def store(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """What is written."""
        self.moved += x.numel()
        return x


# --8<-- [end:memory]


# --8<-- [start:plain]
def plain_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    memory: SlowMemory | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """Three kernels. Each reads what the one before it wrote."""
    memory = memory or SlowMemory()
    load, store = memory.load, memory.store
    scores = store(scores_of(load(upcast(query)), load(upcast(key))))
    weights = store(torch.softmax(load(scores), dim=-1))
    output = load(weights) @ load(upcast(value))
    return store(output).to(query.dtype)


# --8<-- [end:plain]


# --8<-- [start:flash]
def flash_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    block_size: int,
    is_causal: bool = False,
    memory: SlowMemory | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """One kernel, tile by tile, as Dao (2023) orders the loops.

    Raises ValueError for a block_size below 1, and without keys.
    """
    m = key.shape[-2]
    if block_size < 1 or not m:
        raise ValueError(
            f"block_size is {block_size}, with {m} keys; "
            "expected at least 1 of each"
        )
    memory = memory or SlowMemory()
    tiles = enumerate(query.split(block_size, -2))
    how = {"block_size": block_size, "is_causal": is_causal, "memory": memory}
    outputs = [
        flash_tile(q, key, value, first=tile * block_size, **how)
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
    """The output for a tile of queries, the first of which has a place."""
    q = upcast(memory.load(query))  # stays in fast memory
    reference = q.new_full((*q.shape[:-1], 1), -torch.inf)
    total = torch.zeros_like(reference)  # (*batch, n, 1)
    mixed = q.new_zeros(*q.shape[:-1], value.shape[-1])
    tiles = (x.split(block_size, -2) for x in (key, value))
    for tile, (k, v) in enumerate(zip(*tiles, strict=True)):
        later = tile * block_size - first
        if is_causal and later >= q.shape[-2]:
            break  # no query of the tile may look there
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
def plain_moved(n: int, d: int) -> int:
    """Numbers that plain_attention reads and writes, for n tokens of width d."""
    return 4 * n * d + 4 * n * n


def tiled_moved(n: int, d: int, block_size: int) -> int:
    """The same for flash_attention, where tiles divide the tokens."""
    return 2 * n * d + 2 * (n // block_size) * n * d


def moved_ratio(n: int, d: int, block_size: int) -> float:
    """How many times less flash_attention moves."""
    return plain_moved(n, d) / tiled_moved(n, d, block_size)


def causal_moved(n: int, d: int, block_size: int) -> int:
    """As tiled_moved, under a causal mask."""
    return n * d * (n // block_size + 3)


# --8<-- [end:counts]


# --8<-- [start:operations]
def multiplications_ratio(d: int, block_size: int) -> float:
    """Multiplications of flash_attention, over those of plain_attention.

    For each query and tile: two products, and the corrections of a sum and of
    d numbers.
    """
    products = 2 * block_size * d
    return (products + d + 1) / products


# --8<-- [end:operations]
