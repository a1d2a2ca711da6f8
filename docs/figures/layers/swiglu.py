"""A picture of SiLU at three steepnesses."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.layers.swiglu import swish


def gates() -> Picture:
    z = torch.linspace(-4, 4, 81, dtype=torch.float64)
    names = {0.1: "a tenth as steep", 1.0: "SiLU", 10.0: "ten times as steep"}
    drawn = {steepness: swish(z, steepness=steepness) for steepness in names}
    lowest = drawn[1.0].min().item()
    return curves(
        [(name, z.tolist(), drawn[steepness].tolist()) for steepness, name in names.items()],
        across="input",
        up="output",
        title="A number times a sigmoid of it, for three steepnesses",
        description=f"The flattest curve is close to half of the number. SiLU dips to {lowest:.2f} left of zero and approaches the number itself "
        "on the right. The steepest curve is close to zero on the left and to the number on the right.",
    )
