"""How the sum of a row scatters under dropout."""

import torch

from derivations.kernel.pages.drawing import Picture, bars
from snippets.attention.dropout import dropout


def sums() -> Picture:
    rows = torch.full((100_000, 8), 1 / 8, dtype=torch.float64)
    found = dropout(rows, p=0.1, generator=torch.Generator().manual_seed(0)).sum(-1)
    shares = [
        (f"{value:.2f}", (found - value).abs().lt(0.01).double().mean().item()) for value in found.unique().round(decimals=4).unique()
    ]
    shown = [(label, share) for label, share in shares if share >= 0.005]
    return bars(
        shown,
        title="The sum of eight equal weights after dropout",
        description="Sums, and the share of rows that have them: " + "; ".join(f"{label}: {share:.2f}" for label, share in shown) + ".",
    )
