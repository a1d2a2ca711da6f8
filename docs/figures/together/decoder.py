"""A picture of what Llama 3.1 and YaRN do to the frequencies of RoPE."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.order.positions import frequencies
from snippets.positions.yarn import yarn_frequencies


def ramps() -> Picture:
    plain = frequencies(128, base=500000.0, dtype=torch.float64)
    llama, yarn = (plain / yarn_frequencies(plain, s=8.0, trained=8192, start=1.0, end=end) for end in (4.0, 32.0))
    pair = torch.arange(1, 65)
    kept = [int((divisor < 1.0001).sum()) for divisor in (llama, yarn)]
    slowed = int((llama > 7.9999).sum())
    return curves(
        [("Llama 3.1", pair, llama), ("YaRN", pair, yarn)],
        across="pair, from fast to slow",
        up="frequency divided by",
        log="y",
        x_ticks=(1, 16, 32, 48, 64),
        y_ticks=(1, 2, 4, 8),
        title="Divisors of the 64 frequencies of a head of Llama 3.1, and YaRN's for the same length",
        description=f"Both divide the last {slowed} pairs by 8. Llama 3.1 leaves the first {kept[0]} pairs as they are, YaRN the first {kept[1]}. In "
        "between, the divisor rises on a ramp.",
    )
