"""Pictures of a turn, and of scores by distance."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from snippets.order.positions import frequencies
from snippets.order.rotary import mean_cosine, turn


def turns() -> Picture:
    omega = torch.tensor([0.3], dtype=torch.float64)
    query, key = torch.tensor([[1.0], [0.0]]).double(), torch.tensor([[0.5], [0.4]]).double()
    drawn, tips = [], []
    for s, t in ((1, 4), (5, 8)):
        ends = [torch.stack(turn(*arrow, torch.tensor(place), omega)).flatten() for arrow, place in ((key, t), (query, s))]
        points = torch.stack([ends[0], torch.zeros(2).double(), ends[1]])
        drawn.append((f"at {s} and {t}", points[:, 0], points[:, 1]))
        tips.append(ends)
    for name, which in (("query", 1), ("key", 0)):
        end = torch.stack([pair[which] for pair in tips])
        drawn.append((name, end[:, 0], end[:, 1], True))
    return curves(
        drawn,
        across="first feature",
        up="second feature",
        x_ticks=(-0.8, 0, 1),
        y_ticks=(0, 1),
        y_range=(-0.1, 1.1),
        title="A query and a key of two features, turned by their places",
        description="Two pairs of arrows from one point. In each a long arrow, the query, and a shorter one, the key, enclose the same angle. "
        "The second pair is the first one, turned further round.",
    )


def decay() -> Picture:
    distance = torch.arange(0, 100.5, 0.5, dtype=torch.float64)
    drawn = [
        (name, distance, mean_cosine(distance, frequencies(d, dtype=torch.float64)))
        for name, d in (("2 features", 2), ("8 features", 8), ("128 features", 128))
    ]
    many = drawn[2][2]
    return curves(
        drawn,
        across="distance",
        up="score",
        x_ticks=(0, 25, 50, 75, 100),
        y_ticks=(-1, 0, 1),
        title="The score of a vector with itself, turned to a distance",
        description="With 2 features it is a cosine, which goes up and down for ever. With 8 features three slower waves are added. "
        f"With 128 features it falls from 1 to {many[-1]:.2f} at distance 100, but not at every step.",
    )
