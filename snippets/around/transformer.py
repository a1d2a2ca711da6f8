"""A block of a transformer's encoder, built from the parts of other pages.

It agrees with PyTorch's layer, post-norm and pre-norm:

--8<-- [start:example-block]
>>> import torch
>>> from snippets.around.transformer import encoder_arguments, encoder_block
>>> _ = torch.manual_seed(0)
>>> X = torch.randn(2, 5, 8, dtype=torch.float64)  # (batch, n, d)
>>> for norm_first in (False, True):
...     theirs = torch.nn.TransformerEncoderLayer(
...         8, 2, 32, dropout=0, batch_first=True, norm_first=norm_first, dtype=torch.float64)
...     ours = encoder_block(X, **encoder_arguments(theirs))
...     print(torch.allclose(ours, theirs(X)), tuple(ours.shape))
True (2, 5, 8)
True (2, 5, 8)

--8<-- [end:example-block]

Looking up a row of the table, and multiplying a one-hot row by it:

--8<-- [start:example-embedding]
>>> from snippets.around.transformer import embed, one_hot
>>> table = torch.randn(10, 4)  # (vocabulary, d)
>>> token = torch.tensor([3, 1, 4, 1])
>>> torch.equal(embed(token, table), one_hot(token, vocabulary=10) @ table)
True

--8<-- [end:example-embedding]

Without positions, a block ignores the order of its tokens:

--8<-- [start:example-order]
>>> order = torch.tensor([4, 2, 0, 3, 1])
>>> block = lambda X: encoder_block(X, **encoder_arguments(theirs))
>>> torch.allclose(block(X[:, order]), block(X)[:, order])
True
>>> position = torch.randn(5, 8, dtype=torch.float64)
>>> torch.allclose(block(X[:, order] + position), block(X + position)[:, order])
False

--8<-- [end:example-order]

A block's parameters, and the linear layers' share of its multiplications:

--8<-- [start:example-count]
>>> from snippets.around.transformer import block_parameters, linear_share
>>> block_parameters(8, 32) == sum(parameter.numel() for parameter in theirs.parameters())
True
>>> f"{block_parameters(768, 3072):,}"
'7,087,872'
>>> for n in (128, 768, 4608, 32768):
...     print(f"n {n:6,}   share of the linear layers {linear_share(n, 768):.2f}")
n    128   share of the linear layers 0.97
n    768   share of the linear layers 0.86
n  4,608   share of the linear layers 0.50
n 32,768   share of the linear layers 0.12

--8<-- [end:example-count]

With its last matrices at zero, a pre-norm block is the identity, and only their gradients are not zero:

--8<-- [start:example-silent]
>>> last = ("self_attn.out_proj.weight", "self_attn.out_proj.bias", "linear2.weight", "linear2.bias")
>>> weights = {
...     name: (0 * weight if name in last else weight).detach().requires_grad_()
...     for name, weight in encoder_arguments(theirs)["weights"].items()}
>>> silent = encoder_block(X, weights, num_heads=2, norm_first=True)
>>> torch.equal(silent, X)
True
>>> gradients = torch.autograd.grad(silent.square().sum(), list(weights.values()))
>>> {name for name, gradient in zip(weights, gradients) if gradient.any()} == set(last)
True

--8<-- [end:example-silent]
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, linear

from snippets.around.layernorm import layer_norm
from snippets.attention.formula import attention
from snippets.attention.masks import Mask
from snippets.heads.split import combine_heads, split_heads


# --8<-- [start:embedding]
def one_hot(
    token: Int[Tensor, "*batch n"],
    *,
    vocabulary: int,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "*batch n N"]:
    """A one-hot row for each token."""
    rows = nn.functional.one_hot(token.long(), vocabulary)
    return rows.to(dtype or torch.get_default_dtype())


def embed(
    token: Int[Tensor, "*batch n"], table: Float[Tensor, "N d"]
) -> Float[Tensor, "*batch n d"]:
    """The table's row for each token."""
    return embedding(token, table)


# --8<-- [end:embedding]


# --8<-- [start:parts]
Weights = dict[str, Float[Tensor, "..."]]
Activation = Callable[[Float[Tensor, "..."]], Float[Tensor, "..."]]


def multi_head(
    X: Float[Tensor, "*batch n d"],
    weights: Weights,
    *,
    num_heads: int,
    attn_mask: Mask | None = None,
) -> Float[Tensor, "*batch n d"]:
    """Self-attention with several heads. The mask has an axis for them.

    Raises ValueError if num_heads does not divide d, and RuntimeError if the
    width of the tokens is not that of the weights.
    """
    projected = linear(
        X,
        weights["self_attn.in_proj_weight"],
        weights["self_attn.in_proj_bias"],
    )
    query, key, value = (
        split_heads(part, num_heads=num_heads)
        for part in projected.chunk(3, dim=-1)
    )
    return linear(
        combine_heads(attention(query, key, value, attn_mask=attn_mask)),
        weights["self_attn.out_proj.weight"],
        weights["self_attn.out_proj.bias"],
    )


def feed_forward(
    X: Float[Tensor, "*batch n d"],
    weights: Weights,
    *,
    activation: Activation = torch.relu,
) -> Float[Tensor, "*batch n d"]:
    """Each token by itself: a wider layer, the activation, and back to d.

    Raises RuntimeError if the width of the tokens is not that of the weights.
    """
    hidden = linear(X, weights["linear1.weight"], weights["linear1.bias"])
    return linear(
        activation(hidden), weights["linear2.weight"], weights["linear2.bias"]
    )


# --8<-- [end:parts]


# --8<-- [start:block]
def encoder_block(
    X: Float[Tensor, "*batch n d"],
    weights: Weights,
    *,
    num_heads: int,
    norm_first: bool = False,
    eps: float = 1e-5,
    activation: Activation = torch.relu,
    attn_mask: Mask | None = None,
) -> Float[Tensor, "*batch n d"]:
    """Attention, then the feed-forward layer, each added to its input.

    Each sum is normalised; with norm_first, the input of each part is.
    The weights have the names of PyTorch's layer. A mask for padding is
    (*batch, 1, 1, n), or has an axis for the heads and one for the queries.
    Raises ValueError for tokens of another width, or if num_heads does not
    divide it.
    """
    d = weights["norm1.weight"].shape[-1]
    if X.shape[-1] != d:  # 1 would broadcast
        raise ValueError(f"X has {X.shape[-1]} features; the weights have {d}")

    def norm(X: Tensor, which: str) -> Tensor:
        gain, bias = weights[f"{which}.weight"], weights[f"{which}.bias"]
        return layer_norm(X, eps=eps) * gain + bias

    def attend(X: Tensor) -> Tensor:
        return multi_head(X, weights, num_heads=num_heads, attn_mask=attn_mask)

    def feed(X: Tensor) -> Tensor:
        return feed_forward(X, weights, activation=activation)

    if norm_first:
        X = X + attend(norm(X, "norm1"))
        return X + feed(norm(X, "norm2"))
    X = norm(X + attend(X), "norm1")
    return norm(X + feed(X), "norm2")


# --8<-- [end:block]


# --8<-- [start:from-layer]
def encoder_arguments(layer: nn.TransformerEncoderLayer) -> dict[str, Any]:
    """The arguments with which encoder_block agrees with PyTorch's layer.

    Raises ValueError for a layer that it cannot reproduce.
    """
    attn, dropouts = layer.self_attn, (layer.dropout1, layer.dropout2)
    drops = any(one.p for one in (layer.dropout, *dropouts)) or attn.dropout
    expected = []
    if not attn.batch_first:
        expected.append("`batch_first=True`")
    if attn.in_proj_bias is None:
        expected.append("biases")
    if layer.norm1.eps != layer.norm2.eps:
        expected.append("one eps")
    if layer.training and drops:
        expected.append("no dropout, or in eval mode")
    if expected:
        raise ValueError(f"expected a layer with {', '.join(expected)}")
    return {
        "weights": dict(layer.named_parameters()),
        "num_heads": attn.num_heads,
        "norm_first": layer.norm_first,
        "eps": layer.norm1.eps,
        "activation": layer.activation,
    }


# --8<-- [end:from-layer]


# --8<-- [start:count]
def block_parameters(d: int, d_f: int) -> int:
    """Parameters of the projections, the feed-forward layer and both norms."""
    return 4 * (d**2 + d) + (2 * d * d_f + d_f + d) + 2 * (2 * d)


def linear_share(n: int, d: int) -> float:
    """The linear layers' share of a block's multiplications, if d_f is 4 d."""
    layers, attending = 12 * n * d**2, 2 * n**2 * d
    return layers / (layers + attending)


# --8<-- [end:count]
