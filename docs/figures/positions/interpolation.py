"""Pictures of what scaling does to the frequencies of RoPE."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.order.positions import frequencies
from snippets.positions.interpolation import ntk_base

BASE, WIDTH, TRAINED, TIMES = 10000.0, 128, 2048, 4


def angles() -> Picture:
    pair, end = 48, TIMES * TRAINED
    plain = frequencies(WIDTH, base=BASE, dtype=torch.float64)
    scaled = frequencies(WIDTH, base=ntk_base(BASE, TIMES, d_k=WIDTH), dtype=torch.float64)
    slowed = {"unchanged": plain[pair - 1], "NTK-aware": scaled[pair - 1], "PI": plain[pair - 1] / TIMES}
    position = torch.arange(0, end + 1, TRAINED, dtype=torch.float64)
    angle = plain[pair - 1] * position  # unchanged; the training ends at the second of them
    reach = angle[1].item()
    picture = curves(
        [
            *((name, position, position * omega) for name, omega in slowed.items()),
            ("range of training", position[[0, 1, 1]], angle[[1, 1, 0]]),
        ],
        across="position",
        up=f"angle of pair {pair}, in radians",
        x_ticks=[times * TRAINED for times in range(TIMES + 1)],
        title=f"The angle of one pair in a text {TIMES} times as long as in training",
        description=f"The training ends at position {TRAINED:,}, where the angle is {reach:.2f}. At position {end:,} it is "
        + ", ".join(
            f"{omega * end:.2f} {how}" for omega, how in zip(slowed.values(), ("without a change", "under NTK-aware scaling", "under PI"))
        )
        + ".",
    )
    return played(picture, omega=plain.tolist(), base=BASE, trained=TRAINED, times=TIMES, factor=TIMES, pair=pair)


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
