"""Attention compared with a linear layer over tokens, and linear attention, which lies between.

A linear layer has the same derivative for every input. Attention does not:

--8<-- [start:example-slopes]
>>> import torch
>>> from snippets.predecessors.linear import jacobian
>>> from snippets.attention.formula import attention
>>> generator = torch.Generator().manual_seed(0)
>>> one, other = torch.randn(2, 4, 3, generator=generator, dtype=torch.float64)  # (n, d) each
>>> A = torch.randn(4, 4, generator=generator, dtype=torch.float64)
>>> layer = lambda x: A @ x
>>> torch.allclose(jacobian(layer, one), jacobian(layer, other))
True
>>> self_attention = lambda x: attention(x, x, x)
>>> torch.allclose(jacobian(self_attention, one), jacobian(self_attention, other))
False

--8<-- [end:example-slopes]

Random features approximate the exponential of a score:

--8<-- [start:example-features]
>>> from snippets.predecessors.linear import random_features
>>> q, k = torch.randn(2, 4, generator=generator, dtype=torch.float64) / 3
>>> for r in (100, 10_000, 1_000_000):
...     draws = torch.randn(r, 4, generator=generator, dtype=torch.float64)
...     print(f"{r:9,} features: {random_features(q, draws) @ random_features(k, draws):.4f}")
      100 features: 1.2566
   10,000 features: 1.4750
1,000,000 features: 1.4292
>>> f"exactly: {(q @ k).exp():.4f}"
'exactly: 1.4171'

--8<-- [end:example-features]

Linear attention is a product, so it can be grouped either way, or run token by token:

--8<-- [start:example-linear]
>>> from snippets.predecessors.linear import causal_scan, kernel_attention, linear_attention
>>> fresh = torch.Generator().manual_seed(1)
>>> query, key, value = torch.randn(3, 2, 6, 4, generator=fresh, dtype=torch.float64)
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

Regrouping saves multiplications for long sequences:

--8<-- [start:example-cost]
>>> from snippets.predecessors.linear import linear_multiplications, quadratic_multiplications
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
>>> from snippets.predecessors.linear import gaussian_weights
>>> from snippets.attention.formula import attention_weights
>>> torch.allclose(attention_weights(query, key), gaussian_weights(query, key))
False
>>> key = 2 * torch.nn.functional.normalize(key, dim=-1)  # every key has length 2
>>> torch.allclose(attention_weights(query, key), gaussian_weights(query, key))
True

--8<-- [end:example-gaussian]
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:slope]
def jacobian(
    function: Callable[[Float[Tensor, "..."]], Float[Tensor, "..."]],
    X: Float[Tensor, "*input"],
) -> Float[Tensor, "*output_and_input"]:
    """The derivative of each output with respect to each input, at X."""
    return torch.autograd.functional.jacobian(function, X)


# --8<-- [end:slope]


# --8<-- [start:groupings]
def weigh_then_mix(
    F: Float[Tensor, "*#batch n r"],
    G: Float[Tensor, "*#batch m r"],
    V: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """(F G^T) V: every query with every key, then the values."""
    return (F @ G.mT) @ V


def sum_then_ask(
    F: Float[Tensor, "*#batch n r"],
    G: Float[Tensor, "*#batch m r"],
    V: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """F (G^T V): one sum over all keys and values, shared by all queries."""
    return F @ (G.mT @ V)


# --8<-- [end:groupings]


# --8<-- [start:linear]
def exponentials(
    query: Float[Tensor, "*#batch n d_k"], key: Float[Tensor, "*#batch m d_k"]
) -> tuple[Float[Tensor, "... n d_k"], Float[Tensor, "... m d_k"]]:
    """exp(query) and exp(key), up to a factor that cancels for each query.

    None exceeds 1, and for each query one product is 1.
    Raises ValueError without keys, or without features.
    """
    if 0 in key.shape[-2:]:
        raise ValueError(
            f"key is {tuple(key.shape)}; expected a key at least, and a feature"
        )
    query, key = upcast(query), upcast(key)
    largest = key.amax(-2, keepdim=True)  # of each feature
    query = query + largest
    query = query - query.amax(-1, keepdim=True)
    return query.exp(), (key - largest).exp()


def kernel_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Weights from products of features, here exponentials, without softmax.

    Raises ValueError without keys, or without features, by `exponentials`.
    """
    F, G = exponentials(query, key)
    weights = F @ G.mT  # (*batch, n, m)
    total = weights.sum(-1, keepdim=True)
    return (weights @ upcast(value) / total).to(query.dtype)


def linear_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """The same, regrouped: no tensor has an axis for queries and one for keys.

    Raises ValueError without keys, or without features, by `exponentials`.
    """
    F, G = exponentials(query, key)
    total = sum_then_ask(F, G, torch.ones_like(G[..., :1]))
    return (sum_then_ask(F, G, upcast(value)) / total).to(query.dtype)


# --8<-- [end:linear]


# --8<-- [start:scan]
def causal_scan(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    value: Float[Tensor, "*#batch n d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Causal linear attention, token by token with one state: Katharopoulos et al. (2020).

    largest holds the maximum of each feature over the keys so far. When it
    grows, the state is scaled down, so nothing overflows.
    Raises ValueError without tokens or features, and for numbers of tokens
    that differ.
    """
    if 0 in key.shape[-2:]:
        raise ValueError(
            f"key is {tuple(key.shape)}; expected a key at least, and a feature"
        )
    queries, keys, values = (upcast(x).unbind(-2) for x in (query, key, value))
    largest = keys[0]  # (*batch, d_k)
    state = total = 0.0  # will be (*batch, d_k, d_v) and (*batch, d_k)
    outputs = []
    for q, k, v in zip(queries, keys, values, strict=True):
        larger = torch.maximum(largest, k)
        shrink, k = (largest - larger).exp(), (k - larger).exp()
        state = shrink.unsqueeze(-1) * state + k.unsqueeze(-1) * v.unsqueeze(-2)
        total = shrink * total + k
        largest = larger
        q = q + largest
        q = (q - q.amax(-1, keepdim=True)).exp()
        output = (q.unsqueeze(-2) @ state).squeeze(-2)  # (*batch, d_v)
        outputs.append(output / (q * total).sum(-1, keepdim=True))
    return torch.stack(outputs, dim=-2).to(query.dtype)


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
def squared_distances(
    query: Float[Tensor, "*#batch n d_k"], key: Float[Tensor, "*#batch m d_k"]
) -> Float[Tensor, "*batch n m"]:
    """The squared distance of every query from every key."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)  # (*batch, n, m, d_k)
    return difference.square().sum(-1)


def gaussian_weights(
    query: Float[Tensor, "*#batch n d_k"], key: Float[Tensor, "*#batch m d_k"]
) -> Float[Tensor, "*batch n m"]:
    """Kernel regression with a Gaussian of variance sqrt(d_k)."""
    distances = squared_distances(upcast(query), upcast(key))
    variance = max(query.shape[-1], 1) ** 0.5  # without features, any
    logits = -distances / (2 * variance)
    return torch.softmax(logits, dim=-1).to(query.dtype)


# --8<-- [end:gaussian]


# --8<-- [start:features]
def random_features(
    x: Float[Tensor, "*batch d"], draws: Float[Tensor, "r d"]
) -> Float[Tensor, "*batch r"]:
    """Positive features of x from Gaussian draws: Choromanski et al. (2021).

    Products of them average to exp(q.k).
    """
    exponent = x @ draws.mT - x.square().sum(-1, keepdim=True) / 2
    return exponent.exp() / draws.shape[-2] ** 0.5


# --8<-- [end:features]
