"""What the two heads of the trained model do, and what their weights do not show.

Where each head looks:

--8<-- [start:example-look]
>>> import torch
>>> from snippets.seeing.heads import head_weights, read_association
>>> from snippets.seeing.recall import draw_cases, load
>>> model = load("attention")
>>> tokens, answers = draw_cases(
...     2_000, held_out=False, generator=torch.Generator().manual_seed(2))
>>> first, second = head_weights(model, tokens)  # (2000, 15, 15) each
>>> place = torch.arange(1, 14)
>>> before = first[:, place, place - 1]  # (2000, 13): on the one before
>>> print(f"first head, on the letter before: mean {before.mean():.3f}, "
...       f"least {before.amin():.2f}")
first head, on the letter before: mean 0.995, least 0.76
>>> most = second[:, -1].amax(-1)  # (2000): of the question, the largest
>>> print(f"second head, from the question: mean {most.mean():.3f}, "
...       f"least {most.amin():.2f}")
second head, from the question: mean 0.990, least 0.50
>>> right = read_association(second, tokens) == answers
>>> print(f"and that is on the answer in {right.double().mean():.1%} of the cases")
and that is on the answer in 100.0% of the cases

--8<-- [end:example-look]

The weights of each head replaced in turn, on 2,000 questions of a kind that training asks:

--8<-- [start:example-replace]
>>> from snippets.seeing.heads import replacements
>>> from snippets.seeing.recall import accuracy
>>> for place, own in enumerate((first, second)):
...     for kind, given in replacements(own).items():
...         weights = [given, None] if place == 0 else [None, given]
...         share = accuracy(model, tokens, answers, weights=weights)
...         print(f"head {place + 1}, weights {kind:10} {share:6.1%}")
head 1, weights its own    100.0%
head 1, weights their mean 100.0%
head 1, weights uniform     12.8%
head 1, weights none         7.6%
head 2, weights its own    100.0%
head 2, weights their mean   7.6%
head 2, weights uniform      8.1%
head 2, weights none         8.2%

--8<-- [end:example-replace]

One row of tokens, read through both heads:

--8<-- [start:example-row]
>>> from snippets.seeing.recall import read, spell
>>> row = read("h f c n k b p e d j m a o i k")
>>> first, second = head_weights(model, row)
>>> guess = model(row).argmax()
>>> spell(read_association(second, row).view(1)), spell(guess.view(1))
('b', 'b')
>>> path = second @ first  # (15, 15): from the question to where it stood before
>>> spell(read_association(path, row).view(1))
'k'

--8<-- [end:example-row]

Other weights for the question, and the same output:

--8<-- [start:example-same]
>>> from snippets.seeing.heads import other_weights
>>> x = model.letter(row) + model.place.weight  # (15, 16)
>>> for name, head in zip(("first", "second"), model.heads):
...     weights, value = head.weights(x)[-1], head.value(x)  # (15), (15, 8)
...     other = other_weights(weights, value)
...     same = torch.allclose(other @ value, weights @ value)
...     print(f"{name:6} head   largest weight {weights.max():.2f}   "
...           f"changed by up to {(other - weights).abs().max():.2f}   "
...           f"same output {same}")
...     x = x + head(x)
first  head   largest weight 0.14   changed by up to 0.14   same output True
second head   largest weight 1.00   changed by up to 0.00   same output True

--8<-- [end:example-same]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.seeing.recall import Recall


# --8<-- [start:two-heads]
def second_head(
    A: Float[Tensor, "*#batch n n"],
    B: Float[Tensor, "*#batch n n"],
    X: Float[Tensor, "*#batch n d"],
    W: Float[Tensor, "*#batch d d"],
    U: Float[Tensor, "*#batch d d"],
) -> Float[Tensor, "*batch n d"]:
    """The output of a head with weights B, after one with weights A has added to
    the tokens X.

    W and U are the heads' values and outputs, each merged to one matrix.
    """
    return B @ (X + A @ X @ W) @ U


# --8<-- [end:two-heads]


# --8<-- [start:other]
def other_weights(
    weights: Float[Tensor, " m"], value: Float[Tensor, "m d_v"]
) -> Float[Tensor, " m"]:
    """Other weights with the same output: moved towards uniform ones until one
    of them is zero."""
    ones = torch.ones_like(value[:, :1])
    known = torch.cat([value, ones], dim=-1)  # (m, d_v + 1): and their sum
    change = 1 / len(weights) - weights
    # What neither output nor sum sees of it.
    change = change - known @ torch.linalg.pinv(known) @ change
    if change.abs().max() < torch.finfo(weights.dtype).eps ** 0.5:
        return weights  # but for rounding, the output determines them
    falling = change < 0
    return weights + (weights[falling] / -change[falling]).min() * change


# --8<-- [end:other]


# --8<-- [start:weights]
def head_weights(
    model: Recall, tokens: Int[Tensor, "*batch 15"]
) -> list[Float[Tensor, "... n n"]]:
    """The weights of each head, first to last, on the same tokens."""
    x, found = model.letter(tokens) + model.place.weight, []  # (*batch, n, d)
    for head in model.heads:
        found.append(head.weights(x))
        x = x + head(x)
    return found


# --8<-- [end:weights]


# --8<-- [start:read]
def read_association(
    weights: Float[Tensor, "*batch n m"], tokens: Int[Tensor, "*batch m"]
) -> Int[Tensor, "*batch"]:
    """The token to which the last one gives the most weight."""
    place = weights[..., -1, :].argmax(-1, keepdim=True)
    return tokens.gather(-1, place).squeeze(-1)


# --8<-- [end:read]


# --8<-- [start:replace]
def uniform_weights(
    n: int,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "{n} {n}"]:
    """Each token gives the same weight to itself and to each one before it."""
    lower = torch.ones(n, n, dtype=dtype, device=device).tril()
    return lower / lower.sum(-1, keepdim=True)


def replacements(
    weights: Float[Tensor, "count n n"],
) -> dict[str, Float[Tensor, "n n"] | None]:
    """Replacements for a head's weights on many rows of tokens."""
    mean = weights.mean(0)
    return {
        "its own": None,
        "their mean": mean,
        "uniform": uniform_weights(
            len(mean), dtype=mean.dtype, device=mean.device
        ),
        "none": torch.zeros_like(mean),
    }


# --8<-- [end:replace]
