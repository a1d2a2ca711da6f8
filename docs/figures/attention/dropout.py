"""The sums of a row after dropout."""

import torch

from derivations.kernel.site.diagrams import Picture, bars
from snippets.attention.dropout import dropout


def sums() -> Picture:
    rows = torch.full((100_000, 8), 1 / 8, dtype=torch.float64)
    found = dropout(rows, p=0.1, generator=torch.Generator().manual_seed(0)).sum(-1)
    kept = [sum_of.item() for sum_of in torch.arange(5, 9) / 8 / (1 - 0.1)]  # of five weights and more
    shares = {value: ((found - value).abs() < 1e-6).double().mean().item() for value in [*kept, 1.0]}
    shown = [(f"sum {value:.2f}", shares[value]) for value in sorted(shares, reverse=True)]
    shown.append(("less than that", 1 - sum(shares.values())))
    return bars(
        shown,
        digits=3,
        title="The sum of eight equal weights after dropout",
        description="The share of rows by their sum: " + "; ".join(f"{name}: {share:.3f}" for name, share in shown) + ".",
    )
