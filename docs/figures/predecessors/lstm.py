"""Pictures of the paths through a cell."""

import torch

from derivations.kernel.site.diagrams import Picture, curves, operations
from snippets.predecessors.lstm import cell_path, gate, opening_gates


def cell() -> Picture:
    return operations(
        {
            "c": ("cell", 0, 0, "$d$"),
            "h": ("output", 1, 0, "$d$"),
            "x": ("token", 2, 0, "$p$"),
            "gates": ("gates", 2, 1),
            "candidate": ("candidate", 1, 1),
            "keep": ("keep", 0, 2),
            "let": ("let in", 1, 2),
            "add": ("add", 0, 3),
            "new": ("new cell", 0, 4, "$d$"),
            "out": ("let out", 2, 4),
            "o": ("new output", 2, 5, "$d$"),
        },
        [
            ("c", "keep"),
            ("h", "gates"),
            ("x", "gates"),
            ("h", "candidate"),
            ("x", "candidate"),
            ("gates", "keep"),
            ("gates", "let"),
            ("candidate", "let"),
            ("let", "add"),
            ("keep", "add"),
            ("add", "new"),
            ("new", "out"),
            ("gates", "out"),
            ("out", "o"),
        ],
        title="The paths through an LSTM cell",
        description="The new cell is the old cell times the forget gate, plus the candidate times the input gate. "
        "Gates and candidate are computed from the last output and the token. The new output is tanh of the new cell, times the output gate.",
    )


def gates() -> Picture:
    steps = [2 ** (power / 2) for power in range(25)]
    counts = sorted({round(T) for T in steps})

    def held(z):
        return [cell_path(gate(z * torch.ones(T).double())).item() for T in counts]

    drawn = [
        ("opening", [cell_path(opening_gates(T, dtype=torch.float64)).item() for T in counts]),
        ("held at 0.9975", held(6)),
        ("held at 0.88", held(2)),
    ]
    return curves(
        [(name, counts, values) for name, values in drawn],
        log="x",
        across="steps $T$",
        up="product of forget gates",
        x_ticks=(1, 8, 64, 512, 4096),
        title="The derivative along the cell, over T steps",
        description=f"After {counts[-1]} steps: " + "; ".join(f"{name}: {values[-1]:.2f}" for name, values in drawn) + ".",
    )
