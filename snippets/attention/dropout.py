"""Dropout on the weights: each is dropped with probability p, and what is left grows by 1 / (1 - p).

One row of eight equal weights, dropped out three times with p a quarter:

--8<-- [start:example-row]
>>> import torch
>>> from snippets.attention.dropout import drop
>>> generator = torch.Generator().manual_seed(0)
>>> row = torch.full((8,), 1 / 8, dtype=torch.float64)
>>> for _ in range(3):
...     dropped = drop(row, 0.25, generator)
...     print([round(weight, 3) for weight in dropped.tolist()], "sum", round(dropped.sum().item(), 3))
[0.167, 0.167, 0.167, 0.167, 0.167, 0.167, 0.0, 0.167] sum 1.167
[0.167, 0.167, 0.167, 0.0, 0.167, 0.167, 0.167, 0.167] sum 1.167
[0.167, 0.0, 0.167, 0.167, 0.0, 0.167, 0.0, 0.167] sum 0.833

--8<-- [end:example-row]

Means and variances of the sum of such a row, over 100,000 draws:

--8<-- [start:example-moments]
>>> from snippets.attention.dropout import multiplier_variance, row_sum_variance
>>> one_key = torch.tensor([0.93] + [0.01] * 7, dtype=torch.float64)
>>> for name, row in (("equal weights", row), ("one large    ", one_key)):
...     sums = drop(row.expand(100_000, 8), 0.1, generator).sum(-1)
...     predicted = row_sum_variance(row, multiplier_variance(0.1))
...     print(f"{name}   mean {sums.mean():.2f}   variance {sums.var():.3f}   predicted {predicted:.3f}")
equal weights   mean 1.00   variance 0.014   predicted 0.014
one large       mean 1.00   variance 0.097   predicted 0.096

--8<-- [end:example-moments]

PyTorch's function drops whenever it is asked to; its module only in training:

--8<-- [start:example-eval]
>>> from torch.nn.functional import scaled_dot_product_attention
>>> x = torch.rand(1, 4, 6, generator=generator)  # (batch, n, d)
>>> plain = scaled_dot_product_attention(x, x, x)
>>> dropped = scaled_dot_product_attention(x, x, x, dropout_p=0.5)
>>> torch.allclose(plain, dropped)
False
>>> module = torch.nn.MultiheadAttention(6, num_heads=1, dropout=0.5, batch_first=True).eval()
>>> torch.equal(module(x, x, x)[0], module(x, x, x)[0])
True

--8<-- [end:example-eval]
"""

import torch
from torch import Tensor


# --8<-- [start:drop]
def drop(weights: Tensor, p: float, generator: torch.Generator | None = None) -> Tensor:
    """Each weight is 0 with probability p, and divided by 1 - p otherwise, independently of the others."""
    if not 0 <= p < 1:
        raise ValueError(f"p is {p}; expected a probability below 1")
    kept = torch.rand(weights.shape, generator=generator, dtype=weights.dtype) >= p  # (..., m)
    return weights * kept / (1 - p)


# --8<-- [end:drop]


# --8<-- [start:moments]
def multiplier_variance(p: float) -> float:
    """The variance of what each weight is multiplied with."""
    return p / (1 - p)


def row_sum_variance(weights: Tensor, variance: float) -> Tensor:
    """The variance of the sum of each row, under independent multipliers of the given variance."""
    return variance * (weights**2).sum(-1)  # (..., m) -> (...)


# --8<-- [end:moments]
