"""What large scores do to the weights: one weight tends to 1, and the slopes to 0.

With two keys, only the gap between their scores matters:

--8<-- [start:example-two-keys]
>>> import torch
>>> from snippets.scaling.saturation import two_key_slope, two_key_weight
>>> for gap in torch.tensor([0.0, 1.0, 4.0, 16.0, 64.0], dtype=torch.float64):
...     weight, slope = two_key_weight(gap), two_key_slope(gap)
...     print(f"gap {gap:2.0f}   weight {weight:.4f}   slope {slope:.1e}")
gap  0   weight 0.5000   slope 2.5e-01
gap  1   weight 0.7311   slope 2.0e-01
gap  4   weight 0.9820   slope 1.8e-02
gap 16   weight 1.0000   slope 1.1e-07
gap 64   weight 1.0000   slope 1.6e-28

--8<-- [end:example-two-keys]

With 16 keys, for 500 Gaussian queries, with the scale and without:

--8<-- [start:example-concentration]
>>> from snippets.scaling.saturation import concentration
>>> generator = torch.Generator().manual_seed(0)
>>> for d_k in (4, 64, 1024):
...     query = torch.randn(500, 1, d_k, generator=generator, dtype=torch.float64)
...     key = torch.randn(500, 16, d_k, generator=generator, dtype=torch.float64)
...     for name, scale in (("scaled", None), ("unscaled", 1.0)):
...         print("d_k {:4} {:8}   largest {:.2f}   entropy {:.2f}   slopes {:.0e}".format(
...             d_k, name, *concentration(query, key, scale)))
d_k    4 scaled     largest 0.24   entropy 2.37   slopes 9e-01
d_k    4 unscaled   largest 0.43   entropy 1.76   slopes 8e-01
d_k   64 scaled     largest 0.25   entropy 2.36   slopes 9e-01
d_k   64 unscaled   largest 0.85   entropy 0.40   slopes 1e-01
d_k 1024 scaled     largest 0.25   entropy 2.34   slopes 9e-01
d_k 1024 unscaled   largest 0.97   entropy 0.08   slopes 6e-06

--8<-- [end:example-concentration]

The same function as PyTorch's:

--8<-- [start:example-attention]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.scaling.saturation import attention
>>> generator = torch.Generator().manual_seed(0)
>>> shapes = (2, 8, 5, 16), (2, 8, 7, 16), (2, 8, 7, 12)  # (batch, head, token, feature)
>>> query, key, value = (torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes)
>>> output = attention(query, key, value)
>>> tuple(output.shape)
(2, 8, 5, 12)
>>> torch.allclose(output, scaled_dot_product_attention(query, key, value))
True

--8<-- [end:example-attention]

Masks too. A query without any key gets 0, where a plain softmax would give NaN:

--8<-- [start:example-masks]
>>> from snippets.scaling.saturation import mask_scores, masked_softmax
>>> equal = torch.zeros(2, 3)  # the scores of two queries with three keys
>>> masked_softmax(mask_scores(equal, is_causal=True)).tolist()
[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
>>> mask = torch.tensor([[True, False, True], [False, False, False]])
>>> masked_softmax(mask_scores(equal, mask)).tolist()
[[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]

--8<-- [end:example-masks]

And heads in groups, which share their keys and values:

--8<-- [start:example-groups]
>>> from snippets.scaling.saturation import share_heads
>>> query, key = torch.zeros(4, 1, 1), torch.tensor([[[1.0]], [[2.0]]])  # (head, token, feature)
>>> share_heads(query, key).flatten().tolist()
[1.0, 1.0, 2.0, 2.0]

--8<-- [end:example-groups]
"""

import torch
from torch import Tensor

from snippets.scaling.variance import scores
from snippets.shapes import check_shapes


# --8<-- [start:masks]
def mask_scores(scores: Tensor, mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
    """The scores, with -inf where a query may not look.

    A boolean mask keeps what is True; any other is added. is_causal keeps as many keys for a query
    as its own place counts from the first: the triangle starts at the upper left, as in PyTorch.
    """
    if is_causal:
        n, m = scores.shape[-2:]
        lower = torch.ones(n, m, dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~lower, -torch.inf)  # (..., n, m)
    if mask is None:
        return scores
    return torch.where(mask, scores, -torch.inf) if mask.dtype == torch.bool else scores + mask


def masked_softmax(scores: Tensor) -> Tensor:
    """The softmax of each row; a row that is -inf throughout gets weights of 0, as in PyTorch."""
    empty = (scores == -torch.inf).all(-1, keepdim=True)  # (..., n, 1)
    # Filled before as well: softmax makes such a row NaN, and its gradients with it.
    return torch.softmax(scores.masked_fill(empty, 0), dim=-1).masked_fill(empty, 0)


# --8<-- [end:masks]


# --8<-- [start:attention]
def attention_weights(
    query: Tensor,
    key: Tensor,
    scale: float | None = None,
    mask: Tensor | None = None,
    is_causal: bool = False,
) -> Tensor:
    """The softmax of each row of scores: every row is a distribution over the keys not masked."""
    return masked_softmax(mask_scores(scores(query, key, scale), mask, is_causal))  # (..., n, m)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float | None = None,
    mask: Tensor | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,
) -> Tensor:
    """For every query, the mean of the values under its weights; 0 where all keys are masked."""
    if enable_gqa:
        key, value = (share_heads(query, shared) for shared in (key, value))
    check_shapes("query: n d_k, key: m d_k, value: m d_v", query, key, value)
    weights = attention_weights(query, key, scale, mask, is_causal)  # (..., n, m)
    return weights @ value  # (..., n, m) (..., m, d_v) -> (..., n, d_v)


def share_heads(query: Tensor, shared: Tensor) -> Tensor:
    """Keys or values, each head repeated for the group of query heads in a row that share it."""
    heads = shared.shape[-3] if min(query.dim(), shared.dim()) >= 3 else 0
    if not heads or query.shape[-3] % heads:
        raise ValueError(
            f"the heads of {tuple(shared.shape)} do not divide those of "
            f"query {tuple(query.shape)}; expected (..., heads, tokens, features)"
        )
    return shared.repeat_interleave(query.shape[-3] // heads, dim=-3)  # (..., H, m, d)


# --8<-- [end:attention]


# --8<-- [start:two-keys]
def two_key_weight(gap: Tensor) -> Tensor:
    """The weight of the first of two keys, whose score is larger than the other's by gap."""
    return torch.sigmoid(gap)  # (...) -> (...)


def two_key_slope(gap: Tensor) -> Tensor:
    """The derivative of that weight with respect to the gap."""
    # Both factors are sigmoids: 1 - sigmoid(gap) would cancel to 0 from a gap of 37 on.
    return torch.sigmoid(gap) * torch.sigmoid(-gap)  # (...) -> (...)


# --8<-- [end:two-keys]


# --8<-- [start:entropy]
def entropy(weights: Tensor) -> Tensor:
    """The entropy of each row of weights, in nats: 0 for a single key, log m for equal weights."""
    return torch.special.entr(weights).sum(-1)  # (..., n, m) -> (..., n)


# --8<-- [end:entropy]


# --8<-- [start:slopes]
def slopes(weights: Tensor) -> Tensor:
    """The derivative of each weight with respect to its own score."""
    return weights * (1 - weights)  # (..., n, m) -> (..., n, m)


# --8<-- [end:slopes]


# --8<-- [start:concentration]
def concentration(
    query: Tensor, key: Tensor, scale: float | None = None
) -> tuple[float, float, float]:
    """Mean largest weight, mean entropy, and median sum of the slopes, over all queries."""
    weights = attention_weights(query, key, scale)  # (..., n, m)
    total = slopes(weights).sum(-1)  # (..., n)
    return weights.amax(-1).mean().item(), entropy(weights).mean().item(), total.median().item()


# --8<-- [end:concentration]


# --8<-- [start:query-gradients]
def query_gradients(
    query: Tensor, key: Tensor, value: Tensor, scale: float | None = None
) -> Tensor:
    """The length of the gradient that each query gets from the sum of the outputs."""
    query = query.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(attention(query, key, value, scale).sum(), query)
    return gradient.norm(dim=-1)  # (..., n, d_k) -> (..., n)


# --8<-- [end:query-gradients]
