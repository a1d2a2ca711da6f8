"""The backward pass of attention by hand, at once and in blocks of keys.

Gradients of queries, keys and values, from the gradient of the output:

--8<-- [start:example-backward]
>>> import torch
>>> from snippets.blocks.backward import backward
>>> from snippets.attention.formula import attention
>>> generator = torch.Generator().manual_seed(0)
>>> shapes = (2, 5, 4), (2, 7, 4), (2, 7, 3), (2, 5, 3)  # (batch, token, feature)
>>> query, key, value, gradient = (
...     torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes)
>>> by_hand = backward(query, key, value, gradient)
>>> inputs = [x.requires_grad_() for x in (query, key, value)]
>>> by_autograd = torch.autograd.grad(attention(*inputs), inputs, gradient)
>>> [torch.allclose(x, y) for x, y in zip(by_hand, by_autograd)]
[True, True, True]

--8<-- [end:example-backward]

One query with two keys of equal weight. The first value is 1, the second 0, and the loss is the output:

--8<-- [start:example-mean]
>>> from snippets.blocks.backward import row_sums, score_gradients
>>> weights = torch.tensor([[0.5, 0.5]])
>>> weight_gradients = torch.tensor([[1.0, 0.0]])
>>> (weights * weight_gradients).tolist()  # wrong: without the mean
[[0.5, 0.0]]
>>> score_gradients(weights, weight_gradients, row_sums(weights, weight_gradients)).tolist()
[[0.25, -0.25]]

--8<-- [end:example-mean]

In blocks, with two keys at a time and one in the last block:

--8<-- [start:example-blocks]
>>> from snippets.blocks.backward import backward_in_blocks, log_sums
>>> query, key, value = (x.detach() for x in inputs)
>>> output, saved = attention(query, key, value), log_sums(query, key)
>>> in_blocks = backward_in_blocks(query, key, value, output, saved, gradient, block_size=2)
>>> [torch.allclose(x, y) for x, y in zip(by_hand, in_blocks)]
[True, True, True]

--8<-- [end:example-blocks]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention_weights, scores, upcast


# --8<-- [start:scores]
def row_sums(
    a: Float[Tensor, "*batch n p"], b: Float[Tensor, "*batch n p"]
) -> Float[Tensor, "*batch n 1"]:
    """The row sums of the entrywise product of two matrices.

    Raises ValueError if the shapes differ.
    """
    if a.shape != b.shape:
        raise ValueError(
            f"{tuple(a.shape)} and {tuple(b.shape)} differ; "
            "expected one shape (..., n, p)"
        )
    return (a * b).sum(-1, keepdim=True)


def score_gradients(
    weights: Float[Tensor, "*#batch n m"],
    weight_gradients: Float[Tensor, "*#batch n m"],
    means: Float[Tensor, "*#batch n 1"],
) -> Float[Tensor, "*batch n m"]:
    """Back through softmax. The means are those of the weights' gradients."""
    return weights * (weight_gradients - means)


# --8<-- [end:scores]


# --8<-- [start:backward]
Gradients = tuple[
    Float[Tensor, "... n d_k"],
    Float[Tensor, "... m d_k"],
    Float[Tensor, "... m d_v"],
]


def backward(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    gradient: Float[Tensor, "*batch n d_v"],
) -> Gradients:
    """The gradients of query, key and value, from that of the output.

    Raises ValueError if the gradient hasn't the output's shape.
    """
    weights = attention_weights(query, key)
    means = row_sums(gradient, weights @ value)
    return through_weights(query, key, value, weights, gradient, means)


def through_weights(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    weights: Float[Tensor, "*#batch n m"],
    gradient: Float[Tensor, "*#batch n d_v"],
    means: Float[Tensor, "*#batch n 1"],
) -> Gradients:
    """The gradients of queries through these keys and values, and of these."""
    d_scores = score_gradients(weights, gradient @ value.mT, means)
    d_products = d_scores / query.shape[-1] ** 0.5
    found = d_products @ key, d_products.mT @ query, weights.mT @ gradient
    # An input that was broadcast along an axis gets the sum over that axis.
    return tuple(
        g.sum_to_size(x.shape)
        for g, x in zip(found, (query, key, value), strict=True)
    )


# --8<-- [end:backward]


# --8<-- [start:again]
def log_sums(
    query: Float[Tensor, "*#batch n d_k"], key: Float[Tensor, "*#batch m d_k"]
) -> Float[Tensor, "*batch n 1"]:
    """The logarithm of the sum of the exponentials of each query's scores.

    fp16 and bf16 are too coarse for it. Pass `upcast(query)` to get it in
    fp32.
    """
    logits = scores(upcast(query), upcast(key))
    return torch.logsumexp(logits, dim=-1, keepdim=True).to(query.dtype)


def weights_again(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    log_sums: Float[Tensor, "*#batch n 1"],
) -> Float[Tensor, "*batch n m"]:
    """The weights of these keys among all keys, from log_sums over all."""
    logits = scores(upcast(query), upcast(key))
    return (logits - log_sums).exp().to(query.dtype)


# --8<-- [end:again]


# --8<-- [start:blocks]
def backward_in_blocks(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    output: Float[Tensor, "*batch n d_v"],
    log_sums: Float[Tensor, "*#batch n 1"],
    gradient: Float[Tensor, "*batch n d_v"],
    *,
    block_size: int,
) -> Gradients:
    """The same from what the forward pass stored, one block of keys at a time.

    Raises ValueError if block_size is below 1, if the numbers of keys and
    values differ, or if the gradient hasn't the output's shape.
    """
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}; expected at least 1 key")
    m, others = key.shape[-2], value.shape[-2]
    if m != others:
        raise ValueError(f"{m} keys but {others} values; expected as many")
    means = row_sums(gradient, output)  # no weights needed
    keys, values = key.split(block_size, -2), value.split(block_size, -2)
    d_query, d_key, d_value = torch.zeros_like(query), [], []
    for k, v in zip(keys, values, strict=True):
        weights = weights_again(query, k, log_sums)
        more, d_k, d_v = through_weights(query, k, v, weights, gradient, means)
        d_query = d_query + more
        d_key.append(d_k)
        d_value.append(d_v)
    return d_query, torch.cat(d_key, dim=-2), torch.cat(d_value, dim=-2)


# --8<-- [end:blocks]
