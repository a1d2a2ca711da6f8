"""A picture of the threshold: weights that go up or down with the number of keys."""

import math

from derivations.kernel.site.diagrams import Picture, curves
from snippets.bounds.logn import leader_weight


def threshold() -> Picture:
    numbers = [2**power for power in range(1, 25)]
    drawn = {gap: [leader_weight(gap, n, scale=math.log(n)) for n in numbers] for gap in (1.25, 1.0, 0.75)}
    fixed = [leader_weight(5.0, n, scale=1.0) for n in numbers]
    said = "; ".join(f"a gap of {gap:g} goes from {ys[0]:.2f} to {ys[-1]:.2f}" for gap, ys in drawn.items())
    return curves(
        [(f"log n, gap {gap:g}", numbers, ys) for gap, ys in drawn.items()] + [("fixed, gap 5", numbers, fixed)],
        log="x",
        x_ticks=(2, 1024, 2**20),
        y_range=(0, 1),
        across="number of keys",
        up="weight of the first key",
        title="The weight of a key that leads all others, by the number of keys",
        description=f"From {numbers[0]} to {numbers[-1]:,} keys, at a scale of log n: {said}. "
        f"At a fixed scale even a gap of 5 goes from {fixed[0]:.2f} to {fixed[-1]:.2f}.",
    )
