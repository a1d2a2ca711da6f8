"""Our attention against a reference implementation, and the slip of taking the size of K for d_k.

Uniform inputs of shape (2, 4, 8, 16): the mean output, and the mean difference, for the temperature of
the source and for the right one. The slip is on both sides, and so does not show:

--8<-- [start:example-compare]
>>> import torch
>>> from snippets.attention.reference import Reference, slipped_scale
>>> from snippets.scaling.saturation import attention
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.rand(3, 2, 4, 8, 16, generator=generator)  # (batch, head, token, feature)
>>> for name, scale in (("slip ", slipped_scale(key)), ("right", 16**-0.5)):
...     reference = Reference(temperature=1 / scale).eval()  # in evaluation nothing is dropped
...     ours, theirs = attention(query, key, value, scale), reference(query, key, value)
...     difference = (ours - theirs).mean().abs().item()
...     print(f"{name}   mean output {theirs.mean():.1f}   mean difference below 1e-8 {difference < 1e-8}")
slip    mean output 0.5   mean difference below 1e-8 True
right   mean output 0.5   mean difference below 1e-8 True

--8<-- [end:example-compare]

The slip against the right scale. The mean hides it; the largest difference and the weights do not:

--8<-- [start:example-slip]
>>> from snippets.attention.reference import slipped_attention
>>> from snippets.scaling.saturation import attention_weights
>>> right, slip = attention(query, key, value), slipped_attention(query, key, value)
>>> difference = (slip - right).abs()
>>> f"mean {abs((slip - right).mean().item()):.0e}, largest {difference.max():.0e}"
'mean 4e-04, largest 4e-02'
>>> for name, scale in (("slip ", slipped_scale(key)), ("right", None)):
...     weights = attention_weights(query, key, scale)
...     print(f"{name}   weights from {weights.min():.3f} to {weights.max():.3f}   an equal share is {1 / 8}")
slip    weights from 0.114 to 0.135   an equal share is 0.125
right   weights from 0.073 to 0.189   an equal share is 0.125

--8<-- [end:example-slip]

Padding: keys are added, and masked. The output must not notice.

--8<-- [start:example-padding]
>>> from snippets.attention.reference import pad
>>> for extra in (0, 8, 56):
...     longer, values, mask = pad(key, value, extra)
...     kept = attention(query, longer, values, mask=mask)
...     moved = attention(query, longer, values, slipped_scale(longer), mask=mask)
...     print(f"{extra:2} keys added   right: moved by {(kept - right).abs().max():.3f}   "
...           f"slip: moved by {(moved - slip).abs().max():.3f}")
 0 keys added   right: moved by 0.000   slip: moved by 0.000
 8 keys added   right: moved by 0.000   slip: moved by 0.003
56 keys added   right: moved by 0.000   slip: moved by 0.007

--8<-- [end:example-padding]
"""

import math

import torch
from torch import Tensor, nn

from snippets.scaling.saturation import attention
from snippets.scaling.variance import scores
from snippets.shapes import check_shapes


# --8<-- [start:reference]
class Reference(nn.Module):
    """As widely copied: the queries divided by a temperature, masked scores filled, weights dropped out."""

    def __init__(self, temperature: float, dropout: float = 0.1):
        super().__init__()
        self.temperature = temperature
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """(..., n, d_k), (..., m, d_k) and (..., m, d_v) give (..., n, d_v); the mask keeps what is True."""
        check_shapes("query: n d_k, key: m d_k, value: m d_v", query, key, value)
        scores = query / self.temperature @ key.transpose(-2, -1)  # (..., n, m)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return self.dropout(torch.softmax(scores, dim=-1)) @ value


# --8<-- [end:reference]


# --8<-- [start:slip]
def slipped_scale(key: Tensor) -> float:
    """The slip: one over the root of all that K holds for one element of the batch, (batch, ..., m, d_k)."""
    return math.prod(key.shape[1:]) ** -0.5


def slipped_scores(query: Tensor, key: Tensor, heads: int) -> Tensor:
    """The scores with the slip, for so many heads."""
    return scores(query, key, scale=(heads * key.shape[-2] * key.shape[-1]) ** -0.5)  # (..., n, m)


def slipped_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention with the slip."""
    return attention(query, key, value, slipped_scale(key))  # (batch, ..., n, d_v)


# --8<-- [end:slip]


# --8<-- [start:pad]
def pad(key: Tensor, value: Tensor, extra: int) -> tuple[Tensor, Tensor, Tensor]:
    """Keys and values with `extra` more of zeros behind them, and the mask that keeps the old ones."""
    check_shapes("key: m d_k, value: m d_v", key, value)
    longer = [nn.functional.pad(x, (0, 0, 0, extra)) for x in (key, value)]  # (..., m + extra, d)
    return *longer, torch.arange(key.shape[-2] + extra) < key.shape[-2]  # (m + extra)


# --8<-- [end:pad]
