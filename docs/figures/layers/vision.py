"""A picture of the mean squares of interpolated positions."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.layers.vision import resize_positions

SIDE = 8


def lengths() -> Picture:
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(SIDE, SIDE, 256, generator=generator, dtype=torch.float64)
    larger = resize_positions(table, rows=SIDE, columns=8 * (SIDE - 1) + 1)
    squares = larger.square().mean(-1).mean(0)  # (57,)
    places = torch.linspace(1, SIDE, len(squares)).tolist()
    return curves(
        [("interpolated", places, squares.tolist()), ("learned", places[::8], squares[::8].tolist(), True)],
        across="place in the old grid",
        up="mean square",
        title="Random positions, interpolated along a row",
        description=f"At the {SIDE} places of the old grid the mean square of a feature is about {squares[::8].mean():.2f}; halfway between it falls to about "
        f"{squares[4::8].mean():.2f}, in an arc each time.",
        y_range=(0.0, 1.2),
    )
