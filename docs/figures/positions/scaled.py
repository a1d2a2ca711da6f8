"""The share of its frequency that each pair keeps in Llama 3.1, and with the borders of YaRN."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.order.positions import frequencies
from snippets.positions.scaled import count_pairs, llama3_frequencies
from snippets.positions.yarn import rotations, yarn_frequencies

TRAINED, FACTOR, LOW, HIGH = 8192, 8.0, 1.0, 4.0
START, END = 1.0, 32.0


def shares() -> Picture:
    omega = frequencies(128, base=500_000.0, dtype=torch.float64)
    llama = 100 * llama3_frequencies(omega, s=FACTOR, trained=TRAINED, low=LOW, high=HIGH) / omega
    yarn = 100 * yarn_frequencies(omega, s=FACTOR, trained=TRAINED, start=START, end=END) / omega
    kept, blended, divided = count_pairs(omega, trained=TRAINED, low=LOW, high=HIGH)
    pair = torch.arange(1, 65)
    picture = curves(
        [("Llama 3.1", pair, llama), ("YaRN", pair, yarn)],
        across="pair, from fast to slow",
        up="percent",
        x_ticks=(1, 16, 32, 48, 64),
        y_range=(0, 100),
        title="Share of its frequency that each pair keeps, for a text 8 times as long as 8192 positions",
        description=f"Llama 3.1 keeps {kept} pairs, blends {blended} and divides {divided} by eight. "
        "With the borders of YaRN, the curve falls earlier and reaches the same level at the same pair.",
    )
    return played(
        picture,
        turns=rotations(omega, length=TRAINED).tolist(),
        factors=[2, 4, 8, 16, 32],
        factor=8,
        lows=[0.5, 1, 1.5],
        low=1,
        highs=[2, 4, 8, 16, 32, 64],
        high=4,
        start=START,
        end=END,
    )
