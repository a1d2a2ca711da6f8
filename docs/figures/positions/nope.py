"""The error of positions that are recovered from a signal, in two number formats."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.positions.nope import counting_errors, start_signal

MOST = 300
FORMATS = {"fp32": (torch.float32, 24), "fp16": (torch.float16, 11), "bf16": (torch.bfloat16, 8)}  # with their significant bits


def errors() -> Picture:
    positions = list(range(1, MOST + 1))
    signal = start_signal(MOST)
    drawn = {name: counting_errors(signal.to(FORMATS[name][0])) for name in ("bf16", "fp16")}
    largest = {name: error.abs().max().item() for name, error in drawn.items()}
    picture = curves(
        [(name, positions, error.tolist()) for name, error in drawn.items()],
        x_ticks=(1, 100, 200, 300),
        y_range=(-1, 1),
        across="position",
        up="error",
        title="Error of the position that is recovered from the signal",
        description=f"Up to position {MOST}, the error in bf16 swings between both signs and reaches {largest['bf16']:.2f}. "
        f"In fp16 it reaches {largest['fp16']:.2f}.",
    )
    return played(
        picture,
        formats=list(FORMATS),
        bits=[bits for _, bits in FORMATS.values()],
        format=2,
        positions=positions,
        position=190,
    )
