"""ALiBi: weights times a decay, slopes of heads, and a bias as one more feature.

The slopes of eight heads, and the distance at which each halves a weight:

--8<-- [start:example-slopes]
>>> import torch
>>> from snippets.positions.alibi import decay, slopes
>>> slopes(8).tolist()
[0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]
>>> half = torch.tensor(2.0).log() / slopes(8)
>>> [f"{x:.1f}" for x in half]
['1.4', '2.8', '5.5', '11.1', '22.2', '44.4', '88.7', '177.4']

--8<-- [end:example-slopes]

A distant key and three near ones, with equal contents and with a lead of five:

--8<-- [start:example-weights]
>>> from snippets.positions.alibi import alibi_weights
>>> distance = torch.tensor([32.0, 2, 1, 0])
>>> for lead in (0.0, 5.0):
...     scores = torch.tensor([lead, 0, 0, 0])
...     weights = alibi_weights(scores, distance, slope=0.125)
...     print([f"{x:.3f}" for x in weights])
['0.007', '0.291', '0.329', '0.373']
['0.505', '0.145', '0.164', '0.186']

--8<-- [end:example-weights]

The bias as one more feature, with attention code that takes no bias:

--8<-- [start:example-one-feature]
>>> from snippets.positions.alibi import one_more_feature
>>> generator = torch.Generator().manual_seed(0)
>>> Q, K = torch.randn(2, 6, 16, generator=generator, dtype=torch.float64)
>>> place = torch.arange(6)
>>> biased = Q @ K.mT / 16**0.5 + 0.25 * place
>>> weights = one_more_feature(Q, K, place, slope=0.25)
>>> torch.allclose(weights, biased.softmax(-1))
True

--8<-- [end:example-one-feature]

All heads at once, with two features:

--8<-- [start:example-feature]
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.positions.alibi import with_alibi
>>> Q, K, V = torch.randn(3, 8, 6, 16, generator=generator, dtype=torch.float64)
>>> q, k = with_alibi(Q, K, place, slopes(8, dtype=torch.float64))
>>> tuple(q.shape), tuple(k.shape)  # (heads, n, d_k + 2)
((8, 6, 18), (8, 6, 18))
>>> output = scaled_dot_product_attention(q, k, V, is_causal=True, scale=16**-0.5)
>>> slope = slopes(8, dtype=torch.float64)[:, None, None]
>>> bias = -slope * (place[:, None] - place)
>>> bias = bias.masked_fill(place > place[:, None], -torch.inf)
>>> torch.allclose(output, scaled_dot_product_attention(Q, K, V, attn_mask=bias))
True

--8<-- [end:example-feature]

Far into a text, half precision does not distinguish neighbours:

--8<-- [start:example-half]
>>> place = torch.arange(60000)
>>> for dtype in (torch.bfloat16, torch.float16):
...     rounded = place.to(dtype)
...     print(dtype, (rounded[1:] == rounded[:-1]).nonzero()[0].item())
torch.bfloat16 256
torch.float16 2048

--8<-- [end:example-half]

In two pieces, each in bf16:

--8<-- [start:example-pieces]
>>> high, low = (place // 256 * 256).bfloat16(), (place % 256).bfloat16()
>>> torch.equal(high.float() + low.float(), place.float())
True

--8<-- [end:example-pieces]
"""

import math

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.attention.formula import attention_weights


# --8<-- [start:weights]
def decay(
    distance: Real[Tensor, "*shape"], *, slope: float
) -> Float[Tensor, "*shape"]:
    """The factor on a weight at a distance."""
    return torch.exp(-slope * distance)


def alibi_weights(
    scores: Float[Tensor, "*#batch m"],
    distance: Real[Tensor, "*#batch m"],
    *,
    slope: float,
) -> Float[Tensor, "*batch m"]:
    """Weights of scores minus slope times distance: Press, Smith and Lewis (2022)."""
    return torch.softmax(scores - slope * distance, dim=-1)


def decayed_weights(
    weights: Float[Tensor, "*#batch m"],
    distance: Real[Tensor, "*#batch m"],
    *,
    slope: float,
) -> Float[Tensor, "*batch m"]:
    """The same from plain weights: times a decay, divided by their sum."""
    decayed = weights * decay(distance, slope=slope)
    return decayed / decayed.sum(-1, keepdim=True)


# --8<-- [end:weights]


# --8<-- [start:slopes]
def slopes(
    num_heads: int,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, " {num_heads}"]:
    """One slope per head: Press, Smith and Lewis (2022), and their code.

    For a power of two, they decrease by equal ratios to 1/256.
    Raises ValueError for no heads.
    """
    if num_heads < 1:
        raise ValueError(f"num_heads is {num_heads}; expected at least 1")
    dtype = dtype or torch.get_default_dtype()

    def falling(heads: int) -> Float[Tensor, " {heads}"]:
        head = torch.arange(1, heads + 1, device=device)
        return 2 ** (-8 * head / heads).to(dtype)

    power = 2 ** (num_heads.bit_length() - 1)
    more = falling(2 * power)[::2]  # between those of the power
    return torch.cat([falling(power), more])[:num_heads]


# --8<-- [end:slopes]


# --8<-- [start:one-feature]
def one_more_feature(
    Q: Float[Tensor, "n d_k"],
    K: Float[Tensor, "m d_k"],
    place: Real[Tensor, " m"],
    *,
    slope: float,
) -> Float[Tensor, "n m"]:
    """The weights of one head, with attention code that takes no bias.

    In 16 bits, large positions are rounded: see `with_alibi`.
    """
    bias = math.sqrt(Q.shape[-1]) * slope * place  # (m)
    q = torch.cat([Q, Q.new_ones(len(Q), 1)], dim=-1)
    k = torch.cat([K, bias.to(K.dtype).unsqueeze(-1)], dim=-1)
    return attention_weights(q, k, scale=Q.shape[-1] ** -0.5)


# --8<-- [end:one-feature]


# --8<-- [start:feature]
def with_alibi(
    Q: Float[Tensor, "*batch h n d_k"],
    K: Float[Tensor, "*batch h m d_k"],
    place: Real[Tensor, " m"],
    slope: Float[Tensor, " h"],
) -> tuple[
    Float[Tensor, "*batch h n width"], Float[Tensor, "*batch h m width"]
]:
    """Queries and keys with two more features, for attention at the scale of d_k.

    A position is split in two, which 16 bits represent up to 65,000.
    """
    slope = (math.sqrt(Q.shape[-1]) * slope).to(Q.dtype)[:, None, None]
    place = place.float()  # a byte holds no 256
    pieces = torch.stack([place // 256 * 256, place % 256], dim=-1)  # (m, 2)
    slopes = slope.expand(*Q.shape[:-1], 2)  # (*batch, h, n, 2)
    places = pieces.to(K.dtype).expand(*K.shape[:-1], 2)
    return torch.cat([Q, slopes], dim=-1), torch.cat([K, places], dim=-1)


# --8<-- [end:feature]
