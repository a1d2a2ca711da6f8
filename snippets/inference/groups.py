"""Grouped-query attention as ordinary heads, and pooled heads of a checkpoint.

Grouped heads are heads with repeated projections:

--8<-- [start:example-repeat]
>>> import torch
>>> from snippets.inference.groups import grouped_attention, repeat_heads
>>> generator = torch.Generator().manual_seed(0)
>>> def draw(*shape):
...     return torch.randn(shape, generator=generator, dtype=torch.float64)
>>> x = draw(2, 5, 16)  # (batch, n, d)
>>> W_Q, W_K, W_V = draw(16, 32), draw(16, 8), draw(16, 8)
>>> grouped = grouped_attention(  # 8 heads of queries, 2 of keys and values
...     x, W_Q, W_K, W_V, num_heads=8, num_kv_heads=2)
>>> wide = [repeat_heads(W, num_kv_heads=2, times=4) for W in (W_K, W_V)]
>>> [tuple(W.shape) for W in wide], torch.linalg.matrix_rank(wide[0]).item()
([(16, 32), (16, 32)], 8)
>>> ungrouped = grouped_attention(x, W_Q, *wide, num_heads=8, num_kv_heads=8)
>>> torch.allclose(grouped, ungrouped)
True

--8<-- [end:example-repeat]

From separate keys for each head to one head of keys for all:

--8<-- [start:example-family]
>>> from snippets.inference.groups import grouped_operations, grouped_parameters
>>> n, d, h = 4096, 4096, 32
>>> most = grouped_operations(n, d, h, h), grouped_parameters(d, h, h)
>>> for h_kv in (32, 8, 4, 1):
...     work = grouped_operations(n, d, h, h_kv) / most[0]
...     parameters = grouped_parameters(d, h, h_kv) / most[1]
...     print(f"{h_kv:2} of {h}   cache {h_kv / h:.3f}"
...           f"   parameters {parameters:.3f}   operations {work:.3f}")
32 of 32   cache 1.000   parameters 1.000   operations 1.000
 8 of 32   cache 0.250   parameters 0.625   operations 0.750
 4 of 32   cache 0.125   parameters 0.562   operations 0.708
 1 of 32   cache 0.031   parameters 0.516   operations 0.677

--8<-- [end:example-family]

A head and its twin have the same weights. Pooled, all weights are equal:

--8<-- [start:example-twins]
>>> from snippets.attention.formula import attention_weights
>>> from snippets.inference.groups import pool_heads
>>> query, key = 4 * draw(1, 4), draw(3, 4)
>>> def rounded(weights):
...     return [round(w, 3) for w in weights[0].tolist()]
>>> rounded(attention_weights(query, key))
[0.131, 0.546, 0.323]
>>> rounded(attention_weights(-query, -key))  # the twin
[0.131, 0.546, 0.323]
>>> pooled = pool_heads(torch.cat([key, -key], dim=-1), num_heads=2, groups=1)
>>> rounded(attention_weights(query, pooled))
[0.333, 0.333, 0.333]

--8<-- [end:example-twins]

Two heads that agree up to a rotation, which is undone before they are pooled:

--8<-- [start:example-align]
>>> from snippets.inference.groups import align
>>> first = draw(16, 4)  # a key projection (d, d_k)
>>> turn = torch.linalg.qr(draw(4, 4)).Q  # orthogonal
>>> second = first @ turn  # the same head, rotated; so are its queries
>>> found = align(second, first)
>>> torch.allclose((first + second) / 2, first)
False
>>> torch.allclose((first + second @ found) / 2, first)
True

--8<-- [end:example-align]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention, scores
from snippets.heads.split import combine_heads, split_heads


# --8<-- [start:grouped]
def grouped_attention(
    x: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "d width"],
    W_K: Float[Tensor, "d kv_width"],
    W_V: Float[Tensor, "d kv_width"],
    *,
    num_heads: int,
    num_kv_heads: int,
    is_causal: bool = False,
) -> Float[Tensor, "*batch n width"]:
    """The heads' outputs side by side: GQA, or MHA with as many heads of keys and
    values as of queries, or MQA with one.

    Raises ValueError where the heads of keys do not divide those of queries, and
    RuntimeError where a number of heads does not divide its width.
    """
    query = split_heads(x @ W_Q, num_heads=num_heads)  # (*batch, h, n, d_k)
    key, value = (  # (*batch, h_kv, n, d_k) each
        split_heads(x @ W, num_heads=num_kv_heads) for W in (W_K, W_V)
    )
    output = attention(query, key, value, is_causal=is_causal, enable_gqa=True)
    return combine_heads(output)


def repeat_heads(
    W: Float[Tensor, "*rows width"], *, num_kv_heads: int, times: int
) -> Float[Tensor, "*rows repeated"]:
    """A projection with each head's columns repeated: MHA's for the same outputs.

    Raises RuntimeError where the heads do not divide the width.
    """
    heads = W.unflatten(-1, (num_kv_heads, -1))  # (*rows, h_kv, d_k)
    return heads.repeat_interleave(times, dim=-2).flatten(-2)


# --8<-- [end:grouped]


# --8<-- [start:counts]
def grouped_operations(
    n: int, d: int, num_heads: int, num_kv_heads: int
) -> float:
    """Queries and output, keys and values, and the pairs of all query heads."""
    keys_and_values = 4 * n * d**2 * num_kv_heads / num_heads
    return 4 * n * d**2 + keys_and_values + 4 * n**2 * d


def grouped_parameters(d: int, num_heads: int, num_kv_heads: int) -> float:
    """Queries and output, keys and values, all without biases."""
    d_k = d / num_heads
    return 2 * d * (num_heads * d_k) + 2 * d * (num_kv_heads * d_k)


# --8<-- [end:counts]


# --8<-- [start:pool]
def pool_heads(
    W: Float[Tensor, "*rows width"], *, num_heads: int, groups: int
) -> Float[Tensor, "*rows pooled"]:
    """The mean of each group of neighbouring heads: Ainslie et al. (2023).

    Raises RuntimeError where the groups do not divide the heads, or the heads the
    width.
    """
    heads = W.unflatten(-1, (num_heads, -1))  # (*rows, h, d_k)
    return heads.unflatten(-2, (groups, -1)).mean(-2).flatten(-2)


def pooling_error(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    other: Float[Tensor, "*#batch m d_k"],
) -> Float[Tensor, "*batch n m"]:
    """The change in a head's scores, without scale, if its keys are pooled."""
    pooled = (key + other) / 2
    return scores(query, pooled, scale=1.0) - scores(query, key, scale=1.0)


# --8<-- [end:pool]


# --8<-- [start:nearest]
def squared_distance_to_shared(
    heads: Float[Tensor, "r s"], shared: Float[Tensor, " s"]
) -> Float[Tensor, ""]:
    """The sum of squared distances of all projections, one a row, to a shared one."""
    return (heads - shared).square().sum()


def squared_distance_to_mean(heads: Float[Tensor, "r s"]) -> Float[Tensor, ""]:
    """The sum of squared distances to their mean."""
    return squared_distance_to_shared(heads, heads.mean(0))


# --8<-- [end:nearest]


# --8<-- [start:gradient]
def shared_gradient(
    first_gradient: Float[Tensor, "n m"],
    second_gradient: Float[Tensor, "n m"],
    first_query: Float[Tensor, "n d_k"],
    second_query: Float[Tensor, "n d_k"],
    key: Float[Tensor, "m d_k"],
) -> Float[Tensor, "m d_k"]:
    """The gradient of keys that two heads share, given the gradients of the loss with
    respect to both heads' scores, which are not scaled."""

    def loss(key: Tensor) -> Tensor:
        first = (first_gradient * scores(first_query, key, scale=1.0)).sum()
        return (
            first
            + (second_gradient * scores(second_query, key, scale=1.0)).sum()
        )

    return torch.func.grad(loss)(key)


# --8<-- [end:gradient]


# --8<-- [start:align]
def align(
    W: Float[Tensor, "d d_k"], target: Float[Tensor, "d d_k"]
) -> Float[Tensor, "d_k d_k"]:
    """The orthogonal matrix R for which W @ R is nearest to the target.

    Multiply the head's queries by it as well, and no score changes.
    """
    left, _, right = torch.linalg.svd(W.mT @ target)  # (d_k, d_k) each
    return left @ right


# --8<-- [end:align]
