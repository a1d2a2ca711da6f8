r"""Local layers, global layers and tokens, and dilated layers.

Five local layers with a window of 1,024 for each global one: the cache, relative to global layers:

--8<-- [start:example-fraction]
>>> from snippets.sparse.local import cache_entries, cache_fraction
>>> for n in (1024, 4096, 32768, 131072):
...     print(f"{n:6} tokens   {cache_fraction(n, 5, 1024):.3f} of the cache")
  1024 tokens   1.000 of the cache
  4096 tokens   0.375 of the cache
 32768 tokens   0.193 of the cache
131072 tokens   0.173 of the cache

--8<-- [end:example-fraction]

The number of layers that connect all tokens, with a window alone and with one global token:

--8<-- [start:example-hops]
>>> import torch
>>> from snippets.sparse.local import hops, local_global_mask
>>> from snippets.sparse.window import window_mask
>>> near = window_mask(64, 4) | window_mask(64, 4).T  # both ways
>>> both = local_global_mask(64, window=4, num_global=1)
>>> hops(near), hops(both)
(21, 2)

--8<-- [end:example-hops]

Paths to each distance with two keys in each layer, for different gaps and for equal ones:

--8<-- [start:example-dilated]
>>> from snippets.sparse.local import paths
>>> paths(1, 2, 4).tolist()  # to distance 0, 1, ..., 7
[1, 1, 1, 1, 1, 1, 1, 1]
>>> paths(1, 1, 1).tolist()
[1, 3, 3, 1]
>>> paths(2, 2, 2).tolist()  # never to an odd distance
[1, 0, 3, 0, 3, 0, 1]

--8<-- [end:example-dilated]

Three documents in one row. The number of paths after nine layers:

--8<-- [start:example-documents]
>>> from snippets.sparse.local import document_mask
>>> mask = document_mask(torch.tensor([0, 0, 1, 1, 1, 2]))
>>> print(*torch.linalg.matrix_power(mask.double(), 9).int().tolist(), sep="\n")
[1, 0, 0, 0, 0, 0]
[9, 1, 0, 0, 0, 0]
[0, 0, 1, 0, 0, 0]
[0, 0, 9, 1, 0, 0]
[0, 0, 45, 9, 1, 0]
[0, 0, 0, 0, 0, 1]

--8<-- [end:example-documents]
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from snippets.sparse.window import window_mask


# --8<-- [start:fraction]
def cache_entries(n: int, local: int, window: int) -> int:
    """Entries that local layers and one global layer store for n tokens."""
    return local * min(n, window) + n


def cache_fraction(n: int, local: int, window: int) -> float:
    """The same, over what global layers alone would store."""
    return cache_entries(n, local, window) / ((local + 1) * n)


# --8<-- [end:fraction]


# --8<-- [start:hops]
def local_global_mask(
    n: int,
    *,
    window: int,
    num_global: int,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "n n"]:
    """A window on both sides; the first num_global tokens are global.

    Raises ValueError for a window below 1, or a num_global below 0.
    """
    if num_global < 0:
        raise ValueError(f"num_global is {num_global}; expected at least 0")
    keep = window_mask(n, window, device=device)
    keep = keep | keep.mT
    keep[:num_global] = True
    keep[:, :num_global] = True
    return keep


def hops(mask: Bool[Tensor, "n n"]) -> int:
    """How many layers it takes until each output depends on each token.

    Raises ValueError if no number of layers is enough.
    """
    step = mask.double()
    reached = torch.eye(len(mask), dtype=step.dtype, device=mask.device)
    for layers in range(len(mask) + 1):
        if reached.all():
            return layers
        reached = (step @ reached).clamp(max=1)
    raise ValueError("some tokens never meet")


def global_pairs(n: int, num_global: int) -> int:
    """Pairs in which the query or the key is global."""
    return n**2 - (n - num_global) ** 2


# --8<-- [end:hops]


# --8<-- [start:dilated]
def paths(
    *gaps: int, device: torch.device | str | None = None
) -> Int[Tensor, " reach"]:
    """How many paths lead to each distance, if each layer attends to its own
    token and to the one that is a gap before it.
    """
    counts = torch.ones(1, dtype=torch.int64, device=device)
    for gap in gaps:
        none = counts.new_zeros(gap)
        counts = torch.cat([counts, none]) + torch.cat([none, counts])
    return counts


# --8<-- [end:dilated]


# --8<-- [start:documents]
def document_mask(
    document: Int[Tensor, "*batch n"],
) -> Bool[Tensor, "*batch n n"]:
    """True where a query and an earlier key are in the same document."""
    n = document.shape[-1]
    same = document.unsqueeze(-1) == document.unsqueeze(-2)
    return same & window_mask(n, n, device=document.device)


# --8<-- [end:documents]
