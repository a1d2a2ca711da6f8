"""The graph of a mixture, and the balancing loss for three loads."""

import torch

from derivations.kernel.site.diagrams import Picture, curves, operations
from snippets.layers.experts import balance_loss

LOADS = {"all go to expert 1": [1.0, 0, 0, 0], "an even load": [0.25] * 4, "none goes to expert 1": [0, 1 / 3, 1 / 3, 1 / 3]}


def layer() -> Picture:
    return operations(
        {
            "x": ("token", 1.5, 0, "$d$"),
            "router": ("router", 4, 1),
            "logits": ("logits", 4, 2, "$N$"),
            "choose": ("two largest", 4, 3),
            "one": ("expert 1", 0, 4),
            "two": ("expert 2", 1, 4),
            "three": ("expert 3", 2, 4),
            "four": ("expert 4", 3, 4),
            "softmax": ("softmax", 4, 4),
            "sum": ("weighted sum", 2.5, 5),
            "y": ("mixture", 2.5, 6, "$d$"),
        },
        [
            ("x", "router"),
            ("router", "logits"),
            ("logits", "choose"),
            ("choose", "softmax"),
            ("x", "two"),
            ("x", "four"),
            ("two", "sum"),
            ("four", "sum"),
            ("softmax", "sum", "gate"),
            ("sum", "y"),
        ],
        title="A mixture of four experts, for one token",
        description="The token goes to the router, which gives a logit for each expert. The two largest are kept, here those of experts 2 "
        "and 4, and softmax makes a gate of them. Only these two experts see the token. Their outputs are added, weighted by the gate. "
        "Experts 1 and 3 have no line.",
    )


def balance() -> Picture:
    losses = {}
    for name, f in LOADS.items():
        # Top-1: of a token that is sent to expert 1 it may get all the probability, of any other half.
        end = f[0] + (1 - f[0]) / 2
        leads = torch.linspace(0.25, end, 41, dtype=torch.float64)
        P = torch.stack([leads, *[(1 - leads) / 3] * 3], 1)  # (41, 4)
        losses[name] = leads.tolist(), [balance_loss(torch.tensor(f).to(p), p).item() for p in P]
    (_, most), _, (_, least) = losses.values()
    return curves(
        [(name, *line) for name, line in losses.items()],
        across="mean probability of expert 1",
        up="loss",
        title="The balancing loss of four experts",
        description=f"All three curves begin at 1, where the probabilities are even. Where all tokens go to expert 1 the loss rises to {most[-1]:.2f}, "
        f"at a mean probability of 1. With an even load it stays at 1, up to a mean probability of five eighths. Where no token goes to expert 1 it "
        f"falls to {least[-1]:.2f}, at a mean probability of one half.",
        y_range=(0.0, 4.0),
    )
