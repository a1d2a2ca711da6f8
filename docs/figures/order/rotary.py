"""Pictures of a turn, and of scores by distance."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from derivations.kernel.pages.playing import played
from snippets.order.positions import frequencies
from snippets.order.rotary import mean_cosine, turn


def turns() -> Picture:
    omega = torch.tensor([0.3], dtype=torch.float64)
    query, key = torch.tensor([[1.0], [0.0]]).double(), torch.tensor([[0.5], [0.4]]).double()
    drawn = []
    for name, arrow, place in (("query", query, 1), ("key", key, 4), ("query", query, 5), ("key", key, 8)):
        first, second = torch.stack(turn(*arrow, torch.tensor(place), omega)).flatten().tolist()
        drawn.append((f"{name} at {place}", [0.0, first], [0.0, second]))
    picture = curves(
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
    return played(picture, query=query.flatten().tolist(), key=key.flatten().tolist(), omega=omega.item(), places=[1, 4])


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
