"""Attention sinks: keys that get weight without a value, and what happens when they are dropped.

Without a sink the weights sum to one, however low the scores are. With a sink they can sum to less:

--8<-- [start:example]
>>> import torch
>>> from snippets.bounds.sinks import attention_with_sink
>>> asks, says = torch.ones(1, 1, 1), torch.ones(1, 3, 1)  # (heads, n, d)
>>> offers = torch.zeros(1, 3, 1)
>>> for score in (0.0, -5.0, -1000.0):
...     outputs = []
...     for level in (-torch.inf, 0.0):  # no sink, and one with the score 0
...         one = torch.tensor([level])  # one for each head
...         output = attention_with_sink(asks, offers + score, says, sink=one)
...         outputs.append(output.item())
...     print(f"scores {score:7.1f}   without a sink {outputs[0]:.3f}, with one {outputs[1]:.3f}")
scores     0.0   without a sink 1.000, with one 0.750
scores    -5.0   without a sink 1.000, with one 0.020
scores -1000.0   without a sink 1.000, with one 0.000

--8<-- [end:example]

A sink can be applied to the output of any kernel that returns the logarithm of its sum:

--8<-- [start:example-gate]
>>> from snippets.attention.formula import attention, scores
>>> from snippets.bounds.sinks import sink_gate
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(3, 4, 6, 8, generator=generator)  # (heads, n, d)
>>> sink = torch.randn(4, generator=generator)
>>> log_sum = scores(query, key).logsumexp(-1)  # (heads, n)
>>> gate = sink_gate(log_sum, sink[:, None])  # (heads, n)
>>> after = gate[..., None] * attention(query, key, value)
>>> torch.allclose(after, attention_with_sink(query, key, value, sink=sink), atol=1e-6)
True

--8<-- [end:example-gate]

A sink with nine tenths of the weight is dropped:

--8<-- [start:example-dropped]
>>> from snippets.bounds.sinks import without_keys
>>> weights = torch.tensor([0.90, 0.06, 0.03, 0.01])  # the first is the sink
>>> kept = without_keys(weights, torch.tensor([True, False, False, False]))
>>> [round(weight, 2) for weight in kept.tolist()]
[0.0, 0.6, 0.3, 0.1]
>>> values = torch.tensor([0.0, 1.0, 2.0, 4.0])
>>> print(f"output {weights @ values:.2f}, without the sink {kept @ values:.2f}")
output 0.16, without the sink 1.60

--8<-- [end:example-dropped]

Three old keys are dropped instead:

--8<-- [start:example-window]
>>> weights = torch.tensor([0.90, 0.001, 0.001, 0.001, 0.03, 0.067])
>>> oldest = torch.tensor([False, True, True, True, False, False])
>>> kept = without_keys(weights, oldest)
>>> print("the others are multiplied by", f"{(kept[0] / weights[0]):.4f}")
the others are multiplied by 1.0030

--8<-- [end:example-window]

The gradient of a sink's score, by autograd and by the formula:

--8<-- [start:example-gradient]
>>> sink = sink.requires_grad_()
>>> output = attention_with_sink(query, key, value, sink=sink)  # (heads, n, d_v)
>>> (found,) = torch.autograd.grad(output.sum(), sink)
>>> by_hand = -((1 - gate)[..., None] * output).sum((-2, -1))  # (heads)
>>> torch.allclose(found, by_hand, atol=1e-5)
True

--8<-- [end:example-gradient]
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from snippets.attention.formula import scores, upcast
from snippets.attention.masks import Mask, mask_scores
from snippets.heads.nothing import softmax_with_sink


# --8<-- [start:attention]
def attention_with_sink(
    query: Float[Tensor, "*#batch h n d_k"],
    key: Float[Tensor, "*#batch h m d_k"],
    value: Float[Tensor, "*#batch h m d_v"],
    *,
    sink: Float[Tensor, " h"],
    attn_mask: Mask | None = None,
    is_causal: bool = False,
) -> Float[Tensor, "*batch h n d_v"]:
    """Attention with one more key for each head, with a learned score and the
    value zero, as in OpenAI (2025)."""
    logits = scores(upcast(query), upcast(key))
    logits = mask_scores(logits, attn_mask=attn_mask, is_causal=is_causal)
    weights = softmax_with_sink(logits, upcast(sink))  # rows sum to less than 1
    return (weights @ upcast(value)).to(query.dtype)


# --8<-- [end:attention]


# --8<-- [start:gate]
def sink_gate(
    log_sum: Float[Tensor, "*#batch"], sink: Float[Tensor, "*#batch"]
) -> Float[Tensor, "*batch"]:
    """The factor by which a sink multiplies the output, from the logarithm of
    the sum of the exponentials of all scores."""
    return torch.sigmoid(upcast(log_sum) - upcast(sink)).to(log_sum.dtype)


# --8<-- [end:gate]


# --8<-- [start:dropped]
def without_keys(
    weights: Float[Tensor, "*batch m"], dropped: Bool[Tensor, " m"]
) -> Float[Tensor, "*batch m"]:
    """The weights after some keys are dropped from the cache."""
    kept = upcast(weights).masked_fill(dropped, 0)
    return (kept / kept.sum(-1, keepdim=True)).to(weights.dtype)


# --8<-- [end:dropped]
