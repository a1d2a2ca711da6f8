"""Pictures of three models on one task."""

import json

import torch

from derivations.kernel.site.diagrams import Picture, bars, curves
from snippets.seeing.recall import KINDS, STORED, accuracy, draw_cases, load


def compared() -> Picture:
    generator = torch.Generator().manual_seed(1)
    asked, never = (draw_cases(2_000, held_out=held_out, generator=generator) for held_out in (False, True))
    models = {kind: load(kind) for kind in KINDS}
    rows = [
        (f"{kind}, {name}", 100 * accuracy(model, *cases))
        for name, cases in (("asked", asked), ("never asked", never))
        for kind, model in models.items()
    ]
    return bars(
        [*rows[:3], None, *rows[3:]],
        digits=1,
        most=100.0,
        title="Right answers of three models, in per cent",
        description="On pairs of letters that training asks about, and on pairs that it never asks about. "
        + "; ".join(f"{label}: {value:.1f}" for label, value in rows)
        + ".",
    )


def losses() -> Picture:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    drawn = [(kind, [int(step) + 1 for step in stored[kind]["losses"]], list(stored[kind]["losses"].values())) for kind in KINDS]
    fall = next(step for step, loss in zip(*drawn[0][1:]) if loss < 1)
    return curves(
        drawn,
        across="step of training",
        up="loss",
        y_range=(0, 3),
        title="The loss of three models in training",
        description="All three lie close together for about a thousand steps. "
        f"By step {fall} the loss of attention is below one, and it ends at "
        f"{drawn[0][2][-1]:.4f}. The others end at {drawn[1][2][-1]:.2f} and {drawn[2][2][-1]:.2f}.",
    )
