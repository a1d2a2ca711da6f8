"""A product of three matrices grouped both ways, and a scalar applied to each factor.

Integers are not rounded, and both groupings give the same result:

--8<-- [start:example-integers]
>>> import torch
>>> from snippets.associativity.products import grouped_left, grouped_right
>>> generator = torch.Generator().manual_seed(0)
>>> shapes = (2, 30, 40), (40, 50), (50, 60)
>>> A, B, C = (
...     torch.randint(-9, 10, shape, generator=generator) for shape in shapes)
>>> left, right = grouped_left(A, B, C), grouped_right(A, B, C)
>>> tuple(left.shape), torch.equal(left, right)
((2, 30, 60), True)

--8<-- [end:example-integers]

Floating-point numbers are rounded, and the results are only close:

--8<-- [start:example-floats]
>>> for dtype in (torch.float32, torch.float64):
...     A, B, C = torch.rand(3, 10_000, 3, 3, generator=generator, dtype=dtype)
...     left, right = grouped_left(A, B, C), grouped_right(A, B, C)
...     eps = torch.finfo(dtype).eps  # from 1 to the next number
...     small = ((left - right).std() < eps).item()
...     print(f"equal {torch.equal(left, right)}   "
...           f"standard deviation below 1 eps: {small}")
equal False   standard deviation below 1 eps: True
equal False   standard deviation below 1 eps: True

--8<-- [end:example-floats]

Splitting the scale between query and key gives the same scores, and can prevent an overflow in half precision:

--8<-- [start:example-split]
>>> from snippets.associativity.products import split_scale
>>> query = torch.full((1, 16), 80.0, dtype=torch.float16)  # (n, d_k)
>>> (query @ query.mT * 16**-0.5).item()  # 102400 is above 65504, the largest
inf
>>> split_scale(query, query).item()
25600.0

--8<-- [end:example-split]
"""

from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores


# --8<-- [start:groupings]
def grouped_left(
    A: Float[Tensor, "*#batch n p"],
    B: Float[Tensor, "*#batch p q"],
    C: Float[Tensor, "*#batch q m"],
) -> Float[Tensor, "*batch n m"]:
    """(AB)C."""
    return (A @ B) @ C


def grouped_right(
    A: Float[Tensor, "*#batch n p"],
    B: Float[Tensor, "*#batch p q"],
    C: Float[Tensor, "*#batch q m"],
) -> Float[Tensor, "*batch n m"]:
    """A(BC)."""
    return A @ (B @ C)


# --8<-- [end:groupings]


# --8<-- [start:placements]
def scalar_placements(
    A: Float[Tensor, "*#batch n p"],
    B: Float[Tensor, "*#batch p q"],
    *,
    c: float,
) -> tuple[
    Float[Tensor, "*batch n q"],
    Float[Tensor, "*batch n q"],
    Float[Tensor, "*batch n q"],
]:
    """(A/c)B, A(B/c) and (AB)/c."""
    return (A / c) @ B, A @ (B / c), (A @ B) / c


# --8<-- [end:placements]


# --8<-- [start:split-scale]
def split_scale(
    query: Float[Tensor, "*#batch n d_k"], key: Float[Tensor, "*#batch m d_k"]
) -> Float[Tensor, "*batch n m"]:
    """The scores, with query and key each divided by the fourth root of d_k."""
    root = query.shape[-1] ** 0.25
    return scores(query / root, key / root, scale=1.0)


# --8<-- [end:split-scale]
