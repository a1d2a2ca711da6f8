"""A picture of the balancing loss, for three loads."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from snippets.layers.experts import balance_loss

LOADS = {"all go to expert 1": [1.0, 0, 0, 0], "an even load": [0.25] * 4, "none goes to expert 1": [0, 1 / 3, 1 / 3, 1 / 3]}


def balance() -> Picture:
    leads = torch.linspace(0, 4, 41, dtype=torch.float64)
    P = torch.stack([leads, *[0 * leads] * 3], 1).softmax(-1)  # (41, 4)
    losses = {name: [balance_loss(torch.tensor(f).to(p), p).item() for p in P] for name, f in LOADS.items()}
    lowest = losses["none goes to expert 1"][-1]
    return curves(
        [(name, P[:, 0].tolist(), values) for name, values in losses.items()],
        across="mean probability of expert 1",
        up="loss",
        title="The balancing loss of four experts",
        description=f"All three curves begin at 1, where the probabilities are even. With an even load the loss stays at 1. Where all tokens go to expert 1 it rises "
        f"to {losses['all go to expert 1'][-1]:.2f}; where none does, it falls to {lowest:.2f}.",
        y_range=(0.0, 4.0),
    )
