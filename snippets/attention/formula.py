"""Scaled dot-product attention in five steps, and the layer around it.

The steps, for two queries and three keys of one head:

--8<-- [start:example-steps]
>>> import torch
>>> from snippets.attention.formula import AttentionSteps, attention_steps
>>> query = torch.tensor([[2.0, 0, 0, 0], [0, 2, 0, 0]])  # n = 2, d_k = 4
>>> key = torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 3, 0, 0]])  # m = 3
>>> value = torch.tensor([[10.0], [20], [30]])  # d_v = 1
>>> mask = torch.tensor([[0, 0, -torch.inf],  # the first query may not see
...                      [0, 0, 0]])          # the third key
>>> steps = attention_steps(query, key, value, attn_mask=mask)
>>> for name, step in zip(AttentionSteps._fields, steps):
...     print(f"{name:9}", [[round(x, 3) for x in row] for row in step.tolist()])
products  [[2.0, 2.0, 0.0], [0.0, 2.0, 6.0]]
scaled    [[1.0, 1.0, 0.0], [0.0, 1.0, 3.0]]
masked    [[1.0, 1.0, -inf], [0.0, 1.0, 3.0]]
weights   [[0.5, 0.5, 0.0], [0.042, 0.114, 0.844]]
output    [[15.0], [28.018]]

--8<-- [end:example-steps]

Compared with PyTorch's own:

--8<-- [start:example-beside]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.attention.formula import attention
>>> generator = torch.Generator().manual_seed(0)
>>> shape = 2, 8, 5, 16  # (batch, head, n, d_k)
>>> query, key, value = torch.randn(3, *shape, generator=generator)
>>> ours = attention(query, key, value, is_causal=True)
>>> theirs = scaled_dot_product_attention(query, key, value, is_causal=True)
>>> torch.allclose(ours, theirs, atol=1e-6)
True

--8<-- [end:example-beside]

Two axes, three or four: the last two are always token and feature.

--8<-- [start:example-axes]
>>> from snippets.attention.formula import attention, attention_2d
>>> generator = torch.Generator().manual_seed(0)
>>> shape = 2, 4, 8, 16  # (batch, head, token, feature)
>>> query, key, value = torch.rand(3, *shape, generator=generator)
>>> output = attention(query, key, value)
>>> tuple(output.shape)
(2, 4, 8, 16)
>>> for b in range(2):
...     assert torch.allclose(attention(query[b], key[b], value[b]), output[b])
...     for h in range(4):
...         one_head = attention_2d(query[b, h], key[b, h], value[b, h])
...         assert torch.allclose(one_head, output[b, h])
>>> attention_2d(query, key, value)
Traceback (most recent call last):
ValueError: query has 4 axes, key 4 and value 4; expected 2 each, as key.T is for matrices

--8<-- [end:example-axes]

The same result as PyTorch's function:

--8<-- [start:example-attention]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.attention.formula import attention
>>> query = torch.randn(2, 8, 5, 16, generator=generator)  # (batch, head, n, d_k)
>>> key = torch.randn(2, 8, 7, 16, generator=generator)  # (batch, head, m, d_k)
>>> value = torch.randn(2, 8, 7, 12, generator=generator)  # (batch, head, m, d_v)
>>> output = attention(query, key, value)
>>> tuple(output.shape)
(2, 8, 5, 12)
>>> theirs = scaled_dot_product_attention(query, key, value)
>>> torch.allclose(output, theirs, atol=1e-6)
True

--8<-- [end:example-attention]

Query heads in groups that share keys and values:

>>> import torch
>>> from snippets.attention.formula import share_heads
>>> query = torch.zeros(4, 1, 1)  # (head, n, d_k)
>>> key = torch.tensor([[[1.0]], [[2.0]]])  # (head, m, d_k)
>>> share_heads(query, key).flatten().tolist()
[1.0, 1.0, 2.0, 2.0]

If the matrix products are exact, results are equal to the last bit, in whatever order they are added:

--8<-- [start:example-bits]
>>> integers = torch.randint(-3, 4, (2, 8, 16), generator=generator)
>>> query, key = integers.float()
>>> value = torch.eye(8)  # values that show the weights
>>> flat = attention_2d(query, key, value)
>>> batched = attention(query[None], key[None], value[None])[0]
>>> heads = attention(query[None, None], key[None, None], value[None, None])
>>> torch.equal(flat, batched), torch.equal(flat, heads[0, 0])
(True, True)

--8<-- [end:example-bits]

With einsum, for the axes batch, token, head, feature:

--8<-- [start:example-einsum]
>>> from snippets.attention.formula import attention_by_einsum, products_by_einsum
>>> other = torch.Generator().manual_seed(1)
>>> Q = torch.rand(2, 4, generator=other)  # (n, d_k)
>>> K = torch.rand(3, 4, generator=other)  # (m, d_k)
>>> torch.allclose(products_by_einsum(Q, K), Q @ K.mT)
True
>>> query = torch.rand(2, 5, 8, 16, generator=other)  # (b, n, h, d_k)
>>> key = torch.rand(2, 7, 8, 16, generator=other)  # (b, m, h, d_k)
>>> value = torch.rand(2, 7, 8, 12, generator=other)  # (b, m, h, d_v)
>>> output = attention_by_einsum(query, key, value)
>>> tuple(output.shape)
(2, 5, 8, 12)
>>> heads_first = [x.transpose(1, 2) for x in (query, key, value)]
>>> torch.allclose(output, attention(*heads_first).transpose(1, 2), atol=1e-6)
True

--8<-- [end:example-einsum]

A module whose matrices are parameters, and two such modules in a row:

--8<-- [start:example-module]
>>> from snippets.attention.formula import SelfAttention
>>> first = SelfAttention(d=8, d_k=3, d_v=5, generator=generator)
>>> second = SelfAttention(d=8, d_k=3, d_v=5, generator=generator)
>>> {name: tuple(weight.shape) for name, weight in first.named_parameters()}
{'W_Q': (8, 3), 'W_K': (8, 3), 'W_V': (8, 5), 'W_O': (5, 8)}
>>> X = torch.rand(2, 6, 8, generator=generator)  # (batch, n, d)
>>> tuple(first(X).shape), tuple(second(first(X)).shape)
((2, 6, 8), (2, 6, 8))
>>> second(first(X)).sum().backward()
>>> all(weight.grad.abs().sum() > 0 for weight in first.parameters())
True

--8<-- [end:example-module]

A tensor that is only an attribute is not a parameter, and not in the state dict:

--8<-- [start:example-constant]
>>> module = torch.nn.Module()
>>> module.W_Q = torch.rand(8, 3)
>>> list(module.parameters()), list(module.state_dict())
([], [])
>>> module.W_Q = torch.nn.Parameter(torch.rand(8, 3))
>>> shapes = [tuple(weight.shape) for weight in module.parameters()]
>>> shapes, list(module.state_dict())
([(8, 3)], ['W_Q'])

--8<-- [end:example-constant]

The wrong scale, measured on Gaussian queries and keys:

--8<-- [start:example-slip]
>>> from snippets.attention.formula import scores, scores_by_both_widths_wrong
>>> query, key = torch.randn(2, 500, 64, generator=generator)
>>> for d_v in (1, 16, 64):
...     value = torch.zeros(500, d_v)
...     right = scores(query, key).var()
...     wrong = scores_by_both_widths_wrong(query, key, value).var()
...     print(f"d_v {d_v:2}   variance {right:.2f}   with the slip {wrong:.3f}")
d_v  1   variance 0.99   with the slip 0.990
d_v 16   variance 0.99   with the slip 0.062
d_v 64   variance 0.99   with the slip 0.015

--8<-- [end:example-slip]
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from snippets.attention.masks import Mask, mask_scores, masked_softmax


# --8<-- [start:scores]
def scores(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    scale: float | None = None,
) -> Float[Tensor, "*batch n m"]:
    """The score of every query with every key.

    The scale is 1 / sqrt(d_k) unless given: Vaswani et al. (2017). The result
    has the format of the query. Upcast the query before you rank scores. They
    can overflow in fp16, and different scores can become equal in bf16.
    Raises TypeError for fp32 with fp64.
    """
    q, k = upcast(query), upcast(key)
    if q.dtype != k.dtype:
        raise TypeError(
            f"query is {query.dtype} and key {key.dtype}; expected one dtype"
        )
    if scale is None:  # without features, all scores are 0 at any scale
        scale = max(query.shape[-1], 1) ** -0.5
    return (q @ k.mT * scale).to(query.dtype)


def upcast(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The same numbers, in fp32 if their own format has fewer digits.

    Under torch.autocast, their products are rounded to its format all the
    same. Raises TypeError for anything but floats, such as integers.
    """
    if not x.is_floating_point():
        raise TypeError(f"expected floats, found {x.dtype}")
    return x.float() if x.itemsize < 4 else x


# --8<-- [end:scores]


# --8<-- [start:attention]
def attention_weights(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#shared m d_k"],
    *,
    attn_mask: Mask | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Float[Tensor, "*batch n m"]:
    """The weight of each key for every query: Vaswani et al. (2017).

    A row sums to 1, or is 0 where all keys are masked; see `mask_scores`.
    With enable_gqa, heads may share keys and values; see `share_heads`.
    """
    if enable_gqa:
        key = share_heads(query, key)
    logits = scores(upcast(query), key, scale=scale)
    logits = mask_scores(logits, attn_mask=attn_mask, is_causal=is_causal)
    if attn_mask is None:  # every query has a key: the first
        return torch.softmax(logits, dim=-1).to(query.dtype)
    return masked_softmax(logits).to(query.dtype)


def attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#shared m d_k"],
    value: Float[Tensor, "*#shared m d_v"],
    *,
    attn_mask: Mask | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Float[Tensor, "*batch n d_v"]:
    """Weighted means of the values: Vaswani et al. (2017), equation 1.

    The same as PyTorch's scaled_dot_product_attention without its dropout. In
    fp16 and bf16 all is computed in fp32, and the output is rounded once;
    under torch.autocast, see `upcast`.

    Raises TypeError for fp32 with fp64.
    """
    q, k, v = upcast(query), upcast(key), upcast(value)
    if q.dtype != v.dtype:
        raise TypeError(
            f"query is {query.dtype} and value {value.dtype}; expected one dtype"
        )
    weights = attention_weights(
        q,
        k,
        attn_mask=attn_mask,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
    )
    if enable_gqa:
        v = share_heads(query, v)
    return (weights @ v).to(query.dtype)


# --8<-- [end:attention]


# --8<-- [start:groups]
def share_heads(
    query: Float[Tensor, "... heads n d_k"],
    shared: Float[Tensor, "*batch groups m d"],
) -> Float[Tensor, "*batch heads m d"]:
    """Keys or values, each head repeated for all query heads of its group.

    Raises ValueError if the groups are not of one size: Ainslie et al. (2023).
    Raises ValueError for matrices, too, which have no heads.
    """
    if min(query.dim(), shared.dim()) < 3:
        raise ValueError("expected heads, tokens and features")
    heads, groups = query.shape[-3], shared.shape[-3]
    if not groups or heads % groups:
        raise ValueError(
            f"{groups} heads of keys do not divide {heads} of queries"
        )
    # torch.export rejects repeat_interleave if m has a name.
    group = torch.arange(heads, device=shared.device) // (heads // groups)
    return shared.index_select(-3, group)


# --8<-- [end:groups]


# --8<-- [start:two-axes]
def attention_2d(
    query: Float[Tensor, "n d_k"],
    key: Float[Tensor, "m d_k"],
    value: Float[Tensor, "m d_v"],
) -> Float[Tensor, "n d_v"]:
    """The formula as it is written, for matrices.

    Raises ValueError for tensors of any other number of axes.
    """
    if (query.dim(), key.dim(), value.dim()) != (2, 2, 2):
        raise ValueError(
            f"query has {query.dim()} axes, key {key.dim()} and value {value.dim()}; "
            "expected 2 each, as key.T is for matrices"
        )
    d_k = max(query.shape[-1], 1)  # without features, any: all scores are 0
    q, k, v = upcast(query), upcast(key), upcast(value)
    return (torch.softmax(q @ k.T / d_k**0.5, dim=-1) @ v).to(query.dtype)


# --8<-- [end:two-axes]


# --8<-- [start:steps]
class AttentionSteps(NamedTuple):
    """The results of the five steps of attention."""

    products: Float[Tensor, "*batch n m"]
    scaled: Float[Tensor, "*batch n m"]
    masked: Float[Tensor, "*batch n m"]
    weights: Float[Tensor, "*batch n m"]
    output: Float[Tensor, "*batch n d_v"]


def attention_steps(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    attn_mask: Mask | None = None,
    scale: float | None = None,
) -> AttentionSteps:
    """Attention, one operation at a time.

    In fp16 and bf16 all is computed in fp32, and each result is rounded once.
    """
    q, k, v = upcast(query), upcast(key), upcast(value)
    products = q @ k.transpose(-2, -1)  # (n, d_k) (d_k, m) -> (n, m)
    scaled = products * (
        max(query.shape[-1], 1) ** -0.5 if scale is None else scale
    )
    masked = mask_scores(scaled, attn_mask=attn_mask)
    weights = masked_softmax(masked)  # a row sums to 1, or is 0
    output = weights @ v  # (n, m) (m, d_v) -> (n, d_v)
    steps = products, scaled, masked, weights, output
    return AttentionSteps(*(step.to(query.dtype) for step in steps))


# --8<-- [end:steps]


# --8<-- [start:einsum]
def products_by_einsum(
    query: Float[Tensor, "n d_k"], key: Float[Tensor, "m d_k"]
) -> Float[Tensor, "n m"]:
    """The dot product of every query with every key."""
    return torch.einsum("nd,md->nm", query, key)


def attention_by_einsum(
    query: Float[Tensor, "batch n heads d_k"],
    key: Float[Tensor, "batch m heads d_k"],
    value: Float[Tensor, "batch m heads d_v"],
) -> Float[Tensor, "batch n heads d_v"]:
    """Attention without a mask, for the axes batch, token, head, feature."""
    products = torch.einsum("bnhd,bmhd->bhnm", upcast(query), upcast(key))
    scores = products * max(query.shape[-1], 1) ** -0.5
    weights = torch.softmax(scores, dim=-1)
    output = torch.einsum("bhnm,bmhv->bnhv", weights, upcast(value))
    return output.to(query.dtype)


# --8<-- [end:einsum]


# --8<-- [start:block]
def self_attention(
    X: Float[Tensor, "*#batch n d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
    W_V: Float[Tensor, "*#batch d d_v"],
    W_O: Float[Tensor, "*#batch d_v d"],
) -> Float[Tensor, "*batch n d"]:
    """Queries, keys and values from one input; the output has its shape."""
    return attention(X @ W_Q, X @ W_K, X @ W_V) @ W_O


class SelfAttention(nn.Module):
    """The same with matrices that are learned.

    They are initialised so that a projection keeps the variance of its input.
    """

    def __init__(
        self,
        d: int,
        d_k: int,
        d_v: int,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        """Matrices for inputs of width d, queries and keys of d_k, values of d_v."""
        super().__init__()

        def weight(rows: int, columns: int) -> nn.Parameter:
            entries = torch.randn(rows, columns, generator=generator)
            return nn.Parameter(entries * rows**-0.5)

        self.W_Q, self.W_K = weight(d, d_k), weight(d, d_k)
        self.W_V, self.W_O = weight(d, d_v), weight(d_v, d)

    def forward(
        self, X: Float[Tensor, "*batch n d"]
    ) -> Float[Tensor, "*batch n d"]:
        """The output, which has the shape of the input."""
        return self_attention(X, self.W_Q, self.W_K, self.W_V, self.W_O)


# --8<-- [end:block]


# --8<-- [start:wrong]
def scores_by_both_widths_wrong(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch n m"]:
    """Wrong: the width of the values is under the root as well."""
    widths = query.shape[-1] * value.shape[-1]
    return scores(query, key, scale=widths**-0.5)


# --8<-- [end:wrong]
