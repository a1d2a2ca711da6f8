"""The token "it" on its way through all-MiniLM-L6-v2, and what the order of the words does.

The numbers are kept in atlas.json, so that reading them needs no model. The lengths of
what each layer adds to "it", and the length after the layer:

--8<-- [start:example-lengths]
>>> from snippets.seeing.one_token import stored_token
>>> it = stored_token()
>>> for layer, row in enumerate(it.lengths.tolist()):
...     before, attention, _, _, feed_forward, _, after = row
...     print(f"layer {layer}   {before:5.2f} {attention:5.2f} {feed_forward:5.2f} {after:5.2f}")
layer 0    8.49  3.76  5.68 11.55
layer 1   11.55  4.84  4.65 11.63
layer 2   11.63  6.56  6.98 10.89
layer 3   10.89  6.24  6.64 11.10
layer 4   11.10  4.21 16.82  7.73
layer 5    7.73  5.81 13.77  7.25

--8<-- [end:example-lengths]

How far the token's direction is from its embedding's, after each layer, and the shares of
the heads of layer 3 in what attention adds there:

--8<-- [start:example-shares]
>>> [round(cosine, 2) for cosine in it.cosines.tolist()]
[1.0, 0.88, 0.77, 0.62, 0.49, 0.39, 0.3]
>>> *heads, bias = it.shares.tolist()
>>> [round(share, 2) for share in heads]
[0.03, 0.2, 0.14, -0.01, 0.03, 0.0, 0.02, 0.22, 0.06, 0.18, 0.08, 0.06]
>>> round(sum(heads) + bias, 3)
1.0

--8<-- [end:example-shares]

The cosine of two position vectors by their distance, without that of the first token:

--8<-- [start:example-positions]
>>> from snippets.seeing.one_token import stored_order
>>> order = stored_order()
>>> cosines = order.cosines[1:, 1:]
>>> [round(cosines.diagonal(k).mean().item(), 2) for k in range(1, 9)]
[0.88, 0.67, 0.56, 0.62, 0.72, 0.67, 0.49, 0.34]

--8<-- [end:example-positions]

The weights of "it" on "animal" and on "street": if these two words change places, and for
100 random orders of all words:

--8<-- [start:example-order]
>>> [round(weight, 2) for weight in order.exchanged.tolist()]
[0.26, 0.52]
>>> animal, street = order.shuffled.T
>>> [round(weight.item(), 2) for weight in (animal.min(), animal.mean(), animal.max())]
[0.0, 0.06, 0.67]
>>> (animal > street).sum().item()
24

--8<-- [end:example-order]
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity, gelu, linear

from snippets.around.layernorm import layer_norm
from snippets.around.transformer import feed_forward, multi_head
from snippets.attention.formula import attention
from snippets.seeing.atlas import read_atlas
from snippets.together.encoder import Encoder


# --8<-- [start:steps]
class BlockSteps(NamedTuple):
    """All tokens, step by step through a block that normalises each sum."""

    before: Float[Tensor, "n d"]
    attention: Float[Tensor, "n d"]  # what attention adds
    first_sum: Float[Tensor, "n d"]
    first_norm: Float[Tensor, "n d"]
    feed_forward: Float[Tensor, "n d"]  # what the feed-forward layer adds
    second_sum: Float[Tensor, "n d"]
    after: Float[Tensor, "n d"]


def block_steps(
    encoder: Encoder, state: Float[Tensor, "n d"], *, block: int
) -> BlockSteps:
    """The steps of one block of the encoder, from the state before it.

    Raises RuntimeError if the width of the state is not that of the encoder.
    """
    weights = dict(encoder.blocks[block])

    def norm(X: Tensor, which: str) -> Tensor:
        gain, bias = weights[f"{which}.weight"], weights[f"{which}.bias"]
        return layer_norm(X, eps=encoder.eps) * gain + bias

    mixed = multi_head(state, weights, num_heads=encoder.num_heads)
    first = norm(state + mixed, "norm1")
    added = feed_forward(first, weights, activation=gelu)
    return BlockSteps(
        before=state,
        attention=mixed,
        first_sum=state + mixed,
        first_norm=first,
        feed_forward=added,
        second_sum=first + added,
        after=norm(first + added, "norm2"),
    )


# --8<-- [end:steps]


# --8<-- [start:shares]
def head_writes(
    encoder: Encoder, state: Float[Tensor, "n d"], *, block: int
) -> Float[Tensor, "parts n d"]:
    """What each head of a block adds to the tokens; the last part is the bias.

    Raises RuntimeError if the width of the state is not that of the encoder.
    """
    weights = encoder.blocks[block]
    outputs = attention(*encoder.queries_keys_values(state, block=block))
    W_O = weights["self_attn.out_proj.weight"]  # (d, heads · d_v)
    parts = [
        linear(output, W)
        for output, W in zip(outputs, W_O.chunk(encoder.num_heads, dim=1))
    ]
    bias = weights["self_attn.out_proj.bias"].expand_as(parts[0])
    return torch.stack([*parts, bias])


def shares_of_sum(
    parts: Float[Tensor, "parts d"],
) -> Float[Tensor, " parts"]:
    """The share of each part in the squared length of their sum."""
    total = parts.sum(0)
    return parts @ total / total.square().sum()


# --8<-- [end:shares]


# --8<-- [start:cosines]
def cosine_table(X: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """The cosine of each row with each row."""
    return cosine_similarity(X[:, None], X, dim=-1)


# --8<-- [end:cosines]


# --8<-- [start:stored]
class OneToken(NamedTuple):
    """The token "it" in all layers, and more closely in layer 3."""

    lengths: Float[Tensor, "layers steps"]
    cosines: Float[Tensor, " states"]  # with its embedding
    features: Float[Tensor, "steps shown"]  # the first ones, in layer 3
    shares: Float[Tensor, " parts"]  # of the heads and the bias, in layer 3


class Order(NamedTuple):
    """The position vectors, and weights of "it" on "animal" and "street"."""

    cosines: Float[Tensor, "n n"]
    exchanged: Float[Tensor, " words"]
    shuffled: Float[Tensor, "orders words"]


def stored_token(*, device: torch.device | str = "cpu") -> OneToken:
    """The token "it" of the example's sentence, from atlas.json, in fp64."""
    kind = {"dtype": torch.float64, "device": device}
    found = read_atlas()["token"]
    return OneToken(
        **{name: torch.tensor(x, **kind) for name, x in found.items()}
    )


def stored_order(*, device: torch.device | str = "cpu") -> Order:
    """The order of the example's sentence, from atlas.json, in fp64."""
    kind = {"dtype": torch.float64, "device": device}
    found = read_atlas()["order"]
    return Order(**{name: torch.tensor(x, **kind) for name, x in found.items()})


# --8<-- [end:stored]
