"""Pictures of what scaling does to the frequencies of RoPE."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.order.positions import frequencies
from snippets.positions.interpolation import ntk_base


def divided() -> Picture:
    plain = frequencies(128, dtype=torch.float64)
    scaled = frequencies(128, base=ntk_base(10000.0, 16.0, d_k=128), dtype=torch.float64)
    pair = torch.arange(1, 65)
    return curves(
        [("PI", pair, torch.full((64,), 16.0)), ("NTK-aware", pair, plain / scaled)],
        across="pair, from fast to slow",
        up="frequency divided by",
        log="y",
        x_ticks=(1, 16, 32, 48, 64),
        y_ticks=(1, 2, 4, 8, 16),
        title="Divisors of 64 frequencies, for a text 16 times as long",
        description="PI divides all by 16. NTK-aware scaling divides the first by 1 and the last by 16, "
        "along a straight line on the logarithmic scale.",
    )
