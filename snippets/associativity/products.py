"""A product of three matrices grouped both ways, and a scalar put in every place.

Whole numbers are not rounded, and both groupings give the same:

--8<-- [start:example-integers]
>>> import torch
>>> from snippets.associativity.products import grouped_left, grouped_right
>>> generator = torch.Generator().manual_seed(0)
>>> shapes = (2, 30, 40), (40, 50), (50, 60)
>>> A, B, C = (torch.randint(-9, 10, shape, generator=generator) for shape in shapes)
>>> left, right = grouped_left(A, B, C), grouped_right(A, B, C)
>>> tuple(left.shape), torch.equal(left, right)
((2, 30, 60), True)

--8<-- [end:example-integers]

Floating-point numbers are rounded, and the groupings are only close:

--8<-- [start:example-floats]
>>> for dtype in (torch.float32, torch.float64):
...     A, B, C = torch.rand(3, 10_000, 3, 3, generator=generator, dtype=dtype)
...     left, right = grouped_left(A, B, C), grouped_right(A, B, C)
...     spread, eps = (left - right).std(), torch.finfo(dtype).eps  # eps: from 1 to the next number
...     print(f"equal {torch.equal(left, right)}   standard deviation below 1 eps: {(spread < eps).item()}")
equal False   standard deviation below 1 eps: True
equal False   standard deviation below 1 eps: True

--8<-- [end:example-floats]

The scale split between query and key gives the same scores, and can save them in half precision:

--8<-- [start:example-split]
>>> from snippets.associativity.products import split_scale
>>> query = torch.full((1, 16), 80.0, dtype=torch.float16)  # (n, d_k)
>>> (query @ query.mT * 16**-0.5).item()  # 102400 is above 65504, the largest
inf
>>> split_scale(query, query).item()
25600.0

--8<-- [end:example-split]
"""

from torch import Tensor

from snippets.attention.formula import scores
from snippets.shapes import check_shapes


# --8<-- [start:groupings]
def grouped_left(A: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """(AB)C."""
    check_shapes("A: n p, B: p q, C: q m", A, B, C)
    return (
        (A @ B) @ C
    )  # (..., n, p) (..., p, q) -> (..., n, q), then (..., q, m) -> (..., n, m)


def grouped_right(A: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """A(BC)."""
    check_shapes("A: n p, B: p q, C: q m", A, B, C)
    return A @ (
        B @ C
    )  # (..., p, q) (..., q, m) -> (..., p, m), then (..., n, p) -> (..., n, m)


# --8<-- [end:groupings]


# --8<-- [start:placements]
def scalar_placements(
    A: Tensor, B: Tensor, c: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(cA)B, A(cB) and c(AB)."""
    check_shapes("A: n p, B: p q", A, B)
    return (c * A) @ B, A @ (c * B), c * (A @ B)  # (..., n, q), three times


# --8<-- [end:placements]


# --8<-- [start:split-scale]
def split_scale(query: Tensor, key: Tensor) -> Tensor:
    """The scores, with query and key both divided by the fourth root of d_k."""
    check_shapes("query: n d_k, key: m d_k", query, key)
    root = query.shape[-1] ** 0.25
    return scores(query / root, key / root, scale=1.0)  # (..., n, m)


# --8<-- [end:split-scale]
