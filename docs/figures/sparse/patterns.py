"""A picture of many small weights."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from snippets.sparse.patterns import tail_weight

COUNTS = [round(10 ** (k / 4)) for k in range(29)]  # 1 to 10 million


def tail() -> Picture:
    drawn = []
    for lead in (5, 10, 15):
        gap = torch.tensor(float(lead), dtype=torch.float64)
        drawn.append((f"lead of {lead}", COUNTS, [tail_weight(gap, m=m).item() for m in COUNTS]))
    last = [found[-1] for _, _, found in drawn]
    return curves(
        drawn,
        across="other keys",
        up="their weight",
        log="x",
        y_ticks=(0, 0.5, 1),
        title="The weight of all keys but the one that leads",
        description="Each curve rises from nothing to nearly all of the weight, half of it where there are as many other keys as the "
        f"exponential of the lead. With ten million of them, the weights are {last[0]:.2f}, {last[1]:.2f} and {last[2]:.2f}.",
    )
