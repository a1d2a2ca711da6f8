"""Pictures of a soft cap beside a clip, and of their derivatives."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.bounds.softcap import soft_cap


def caps() -> Picture:
    xs = torch.linspace(-150, 150, 121, dtype=torch.float64)
    soft, hard = soft_cap(xs, cap=50.0), xs.clamp(-50, 50)
    picture = curves(
        [("soft cap", xs.tolist(), soft.tolist()), ("clip", xs.tolist(), hard.tolist())],
        x_ticks=(-150, -50, 0, 50, 150),
        y_ticks=(-50, 0, 50),
        across="score",
        up="capped score",
        title="A soft cap of 50 and a clip at 50",
        description="The clip follows the score from -50 to 50 and is constant beyond. The soft cap bends away earlier: "
        f"at a score of 50 it has reached {soft[80]:.1f}, at 100 {soft[100]:.1f}, and it keeps rising towards 50.",
    )
    return played(picture, scores=[0, 4, 8, 16], cap=8)


def slopes() -> Picture:
    xs = torch.linspace(-150, 150, 121, dtype=torch.float64, requires_grad=True)
    soft, hard = (torch.autograd.grad(capped.sum(), xs)[0] for capped in (soft_cap(xs, cap=50.0), xs.clamp(-50, 50)))
    along = xs.detach().tolist()
    return curves(
        [("soft cap", along, soft.tolist()), ("clip", along, hard.tolist())],
        x_ticks=(-150, -50, 0, 50, 150),
        y_range=(0, 1),
        across="score",
        up="derivative",
        title="The derivatives of a soft cap and of a clip",
        description="The derivative of the clip is 1 from -50 to 50 and 0 beyond. That of the soft cap is 1 only at a score of 0, "
        f"{soft[80]:.2f} at 50, {soft[100]:.2f} at 100 and {soft[120]:.2f} at 150.",
    )
