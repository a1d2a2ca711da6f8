"""A picture of what normalising does to tokens."""

import torch

from derivations.kernel.pages.drawing import Picture, below, heat_map
from snippets.around.layernorm import layer_norm


def tokens() -> Picture:
    X = torch.tensor([[1.0, 2, 3, 6], [11, 12, 13, 16], [-2, -4, -6, -12], [0.1, 0.1, 0.1, 0.2]]).double()
    rows = ["a token", "shifted", "turned around", "nearly flat"]
    before = heat_map(X, rows, digits=1, most=16, title="Before", description="Rows " + "; ".join(map(_said, rows, X)) + ".")
    after = heat_map(layer_norm(X), rows, digits=2, title="After", description="Rows " + "; ".join(map(_said, rows, layer_norm(X))) + ".")
    return below(before, after, title="Four tokens before and after layer normalisation")


def _said(name: str, row: torch.Tensor) -> str:
    return f"{name}: " + ", ".join(f"{x:.2f}" for x in row.tolist())
