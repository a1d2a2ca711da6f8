"""The formula of attention as five steps, and the block around it.

The steps, for two queries and three keys of one head:

--8<-- [start:example-steps]
>>> import torch
>>> from snippets.attention.formula import Steps, steps
>>> query = torch.tensor([[2.0, 0, 0, 0], [0, 2, 0, 0]])  # n = 2, d_k = 4
>>> key = torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 3, 0, 0]])  # m = 3
>>> value = torch.tensor([[10.0], [20], [30]])  # d_v = 1
>>> mask = torch.tensor([[0.0, 0, -torch.inf], [0, 0, 0]])  # the first query may not see the third key
>>> for name, step in zip(Steps._fields, steps(query, key, value, mask)):
...     print(f"{name:9}", [[round(x, 3) for x in row] for row in step.tolist()])
products  [[2.0, 2.0, 0.0], [0.0, 2.0, 6.0]]
scaled    [[1.0, 1.0, 0.0], [0.0, 1.0, 3.0]]
masked    [[1.0, 1.0, -inf], [0.0, 1.0, 3.0]]
weights   [[0.5, 0.5, 0.0], [0.042, 0.114, 0.844]]
output    [[15.0], [28.018]]

--8<-- [end:example-steps]

Two axes, three or four: the last two are always token and feature.

--8<-- [start:example-axes]
>>> from snippets.attention.formula import attention_2d
>>> from snippets.scaling.saturation import attention
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.rand(3, 2, 4, 8, 16, generator=generator)  # (batch, head, token, feature)
>>> output = attention(query, key, value)
>>> tuple(output.shape)
(2, 4, 8, 16)
>>> same = [torch.allclose(attention_2d(query[b, h], key[b, h], value[b, h]), output[b, h])
...         for b in range(2) for h in range(4)]
>>> all(same), torch.allclose(attention(query[1], key[1], value[1]), output[1])
(True, True)
>>> attention_2d(query, key, value)
Traceback (most recent call last):
ValueError: query has 4 axes, key 4 and value 4; expected two each, since key.T is for matrices

--8<-- [end:example-axes]

The same to the last bit? Where the matrix products are exact, yes, in whichever order a machine adds:

--8<-- [start:example-bits]
>>> generator = torch.Generator().manual_seed(0)
>>> query, key = torch.randint(-3, 4, (2, 8, 16), generator=generator).float()
>>> value = torch.eye(8)  # values that show the weights
>>> flat = attention_2d(query, key, value)
>>> batched = attention(query[None], key[None], value[None])[0]
>>> heads = attention(query[None, None], key[None, None], value[None, None])[0, 0]
>>> torch.equal(flat, batched), torch.equal(flat, heads)
(True, True)

--8<-- [end:example-bits]

A module whose weights are parameters, and two of them in a row:

--8<-- [start:example-module]
>>> from snippets.attention.formula import SelfAttention
>>> first, second = (SelfAttention(d=8, d_k=3, d_v=5, generator=generator) for _ in range(2))
>>> {name: tuple(weight.shape) for name, weight in first.named_parameters()}
{'W_Q': (8, 3), 'W_K': (8, 3), 'W_V': (8, 5), 'W_O': (5, 8)}
>>> X = torch.rand(2, 6, 8, generator=generator)  # (batch, n, d)
>>> tuple(first(X).shape), tuple(second(first(X)).shape)
((2, 6, 8), (2, 6, 8))
>>> second(first(X)).sum().backward()
>>> all(weight.grad.abs().sum() > 0 for weight in first.parameters())
True

--8<-- [end:example-module]

A tensor that is only an attribute is no parameter. No optimiser sees it, and no checkpoint holds it:

--8<-- [start:example-constant]
>>> module = torch.nn.Module()
>>> module.W_Q = torch.rand(8, 3)
>>> list(module.parameters()), list(module.state_dict())
([], [])
>>> module.W_Q = torch.nn.Parameter(torch.rand(8, 3))
>>> [tuple(weight.shape) for weight in module.parameters()], list(module.state_dict())
([(8, 3)], ['W_Q'])

--8<-- [end:example-constant]

The slip in the scale, measured on Gaussian queries and keys:

--8<-- [start:example-slip]
>>> from snippets.attention.formula import slipped_scores
>>> from snippets.scaling.variance import scores
>>> query, key = torch.randn(2, 500, 64, generator=generator)
>>> for d_v in (1, 16, 64):
...     value = torch.zeros(500, d_v)
...     both = scores(query, key), slipped_scores(query, key, value)
...     print(f"d_v {d_v:2}   variance of the scores {both[0].var():.2f}   with the slip {both[1].var():.3f}")
d_v  1   variance of the scores 0.99   with the slip 0.989
d_v 16   variance of the scores 0.99   with the slip 0.062
d_v 64   variance of the scores 0.99   with the slip 0.015

--8<-- [end:example-slip]
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from snippets.scaling.saturation import attention, mask_scores, masked_softmax
from snippets.scaling.variance import scores
from snippets.shapes import check_shapes


# --8<-- [start:two-axes]
def attention_2d(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The formula as it is written, for matrices: (n, d_k), (m, d_k) and (m, d_v) give (n, d_v)."""
    if (query.dim(), key.dim(), value.dim()) != (2, 2, 2):
        raise ValueError(
            f"query has {query.dim()} axes, key {key.dim()} and value {value.dim()}; "
            "expected two each, since key.T is for matrices"
        )
    check_shapes("query: n d_k, key: m d_k, value: m d_v", query, key, value)
    return torch.softmax(query @ key.T / query.shape[-1] ** 0.5, dim=-1) @ value


# --8<-- [end:two-axes]


# --8<-- [start:steps]
class Steps(NamedTuple):
    """What each operation of attention makes."""

    products: Tensor  # (..., n, m)
    scaled: Tensor  # (..., n, m)
    masked: Tensor  # (..., n, m)
    weights: Tensor  # (..., n, m)
    output: Tensor  # (..., n, d_v)


def steps(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
) -> Steps:
    """Attention one operation at a time; a boolean mask keeps what is True, any other is added."""
    check_shapes("query: n d_k, key: m d_k, value: m d_v", query, key, value)
    products = query @ key.transpose(-2, -1)  # (..., n, d_k) (..., d_k, m) -> (..., n, m)
    scaled = products * (query.shape[-1] ** -0.5 if scale is None else scale)
    masked = mask_scores(scaled, mask)
    weights = masked_softmax(masked)  # every row sums to 1
    return Steps(products, scaled, masked, weights, weights @ value)


# --8<-- [end:steps]


# --8<-- [start:block]
def self_attention(X: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, W_O: Tensor) -> Tensor:
    """Queries, keys and values from one input; the output has the shape of the input."""
    check_shapes("X: n d, W_Q: d d_k, W_K: d d_k, W_V: d d_v, W_O: d_v d", X, W_Q, W_K, W_V, W_O)
    return attention(X @ W_Q, X @ W_K, X @ W_V) @ W_O  # (..., n, d_v) (..., d_v, d) -> (..., n, d)


class SelfAttention(nn.Module):
    """The same with weights that are trained, drawn so that a projection keeps the variance of X."""

    def __init__(self, d: int, d_k: int, d_v: int, generator: torch.Generator | None = None):
        super().__init__()

        def weight(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(rows, columns, generator=generator) * rows**-0.5)

        self.W_Q, self.W_K, self.W_V = weight(d, d_k), weight(d, d_k), weight(d, d_v)
        self.W_O = weight(d_v, d)

    def forward(self, X: Tensor) -> Tensor:
        return self_attention(
            X, self.W_Q, self.W_K, self.W_V, self.W_O
        )  # (..., n, d) -> (..., n, d)


# --8<-- [end:block]


# --8<-- [start:slip]
def slipped_scores(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The scores with a slip: the width of the values stands under the root as well."""
    return scores(query, key, scale=(query.shape[-1] * value.shape[-1]) ** -0.5)  # (..., n, m)


# --8<-- [end:slip]
