"""Loads of four experts while their biases move."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.layers.routing import balance_by_bias, uneven_affinity

STEPS, RATE, FIRST = 150, 0.005, 30
MARKS = (0, 0.5, 1, 1.5, 2, 2.5)
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


def loads() -> Picture:
    noise = torch.randn(64, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    affinity = uneven_affinity(noise, lead=0.5).round(decimals=6)  # short numbers for the widget; the loads stay the same
    found, _ = balance_by_bias(affinity, k=1, rate=RATE, steps=STEPS)
    shares = found / found[0].mean()
    picture = curves(
        [(f"expert {e + 1}", range(STEPS + 1), shares[:, e].tolist()) for e in range(shares.shape[1])],
        x_ticks=(0, 50, 100, 150),
        y_range=(0, 2.5),
        y_ticks=MARKS,
        across="steps",
        up="load, in mean loads",
        title=f"Loads of four experts while the biases move by {RATE} in each step",
        description="The four curves begin at "
        + ", ".join(f"{share:.2f}" for share in shares[0].tolist())
        + " mean loads, approach one, and end at "
        + ", ".join(f"{share:.2f}" for share in shares[-1].tolist())
        + ".",
    )
    return played(picture, affinity=affinity.tolist(), rates=list(RATES), rate=RATE, steps=STEPS, first=FIRST, marks=list(MARKS))
