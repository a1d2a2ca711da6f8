"""Logit soft-capping: c tanh(s / c), and what it does to gradients and masks.

A cap of 50 on small scores and on large ones:

--8<-- [start:example]
>>> import torch
>>> from snippets.bounds.softcap import soft_cap
>>> for score in (1.0, 10.0, 50.0, 200.0, 1000.0):
...     z = torch.tensor(score, requires_grad=True)
...     soft_cap(z, cap=50.0).backward()
...     print(f"{score:6.0f} becomes {soft_cap(z, cap=50.0):6.3f}   derivative {z.grad:.5f}")
     1 becomes  1.000   derivative 0.99960
    10 becomes  9.869   derivative 0.96104
    50 becomes 38.080   derivative 0.41997
   200 becomes 49.966   derivative 0.00134
  1000 becomes 50.000   derivative 0.00000

--8<-- [end:example]

A soft cap and a clip, at 1.5 times the limit:

--8<-- [start:example-clip]
>>> z = torch.tensor(75.0, requires_grad=True)
>>> for cap in (soft_cap(z, cap=50.0), z.clamp(-50, 50)):
...     (derivative,) = torch.autograd.grad(cap, z)
...     print(f"{cap.item():.2f}   derivative {derivative:.4f}")
45.26   derivative 0.1807
50.00   derivative 0.0000

--8<-- [end:example-clip]

A mask before the cap is not a mask. The second key is masked, and a small cap
shows the mistake:

--8<-- [start:example-mask]
>>> from snippets.bounds.softcap import capped_weights, capped_weights_wrong
>>> scores = torch.tensor([[0.0, 9.0]])  # (n, m) with n = 1, m = 2
>>> mask = torch.tensor([[0.0, -torch.inf]])
>>> for cap in (2.0, 5.0, 50.0):
...     right = capped_weights(scores, cap=cap, attn_mask=mask)
...     wrong = capped_weights_wrong(scores, cap=cap, attn_mask=mask)
...     print(f"cap {cap:4}   masked key: {right[0, 1]:.0e}, if capped: {wrong[0, 1]:.0e}")
cap  2.0   masked key: 0e+00, if capped: 1e-01
cap  5.0   masked key: 0e+00, if capped: 7e-03
cap 50.0   masked key: 0e+00, if capped: 2e-22

--8<-- [end:example-mask]

The gradient, by the formula and by autograd:

--8<-- [start:example-gradient]
>>> from snippets.bounds.softcap import through_soft_cap
>>> z = torch.linspace(-100.0, 100.0, 9, requires_grad=True)
>>> (found,) = torch.autograd.grad(soft_cap(z, cap=50.0).sum(), z)
>>> torch.allclose(found, through_soft_cap(torch.ones(9), soft_cap(z, cap=50.0), cap=50.0))
True

--8<-- [end:example-gradient]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast
from snippets.attention.masks import Mask, mask_scores, masked_softmax


# --8<-- [start:cap]
def soft_cap(
    scores: Float[Tensor, "*shape"], *, cap: float
) -> Float[Tensor, "*shape"]:
    """Scores compressed between -cap and cap, as in Gemma Team (2024).

    The cap is any number except 0, and its sign makes no difference.
    """
    return (cap * torch.tanh(upcast(scores) / cap)).to(scores.dtype)


# --8<-- [end:cap]


# --8<-- [start:weights]
def capped_weights(
    scores: Float[Tensor, "*batch n m"],
    *,
    cap: float,
    attn_mask: Mask | None = None,
) -> Float[Tensor, "*batch n m"]:
    """The weights of capped scores. The mask comes after the cap."""
    logits = soft_cap(upcast(scores), cap=cap)
    logits = mask_scores(logits, attn_mask=attn_mask)
    return masked_softmax(logits).to(scores.dtype)


# --8<-- [end:weights]


# --8<-- [start:wrong]
def capped_weights_wrong(
    scores: Float[Tensor, "*batch n m"],
    *,
    cap: float,
    attn_mask: Mask | None = None,
) -> Float[Tensor, "*batch n m"]:
    """Wrong: the mask comes before the cap, so masked keys keep some weight."""
    logits = mask_scores(upcast(scores), attn_mask=attn_mask)
    return torch.softmax(soft_cap(logits, cap=cap), dim=-1).to(scores.dtype)


# --8<-- [end:wrong]


# --8<-- [start:gradient]
def through_soft_cap(
    gradient: Float[Tensor, "*shape"],
    capped: Float[Tensor, "*shape"],
    *,
    cap: float,
) -> Float[Tensor, "*shape"]:
    """The gradient with respect to the scores, from that of the capped scores.

    Only the capped scores need to be kept."""
    return gradient * (1 - (capped / cap) ** 2)


# --8<-- [end:gradient]
