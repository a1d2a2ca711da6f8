"""How the sum of a row scatters under dropout."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from snippets.attention.dropout import dropout


def sums() -> Picture:
    rows = torch.full((100_000, 8), 1 / 8, dtype=torch.float64)
    found = dropout(rows, p=0.1, generator=torch.Generator().manual_seed(0)).sum(-1).round(decimals=6)
    values, counts = found.unique(return_counts=True)
    shown = [(value, count / len(found)) for value, count in zip(values.tolist(), counts.tolist()) if count >= 0.005 * len(found)]
    return curves(
        [("", *zip(*shown), True)],
        x_ticks=(0.7, 0.8, 0.9, 1, 1.1),
        y_range=(0, 0.5),
        across="sum of a row",
        up="share of rows",
        title="The sum of eight equal weights after dropout",
        description="Sums, and the share of rows that have them: " + "; ".join(f"{value:.2f}: {share:.2f}" for value, share in shown) + ".",
    )
