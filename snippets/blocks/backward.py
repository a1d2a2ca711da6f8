"""The way back through attention by hand, at once and in blocks of keys.

From the slopes of a loss by the outputs, those by queries, keys and values:

--8<-- [start:example-backward]
>>> import torch
>>> from snippets.blocks.backward import backward
>>> from snippets.attention.formula import attention
>>> generator = torch.Generator().manual_seed(0)
>>> shapes = (2, 5, 4), (2, 7, 4), (2, 7, 3), (2, 5, 3)  # (batch, token, feature)
>>> query, key, value, slope = (
...     torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes)
>>> by_hand = backward(query, key, value, slope)
>>> inputs = [x.requires_grad_() for x in (query, key, value)]
>>> by_autograd = torch.autograd.grad(attention(*inputs), inputs, slope)
>>> [torch.allclose(x, y) for x, y in zip(by_hand, by_autograd)]
[True, True, True]

--8<-- [end:example-backward]

One query with two keys of equal weight. The first value is 1, the second 0, and the loss is the output:

--8<-- [start:example-mean]
>>> from snippets.blocks.backward import row_sums, score_slopes
>>> weights = torch.tensor([[0.5, 0.5]])
>>> weight_slopes = torch.tensor([[1.0, 0.0]])
>>> (weights * weight_slopes).tolist()  # wrong: the other score would have no say
[[0.5, 0.0]]
>>> score_slopes(weights, weight_slopes, row_sums(weights, weight_slopes)).tolist()
[[0.25, -0.25]]

--8<-- [end:example-mean]

In blocks, with two columns of weights at a time and at last one:

--8<-- [start:example-blocks]
>>> from snippets.blocks.backward import backward_in_blocks, log_sums
>>> query, key, value = (x.detach() for x in inputs)
>>> output, saved = attention(query, key, value), log_sums(query, key)
>>> in_blocks = backward_in_blocks(query, key, value, output, saved, slope, block=2)
>>> [torch.allclose(x, y) for x, y in zip(by_hand, in_blocks)]
[True, True, True]

--8<-- [end:example-blocks]
"""

import torch
from torch import Tensor

from snippets.attention.formula import attention_weights, scores
from snippets.shapes import check_shapes


# --8<-- [start:scores]
def row_sums(a: Tensor, b: Tensor) -> Tensor:
    """The sum over each row of the products of two matrices' entries."""
    if a.shape != b.shape:
        raise ValueError(
            f"{tuple(a.shape)} and {tuple(b.shape)} differ; expected one shape (..., n, p)"
        )
    return (a * b).sum(
        -1, keepdim=True
    )  # (..., n, p) (..., n, p) -> (..., n, 1)


def score_slopes(
    weights: Tensor, weight_slopes: Tensor, means: Tensor
) -> Tensor:
    """Back through softmax: means are those of the slopes under the weights."""
    check_shapes("weights: n m, weight_slopes: n m", weights, weight_slopes)
    check_column("means", means)
    return weights * (weight_slopes - means)  # (..., n, m)


def check_column(name: str, x: Tensor) -> None:
    """Raise a ValueError unless there is one number for each query: a column, that broadcasts."""
    if x.shape[-1] != 1:
        raise ValueError(f"{name} is {tuple(x.shape)}; expected (..., n, 1)")


# --8<-- [end:scores]


# --8<-- [start:backward]
def backward(
    query: Tensor, key: Tensor, value: Tensor, slope: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The slopes of a loss by query, key and value, each in its shape.

    slope is that of the loss by the output, in the shape of the output: (..., n, d_v).
    """
    check_shapes(
        "query: n d_k, key: m d_k, value: m d_v, slope: n d_v",
        query,
        key,
        value,
        slope,
    )
    weights = attention_weights(query, key)  # (..., n, m)
    means = row_sums(slope, weights @ value)  # (..., n, 1)
    return through_weights(query, key, value, weights, slope, means)


def through_weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weights: Tensor,
    slope: Tensor,
    means: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """What the queries get through these keys and values, and what these get themselves."""
    d_scores = score_slopes(weights, slope @ value.mT, means)  # (..., n, m)
    d_products = d_scores / query.shape[-1] ** 0.5  # (..., n, m)
    slopes = d_products @ key, d_products.mT @ query, weights.mT @ slope
    # An input that was shared along a leading axis gets the sum over that axis.
    return tuple(
        s.sum_to_size(x.shape) for s, x in zip(slopes, (query, key, value))
    )


# --8<-- [end:backward]


# --8<-- [start:again]
def log_sums(query: Tensor, key: Tensor) -> Tensor:
    """The logarithm of the sum of the exponentials of each query's scores."""
    return torch.logsumexp(
        scores(query, key), dim=-1, keepdim=True
    )  # (..., n, 1)


def weights_again(query: Tensor, key: Tensor, log_sums: Tensor) -> Tensor:
    """The weights of these keys among all, from log_sums over all: no other key is needed."""
    check_shapes(
        "query: n d_k, key: m d_k, log_sums: n one", query, key, log_sums
    )
    check_column("log_sums", log_sums)
    return (scores(query, key) - log_sums).exp()  # (..., n, m)


# --8<-- [end:again]


# --8<-- [start:blocks]
def backward_in_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sums: Tensor,
    slope: Tensor,
    block: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same from what the way forward kept, with at most `block` keys at a time."""
    check_shapes("query: n d_k, key: m d_k, value: m d_v", query, key, value)
    if block < 1:
        raise ValueError(f"block is {block}; expected at least 1 key")
    means = row_sums(slope, output)  # (..., n, 1), and no weight is needed
    d_query, d_key, d_value = torch.zeros_like(query), [], []
    for k, v in zip(
        key.split(block, dim=-2), value.split(block, dim=-2)
    ):  # (..., block, d)
        weights = weights_again(query, k, log_sums)  # (..., n, block)
        more, d_k, d_v = through_weights(query, k, v, weights, slope, means)
        d_query = d_query + more  # (..., n, d_k)
        d_key.append(d_k)
        d_value.append(d_v)
    return d_query, torch.cat(d_key, dim=-2), torch.cat(d_value, dim=-2)


# --8<-- [end:blocks]
