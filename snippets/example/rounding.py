"""What rounding the weights to one decimal place does to the outputs.

--8<-- [start:example-rounded]
>>> import torch
>>> from snippets.example.integers import project_tokens, projections, tokens
>>> from snippets.example.rounding import to_places
>>> from snippets.attention.formula import attention_weights
>>> Q, K, V = (project_tokens(tokens(), W) for W in projections())
>>> P = attention_weights(Q, K, scale=1.0)
>>> rounded = to_places(P, places=1)
>>> for row, output, exact in zip(rounded, rounded @ V, P @ V):
...     print(*(f"{w:.1f}" for w in row), f"  sum {row.sum():.1f}   output",
...           *(f"{one:.1f}" for one in output), "  exactly",
...           *(f"{one:.4f}" for one in exact))
0.1 0.5 0.5   sum 1.1   output 2.1 7.2 1.8   exactly 1.9366 6.6831 1.5951
0.0 1.0 0.0   sum 1.0   output 2.0 8.0 0.0   exactly 2.0000 7.9640 0.0540
0.0 0.9 0.1   sum 1.0   output 2.0 7.8 0.3   exactly 1.9997 7.7599 0.3584

--8<-- [end:example-rounded]

The source's weights for the first token:

--8<-- [start:example-source]
>>> source = torch.tensor([[0.0, 0.5, 0.5]]).double()
>>> (source @ V).tolist()
[[2.0, 7.0, 1.5]]
>>> to_places(P[:1] @ V, places=1).tolist()  # rounded once, at the end
[[1.9, 6.7, 1.6]]

--8<-- [end:example-source]

The error of each output, and its bound:

--8<-- [start:example-bound]
>>> from snippets.example.rounding import gap_bound, output_gap
>>> for name, other in (("one place", rounded[0]), ("the source", source[0])):
...     gap, bound = output_gap(P[0], other, V), gap_bound(P[0], other, V)
...     print(f"{name:10}   gap", *(f"{one:.2f}" for one in gap),
...           "  bound", *(f"{one:.2f}" for one in bound))
one place    gap 0.16 0.52 0.20   bound 0.17 0.59 0.25
the source   gap 0.06 0.32 0.10   bound 0.23 0.79 0.33

--8<-- [end:example-bound]

Rounding scores differs from rounding weights:

--8<-- [start:example-scores]
>>> z = torch.tensor([0.0, 0.5]).double()
>>> to_places(torch.softmax(z, -1), places=1).tolist()
[0.4, 0.6]
>>> torch.softmax(to_places(z, places=0), -1).tolist()
[0.5, 0.5]

--8<-- [end:example-scores]
"""

from jaxtyping import Float
from torch import Tensor


# --8<-- [start:round]
def to_places(
    x: Float[Tensor, "*shape"], *, places: int
) -> Float[Tensor, "*shape"]:
    """Each entry, rounded to the given number of decimal places; a tie goes to the
    even digit."""
    return x.round(decimals=places)


# --8<-- [end:round]


# --8<-- [start:gap]
def output_gap(
    p: Float[Tensor, "*#batch m"],
    r: Float[Tensor, "*#batch m"],
    V: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch d_v"]:
    """The error of the output with weights r instead of p, in each feature."""
    return ((r - p).unsqueeze(-2) @ V).squeeze(-2).abs()


def gap_bound(
    p: Float[Tensor, "*#batch m"],
    r: Float[Tensor, "*#batch m"],
    V: Float[Tensor, "*#batch m d_v"],
) -> Float[Tensor, "*batch d_v"]:
    """A bound on that error: the length of r - p times the length of each column of
    V."""
    return (r - p).norm(dim=-1, keepdim=True) * V.norm(dim=-2)


# --8<-- [end:gap]
