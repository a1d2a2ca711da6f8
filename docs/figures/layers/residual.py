"""A picture of how far each write turns the stream."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from snippets.layers.residual import cosines, random_stack

COUNT = 48


def depth() -> Picture:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(256, generator=generator, dtype=torch.float64)
    measured = cosines(random_stack(x, count=COUNT, generator=generator)).square().tolist()
    scaled = cosines(random_stack(x, count=COUNT, scale=COUNT**-0.5, generator=generator)).square().tolist()
    places = list(range(1, COUNT + 1))
    return curves(
        [
            ("as proved", places, [place / (place + 1) for place in places]),
            ("measured", places, measured, True),
            ("writes made smaller", places, scaled),
        ],
        across="write",
        up="squared cosine",
        title="How far a write turns the stream",
        description=f"The squared cosine between the stream before and after each of {COUNT} writes. It begins near {measured[0]:.2f} and ends at "
        f"{measured[-1]:.2f}, close to the curve. With writes over the root of their number it lies between {min(scaled):.2f} and {max(scaled):.2f}.",
        y_range=(0.4, 1.0),
    )
