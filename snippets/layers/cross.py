"""Cross-attention: queries from one sequence, keys and values from another.

Six tokens read a context of four rows. There are six outputs, and the order of the context doesn't matter:

--8<-- [start:example-cross]
>>> import torch
>>> from snippets.layers.cross import cross_attention
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(6, 8, generator=generator)  # (n, d)
>>> Z = torch.randn(4, 8, generator=generator)  # (m, d)
>>> W_Q, W_K, W_V = torch.randn(3, 8, 8, generator=generator)
>>> output = cross_attention(X, Z, W_Q, W_K, W_V)
>>> tuple(output.shape)
(6, 8)
>>> context_reversed = cross_attention(X, Z.flip(0), W_Q, W_K, W_V)
>>> torch.allclose(context_reversed, output, atol=1e-5)
True
>>> queries_reversed = cross_attention(X.flip(0), Z, W_Q, W_K, W_V)
>>> torch.allclose(queries_reversed, output.flip(0), atol=1e-5)
True

--8<-- [end:example-cross]

A context of one row: other tokens and another query matrix give the same output.

--8<-- [start:example-one-row]
>>> c = torch.randn(1, 8, generator=generator)  # one row of context
>>> first = cross_attention(X, c, W_Q, W_K, W_V)
>>> other = cross_attention(X.square(), c, W_Q.cos(), W_K, W_V)
>>> torch.equal(first, other)
True

--8<-- [end:example-one-row]

One softmax over own tokens and context, computed in two ways:

--8<-- [start:example-gate]
>>> from snippets.layers.cross import gated_cross_attention, over_both
>>> s, t = torch.randn(5, generator=generator), torch.randn(7, generator=generator)
>>> A = torch.randn(5, 3, generator=generator)  # own values
>>> B = torch.randn(7, 3, generator=generator)  # values of the context
>>> together = over_both(s, A, t, B)
>>> torch.allclose(gated_cross_attention(s, A, t, B), together, atol=1e-6)
True

--8<-- [end:example-gate]

The block agrees with PyTorch's decoder layer:

--8<-- [start:example-block]
>>> from torch import nn
>>> from snippets.layers.cross import decoder_block
>>> _ = torch.manual_seed(0)
>>> layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, norm_first=True)
>>> _ = layer.eval()
>>> x, context = torch.randn(1, 6, 8), torch.randn(1, 4, 8)
>>> causal = nn.Transformer.generate_square_subsequent_mask(6)
>>> theirs = layer(x, context, tgt_mask=causal, tgt_is_causal=True)
>>> torch.allclose(decoder_block(x, context, layer), theirs, atol=1e-6)
True

--8<-- [end:example-block]

Keys and values of the context, computed once and used at each step:

--8<-- [start:example-cache]
>>> from snippets.layers.cross import context_cache, read_context
>>> K, V = context_cache(Z, W_K, W_V)
>>> steps = [read_context(row, W_Q, K, V) for row in X.split(1)]
>>> torch.allclose(torch.cat(steps), output, atol=1e-5)
True

--8<-- [end:example-cache]

Keys read by self-attention, minus those read by cross-attention, with a context of 400 rows:

--8<-- [start:example-reads]
>>> from snippets.layers.cross import reads_more
>>> [reads_more(steps, 400) for steps in (100, 799, 1000)]
[-34950, 0, 100500]

--8<-- [end:example-reads]
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from snippets.attention.formula import attention, attention_weights
from snippets.blocks.merge import log_sum


# --8<-- [start:cross]
def context_cache(
    Z: Float[Tensor, "*batch m d"],
    W_K: Float[Tensor, "d d_k"],
    W_V: Float[Tensor, "d d_v"],
) -> tuple[Float[Tensor, "*batch m d_k"], Float[Tensor, "*batch m d_v"]]:
    """What cross-attention needs from the context: keys and values."""
    return Z @ W_K, Z @ W_V


def read_context(
    X: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "d d_k"],
    key: Float[Tensor, "*batch m d_k"],
    value: Float[Tensor, "*batch m d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Cross-attention, from the context's keys and values."""
    return attention(X @ W_Q, key, value)


def cross_attention(
    X: Float[Tensor, "*batch n d"],
    Z: Float[Tensor, "*batch m d"],
    W_Q: Float[Tensor, "d d_k"],
    W_K: Float[Tensor, "d d_k"],
    W_V: Float[Tensor, "d d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Queries from X, keys and values from Z: Vaswani et al. (2017)."""
    return read_context(X, W_Q, *context_cache(Z, W_K, W_V))


# --8<-- [end:cross]


# --8<-- [start:gradients]
def query_jacobian(
    query: Float[Tensor, "n d_k"],
    key: Float[Tensor, "m d_k"],
    value: Float[Tensor, "m d_v"],
) -> Float[Tensor, "n d_v n d_k"]:
    """The derivative of each output with respect to each query."""
    n, d_k = query.shape
    P = attention_weights(query, key)  # (n, m)
    together = torch.einsum("ij,jr,jf->ifr", P, key, value)
    apart = torch.einsum("ir,if->ifr", P @ key, P @ value)
    covariance = (together - apart) / d_k**0.5  # (n, d_v, d_k)
    same = torch.eye(n, dtype=P.dtype, device=P.device)
    return torch.einsum("ik,ifr->ifkr", same, covariance)


# --8<-- [end:gradients]


# --8<-- [start:odds]
def odds_ratios(
    P: Float[Tensor, "n m"],
) -> Float[Tensor, "n m n m"]:
    """[i, j, k, l]: by what factor query i prefers key j to key l more than
    query k does."""
    up = torch.einsum("ij,kl->ijkl", P, P)
    return up / torch.einsum("il,kj->ijkl", P, P)


# --8<-- [end:odds]


# --8<-- [start:gate]
def over_both(
    own_scores: Float[Tensor, " p"],
    own_values: Float[Tensor, "p d_v"],
    scores: Float[Tensor, " m"],
    values: Float[Tensor, "m d_v"],
) -> Float[Tensor, " d_v"]:
    """One softmax over a query's own sequence and the context."""
    weights = torch.cat([own_scores, scores]).softmax(-1)  # (p + m,)
    return weights @ torch.cat([own_values, values])


def gated_cross_attention(
    own_scores: Float[Tensor, " p"],
    own_values: Float[Tensor, "p d_v"],
    scores: Float[Tensor, " m"],
    values: Float[Tensor, "m d_v"],
) -> Float[Tensor, " d_v"]:
    """The same, from both attentions and a gate: He et al. (2022)."""
    own = own_scores.softmax(-1) @ own_values
    across = scores.softmax(-1) @ values
    gate = (log_sum(scores) - log_sum(own_scores)).sigmoid()
    return own + gate * (across - own)


# --8<-- [end:gate]


# --8<-- [start:block]
def decoder_block(
    x: Float[Tensor, "batch n d"],
    context: Float[Tensor, "batch m d"],
    layer: nn.TransformerDecoderLayer,
) -> Float[Tensor, "batch n d"]:
    """A decoder block without dropout, normalised before each part.

    It reads all of the context, including padding. Raises ValueError unless
    the layer has norm_first and batch_first and is in eval mode.
    """
    first = layer.norm_first and layer.self_attn.batch_first
    if not first or layer.training:
        raise ValueError(
            "expected a layer with norm_first and batch_first, in eval mode"
        )
    n = x.shape[1]
    later = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
    own = layer.norm1(x)
    x = x + layer.self_attn(own, own, own, attn_mask=later)[0]
    x = x + layer.multihead_attn(layer.norm2(x), context, context)[0]
    return x + layer.linear2(layer.activation(layer.linear1(layer.norm3(x))))


# --8<-- [end:block]


# --8<-- [start:reads]
def reads_more(steps: int, m: int) -> int:
    """Keys that self-attention reads, minus those of cross-attention."""
    own = sum(range(1, steps + 1))  # step t reads t tokens
    return own - steps * m


# --8<-- [end:reads]
