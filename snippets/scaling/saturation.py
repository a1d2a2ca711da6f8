"""What large scores do to the weights: one weight tends to 1, and its gradient to 0.

With two keys, only the gap between their scores matters:

--8<-- [start:example-two-keys]
>>> import torch
>>> from snippets.scaling.saturation import two_key_gradient, two_key_weight
>>> for gap in torch.tensor([0.0, 1.0, 4.0, 16.0, 64.0], dtype=torch.float64):
...     weight, gradient = two_key_weight(gap), two_key_gradient(gap)
...     print(f"gap {gap:2.0f}   weight {weight:.4f}   gradient {gradient:.1e}")
gap  0   weight 0.5000   gradient 2.5e-01
gap  1   weight 0.7311   gradient 2.0e-01
gap  4   weight 0.9820   gradient 1.8e-02
gap 16   weight 1.0000   gradient 1.1e-07
gap 64   weight 1.0000   gradient 1.6e-28

--8<-- [end:example-two-keys]

With 16 keys and 500 Gaussian queries, with the scale and without:

--8<-- [start:example-concentration]
>>> from snippets.scaling.saturation import concentration
>>> generator = torch.Generator().manual_seed(0)
>>> for d_k in (4, 64, 1024):
...     query, key = (
...         torch.randn(500, tokens, d_k, generator=generator, dtype=torch.float64)
...         for tokens in (1, 16))
...     for name, scale in (("scaled", None), ("unscaled", 1.0)):
...         largest, spread, gradient = concentration(query, key, scale=scale)
...         print(f"d_k {d_k:4} {name:8}   largest {largest:.2f}   "
...               f"entropy {spread:.2f}   gradients {gradient:.0e}")
d_k    4 scaled     largest 0.24   entropy 2.37   gradients 9e-01
d_k    4 unscaled   largest 0.43   entropy 1.76   gradients 8e-01
d_k   64 scaled     largest 0.25   entropy 2.36   gradients 9e-01
d_k   64 unscaled   largest 0.85   entropy 0.40   gradients 1e-01
d_k 1024 scaled     largest 0.25   entropy 2.34   gradients 9e-01
d_k 1024 unscaled   largest 0.97   entropy 0.08   gradients 6e-06

--8<-- [end:example-concentration]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention, attention_weights


# --8<-- [start:two-keys]
def two_key_weight(gap: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
    """The weight of the first of two keys if its score leads by the gap."""
    return torch.sigmoid(gap)


def two_key_gradient(gap: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
    """The derivative of that weight with respect to the gap."""
    # Two sigmoids: 1 - sigmoid(gap) would cancel to 0 from a gap of 37 on.
    return torch.sigmoid(gap) * torch.sigmoid(-gap)


# --8<-- [end:two-keys]


# --8<-- [start:entropy]
def entropy(weights: Float[Tensor, "*batch m"]) -> Float[Tensor, "*batch"]:
    """The entropy of each row, in nats: 0 for one key, log m for equal weights."""
    # A weight of 0 adds 0, but with an infinite derivative; a 1 adds 0 as well.
    return torch.special.entr(weights.masked_fill(weights == 0, 1)).sum(-1)


# --8<-- [end:entropy]


# --8<-- [start:gradients]
def weight_gradients(
    weights: Float[Tensor, "*batch m"],
) -> Float[Tensor, "*batch m"]:
    """The derivative of each weight with respect to its own score."""
    return weights * (1 - weights)


# --8<-- [end:gradients]


# --8<-- [start:concentration]
def concentration(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    scale: float | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""], Float[Tensor, ""]]:
    """Over all queries: the mean of the largest weight, the mean of the
    entropy, and the median of the sum of the weights' gradients.

    Of two middle values, the median is the smaller one.
    """
    weights = attention_weights(query, key, scale=scale)
    total = weight_gradients(weights).sum(-1)
    return weights.amax(-1).mean(), entropy(weights).mean(), total.median()


# --8<-- [end:concentration]


# --8<-- [start:query-gradients]
def query_gradients(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    scale: float | None = None,
) -> Float[Tensor, "*batch n"]:
    """The length of each query's gradient, for the sum of all outputs."""
    query = query.detach().requires_grad_()
    with torch.enable_grad():  # wherever this is called
        total = attention(query, key, value, scale=scale).sum()
    (gradient,) = torch.autograd.grad(total, query)
    return gradient.norm(dim=-1)


# --8<-- [end:query-gradients]
