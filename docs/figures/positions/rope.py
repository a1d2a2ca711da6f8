"""Pictures of scores under RoPE, by distance."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.order.rotary import apply_rotary
from snippets.positions.rope import aimed_key


def aimed() -> Picture:
    query = torch.cat([torch.ones(32), torch.zeros(32)]).double() / 32**0.5  # pairs of one length, 1 in all
    distance = torch.arange(-100, 101)
    drawn = []
    for name, best in (("aimed at 0", 0), ("aimed at 40 back", -40)):
        keys = apply_rotary(aimed_key(query, distance=best).expand(201, 64), distance)
        drawn.append((name, distance, keys @ query))
    return curves(
        drawn,
        across="position of the key relative to the query",
        up="score",
        x_ticks=(-100, -40, 0, 40, 100),
        y_ticks=(0, 0.5, 1),
        title="Scores of one query with two keys, by distance",
        description="Both curves have one shape: a sharp peak of height 1, and waves around a half to both sides. "
        "The peak of one is at distance 0, that of the other 40 positions before the query.",
    )
