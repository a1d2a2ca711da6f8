"""Pictures of how weights decay under ALiBi."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.positions.alibi import decay, slopes


def decays() -> Picture:
    distance, slope = torch.arange(0, 257, dtype=torch.float64), slopes(8, dtype=torch.float64)
    picture = curves(
        [(f"1/{round(1 / slope[k].item())}", distance, decay(distance, slope=slope[k].item())) for k in (7, 5, 3, 0)],
        across="distance",
        up="factor on the weight",
        x_ticks=(0, 64, 128, 192, 256),
        y_ticks=(0, 0.5, 1),
        title="The factor of ALiBi on weights, for four of eight heads",
        description="Each curve decreases from 1 by equal ratios. With a slope of 1/2 it is near zero after ten positions, "
        f"with a slope of 1/256 it is still {decay(distance, slope=slope[7].item())[-1]:.2f} at distance 256.",
    )
    return played(picture, slopes=slope.tolist(), first=2, distances=[*range(32, -1, -1)])
