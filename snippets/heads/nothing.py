"""Softmax plus one: a query may attend to nothing.

--8<-- [start:example]
>>> import torch
>>> from snippets.heads.nothing import softmax_plus_one
>>> z = torch.tensor([0.0, 0.0, 0.0])
>>> for shift in (-20.0, -2.0, 0.0, 2.0, 20.0):
...     weights = softmax_plus_one(z + shift)
...     print(f"scores {shift:3.0f}   each weight {weights[0]:.4f}   their sum {weights.sum():.4f}")
scores -20   each weight 0.0000   their sum 0.0000
scores  -2   each weight 0.0963   their sum 0.2888
scores   0   each weight 0.2500   their sum 0.7500
scores   2   each weight 0.3189   their sum 0.9568
scores  20   each weight 0.3333   their sum 1.0000

--8<-- [end:example]

The same result with an extra key and value of zeros, and with PyTorch's option:

--8<-- [start:example-zero]
>>> from torch import nn
>>> from snippets.heads.nothing import attention_or_nothing, attention_with_zero_key
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(3, 2, 5, 8, generator=generator, dtype=torch.float64)
>>> output = attention_or_nothing(query, key, value)
>>> torch.allclose(output, attention_with_zero_key(query, key, value))
True
>>> layer = nn.MultiheadAttention(8, 1, batch_first=True, bias=False, add_zero_attn=True)
>>> layer = layer.to(torch.float64)
>>> eye = torch.eye(8, dtype=torch.float64)
>>> with torch.no_grad():
...     _ = layer.in_proj_weight.copy_(eye.repeat(3, 1)), layer.out_proj.weight.copy_(eye)
>>> torch.allclose(output, layer(query, key, value)[0])
True

--8<-- [end:example-zero]

A query whose keys are all masked needs no special case:

--8<-- [start:example-masked]
>>> softmax_plus_one(torch.tensor([-torch.inf, -torch.inf])).tolist()
[0.0, 0.0]

--8<-- [end:example-masked]
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from snippets.attention.formula import attention, scores, upcast
from snippets.attention.masks import Mask, mask_scores, masked_softmax


# --8<-- [start:softmax]
def softmax_with_sink(
    scores: Float[Tensor, "*batch n m"] | Float[Tensor, " m"],
    sink: Float[Tensor, "*#batch"],
) -> Float[Tensor, "*batch n m"] | Float[Tensor, " m"]:
    """The weights beside one more key, which has the value zero.

    Its score is sink: one number, or one for each head if the scores have the
    shape (batch, heads, n, m).
    """
    if sink.dim():
        sink = sink[..., None, None]  # the same for all queries of a head
    sink = sink.expand(*scores.shape[:-1], 1)
    # A row is 0 where neither a key nor the sink has a finite score.
    weights = masked_softmax(torch.cat([scores, sink], dim=-1))
    return weights[..., :-1].to(scores.dtype)


def softmax_plus_one(
    scores: Float[Tensor, "*batch m"],
) -> Float[Tensor, "*batch m"]:
    """The same with a sink of 0: exp(s) / (1 + the sum of all exp(s))."""
    return softmax_with_sink(scores, scores.new_zeros(()))


# --8<-- [end:softmax]


# --8<-- [start:attention]
def attention_or_nothing(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    attn_mask: Mask | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention with softmax plus one, whose weights sum to less than one."""
    logits = scores(upcast(query), upcast(key), scale=scale)
    logits = mask_scores(logits, attn_mask=attn_mask, is_causal=is_causal)
    return (softmax_plus_one(logits) @ upcast(value)).to(query.dtype)


def attention_with_zero_key(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    scale: float | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """Plain attention with one more key and value, both of them zero."""
    key, value = (pad(one, (0, 0, 0, 1)) for one in (key, value))  # m + 1
    return attention(query, key, value, scale=scale)


# --8<-- [end:attention]
