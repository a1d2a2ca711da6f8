"""Pictures of what YaRN does to the frequencies of RoPE."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.order.positions import frequencies
from snippets.positions.interpolation import ntk_base
from snippets.positions.yarn import yarn_frequencies, yarn_frequencies_by_pair


def divided() -> Picture:
    plain = frequencies(128, dtype=torch.float64)
    based = frequencies(128, base=ntk_base(10000.0, 16.0, d_k=128), dtype=torch.float64)
    yarn = plain / yarn_frequencies(plain, s=16.0, trained=4096)
    code = plain / yarn_frequencies_by_pair(128, s=16.0, trained=4096)
    first, full = (yarn > 1).nonzero()[0].item(), (yarn > 15.999).nonzero()[0].item()
    pair = torch.arange(1, 65)
    return curves(
        [
            ("PI", pair, torch.full((64,), 16.0)),
            ("NTK-aware", pair, plain / based),
            ("YaRN", pair, yarn),
            ("YaRN in code", pair, code),
        ],
        across="pair, from fast to slow",
        up="frequency divided by",
        log="y",
        x_ticks=(1, 16, 32, 48, 64),
        y_ticks=(1, 2, 4, 8, 16),
        title="Divisors of 64 frequencies, for a text 16 times as long as 4096 positions",
        description=f"YaRN leaves the first {first} pairs as they are and divides the last {64 - full} by 16, as PI does. "
        "In between, the divisor rises nearly along a straight line on the logarithmic scale. With the ramp of the authors' code, it begins "
        "and ends at the same pairs and is far lower in between: it rises slowly at first and steeply at the end.",
    )
