"""A picture of how much weight the keys get."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.heads.nothing import softmax_plus_one

KEYS = 3


def given() -> Picture:
    shifts = torch.linspace(-8, 6, 57, dtype=torch.float64)
    scores = shifts[:, None].expand(-1, KEYS)
    with_one, without = softmax_plus_one(scores).sum(-1), scores.softmax(-1).sum(-1)
    picture = curves(
        [("softmax", shifts.tolist(), without.tolist()), ("plus one", shifts.tolist(), with_one.tolist())],
        across=f"score of each of {KEYS} keys",
        up="sum of the weights",
        y_range=(0, 1),
        title="The sum of the weights, by the score of all keys",
        description=f"With softmax, 1 for all scores. With one added, {with_one[0]:.3f} where all scores are {shifts[0]:.0f}, "
        f"{softmax_plus_one(torch.zeros(KEYS)).sum():.2f} at zero, and {with_one[-1]:.3f} where all are {shifts[-1]:.0f}.",
    )
    return played(picture, scores=[0] * KEYS)
