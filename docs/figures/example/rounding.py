"""A picture of an output with exact and with rounded weights."""

import torch

from derivations.kernel.site.diagrams import Picture, bars
from snippets.example.closed import closed_weights
from snippets.example.integers import project_tokens, projections, tokens
from snippets.example.rounding import to_places


def outputs() -> Picture:
    V, P = project_tokens(tokens(), projections()[2]), closed_weights()
    kinds = {"exact": P[0], "rounded": to_places(P[0], places=1), "the source": torch.tensor([0.0, 0.5, 0.5]).double()}
    rows = [(f"feature {feature + 1}, {kind}", (row @ V)[feature].item()) for feature in range(3) for kind, row in kinds.items()]
    return bars(
        [*rows[:3], None, *rows[3:6], None, *rows[6:]],
        digits=4,
        title="The first output with exact weights, rounded weights, and those of the source",
        description="; ".join(f"{label}: {value:.4f}" for label, value in rows) + ".",
    )
