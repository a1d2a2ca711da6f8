"""Pictures of scores by distance."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from snippets.order.positions import frequencies
from snippets.order.rotary import mean_cosine


def decay() -> Picture:
    distance = torch.arange(0, 100.5, 0.5, dtype=torch.float64)
    drawn = [
        (name, distance, mean_cosine(distance, frequencies(d, dtype=torch.float64)))
        for name, d in (("2 features", 2), ("8 features", 8), ("128 features", 128))
    ]
    many = drawn[2][2]
    return curves(
        drawn,
        across="distance",
        up="score",
        x_ticks=(0, 25, 50, 75, 100),
        y_ticks=(-1, 0, 1),
        title="The score of a vector with itself, turned to a distance",
        description="With 2 features it is a cosine, which goes up and down for ever. With 8 features three slower waves are added. "
        f"With 128 features it falls from 1 to {many[-1]:.2f} at distance 100, but not at every step.",
    )
