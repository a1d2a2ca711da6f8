"""Our attention against a reference implementation, and the mistake of using the size of K for d_k.

Uniform inputs of shape (2, 4, 8, 16): the mean output and the mean difference, for the temperature of
the source and for the correct one. Both sides get the same wrong scale, so the comparison passes:

--8<-- [start:example-compare]
>>> import torch
>>> from snippets.attention.reference import Reference, scale_by_size_wrong
>>> from snippets.attention.formula import attention
>>> generator = torch.Generator().manual_seed(0)
>>> shape = 2, 4, 8, 16  # (batch, head, token, feature)
>>> query, key, value = torch.rand(3, *shape, generator=generator)
>>> for name, scale in (("slip ", scale_by_size_wrong(key)), ("right", 16**-0.5)):
...     reference = Reference(temperature=1 / scale).eval()  # drops nothing
...     theirs = reference(query, key, value)
...     ours = attention(query, key, value, scale=scale)
...     difference = (ours - theirs).mean().abs().item()
...     print(f"{name}   mean output {theirs.mean():.1f}   "
...           f"mean difference below 1e-8 {difference < 1e-8}")
slip    mean output 0.5   mean difference below 1e-8 True
right   mean output 0.5   mean difference below 1e-8 True

--8<-- [end:example-compare]

The wrong scale against the correct one. The mean hides the mistake; the largest difference and the weights show it:

--8<-- [start:example-slip]
>>> from snippets.attention.reference import attention_by_size_wrong
>>> from snippets.attention.formula import attention_weights
>>> right = attention(query, key, value)
>>> slip = attention_by_size_wrong(query, key, value)
>>> difference = slip - right
>>> f"mean {difference.mean().abs():.0e}, largest {difference.abs().max():.0e}"
'mean 4e-04, largest 4e-02'
>>> for name, scale in (("slip ", scale_by_size_wrong(key)), ("right", None)):
...     weights = attention_weights(query, key, scale=scale)
...     print(f"{name}   weights from {weights.min():.3f} to {weights.max():.3f}   "
...           f"an equal share is {1 / 8}")
slip    weights from 0.114 to 0.135   an equal share is 0.125
right   weights from 0.073 to 0.189   an equal share is 0.125

--8<-- [end:example-slip]

Padding: masked keys are added. The output must stay the same:

--8<-- [start:example-padding]
>>> from snippets.attention.reference import pad
>>> for extra in (0, 8, 56):
...     longer, values, mask = pad(key, value, extra=extra)
...     kept = attention(query, longer, values, attn_mask=mask)
...     scale = scale_by_size_wrong(longer)
...     moved = attention(query, longer, values, attn_mask=mask, scale=scale)
...     print(f"{extra:2} keys added   "
...           f"right: moved by {(kept - right).abs().max():.3f}   "
...           f"slip: moved by {(moved - slip).abs().max():.3f}")
 0 keys added   right: moved by 0.000   slip: moved by 0.000
 8 keys added   right: moved by 0.000   slip: moved by 0.003
56 keys added   right: moved by 0.000   slip: moved by 0.007

--8<-- [end:example-padding]
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from snippets.attention.formula import attention, scores


# --8<-- [start:reference]
class Reference(nn.Module):
    """A common style: masked scores are filled with a large negative number."""

    def __init__(self, temperature: float, *, dropout: float = 0.1) -> None:
        """Queries are divided by the temperature, and weights are dropped out."""
        super().__init__()
        self.temperature = temperature
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        query: Float[Tensor, "*#batch n d_k"],
        key: Float[Tensor, "*#batch m d_k"],
        value: Float[Tensor, "*#batch m d_v"],
        *,
        attn_mask: Bool[Tensor, "*#batch #n m"]
        | Bool[Tensor, " m"]
        | None = None,
    ) -> Float[Tensor, "*batch n d_v"]:
        """The output; the mask keeps what is True."""
        scores = query / self.temperature @ key.transpose(-2, -1)
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask.expand_as(scores), -1e9)
        return self.dropout(torch.softmax(scores, dim=-1)) @ value


# --8<-- [end:reference]


# --8<-- [start:wrong]
def scale_by_size_wrong(key: Float[Tensor, "batch *heads m d_k"]) -> float:
    """Wrong: one over the root of the number of entries of K for each text."""
    return math.prod(key.shape[1:]) ** -0.5


def scores_by_size_wrong(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    *,
    num_heads: int,
) -> Float[Tensor, "*batch n m"]:
    """The scores with that scale, for this number of heads."""
    size = num_heads * key.shape[-2] * key.shape[-1]
    return scores(query, key, scale=size**-0.5)


def attention_by_size_wrong(
    query: Float[Tensor, "batch *heads n d_k"],
    key: Float[Tensor, "batch *heads m d_k"],
    value: Float[Tensor, "batch *heads m d_v"],
) -> Float[Tensor, "batch *heads n d_v"]:
    """Attention with that scale."""
    return attention(query, key, value, scale=scale_by_size_wrong(key))


# --8<-- [end:wrong]


# --8<-- [start:pad]
def pad(
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    extra: int,
) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."], Bool[Tensor, " _"]]:
    """Keys and values followed by `extra` rows of zeros, and a mask for them."""
    longer = [nn.functional.pad(x, (0, 0, 0, extra)) for x in (key, value)]
    m = key.shape[-2]
    return *longer, torch.arange(m + extra, device=key.device) < m


# --8<-- [end:pad]
