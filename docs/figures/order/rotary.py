"""Pictures of a rotation, and of scores by distance."""

import math

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.order.positions import frequencies
from snippets.order.rotary import mean_cosine, rotate_pairs


def _round(tip: tuple[float, float]) -> tuple[float, float]:
    """A point by its length and its angle."""
    return math.hypot(*tip), math.atan2(tip[1], tip[0])


def _at(length: float, angle: float) -> tuple[float, float]:
    return length * math.cos(angle), length * math.sin(angle)


def _head(tip: tuple[float, float]) -> list[tuple[float, float]]:
    """The head of an arrow from the origin: from the tip over both barbs, and back."""
    angle = _round(tip)[1]
    one, other = ((tip[0] - x, tip[1] - y) for x, y in (_at(0.07, angle + 0.4), _at(0.07, angle - 0.4)))
    return [tip, one, tip, other, tip]


def turns() -> Picture:
    omega = torch.tensor([0.3], dtype=torch.float64)
    query, key = torch.tensor([[1.0], [0.0]]).double(), torch.tensor([[1.0], [0.0]]).double()

    def tip(arrow, place):
        return tuple(torch.stack(rotate_pairs(*arrow, torch.tensor(place), omega)).flatten().tolist())

    places = (1, 4), (5, 8)
    pairs = [(tip(query, one), tip(key, other)) for one, other in places]
    drawn = []
    for (one, other), (first, second) in zip(places, pairs):
        start, end = _round(first)[1], _round(second)[1]
        arc = [_at(0.25 + 0.1 * (one > 1), start + (end - start) * step / 24) for step in range(25)]
        points = [*_head(second), (0, 0), *arc, *reversed(arc), *_head(first)]  # two arrows, and the angle between them
        drawn.append((f"places {one} and {other}", *zip(*points)))
    for name, tips in (("query", [first for first, _ in pairs]), ("key", [second for _, second in pairs])):
        drawn.append((name, *zip(*tips), True))
    picture = curves(
        drawn,
        across="first feature",
        up="second feature",
        x_ticks=(-0.8, 0, 1),
        y_ticks=(0, 1),
        y_range=(-0.1, 1.1),
        title="A query and a key of two features, rotated by their positions",
        description="Two pairs of arrows of the same length from one point. In each, the query and the key enclose the angle 0.9, drawn as an arc. "
        "The second pair is the first one, rotated further.",
    )
    return played(picture, query=query.flatten().tolist(), key=key.flatten().tolist(), omega=omega.item(), places=[1, 4])


def decay() -> Picture:
    distance = torch.arange(0, 100.5, 0.5, dtype=torch.float64)
    few, many = (mean_cosine(distance, frequencies(d, dtype=torch.float64)) for d in (8, 128))
    return curves(
        [("128 features", distance, many), ("8 features", distance, few)],
        across="distance",
        up="score",
        x_ticks=(0, 25, 50, 75, 100),
        y_ticks=(0, 0.5, 1),
        title="The score of a vector with itself, by distance",
        description=f"With 8 features it is a mean of four waves and goes up and down between {few.min():.2f} and 1. "
        f"With 128 features it decreases from 1 to {many[-1]:.2f} at distance 100, but not at every step.",
    )
