"""Sinks, in PyTorch.

--8<-- [start:example]
>>> import torch
>>> sum_transposed(torch.tensor([[1, 2]]), torch.tensor([[3, 4]])).tolist()
[[4], [6]]

--8<-- [end:example]
"""

from torch import Tensor


# --8<-- [start:sum_transposed]
def sum_transposed(a: Tensor, b: Tensor) -> Tensor:
    """(A + B) transposed: (..., n, d) and (..., n, d) give (..., d, n)."""
    return (a + b).transpose(-2, -1)  # (..., d, n)


# --8<-- [end:sum_transposed]
