"""QK-norm: queries and keys are normalised before they are multiplied.

A query that is a hundred times as long has the same scores:

--8<-- [start:example]
>>> import torch
>>> from snippets.attention.formula import scores
>>> from snippets.bounds.qknorm import cosine_scores
>>> generator = torch.Generator().manual_seed(0)
>>> query, key = torch.randn(2, 500, 64, generator=generator)  # n = m = 500
>>> for factor in (1, 100):
...     plain = scores(factor * query, key).abs().max()
...     normed = cosine_scores(factor * query, key, scale=8.0).abs().max()
...     print(f"query x {factor:3}   largest score {plain:7.2f}, "
...           f"with QK-norm {normed:.2f}")
query x   1   largest score    4.69, with QK-norm 4.21
query x 100   largest score  469.12, with QK-norm 4.21

--8<-- [end:example]

With RMSNorm and a gain for each feature, only the products of gains count:

--8<-- [start:example-gains]
>>> from snippets.bounds.qknorm import gain_bound, rms_scores
>>> query_gain, key_gain = torch.full((64,), 8.0), torch.full((64,), 0.25)
>>> logits = rms_scores(query, key, query_gain=query_gain, key_gain=key_gain)
>>> gains = query_gain * key_gain
>>> same = rms_scores(query, key, query_gain=gains, key_gain=torch.ones(64))
>>> torch.allclose(logits, same, atol=1e-5)
True
>>> bound = gain_bound(query_gain, key_gain)
>>> print(f"largest score {logits.abs().max():.2f}, never above {bound:.2f}")
largest score 8.42, never above 16.00

--8<-- [end:example-gains]

The largest weight that any key can have, at three scales:

--8<-- [start:example-most]
>>> from snippets.bounds.qknorm import bounded_weights
>>> for n in (2, 128, 131072):
...     most = [bounded_weights(scale, n)[1] for scale in (1.0, 4.0, 8.0)]
...     shown = "  ".join(f"{weight:.5f}" for weight in most)
...     print(f"{n:6} keys   at most", shown)
     2 keys   at most 0.88080  0.99966  1.00000
   128 keys   at most 0.05498  0.95914  0.99999
131072 keys   at most 0.00006  0.02224  0.98546

--8<-- [end:example-most]

The scale that half of the weight needs:

--8<-- [start:example-needed]
>>> from snippets.bounds.qknorm import needed_scale
>>> for n in (128, 8192, 131072):
...     print(f"{n:6} keys   scale {needed_scale(n):.2f} at least")
   128 keys   scale 2.42 at least
  8192 keys   scale 4.51 at least
131072 keys   scale 5.89 at least

--8<-- [end:example-needed]

Attention with QK-norm finds a copy of its query among many keys only if the
scale is large enough:

--8<-- [start:example-find]
>>> key = torch.randn(8192, 64, generator=generator)  # m = 8192
>>> query, value = key[:1], torch.eye(8192)[:, :1]  # the value shows one weight
>>> for scale in (1.0, 8.0, 16.0):
...     weight = cosine_scores(query, key, scale=scale).softmax(-1) @ value
...     print(f"scale {scale:4.1f}   weight of the copy {weight.item():.4f}")
scale  1.0   weight of the copy 0.0003
scale  8.0   weight of the copy 0.1829
scale 16.0   weight of the copy 0.9938
>>> others = cosine_scores(query, key[1:], scale=8.0)
>>> copy = torch.tensor(8.0).exp()
>>> print(f"if the others were zero: {copy / (copy + 8191):.4f}")
if the others were zero: 0.2668
>>> print(f"mean of their exponentials: {others.exp().mean():.2f}")
mean of their exponentials: 1.63

--8<-- [end:example-find]
"""

import math

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from snippets.around.layernorm import rms_norm
from snippets.attention.formula import scores, upcast


# --8<-- [start:cosines]
def cosine_scores(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    scale: float,
) -> Float[Tensor, "*batch n m"]:
    """Scores of queries and keys of length one, as in Henry et al. (2020).

    The scale is learned, and bounds every score.
    """
    q, k = normalize(upcast(query), dim=-1), normalize(upcast(key), dim=-1)
    return scores(q, k, scale=scale).to(query.dtype)


# --8<-- [end:cosines]


# --8<-- [start:rms]
def rms_scores(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    query_gain: Float[Tensor, " d_k"],
    key_gain: Float[Tensor, " d_k"],
) -> Float[Tensor, "*batch n m"]:
    """Scores over sqrt(d_k) of queries and keys after RMSNorm with gains."""
    query, key = rms_norm(query) * query_gain, rms_norm(key) * key_gain
    return scores(query, key)


def gain_bound(
    query_gain: Float[Tensor, " d_k"], key_gain: Float[Tensor, " d_k"]
) -> Float[Tensor, ""]:
    """A bound on the scores after RMSNorm with these gains."""
    largest = (query_gain * key_gain).abs().max()
    return largest * math.sqrt(len(query_gain))


# --8<-- [end:rms]


# --8<-- [start:weights]
def bounded_weights(bound: float, n: int) -> tuple[float, float]:
    """The smallest and the largest possible weight of one of n keys, if all
    scores lie between -bound and bound."""
    least = 1 / (1 + (n - 1) * math.exp(2 * bound))
    most = 1 / (1 + (n - 1) * math.exp(-2 * bound))
    return least, most


def needed_scale(n: int, *, weight: float = 0.5) -> float:
    """The smallest bound on scores at which one of n keys can have this weight."""
    return math.log((n - 1) * weight / (1 - weight)) / 2


# --8<-- [end:weights]
