"""An atlas of the 72 heads of all-MiniLM-L6-v2 on one sentence, and its measures.

The numbers of one sentence are kept in atlas.json, so that reading them needs no
model. Layers and heads count from 0, as they do in the literature:

--8<-- [start:example-stored]
>>> from snippets.seeing.atlas import stored_atlas
>>> atlas = stored_atlas()
>>> atlas.tokens
['[CLS]', 'the', 'animal', 'didn', "'", 't', 'cross', 'the', 'street', 'because', 'it', 'was', 'too', 'tired', '.', '[SEP]']
>>> atlas.weights.shape  # layer, head, query, key
torch.Size([6, 12, 16, 16])
>>> query = atlas.tokens.index("it")
>>> row = atlas.weights[3, 1, query]
>>> for key in row.argsort(descending=True)[:3]:
...     print(f"{atlas.tokens[key]:8} {row[key]:.2f}")
animal   0.68
[CLS]    0.10
it       0.06

--8<-- [end:example-stored]

The head that gives the most weight to the token before:

--8<-- [start:example-notable]
>>> from snippets.seeing.atlas import previous_token_weight
>>> weights = previous_token_weight(atlas.weights)  # (6, 12)
>>> divmod(weights.argmax().item(), 12), round(weights.max().item(), 4)
((0, 2), 0.9999)

--8<-- [end:example-notable]

From layer 1 on, how many heads give the first token more than half of their weight?

--8<-- [start:example-sinks]
>>> from snippets.seeing.atlas import first_token_weight
>>> weights = first_token_weight(atlas.weights)[1:]  # (5, 12)
>>> (weights > 0.5).sum().item(), weights.numel()
(32, 60)

--8<-- [end:example-sinks]

The heads that give "animal" and "street" the most weight from "it":

--8<-- [start:example-street]
>>> for word in ("animal", "street"):
...     found = atlas.weights[:, :, query, atlas.tokens.index(word)]
...     layer, head = divmod(found.argmax().item(), 12)
...     row = atlas.weights[layer, head, query]
...     animal, street = (row[atlas.tokens.index(one)] for one in ("animal", "street"))
...     print(f"layer {layer}, head {head}: animal {animal:.2f}, street {street:.2f}")
layer 3, head 1: animal 0.68, street 0.05
layer 5, head 5: animal 0.13, street 0.22

--8<-- [end:example-street]

How symmetric is a random matrix of width 384, and how symmetric are the heads?

--8<-- [start:example-symmetric]
>>> import torch
>>> from snippets.seeing.atlas import symmetric_share
>>> generator = torch.Generator().manual_seed(0)
>>> random = torch.randn(384, 384, generator=generator, dtype=torch.float64)
>>> round(symmetric_share(random).item(), 2)
0.5
>>> shares = atlas.measures["symmetric part"]  # (6, 12)
>>> [round(share, 2) for share in (shares.min().item(), shares.mean().item(), shares.max().item())]
[0.39, 0.59, 0.87]

--8<-- [end:example-symmetric]

The scores, what the tokens share, and the bias of the keys, in all heads:

--8<-- [start:example-theory]
>>> for name in (
...     "deviation of the scores", "shared part of the queries",
...     "shared part of the keys", "length of the keys",
...     "length of the key bias"):
...     rows = atlas.measures[name]
...     least, mean, most = rows.min(), rows.mean(), rows.max()
...     print(f"{name:27} {least:6.3f} {mean:6.3f} {most:6.3f}")
deviation of the scores      0.656  1.690 11.441
shared part of the queries   0.185  0.453  0.682
shared part of the keys      0.073  0.297  0.500
length of the keys           3.565  5.749 13.211
length of the key bias       0.001  0.004  0.010

--8<-- [end:example-theory]

How many heads can be taken out one at a time, so that the sentence's vector keeps
a cosine of more than 0.99 with what it was?

--8<-- [start:example-pruned]
>>> (atlas.measures["without it"] > 0.99).sum().item()
66

--8<-- [end:example-pruned]
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.attention.formula import scores
from snippets.scaling.saturation import entropy

STORED = Path(__file__).parent / "atlas.json"
SENTENCE = "The animal didn't cross the street because it was too tired."
LAYER, HEAD = 3, 1  # of the head whose queries, keys and values are stored
SHOWN = 6  # how many features of each token's row are stored


# --8<-- [start:places]
def previous_token_weight(
    P: Float[Tensor, "*batch n n"],
) -> Float[Tensor, "*batch"]:
    """The mean weight that a token gives to the token before it."""
    return P.diagonal(-1, -2, -1).mean(-1)


def first_token_weight(
    P: Float[Tensor, "*batch n n"],
) -> Float[Tensor, "*batch"]:
    """The mean weight that a token gives to the first token."""
    return P[..., 0].mean(-1)


# --8<-- [end:places]


# --8<-- [start:parts]
def squares_of_parts(
    W: Float[Tensor, "*batch d d"],
) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch"]]:
    """The sums of squares of a matrix's symmetric and antisymmetric part."""
    symmetric, antisymmetric = (W + W.mT) / 2, (W - W.mT) / 2
    return symmetric.square().sum((-1, -2)), antisymmetric.square().sum(
        (-1, -2)
    )


def symmetric_share(
    W: Float[Tensor, "*batch d d"],
) -> Float[Tensor, "*batch"]:
    """The share of the symmetric part in a matrix's sum of squares."""
    symmetric, antisymmetric = squares_of_parts(W)
    return symmetric / (symmetric + antisymmetric)


# --8<-- [end:parts]


# --8<-- [start:shared]
def shared_squares(
    X: Float[Tensor, "*batch n d"],
) -> Float[Tensor, "*batch"]:
    """The squared length of the tokens' mean."""
    return X.mean(-2).square().sum(-1)


def own_squares(X: Float[Tensor, "*batch n d"]) -> Float[Tensor, "*batch"]:
    """The mean squared distance of the tokens from their mean."""
    return (X - X.mean(-2, keepdim=True)).square().sum(-1).mean(-1)


# --8<-- [end:shared]


# --8<-- [start:effective]
def effective_rank(
    W: Float[Tensor, "*batch d e"],
) -> Float[Tensor, "*batch"]:
    """The exponential of the entropy of the squared singular values, each
    divided by their sum."""
    squares = torch.linalg.svdvals(W).square()
    return entropy(squares / squares.sum(-1, keepdim=True)).exp()


# --8<-- [end:effective]


# --8<-- [start:stored]
class Atlas(NamedTuple):
    """What a model computes for one sentence."""

    tokens: list[str]
    weights: Float[Tensor, "layers heads n n"]
    measures: dict[str, Float[Tensor, "layers heads"]]


class OneHead(NamedTuple):
    """What one head computes with, for one sentence."""

    tokens: list[str]
    numbers: Int[Tensor, " n"]
    rows: Float[Tensor, "n shown"]  # the first features of the tokens' rows
    query: Float[Tensor, "n d_k"]
    key: Float[Tensor, "n d_k"]
    value: Float[Tensor, "n d_v"]


def read_atlas() -> dict[str, Any]:
    """What atlas.json holds."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def stored_atlas(*, device: torch.device | str = "cpu") -> Atlas:
    """The atlas of the example's sentence, from atlas.json, in fp64."""
    found = read_atlas()
    kind = {"dtype": torch.float64, "device": device}
    return Atlas(
        tokens=list(found["tokens"]),
        weights=torch.tensor(found["weights"], **kind),
        measures={
            name: torch.tensor(rows, **kind)
            for name, rows in found["measures"].items()
        },
    )


def stored_head(*, device: torch.device | str = "cpu") -> OneHead:
    """Layer 3, head 1 on the example's sentence, from atlas.json, in fp64."""
    found = read_atlas()
    kind = {"dtype": torch.float64, "device": device}
    parts = {
        name: torch.tensor(rows, **kind) for name, rows in found["head"].items()
    }
    numbers = parts.pop("numbers").long()
    return OneHead(tokens=list(found["tokens"]), numbers=numbers, **parts)


# --8<-- [end:stored]


# --8<-- [start:layers]
def score_deviation(
    query: Float[Tensor, "*batch n d_k"], key: Float[Tensor, "*batch m d_k"]
) -> Float[Tensor, "*batch"]:
    """The standard deviation of all scores of a head."""
    return scores(query, key).flatten(-2).std(-1)


# --8<-- [end:layers]
