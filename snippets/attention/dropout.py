"""Attention dropout: each weight is set to 0 with probability p, and divided by 1 - p otherwise.

Dropout with p a quarter, applied three times to a row of eight equal weights:

--8<-- [start:example-row]
>>> import torch
>>> from snippets.attention.dropout import dropout
>>> generator = torch.Generator().manual_seed(0)
>>> row = torch.full((8,), 1 / 8, dtype=torch.float64)
>>> for _ in range(3):
...     dropped = dropout(row, p=0.25, generator=generator)
...     print([round(weight, 2) for weight in dropped.tolist()],
...           f"sum {dropped.sum():.3f}")
[0.17, 0.17, 0.17, 0.17, 0.17, 0.17, 0.0, 0.17] sum 1.167
[0.17, 0.17, 0.17, 0.0, 0.17, 0.17, 0.17, 0.17] sum 1.167
[0.17, 0.0, 0.17, 0.17, 0.0, 0.17, 0.0, 0.17] sum 0.833

--8<-- [end:example-row]

Mean and variance of the row sum, over 100,000 draws:

--8<-- [start:example-moments]
>>> from snippets.attention.dropout import multiplier_variance, row_sum_variance
>>> one_key = torch.tensor([0.93] + [0.01] * 7, dtype=torch.float64)
>>> for name, row in (("equal weights", row), ("one large    ", one_key)):
...     rows = row.expand(100_000, 8)
...     sums = dropout(rows, p=0.1, generator=generator).sum(-1)
...     predicted = row_sum_variance(row, variance=multiplier_variance(0.1))
...     print(f"{name}   mean {sums.mean():.2f}   variance {sums.var():.3f}   "
...           f"predicted {predicted:.3f}")
equal weights   mean 1.00   variance 0.014   predicted 0.014
one large       mean 1.00   variance 0.097   predicted 0.096

--8<-- [end:example-moments]

PyTorch's function drops whenever dropout_p is positive, its module only in training:

--8<-- [start:example-eval]
>>> from torch.nn.functional import scaled_dot_product_attention
>>> x = torch.rand(1, 4, 6, generator=generator)  # (batch, n, d)
>>> plain = scaled_dot_product_attention(x, x, x)
>>> dropped = scaled_dot_product_attention(x, x, x, dropout_p=0.5)
>>> torch.allclose(plain, dropped)
False
>>> module = torch.nn.MultiheadAttention(
...     6, num_heads=1, dropout=0.5, batch_first=True).eval()
>>> torch.equal(module(x, x, x)[0], module(x, x, x)[0])
True

--8<-- [end:example-eval]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:dropout]
def dropout(
    weights: Float[Tensor, "*shape"],
    *,
    p: float,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "*shape"]:
    """Each weight is 0 with probability p, and over 1 - p otherwise.

    Independently of the others: Srivastava et al. (2014).
    Raises ValueError for a p below 0, or of 1 and above.
    """
    if not 0 <= p < 1:
        raise ValueError(f"p is {p}; expected a probability below 1")
    uniform = (
        torch.rand(  # 16-bit numbers would be too coarse to compare with p
            weights.shape,
            generator=generator,
            dtype=upcast(weights).dtype,
            device=weights.device,
        )
    )
    return weights * (uniform >= p) / (1 - p)


# --8<-- [end:dropout]


# --8<-- [start:moments]
def multiplier_variance(p: float) -> float:
    """The variance of the number that multiplies each weight."""
    return p / (1 - p)


def row_sum_variance(
    weights: Float[Tensor, "*batch m"], *, variance: float
) -> Float[Tensor, "*batch"]:
    """The variance of each row sum, from the variance of the independent
    multipliers."""
    return variance * (weights**2).sum(-1)


# --8<-- [end:moments]
