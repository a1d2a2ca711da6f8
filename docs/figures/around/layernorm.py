"""Pictures of tokens before and after normalisation, and of post-norm and pre-norm."""

import torch

from derivations.kernel.site.diagrams import Picture, below, beside, heat_map, operations
from snippets.around.layernorm import layer_norm


def tokens() -> Picture:
    X = torch.tensor([[1.0, 2, 3, 6], [11, 12, 13, 16], [-2, -4, -6, -12], [0.1, 0.1, 0.1, 0.2]]).double()
    rows = ["a token", "plus 10", "times -2", "nearly flat"]
    before = heat_map(X, rows, digits=1, most=16, title="Before", description="Rows " + "; ".join(map(_said, rows, X)) + ".")
    after = heat_map(layer_norm(X), rows, digits=2, title="After", description="Rows " + "; ".join(map(_said, rows, layer_norm(X))) + ".")
    return below(before, after, title="Four tokens before and after layer normalisation")


def places() -> Picture:
    after = operations(
        {"x": ("token", 0, 0, "$d$"), "block": ("block", 1, 1), "add": ("add", 0, 2), "norm": ("norm", 0, 3), "y": ("token", 0, 4, "$d$")},
        [("x", "block"), ("x", "add"), ("block", "add"), ("add", "norm"), ("norm", "y")],
        title="After",
        description="A token goes through a block; its output is added to the token, and the sum is normalised.",
    )
    before = operations(
        {"x": ("token", 0, 0, "$d$"), "norm": ("norm", 1, 1), "block": ("block", 1, 2), "add": ("add", 0, 3), "y": ("token", 0, 4, "$d$")},
        [("x", "norm"), ("norm", "block"), ("x", "add"), ("block", "add"), ("add", "y")],
        title="Before",
        description="A token is normalised and goes through a block; its output is added to the token.",
    )
    return beside(after, before, title="Post-norm and pre-norm")


def _said(name: str, row: torch.Tensor) -> str:
    return f"{name}: " + ", ".join(f"{x:.2f}" for x in row.tolist())
