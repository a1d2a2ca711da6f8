"""The weight of the first of three keys, in four ways, by its score."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.softmax.entmax import entmax, sparsemax

SCORES = [2.0, 1.5, 0.0]
CHOICES = [k / 10 for k in range(-30, 31)]


def leads() -> Picture:
    first = torch.linspace(-3, 3, 121, dtype=torch.float64)
    rows = torch.stack([first, torch.zeros_like(first)], dim=-1)
    drawn = {
        "softmax": rows.softmax(-1)[:, 0],
        "entmax 1.5": entmax(rows, alpha=1.5)[:, 0],
        "sparsemax": sparsemax(rows)[:, 0],
    }
    ends = {name: (first[weight == 0].amax().item() if (weight == 0).any() else None) for name, weight in drawn.items()}
    picture = curves(
        [(name, first.tolist(), weight.tolist()) for name, weight in drawn.items()],
        x_ticks=(-3, -2, -1, 0, 1, 2, 3),
        y_range=(0, 1),
        across="lead of the key",
        up="weight",
        title="The weight of one of two keys by its lead over the other",
        description="All three curves rise from the left to the right through a half. "
        f"The one of sparsemax is straight and is zero up to a lead of {ends['sparsemax']:.0f}, the one of entmax up to {ends['entmax 1.5']:.0f}, "
        f"and the one of softmax is above zero everywhere: {drawn['softmax'][0]:.2f} at the left end.",
    )
    return played(picture, scores=SCORES, choices=CHOICES)
