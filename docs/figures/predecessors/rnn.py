"""A picture of how far gradients reach back."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.predecessors.rnn import attention_reach, linear_step, reach, rnn_step


def reached() -> Picture:
    steps = [1, 2, 4, 8, 16, 32]
    generator = torch.Generator().manual_seed(0)

    def over(rule, w):
        return [reach(rule, T=T, w=w, generator=generator, dtype=torch.float64).item() for T in steps]

    drawn = [
        ("linear, 1.5", over(linear_step, 1.5)),
        ("attention, found", [attention_reach(T=T, score=16.0, dtype=torch.float64).item() for T in steps]),
        ("attention, everywhere", [attention_reach(T=T, score=0.0, dtype=torch.float64).item() for T in steps]),
        ("tanh, 0.9", over(rnn_step, 0.9)),
    ]
    return curves(
        [(name, steps, values) for name, values in drawn],
        log="xy",
        across="steps $T$",
        up="size of the derivative",
        x_ticks=steps,
        title="How much of a change is left after T steps",
        description="The largest factor by which a change of the first state, or of the first value, is multiplied after 1 and after 32 steps: "
        + "; ".join(f"{name}: {values[0]:.1f} and {values[-1]:.0e}" for name, values in drawn)
        + ". Attention has found the first token, or gives all tokens the same weight.",
    )
