"""Split-K decoding: each part of the keys has its own answer, and the answers merge.

Any number of parts gives the same result. The plain mean of the answers does not:

--8<-- [start:example-parts]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.io.split import (
...     attention_in_parts, merge_outputs, partial_attention)
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = (torch.randn(
...     tokens, 8, generator=generator, dtype=torch.float64)
...     for tokens in (1, 1000, 1000))  # one query, many keys
>>> expected = scaled_dot_product_attention(query, key, value)
>>> for parts in (1, 4, 7, 1000):
...     output = attention_in_parts(query, key, value, parts=parts)
...     print(parts, torch.allclose(output, expected))
1 True
4 True
7 True
1000 True
>>> pieces = zip(key.chunk(4), value.chunk(4))
>>> answers = [partial_attention(query, k, v) for k, v in pieces]
>>> outputs, log_sums = zip(*answers)
>>> torch.allclose(torch.stack(outputs).mean(0), expected)
False

--8<-- [end:example-parts]

In a tree, in a row, or all at once:

--8<-- [start:example-order]
>>> one, two, three, four = answers
>>> def both(first, second):
...     stacked = (torch.stack(said) for said in zip(first, second))
...     return merge_outputs(*stacked)
>>> tree = both(both(one, two), both(three, four))
>>> row = both(both(both(four, one), three), two)
>>> torch.allclose(tree[0], expected), torch.allclose(row[0], expected)
(True, True)

--8<-- [end:example-order]

Two at a time, with a function that merges averages:

--8<-- [start:example-pairs]
>>> from functools import reduce
>>> from snippets.blocks.merge import merge_averages
>>> def pair(first, second):
...     (o, a), (u, b) = first, second
...     average = merge_averages(o, a.squeeze(-1), u, b.squeeze(-1))
...     return average, torch.logaddexp(a, b)
>>> output, _ = reduce(pair, [one, two, three, four])
>>> torch.allclose(output, expected)
True

--8<-- [end:example-pairs]

Numbers held and sent, for 131,072 keys in 32 parts and heads of width 128:

--8<-- [start:example-sent]
>>> from snippets.io.split import numbers_held, numbers_sent
>>> numbers_held(131072, 128, 128), numbers_sent(32, 128)
(33554432, 4128)

--8<-- [end:example-sent]

Steps with a worker for each part, and a merge in sequence:

--8<-- [start:example-steps]
>>> from snippets.io.split import sequential_steps
>>> [sequential_steps(65536, parts) for parts in (1, 16, 256, 4096)]
[65537, 4112, 512, 4112]

--8<-- [end:example-steps]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import scores as scores_of
from snippets.attention.formula import upcast
from snippets.blocks.merge import change_reference


# --8<-- [start:partial_attention]
def partial_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
) -> tuple[Float[Tensor, "*batch n d_v"], Float[Tensor, "*batch n 1"]]:
    """The output over some of the keys, and its log-sum; 0 and -inf without keys."""
    scores = scores_of(upcast(query), upcast(key))
    log_sum = torch.logsumexp(scores, dim=-1, keepdim=True)
    output = change_reference(1.0, scores, log_sum) @ upcast(value)
    return output, log_sum.expand(*output.shape[:-1], 1)


# --8<-- [end:partial_attention]


# --8<-- [start:merge_outputs]
def merge_outputs(
    outputs: Float[Tensor, "p *batch n d_v"],
    log_sums: Float[Tensor, "p *batch n 1"],
) -> tuple[Float[Tensor, "*batch n d_v"], Float[Tensor, "*batch n 1"]]:
    """Merge p parts into an output and its log-sum."""
    reference = log_sums.amax(0)  # -inf where all parts are empty
    shares = change_reference(
        1.0, log_sums, reference
    )  # (p, *batch, n, 1), at most 1
    total = shares.sum(0)
    filled = total.masked_fill(total == 0, 1)  # or the gradient would be NaN
    return (shares * outputs).sum(0) / filled, reference + filled.log()


def merge_numbers(
    answers: Float[Tensor, " p"], log_sums: Float[Tensor, " p"]
) -> Float[Tensor, ""]:
    """The same for one query and one feature."""
    return merge_outputs(answers.view(-1, 1, 1), log_sums.view(-1, 1, 1))[
        0
    ].squeeze()


def attention_in_parts(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch m d_k"],
    value: Float[Tensor, "*#batch m d_v"],
    *,
    parts: int = 1,
    size: int | None = None,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention over keys in parts, or in parts of `size` keys: Dao et al. (2023)."""
    size = size or -(-key.shape[-2] // parts)  # rounded up
    pieces = zip(key.split(size, -2), value.split(size, -2), strict=True)
    outputs, log_sums = zip(
        *(partial_attention(query, k, v) for k, v in pieces)
    )
    output, _ = merge_outputs(torch.stack(outputs), torch.stack(log_sums))
    return output.to(query.dtype)


# --8<-- [end:merge_outputs]


# --8<-- [start:counts]
def numbers_held(n: int, d_k: int, d_v: int) -> int:
    """Numbers in the keys and values of one head."""
    return n * (d_k + d_v)


def numbers_sent(parts: int, d_v: int) -> int:
    """Numbers that all parts send for one query of one head."""
    return parts * (d_v + 1)


def sent_to_held(keys: int, d_k: int, d_v: int) -> float:
    """Numbers that a part sends, relative to the numbers that it holds."""
    return numbers_sent(1, d_v) / numbers_held(keys, d_k, d_v)


def sequential_steps(n: int, parts: int) -> int:
    """One step for each key of a part, all parts at once; then one for each part."""
    return n // parts + parts


# --8<-- [end:counts]
