"""Masks: filling, deleting, renormalising, and what PyTorch does if every key of a query is masked.

Three texts in one batch, padded to five tokens. The padding may hold any finite numbers:

--8<-- [start:example-padding]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.attention.masks import padding_mask
>>> lengths = torch.tensor([3, 5, 2])
>>> mask = padding_mask(lengths, m=5)  # (batch, 1, 1, m)
>>> mask[:, 0, 0].int()
tensor([[1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1],
        [1, 1, 0, 0, 0]], dtype=torch.int32)
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.rand(3, 3, 8, 5, 16, generator=generator)
>>> output = scaled_dot_product_attention(query, key, value, attn_mask=mask)
>>> value[0, :, 3:] = 1e6  # into the padding of the first text
>>> again = scaled_dot_product_attention(query, key, value, attn_mask=mask)
>>> torch.equal(output, again)
True

--8<-- [end:example-padding]

Four ways to leave a key out:

--8<-- [start:example-ways]
>>> import torch
>>> from snippets.attention.masks import (
...     deleted_weights, filled_weights, infinite_weights, renormalised_weights)
>>> scores = torch.tensor([[1.0, 4.0, 2.0, 3.0]], dtype=torch.float64)
>>> keep = torch.tensor([True, False, True, False])
>>> for weights in (filled_weights(scores, keep, constant=-torch.inf),
...                 deleted_weights(scores, keep),
...                 infinite_weights(scores, keep),
...                 renormalised_weights(scores, keep)):
...     print([round(weight, 4) for weight in weights[0].tolist()])
[0.2689, 0.0, 0.7311, 0.0]
[0.2689, 0.0, 0.7311, 0.0]
[0.2689, 0.0, 0.7311, 0.0]
[0.2689, 0.0, 0.7311, 0.0]

--8<-- [end:example-ways]

With one kept key and scores of ordinary size, minus a billion is as good as minus infinity:

--8<-- [start:example-ordinary]
>>> from snippets.attention.masks import added_weights, filled_weights
>>> scores = 20 * torch.randn(1000, 64, generator=generator)
>>> keep = torch.rand(1000, 64, generator=generator) < 0.5
>>> keep = keep | (torch.arange(64) == 0)  # every query keeps the first key
>>> exact = filled_weights(scores, keep, constant=-torch.inf)
>>> torch.equal(filled_weights(scores, keep, constant=-1e9), exact)
True
>>> torch.equal(added_weights(scores, keep, constant=-1e9), exact)
True

--8<-- [end:example-ordinary]

If all keys are masked, a constant that fills all scores gives equal weights. One that is added cancels in
exact arithmetic. In fp32 it nearly does so at ten thousand. At a billion, the scores are lost:

--8<-- [start:example-all]
>>> from snippets.attention.masks import added_weights, filled_weights
>>> scores = torch.tensor([1.0, 2.0, 3.0])
>>> nothing = torch.tensor([False, False, False])
>>> def shown(weights):
...     return [round(weight, 3) for weight in weights.tolist()]
>>> shown(scores.softmax(-1))
[0.09, 0.245, 0.665]
>>> for constant in (-1e4, -1e9):
...     print(f"{constant:.0e}",
...           shown(added_weights(scores, nothing, constant=constant)),
...           shown(filled_weights(scores, nothing, constant=constant)))
-1e+04 [0.09, 0.245, 0.665] [0.333, 0.333, 0.333]
-1e+09 [0.333, 0.333, 0.333] [0.333, 0.333, 0.333]
>>> (scores - 1e9).tolist()
[-1000000000.0, -1000000000.0, -1000000000.0]

--8<-- [end:example-all]

A masked key that takes all the weight, and a constant that fp16 cannot represent:

--8<-- [start:example-constants]
>>> low = torch.tensor([5.0, -2e4])  # the second key is kept, with a low score
>>> keep = torch.tensor([False, True])  # the first key is masked
>>> filled_weights(low, keep, constant=-1e4).tolist()
[1.0, 0.0]
>>> filled_weights(low, keep, constant=-torch.inf).tolist()
[0.0, 1.0]
>>> filled_weights(low.half(), keep, constant=-1e9)
Traceback (most recent call last):
RuntimeError: value cannot be converted to type c10::Half without overflow
>>> torch.finfo(torch.float16).min
-65504.0

--8<-- [end:example-constants]

A query without keys in PyTorch 2.13: zero, or NaN:

--8<-- [start:example-empty]
>>> from torch.nn.functional import scaled_dot_product_attention
>>> generator = torch.Generator().manual_seed(0)
>>> x = torch.rand(1, 2, 4, generator=generator)  # (batch, n, d)
>>> keep = torch.tensor([[True, False],
...                      [False, False]])  # the second query may see no key
>>> scaled_dot_product_attention(x, x, x, attn_mask=keep)[0, 1].tolist()
[0.0, 0.0, 0.0, 0.0]
>>> minus_infinity = torch.full((2,), -torch.inf)
>>> torch.softmax(minus_infinity, -1).tolist()  # as in its documented formula
[nan, nan]
>>> module = torch.nn.MultiheadAttention(4, num_heads=2, batch_first=True)
>>> blocked = ~keep  # for the module, True means masked
>>> for need_weights in (True, False):
...     output, _ = module(x, x, x, attn_mask=blocked, need_weights=need_weights)
...     print(f"need_weights {need_weights}:", output[0, 1].tolist())
need_weights True: [nan, nan, nan, nan]
need_weights False: [0.0, 0.0, 0.0, 0.0]
>>> with torch.no_grad():  # in evaluation, a faster implementation
...     output, _ = module.eval()(
...         x, x, x, attn_mask=blocked, need_weights=False)
>>> output[0, 1].tolist()
[nan, nan, nan, nan]

--8<-- [end:example-empty]

The functions of this site return 0 for a query without keys, where plain softmax would return NaN:

--8<-- [start:example-masks]
>>> import torch
>>> from snippets.attention.masks import mask_scores, masked_softmax
>>> equal = torch.zeros(2, 3)  # the scores of two queries with three keys
>>> masked_softmax(mask_scores(equal, is_causal=True)).tolist()
[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
>>> mask = torch.tensor([[True, False, True], [False, False, False]])
>>> masked_softmax(mask_scores(equal, attn_mask=mask)).tolist()
[[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]

--8<-- [end:example-masks]

One boolean mask, with two meanings:

--8<-- [start:example-boolean]
>>> first = torch.tensor([[True, False], [True, False]])
>>> eye = torch.eye(2)[None]  # values that show the weights
>>> scaled_dot_product_attention(x, x, eye, attn_mask=first)[0].tolist()
[[1.0, 0.0], [1.0, 0.0]]
>>> module(x, x, x, attn_mask=first)[1][0].tolist()
[[0.0, 1.0], [0.0, 1.0]]

--8<-- [end:example-boolean]

A causal mask for two queries and four keys: PyTorch's triangle starts at the upper left. If the queries
are the last tokens of the text, as in generation, it should end at the lower right:

--8<-- [start:example-causal]
>>> from snippets.attention.masks import lower_right
>>> query, key = torch.zeros(1, 2, 3), torch.zeros(1, 4, 3)
>>> eye = torch.eye(4)[None]  # values that show the weights
>>> scaled_dot_product_attention(query, key, eye, is_causal=True)[0].tolist()
[[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]]
>>> lower_right(2, 4).int().tolist()
[[1, 1, 1, 0], [1, 1, 1, 1]]

--8<-- [end:example-causal]

ALiBi: a bias by distance, and a bias by the key's position alone:

--8<-- [start:example-alibi]
>>> from snippets.attention.masks import weights_by_distance, weights_by_place
>>> scores = torch.rand(4, 4, generator=generator, dtype=torch.float64)
>>> places = torch.arange(4.0, dtype=torch.float64)
>>> by_distance = weights_by_distance(scores, places, places, slope=0.5)
>>> torch.allclose(by_distance, weights_by_place(scores, places, slope=0.5))
True

--8<-- [end:example-alibi]
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

# --8<-- [start:masks]
# For scores (*batch, n, m): True keeps a key, and numbers are added to scores.
Mask = (
    Bool[Tensor, "*#batch #n #m"]
    | Float[Tensor, "*#batch #n #m"]
    | Bool[Tensor, "#m"]
    | Float[Tensor, "#m"]
)


def mask_scores(
    scores: Float[Tensor, "*batch n m"],
    *,
    attn_mask: Mask | None = None,
    is_causal: bool = False,
) -> Float[Tensor, "*batch n m"]:
    """The scores, with -inf where a query may not look.

    With is_causal, query i keeps the first i keys: the triangle starts at the
    upper left, as in PyTorch.
    Raises TypeError for a mask of integers, which could mean either.
    Raises ValueError for is_causal beside a mask, as PyTorch raises an error.
    """
    if is_causal and attn_mask is not None:
        raise ValueError(
            "attn_mask and is_causal are given; expected one: mask what is later, too"
        )
    if is_causal:
        n, m = scores.shape[-2:]
        lower = torch.ones(n, m, dtype=torch.bool, device=scores.device).tril()
        scores = torch.where(lower, scores, -torch.inf)
    if attn_mask is None:
        return scores
    attn_mask = attn_mask.expand_as(scores)  # the mask must fit the scores
    if attn_mask.dtype == torch.bool:
        return torch.where(attn_mask, scores, -torch.inf)
    if not attn_mask.is_floating_point():
        raise TypeError(
            f"attn_mask is {attn_mask.dtype}; expected bool or a float"
        )
    return (scores + attn_mask).to(scores.dtype)


def masked_softmax(
    scores: Float[Tensor, "*batch m"],
) -> Float[Tensor, "*batch m"]:
    """The softmax of each row; 0 if all of a row is -inf, as in PyTorch."""
    empty = (scores == -torch.inf).all(-1, keepdim=True)
    # Fill it before softmax, too, or the gradient would be NaN.
    weights = torch.softmax(scores.masked_fill(empty, 0), dim=-1)
    return weights.masked_fill(empty, 0)


# --8<-- [end:masks]


# --8<-- [start:padding]
def padding_mask(
    lengths: Int[Tensor, " batch"], *, m: int
) -> Bool[Tensor, "batch 1 1 m"]:
    """Which of m keys belong to each text, for all heads and queries: True keeps."""
    keys = torch.arange(m, device=lengths.device)
    return (keys < lengths[:, None])[:, None, None]


# --8<-- [end:padding]


# --8<-- [start:ways]
def filled_weights(
    scores: Float[Tensor, "*#batch m"],
    keep: Bool[Tensor, "*#batch m"],
    *,
    constant: float,
) -> Float[Tensor, "*batch m"]:
    """Softmax of each row, with a constant in place of masked scores."""
    return torch.softmax(scores.masked_fill(~keep, constant), dim=-1)


def deleted_weights(
    scores: Float[Tensor, "*batch m"], keep: Bool[Tensor, " m"]
) -> Float[Tensor, "*batch m"]:
    """Softmax over the kept keys alone, the same for all rows; others get 0.

    Raises TypeError for a mask of numbers, which would be read as indices.
    """
    if keep.dtype != torch.bool:
        raise TypeError(f"keep is {keep.dtype}; expected torch.bool")
    weights = torch.zeros_like(scores)
    weights[..., keep] = torch.softmax(scores[..., keep], dim=-1)
    return weights


def infinite_weights(
    scores: Float[Tensor, "*#batch m"],
    keep: Bool[Tensor, "*#batch m"] | Float[Tensor, "*#batch m"],
) -> Float[Tensor, "*batch m"]:
    """Softmax of scores plus the mask's logarithm, which is 0 or minus infinity.

    A row without kept keys is NaN.
    """
    return torch.softmax(scores + keep.to(scores.dtype).log(), dim=-1)


def renormalised_weights(
    scores: Float[Tensor, "*#batch m"],
    keep: Bool[Tensor, "*#batch m"] | Float[Tensor, "*#batch m"],
) -> Float[Tensor, "*batch m"]:
    """Softmax over all keys, then 0 for masked keys, then each row over its sum.

    Computed with logarithms: beside a masked key that takes all the weight,
    the others would round to 0.
    A row without kept keys is NaN.
    """
    wide = torch.promote_types(scores.dtype, torch.float32)
    logs = torch.log_softmax(scores, dim=-1, dtype=wide)
    logs = logs.masked_fill(keep == 0, -torch.inf)
    weights = torch.exp(logs - logs.amax(-1, keepdim=True)) * keep
    return (weights / weights.sum(-1, keepdim=True)).to(scores.dtype)


# --8<-- [end:ways]


# --8<-- [start:added]
def added_weights(
    scores: Float[Tensor, "*#batch m"],
    keep: Bool[Tensor, "*#batch m"],
    *,
    constant: float,
) -> Float[Tensor, "*batch m"]:
    """Softmax of each row, with a constant added to masked scores."""
    return torch.softmax(torch.where(keep, scores, scores + constant), dim=-1)


# --8<-- [end:added]


# --8<-- [start:lower-right]
def lower_right(
    n: int, m: int, *, device: torch.device | str | None = None
) -> Bool[Tensor, "n m"]:
    """The causal mask for n queries that are the last of m tokens: True keeps."""
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(
        diagonal=m - n
    )


# --8<-- [end:lower-right]


# --8<-- [start:alibi]
def weights_by_distance(
    scores: Float[Tensor, "*#batch n m"],
    query_places: Float[Tensor, "*#batch n"],
    key_places: Float[Tensor, "*#batch m"],
    *,
    slope: float,
) -> Float[Tensor, "*batch n m"]:
    """Slope times distance is subtracted: Press, Smith and Lewis (2022)."""
    distance = query_places.unsqueeze(-1) - key_places.unsqueeze(-2)
    return masked_softmax(scores - slope * distance)


def weights_by_place(
    scores: Float[Tensor, "*#batch n m"],
    key_places: Float[Tensor, "*#batch m"],
    *,
    slope: float,
) -> Float[Tensor, "*batch n m"]:
    """Slope times the position of the key is added to the scores."""
    return masked_softmax(scores + slope * key_places.unsqueeze(-2))


# --8<-- [end:alibi]
