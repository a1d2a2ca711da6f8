"""Attention beside a linear layer over tokens, and linear attention, which lies between.

A linear layer has one slope, whatever comes in. Attention has another one for every input:

--8<-- [start:example-slopes]
>>> import torch
>>> from snippets.kin.linear import slope
>>> from snippets.attention.formula import attention
>>> generator = torch.Generator().manual_seed(0)
>>> one, other = torch.randn(2, 4, 3, generator=generator, dtype=torch.float64)  # (n, d) each
>>> A = torch.randn(4, 4, generator=generator, dtype=torch.float64)
>>> layer = lambda x: A @ x
>>> torch.allclose(slope(layer, one), slope(layer, other))
True
>>> self_attention = lambda x: attention(x, x, x)
>>> torch.allclose(slope(self_attention, one), slope(self_attention, other))
False

--8<-- [end:example-slopes]

Linear attention is a product, so it can be grouped either way, or run token by token:

--8<-- [start:example-linear]
>>> from snippets.kin.linear import causal_scan, kernel_attention, linear_attention
>>> query, key, value = torch.randn(3, 2, 6, 4, generator=generator, dtype=torch.float64)
>>> torch.allclose(kernel_attention(query, key, value), linear_attention(query, key, value))
True
>>> scanned = causal_scan(query, key, value)
>>> for t in (1, 3, 6):
...     prefix = linear_attention(query[:, :t], key[:, :t], value[:, :t])
...     print(t, torch.allclose(scanned[:, t - 1], prefix[:, t - 1]))
1 True
3 True
6 True
>>> torch.allclose(linear_attention(query, key, value), attention(query, key, value))
False

--8<-- [end:example-linear]

Regrouping pays for long sequences:

--8<-- [start:example-cost]
>>> from snippets.kin.linear import linear_multiplications, quadratic_multiplications
>>> for n in (16, 64, 256, 4096):
...     first = quadratic_multiplications(n, n, 64, 64)
...     second = linear_multiplications(n, n, 64, 64)
...     print(f"n {n:4}   weights first {first:13,}   keys and values first {second:10,}")
n   16   weights first        32,768   keys and values first    131,072
n   64   weights first       524,288   keys and values first    524,288
n  256   weights first     8,388,608   keys and values first  2,097,152
n 4096   weights first 2,147,483,648   keys and values first 33,554,432

--8<-- [end:example-cost]

With keys of one length, attention is a mean of values under a Gaussian of the distance:

--8<-- [start:example-gaussian]
>>> from snippets.kin.linear import gaussian_weights
>>> from snippets.attention.formula import attention_weights
>>> torch.allclose(attention_weights(query, key), gaussian_weights(query, key))
False
>>> key = 2 * torch.nn.functional.normalize(key, dim=-1)  # every key has length 2
>>> torch.allclose(attention_weights(query, key), gaussian_weights(query, key))
True

--8<-- [end:example-gaussian]

Random features come as near to softmax as their number allows:

--8<-- [start:example-features]
>>> from snippets.kin.linear import random_features
>>> q, k = torch.randn(2, 4, generator=generator, dtype=torch.float64) / 2
>>> for r in (100, 10_000, 1_000_000):
...     draws = torch.randn(r, 4, generator=generator, dtype=torch.float64)
...     print(f"{r:9,} features: {random_features(q, draws) @ random_features(k, draws):.4f}")
      100 features: 1.1988
   10,000 features: 1.3020
1,000,000 features: 1.2371
>>> f"exactly: {(q @ k).exp():.4f}"
'exactly: 1.2388'

--8<-- [end:example-features]
"""

from collections.abc import Callable

import torch
from torch import Tensor

from snippets.shapes import check_shapes


# --8<-- [start:slope]
def slope(function: Callable[[Tensor], Tensor], X: Tensor) -> Tensor:
    """The derivative of every output by every input, at X."""
    return torch.autograd.functional.jacobian(function, X)  # (*output, *input)


# --8<-- [end:slope]


# --8<-- [start:groupings]
def weigh_then_mix(F: Tensor, G: Tensor, V: Tensor) -> Tensor:
    """(F G^T) V: every query with every key, then the values."""
    check_shapes("F: n r, G: m r, V: m d_v", F, G, V)
    return (
        F @ G.transpose(-2, -1)
    ) @ V  # (..., n, m) (..., m, d_v) -> (..., n, d_v)


def sum_then_ask(F: Tensor, G: Tensor, V: Tensor) -> Tensor:
    """F (G^T V): one sum over all keys and values, which every query asks."""
    check_shapes("F: n r, G: m r, V: m d_v", F, G, V)
    return F @ (
        G.transpose(-2, -1) @ V
    )  # (..., n, r) (..., r, d_v) -> (..., n, d_v)


# --8<-- [end:groupings]


# --8<-- [start:linear]
def kernel_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Weights from products of features, here exponentials; softmax has no part in it."""
    check_shapes("query: n d_k, key: m d_k, value: m d_v", query, key, value)
    weights = query.exp() @ key.exp().transpose(
        -2, -1
    )  # (..., n, m), all positive
    return weights @ value / weights.sum(-1, keepdim=True)  # (..., n, d_v)


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The same, regrouped: no tensor here has an axis for queries and another for keys."""
    state = sum_then_ask(query.exp(), key.exp(), value)  # (..., n, d_v)
    return state / sum_then_ask(
        query.exp(), key.exp(), torch.ones_like(value[..., :1])
    )


# --8<-- [end:linear]


# --8<-- [start:scan]
def causal_scan(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal linear attention as a recurrent network: token by token, with one state."""
    check_shapes("query: n d_k, key: n d_k, value: n d_v", query, key, value)
    state, normaliser, outputs = 0, 0, []
    for q, k, v in zip(
        *(x.unbind(-2) for x in (query.exp(), key.exp(), value))
    ):
        state = state + k.unsqueeze(-1) * v.unsqueeze(-2)  # (..., d_k, d_v)
        normaliser = normaliser + k  # (..., d_k)
        output = (q.unsqueeze(-2) @ state).squeeze(-2)  # (..., d_v)
        outputs.append(output / (q * normaliser).sum(-1, keepdim=True))
    return torch.stack(outputs, dim=-2)  # (..., n, d_v)


# --8<-- [end:scan]


# --8<-- [start:cost]
def quadratic_multiplications(n: int, m: int, r: int, d_v: int) -> int:
    """Multiplications in (F G^T) V."""
    return n * m * (r + d_v)


def linear_multiplications(n: int, m: int, r: int, d_v: int) -> int:
    """Multiplications in F (G^T V)."""
    return (n + m) * r * d_v


# --8<-- [end:cost]


# --8<-- [start:gaussian]
def squared_distances(query: Tensor, key: Tensor) -> Tensor:
    """The squared distance of every query from every key."""
    check_shapes("query: n d_k, key: m d_k", query, key)
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)  # (..., n, m, d_k)
    return difference.square().sum(-1)  # (..., n, m)


def gaussian_weights(query: Tensor, key: Tensor) -> Tensor:
    """Kernel regression: weights fall as a Gaussian of variance sqrt(d_k) does."""
    return torch.softmax(
        -squared_distances(query, key) / (2 * query.shape[-1] ** 0.5), dim=-1
    )


# --8<-- [end:gaussian]


# --8<-- [start:features]
def random_features(x: Tensor, draws: Tensor) -> Tensor:
    """Positive features of x from Gaussian draws; products of them average to exp(q.k)."""
    check_shapes("x: d, draws: r d", x, draws)
    exponent = (draws @ x.unsqueeze(-1)).squeeze(-1) - x.square().sum(
        -1, keepdim=True
    ) / 2
    return exponent.exp() / draws.shape[-2] ** 0.5  # (..., r)


# --8<-- [end:features]
