"""Where a gate and a temperature take an output in the plane."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.bounds.gated import gate_output
from snippets.softmax.temperature import softmax_with_temperature

VALUES = ((2.0, 6.0), (7.0, 5.0), (5.0, 2.0))
SCORES = (1.0, 0.4, -0.5)
LOGITS = tuple(range(-8, 9))
TEMPERATURES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20)


def plane() -> Picture:
    values, scores = (torch.tensor(x, dtype=torch.float64) for x in (VALUES, SCORES))
    warmed = [(softmax_with_temperature(scores, tau=tau) @ values).tolist() for tau in TEMPERATURES]
    mixed = softmax_with_temperature(scores, tau=1.0) @ values
    gated = [gate_output(mixed.unsqueeze(0), torch.full((1, 1), float(logit), dtype=torch.float64))[0].tolist() for logit in LOGITS]
    closed = [*VALUES, VALUES[0]]
    picture = curves(
        [
            ("hull of the values", *zip(*closed, strict=True)),
            ("temperature", *zip(*warmed, strict=True)),
            ("gate", *zip(*gated, strict=True)),
        ],
        x_ticks=(0, 4, 8),
        y_ticks=(0, 4, 8),
        y_range=(0, 8),
        across="first feature of the output",
        up="second feature",
        title="The output of a head with three values, at many temperatures and with many gates",
        description=f"The outputs at all temperatures lie in the triangle of the values. The outputs with a gate lie on the line from zero "
        f"to the output without one, and with a logit of {LOGITS[0]} the output is {gated[0][0]:.3f}, {gated[0][1]:.3f}.",
    )
    return played(
        picture,
        values=[list(one) for one in VALUES],
        scores=list(SCORES),
        logits=list(LOGITS),
        logit=-1,
        temperatures=list(TEMPERATURES),
        tau=1,
        most=8,
    )
