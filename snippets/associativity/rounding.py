"""Why floating-point products are not associative, and how far apart the two groupings can be.

Rounding to zero: the left grouping loses everything, the right one nothing:

--8<-- [start:example-underflow]
>>> import torch
>>> from snippets.associativity.products import grouped_left, grouped_right
>>> A = B = torch.tensor([[2.0**-75]])
>>> C = torch.tensor([[2.0**75]])
>>> grouped_left(A, B, C).item(), grouped_right(A, B, C).item() == 2.0**-75
(0.0, True)

--8<-- [end:example-underflow]

No number is small here, but the 1 in 2^24 + 1 is lost:

--8<-- [start:example-cancellation]
>>> A = torch.tensor([[1.0, 1.0]])
>>> B = torch.tensor([[2.0**24, -(2.0**24)],
...                   [1.0, 0.0]])
>>> C = torch.tensor([[1.0],
...                   [1.0]])
>>> grouped_left(A, B, C).item(), grouped_right(A, B, C).item()
(0.0, 1.0)

--8<-- [end:example-cancellation]

The bound for a random product:

--8<-- [start:example-bound]
>>> from snippets.associativity.rounding import gamma, grouping_gap, rounding_bound
>>> generator = torch.Generator().manual_seed(0)
>>> A, B, C = (torch.randn(64, 64, generator=generator) for _ in range(3))
>>> gap, bound = grouping_gap(A, B, C), rounding_bound(A, B, C)
>>> (gap > 0).any().item(), (gap <= bound).all().item()
(True, True)
>>> f"{gamma(128, torch.float32):.3e}"
'7.629e-06'

--8<-- [end:example-bound]

Dividing by 2 is exact, dividing by 3 is not. The smallest integers that show it are 5 and 1:

--8<-- [start:example-division]
>>> from snippets.associativity.rounding import divide_after, divide_first
>>> A, B = torch.tensor([[5.0]]), torch.tensor([[1.0]])
>>> divide_after(A, B, c=2).item() == divide_first(A, B, c=2).item()
True
>>> f"{divide_after(A, B, c=3).item():.9f}", f"{divide_first(A, B, c=3).item():.9f}"
('1.666666627', '1.666666746')
>>> A, B = torch.randn(2, 64, 64, generator=generator)
>>> {c: torch.equal(divide_after(A, B, c=c), divide_first(A, B, c=c))
...  for c in (2, 3, 4, 8)}
{2: True, 3: False, 4: True, 8: True}

--8<-- [end:example-division]

Division by 2 is exact only if no result leaves the range of normal numbers:

--8<-- [start:example-range]
>>> # the smallest positive number is in B
>>> A, B = torch.tensor([[2.0]]), torch.tensor([[2.0**-149]])
>>> divide_after(A, B, c=2).item() == 2.0**-149, divide_first(A, B, c=2).item()
(True, 0.0)
>>> A, B = torch.tensor([[2.0]]), torch.tensor([[2.0**127]])
>>> divide_after(A, B, c=2).item(), divide_first(A, B, c=2).item() == 2.0**127
(inf, True)

--8<-- [end:example-range]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.associativity.products import grouped_left, grouped_right


# --8<-- [start:gamma]
def gamma(n: int, dtype: torch.dtype) -> float:
    """Higham's gamma_n: a bound on the relative error of n roundings.

    Raises ValueError for so many roundings that there is no bound.
    """
    u = torch.finfo(dtype).eps / 2  # one rounding errs by at most u, relatively
    if n * u >= 1:
        raise ValueError(
            f"n is {n}; expected less than 1 / u, which is {1 / u:.0f} for {dtype}"
        )
    return n * u / (1 - n * u)


# --8<-- [end:gamma]


# --8<-- [start:bound]
def rounding_bound(
    A: Float[Tensor, "*#batch n p"],
    B: Float[Tensor, "*#batch p q"],
    C: Float[Tensor, "*#batch q m"],
) -> Float[Tensor, "*batch n m"]:
    """How far apart (AB)C and A(BC) can be, entry by entry, if nothing underflows or
    overflows; in double precision.

    Each is within gamma_{p+q} |A||B||C| of the exact product: a term a b c is
    rounded at most p times in one of the two products and q times in the other,
    however the sums are ordered.
    """
    p, q = B.shape[-2:]
    magnitude = grouped_left(*(M.double().abs() for M in (A, B, C)))
    return 2 * gamma(p + q, A.dtype) * magnitude


# --8<-- [end:bound]


# --8<-- [start:gap]
def grouping_gap(
    A: Float[Tensor, "*#batch n p"],
    B: Float[Tensor, "*#batch p q"],
    C: Float[Tensor, "*#batch q m"],
) -> Float[Tensor, "*batch n m"]:
    """The differences between (AB)C and A(BC), entry by entry; in double precision."""
    left, right = grouped_left(A, B, C), grouped_right(A, B, C)
    return (left.double() - right.double()).abs()  # nearly exact


# --8<-- [end:gap]


# --8<-- [start:division]
def divide_after(
    A: Float[Tensor, "*#batch n p"],
    B: Float[Tensor, "*#batch p q"],
    *,
    c: float,
) -> Float[Tensor, "*batch n q"]:
    """(AB)/c."""
    return A @ B / c


def divide_first(
    A: Float[Tensor, "*#batch n p"],
    B: Float[Tensor, "*#batch p q"],
    *,
    c: float,
) -> Float[Tensor, "*batch n q"]:
    """A(B/c)."""
    return A @ (B / c)


# --8<-- [end:division]
