"""Gated attention: a sigmoid on the output of each head.

Three values, and a head that wants to write nothing. No temperature takes the output below the smallest value, and a gate does:

--8<-- [start:example]
>>> import torch
>>> from snippets.attention.formula import attention
>>> from snippets.bounds.gated import gated_attention
>>> query, key = torch.ones(1, 1), torch.tensor([[0.5], [1.0], [-1.0]])
>>> value = torch.tensor([[2.0], [3.0], [5.0]])  # (m, d_v)
>>> for temperature in (0.01, 1.0, 100.0):
...     output = attention(query, key, value, scale=1 / temperature)
...     print(f"temperature {temperature:6.2f}   output {output.item():.3f}")
temperature   0.01   output 3.000
temperature   1.00   output 2.807
temperature 100.00   output 3.324
>>> for logit in (4.0, 0.0, -4.0, -8.0):
...     gate = torch.tensor([[logit]])  # one for each query
...     output = gated_attention(query, key, value, logit=gate)
...     print(f"logit {logit:4.0f}   output {output.item():.3f}")
logit    4   output 2.757
logit    0   output 1.404
logit   -4   output 0.050
logit   -8   output 0.001

--8<-- [end:example]

The same with a sink whose score is the log-sum-exp less the logit:

--8<-- [start:example-sink]
>>> from snippets.attention.formula import scores
>>> from snippets.bounds.sinks import attention_with_sink
>>> generator = torch.Generator().manual_seed(0)
>>> query = torch.randn(4, 1, 8, generator=generator)  # (heads, n, d_k)
>>> key, value = torch.randn(2, 4, 6, 8, generator=generator)
>>> logit = torch.randn(4, 1, 1, generator=generator)
>>> sink = scores(query, key).logsumexp(-1)[:, 0] - logit[:, 0, 0]  # (heads)
>>> gated = gated_attention(query, key, value, logit=logit)
>>> with_sink = attention_with_sink(query, key, value, sink=sink)
>>> torch.allclose(gated, with_sink, atol=1e-6)
True

--8<-- [end:example-sink]

A layer with a gate for each feature, which is computed from the token:

--8<-- [start:example-layer]
>>> from snippets.bounds.gated import gated_self_attention
>>> X = torch.randn(5, 16, generator=generator)  # (n, d)
>>> W_Q, W_K, W_V, W_O, W_G = torch.randn(5, 16, 16, generator=generator) / 4
>>> Y = gated_self_attention(X, W_Q, W_K, W_V, W_O, W_G, num_heads=4)
>>> tuple(Y.shape)
(5, 16)
>>> per_head = gated_self_attention(
...     X, W_Q, W_K, W_V, W_O, W_G[:, :4], num_heads=4)
>>> torch.allclose(Y, per_head)
False
>>> for gates in (W_G, W_G[:, :4]):
...     parts = [W_Q, W_K, W_V, W_O]
...     print(f"{gates.numel() / sum(part.numel() for part in parts):.4f}")
0.2500
0.0625

--8<-- [end:example-layer]

One token, whose weight is 1: without a gate, twice the token gives twice the output.

--8<-- [start:example-linear]
>>> open_gate = torch.zeros(16, 16)  # all gates are a half
>>> for gates in (open_gate, W_G):
...     one, two = (
...         gated_self_attention(x, W_Q, W_K, W_V, W_O, gates, num_heads=4)
...         for x in (X[:1], 2 * X[:1]))
...     print(torch.allclose(two, 2 * one, atol=1e-5))
True
False

--8<-- [end:example-linear]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention, upcast
from snippets.attention.masks import Mask
from snippets.heads.split import combine_heads, split_heads


# --8<-- [start:gate]
def gate_output(
    output: Float[Tensor, "*#batch n #d_v"],
    logit: Float[Tensor, "*#batch n #d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """The output, times the sigmoid of a logit for each feature or for all
    features of a head: Qiu et al. (2025)."""
    gate = torch.sigmoid(upcast(logit))
    return (gate * upcast(output)).to(output.dtype)


def gated_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    logit: Float[Tensor, "*#batch n #d_v"],
    attn_mask: Mask | None = None,
    is_causal: bool = False,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention with a gate on its output."""
    output = attention(
        upcast(query),
        upcast(key),
        upcast(value),
        attn_mask=attn_mask,
        is_causal=is_causal,
    )
    return gate_output(output, logit).to(query.dtype)


# --8<-- [end:gate]


# --8<-- [start:layer]
def gated_self_attention(
    X: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "d inner"],
    W_K: Float[Tensor, "d inner"],
    W_V: Float[Tensor, "d values"],
    W_O: Float[Tensor, "values d"],
    W_G: Float[Tensor, "d gates"],
    *,
    num_heads: int,
) -> Float[Tensor, "*batch n d"]:
    """A causal layer whose gates are computed from the same token as the query:
    a gate for each head, or one for each feature of the values.

    Raises ValueError if num_heads does not divide each of the widths.
    """
    query, key, value, logit = (
        split_heads(X @ W, num_heads=num_heads) for W in (W_Q, W_K, W_V, W_G)
    )  # (*batch, heads, n, d_k) twice, then with d_v, and 1 or d_v
    output = gated_attention(query, key, value, logit=logit, is_causal=True)
    return combine_heads(output) @ W_O


# --8<-- [end:layer]
