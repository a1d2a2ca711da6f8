"""Choosing the next token: temperature, top-k and top-p.

Four tokens with the probabilities 0.4, 0.3, 0.2 and 0.1. Three of them are needed for 0.75:

--8<-- [start:example-keep]
>>> import torch
>>> from snippets.together.sampling import keep_likeliest
>>> logits = torch.tensor([0.3, 0.1, 0.4, 0.2]).log()
>>> [[round(p, 4) for p in keep_likeliest(logits, **how).softmax(-1).tolist()]
...  for how in ({"top_k": 2}, {"top_p": 0.75})]
[[0.4286, 0.0, 0.5714, 0.0], [0.3333, 0.0, 0.4444, 0.2222]]

--8<-- [end:example-keep]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.attention.formula import upcast
from snippets.softmax.temperature import softmax_with_temperature


# --8<-- [start:keep]
def reject_limits(*, top_k: int | None, top_p: float | None) -> None:
    """Raises ValueError for a top_k below 1, or a top_p outside of (0, 1]."""
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; expected at least 1")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}; expected more than 0, up to 1")


def keep_likeliest(
    logits: Float[Tensor, "*batch N"],
    *,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch N"]:
    """The logits, with minus infinity for tokens that are not to be drawn.

    top_k keeps the k largest. top_p keeps the fewest that together have at
    least this probability: Holtzman et al. (2020). With both, top_p sees what
    top_k has kept.
    Raises ValueError for a top_k below 1, or a top_p outside of (0, 1].
    """
    reject_limits(top_k=top_k, top_p=top_p)
    ordered, place = logits.sort(dim=-1, descending=True, stable=True)
    drop = torch.zeros_like(ordered, dtype=torch.bool)
    if top_k is not None:
        drop[..., top_k:] = True
    if top_p is not None and top_p < 1:  # a sum of some may round to 1
        p = upcast(ordered.masked_fill(drop, -torch.inf)).softmax(-1)
        drop = drop | (p.cumsum(-1) - p >= top_p)  # what comes before is enough
    return logits.masked_fill(
        torch.zeros_like(drop).scatter(-1, place, drop), -torch.inf
    )


# --8<-- [end:keep]


# --8<-- [start:moved]
def moved_probability(
    kept: Float[Tensor, "*batch k"],
) -> Float[Tensor, "*batch"]:
    """How much more probability the kept tokens have after the division by
    their sum."""
    return (kept / kept.sum(-1, keepdim=True) - kept).sum(-1)


# --8<-- [end:moved]


# --8<-- [start:sample]
def sample(
    logits: Float[Tensor, "*batch N"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "*batch"]:
    """A token for each row: the likeliest if the temperature is 0, and else one
    that is drawn.

    The temperature is applied before top_p.
    Raises ValueError for a temperature that is not finite or below 0, and as
    `keep_likeliest` does.
    """
    reject_limits(top_k=top_k, top_p=top_p)
    if not 0 <= temperature < torch.inf:
        raise ValueError(
            f"temperature is {temperature}; expected 0 or more, and finite"
        )
    if temperature == 0:
        return logits.argmax(-1)
    wide = upcast(logits)
    wide = wide - wide.amax(-1, keepdim=True)  # 0 over a small number is 0
    tau = max(temperature, torch.finfo(wide.dtype).tiny)
    p = softmax_with_temperature(wide, tau=tau)
    kept = keep_likeliest(p.log(), top_k=top_k, top_p=top_p).softmax(-1)
    rows = kept.reshape(-1, kept.shape[-1])
    drawn = torch.multinomial(rows, 1, generator=generator)
    return drawn.reshape(kept.shape[:-1])


# --8<-- [end:sample]
