"""A block of a transformer's encoder, put together from parts that other pages prove.

It is PyTorch's own layer, weight for weight, in both orders of normalisation:

--8<-- [start:example-block]
>>> import torch
>>> from snippets.around.transformer import encoder_block
>>> _ = torch.manual_seed(0)
>>> X = torch.randn(2, 5, 8, dtype=torch.float64)  # (batch, n, d)
>>> for norm_first in (False, True):
...     theirs = torch.nn.TransformerEncoderLayer(
...         8, 2, 32, dropout=0, batch_first=True, norm_first=norm_first, dtype=torch.float64)
...     ours = encoder_block(X, theirs.state_dict(), heads=2, norm_first=norm_first)
...     print(torch.allclose(ours, theirs(X)), tuple(ours.shape))
True (2, 5, 8)
True (2, 5, 8)

--8<-- [end:example-block]

The tokens enter as rows of a matrix. A row can be looked up, or multiplied out with a one-hot row:

--8<-- [start:example-embedding]
>>> from snippets.around.transformer import embed, one_hot
>>> table = torch.randn(10, 4)  # (vocabulary, d)
>>> token = torch.tensor([3, 1, 4, 1])
>>> torch.equal(embed(token, table), one_hot(token, 10) @ table)
True

--8<-- [end:example-embedding]

Without positions, a block does not know the order of its tokens:

--8<-- [start:example-order]
>>> order = torch.tensor([4, 2, 0, 3, 1])
>>> block = lambda X: encoder_block(X, theirs.state_dict(), heads=2, norm_first=True)
>>> torch.allclose(block(X[:, order]), block(X)[:, order])
True
>>> position = torch.randn(5, 8, dtype=torch.float64)
>>> torch.allclose(block(X[:, order] + position), block(X + position)[:, order])
False

--8<-- [end:example-order]

What a block holds, and when attention itself dominates its cost:

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
"""

import torch
from torch import Tensor
from torch.nn.functional import linear

from snippets.around.layernorm import layer_norm
from snippets.attention.formula import attention
from snippets.shapes import check_shapes


# --8<-- [start:embedding]
def one_hot(token: Tensor, vocabulary: int) -> Tensor:
    """A row of zeros with a single one, for each token."""
    return torch.nn.functional.one_hot(
        token, vocabulary
    ).float()  # (..., n) -> (..., n, N)


def embed(token: Tensor, table: Tensor) -> Tensor:
    """The row of the table that each token names."""
    check_shapes("token: n, table: N d", token, table)
    return table[token]  # (..., n) -> (..., n, d)


# --8<-- [end:embedding]


# --8<-- [start:parts]
def multi_head(X: Tensor, weights: dict[str, Tensor], heads: int) -> Tensor:
    """Every token attends to all; each head does so on its own share of the features."""
    if X.shape[-1] % heads:
        raise ValueError(
            f"{heads} heads do not divide the {X.shape[-1]} features of X "
            f"{tuple(X.shape)}; expected a multiple"
        )
    projected = linear(
        X,
        weights["self_attn.in_proj_weight"],
        weights["self_attn.in_proj_bias"],
    )
    query, key, value = (
        part.unflatten(-1, (heads, -1)).transpose(-3, -2)  # (..., h, n, d / h)
        for part in projected.chunk(3, dim=-1)
    )
    mixed = (
        attention(query, key, value).transpose(-3, -2).flatten(-2)
    )  # (..., n, d)
    return linear(
        mixed,
        weights["self_attn.out_proj.weight"],
        weights["self_attn.out_proj.bias"],
    )


def feed_forward(X: Tensor, weights: dict[str, Tensor]) -> Tensor:
    """Every token by itself: wider, what is negative set to zero, and back."""
    hidden = linear(
        X, weights["linear1.weight"], weights["linear1.bias"]
    ).relu()  # (..., n, d_f)
    return linear(
        hidden, weights["linear2.weight"], weights["linear2.bias"]
    )  # (..., n, d)


# --8<-- [end:parts]


# --8<-- [start:block]
def encoder_block(
    X: Tensor, weights: dict[str, Tensor], heads: int, norm_first: bool = False
) -> Tensor:
    """Attention, then the feed-forward layer, each added to what comes in.

    Each sum is normalised afterwards, or with norm_first each part gets a normalised input.
    The weights are named as in torch.nn.TransformerEncoderLayer.
    """
    check_shapes("X: n d, norm1.weight: d", X, weights["norm1.weight"])

    def norm(X: Tensor, which: str) -> Tensor:
        return (
            layer_norm(X) * weights[f"{which}.weight"]
            + weights[f"{which}.bias"]
        )

    if norm_first:
        X = X + multi_head(norm(X, "norm1"), weights, heads)
        return X + feed_forward(norm(X, "norm2"), weights)
    X = norm(X + multi_head(X, weights, heads), "norm1")
    return norm(X + feed_forward(X, weights), "norm2")  # (..., n, d)


# --8<-- [end:block]


# --8<-- [start:count]
def block_parameters(d: int, d_f: int) -> int:
    """Numbers in a block: four projections, two linear layers, two normalisations."""
    return 4 * (d**2 + d) + (2 * d * d_f + d_f + d) + 2 * (2 * d)


def linear_share(n: int, d: int) -> float:
    """The share of the linear layers in a block's multiplications; d_f is 4 d."""
    layers, attending = 12 * n * d**2, 2 * n**2 * d
    return layers / (layers + attending)


# --8<-- [end:count]
