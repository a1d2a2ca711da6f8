"""Masks: filling, deleting, renormalising, and what PyTorch does with a row that is masked throughout.

Four ways to leave a key out:

--8<-- [start:example-ways]
>>> import torch
>>> from snippets.attention.masks import deleted_weights, filled_weights
>>> from snippets.attention.masks import infinite_weights, renormalised_weights
>>> scores = torch.tensor([[1.0, 4.0, 2.0, 3.0]], dtype=torch.float64)
>>> keep = torch.tensor([True, False, True, False])
>>> for weights in (filled_weights(scores, keep, -torch.inf), deleted_weights(scores, keep),
...                 infinite_weights(scores, keep), renormalised_weights(scores, keep)):
...     print([round(weight, 4) for weight in weights[0].tolist()])
[0.2689, 0.0, 0.7311, 0.0]
[0.2689, 0.0, 0.7311, 0.0]
[0.2689, 0.0, 0.7311, 0.0]
[0.2689, 0.0, 0.7311, 0.0]

--8<-- [end:example-ways]

A finite constant, where all keys are masked. Filled, it gives equal weights. Added, it cancels over the
real numbers; in fp32 it does so at ten thousand, nearly, and at a billion no score is left at all:

--8<-- [start:example-all]
>>> from snippets.attention.masks import added_weights
>>> scores, nothing = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([False, False, False])
>>> def shown(weights):
...     return [round(weight, 3) for weight in weights.tolist()]
>>> shown(scores.softmax(-1))
[0.09, 0.245, 0.665]
>>> for constant in (-1e4, -1e9):
...     print(f"{constant:.0e}", shown(added_weights(scores, nothing, constant)),
...           shown(filled_weights(scores, nothing, constant)))
-1e+04 [0.09, 0.245, 0.665] [0.333, 0.333, 0.333]
-1e+09 [0.333, 0.333, 0.333] [0.333, 0.333, 0.333]
>>> (scores - 1e9).tolist()
[-1000000000.0, -1000000000.0, -1000000000.0]

--8<-- [end:example-all]

A masked key that wins, and a constant that fp16 does not hold:

--8<-- [start:example-constants]
>>> low = torch.tensor([5.0, -2e4])  # the first key is masked; the second has a low score, and is honest
>>> filled_weights(low, torch.tensor([False, True]), -1e4).tolist()
[1.0, 0.0]
>>> filled_weights(low, torch.tensor([False, True]), -torch.inf).tolist()
[0.0, 1.0]
>>> filled_weights(low.half(), torch.tensor([False, True]), -1e9)
Traceback (most recent call last):
RuntimeError: value cannot be converted to type c10::Half without overflow
>>> torch.finfo(torch.float16).min
-65504.0

--8<-- [end:example-constants]

A query without any key, in PyTorch: zero, not a number, and both:

--8<-- [start:example-empty]
>>> from torch.nn.functional import scaled_dot_product_attention
>>> generator = torch.Generator().manual_seed(0)
>>> x = torch.rand(1, 2, 4, generator=generator)  # (batch, n, d)
>>> keep = torch.tensor([[True, False], [False, False]])  # the second query may see no key
>>> empty = slice(1, 2)
>>> scaled_dot_product_attention(x, x, x, attn_mask=keep)[0, 1].tolist()
[0.0, 0.0, 0.0, 0.0]
>>> torch.softmax(torch.full((2,), -torch.inf), -1).tolist()  # what its documented formula comes to
[nan, nan]
>>> module = torch.nn.MultiheadAttention(4, num_heads=1, batch_first=True)  # a mask blocks what is True
>>> for need_weights in (True, False):
...     output, _ = module(x, x, x, attn_mask=~keep, need_weights=need_weights)
...     print(f"need_weights {need_weights}:", output[0, 1].tolist())
need_weights True: [nan, nan, nan, nan]
need_weights False: [0.0, 0.0, 0.0, 0.0]

--8<-- [end:example-empty]

One boolean mask, two readings:

--8<-- [start:example-boolean]
>>> first = torch.tensor([[True, False], [True, False]])
>>> eye = torch.eye(2)[None]  # values that show the weights
>>> scaled_dot_product_attention(x, x, eye, attn_mask=first)[0].tolist()
[[1.0, 0.0], [1.0, 0.0]]
>>> module(x, x, x, attn_mask=first)[1][0].tolist()
[[0.0, 1.0], [0.0, 1.0]]

--8<-- [end:example-boolean]

A causal mask for two queries and four keys: PyTorch's triangle starts at the upper left. Where the
queries are the last of the keys, as in generating text, it should end at the lower right:

--8<-- [start:example-causal]
>>> from snippets.attention.masks import lower_right
>>> query, key, eye = torch.zeros(1, 2, 3), torch.zeros(1, 4, 3), torch.eye(4)[None]
>>> scaled_dot_product_attention(query, key, eye, is_causal=True)[0].tolist()
[[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]]
>>> lower_right(2, 4).int().tolist()
[[1, 1, 1, 0], [1, 1, 1, 1]]

--8<-- [end:example-causal]

ALiBi: a bias by distance, and one by the key's place alone:

--8<-- [start:example-alibi]
>>> from snippets.attention.masks import weights_by_distance, weights_by_place
>>> scores = torch.rand(4, 4, generator=generator, dtype=torch.float64)
>>> places = torch.arange(4.0, dtype=torch.float64)
>>> torch.allclose(weights_by_distance(scores, 0.5, places, places), weights_by_place(scores, 0.5, places))
True

--8<-- [end:example-alibi]
"""

import torch
from torch import Tensor

from snippets.scaling.saturation import mask_scores, masked_softmax
from snippets.shapes import check_shapes


# --8<-- [start:ways]
def filled_weights(scores: Tensor, keep: Tensor, constant: float) -> Tensor:
    """Softmax of each row after every masked score was replaced by a constant."""
    return torch.softmax(scores.masked_fill(~keep, constant), dim=-1)  # (..., n, m)


def added_weights(scores: Tensor, keep: Tensor, constant: float) -> Tensor:
    """Softmax of each row after a constant was added to every masked score."""
    return torch.softmax(torch.where(keep, scores, scores + constant), dim=-1)  # (..., n, m)


def deleted_weights(scores: Tensor, keep: Tensor) -> Tensor:
    """Softmax over the kept keys alone, the same keys for every query; the others get 0."""
    check_shapes("scores: m, keep: m", scores, keep)
    weights = torch.zeros_like(scores)  # (..., n, m)
    weights[..., keep] = torch.softmax(scores[..., keep], dim=-1)
    return weights


def infinite_weights(scores: Tensor, keep: Tensor) -> Tensor:
    """Softmax of the scores plus the mask's logarithm: 0 for a key that is kept, and minus infinity."""
    return torch.softmax(scores + keep.to(scores.dtype).log(), dim=-1)  # (..., n, m)


def renormalised_weights(scores: Tensor, keep: Tensor) -> Tensor:
    """Softmax over all keys, then 0 for the masked ones, then each row divided by its sum."""
    weights = torch.softmax(scores, dim=-1) * keep  # (..., n, m)
    return weights / weights.sum(-1, keepdim=True)


# --8<-- [end:ways]


# --8<-- [start:lower-right]
def lower_right(n: int, m: int) -> Tensor:
    """The causal mask of n queries that are the last of m tokens: True keeps."""
    return torch.ones(n, m, dtype=torch.bool).tril(diagonal=m - n)  # (n, m)


# --8<-- [end:lower-right]


# --8<-- [start:alibi]
def weights_by_distance(
    scores: Tensor, slope: float, query_places: Tensor, key_places: Tensor
) -> Tensor:
    """Each score is lowered by the slope times the distance from its key to its query."""
    check_shapes("scores: n m, query_places: n, key_places: m", scores, query_places, key_places)
    distance = query_places.unsqueeze(-1) - key_places.unsqueeze(-2)  # (..., n, m)
    return masked_softmax(mask_scores(scores, -slope * distance))


def weights_by_place(scores: Tensor, slope: float, key_places: Tensor) -> Tensor:
    """Each score is raised by the slope times the place of its key."""
    check_shapes("scores: n m, key_places: m", scores, key_places)
    return masked_softmax(mask_scores(scores, slope * key_places.unsqueeze(-2)))  # (..., n, m)


# --8<-- [end:alibi]
