"""A picture of the largest weight among many keys."""

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.softmax.dilution import most_weight


def thin() -> Picture:
    numbers = [2**power for power in range(1, 18)]
    drawn = {gap: [most_weight(float(gap), n) for n in numbers] for gap in (2, 4, 8)}
    said = "; ".join(f"with a difference of {gap} it falls from {ys[0]:.2f} to {ys[-1]:.4f}" for gap, ys in drawn.items())
    picture = curves(
        [(f"difference {gap}", numbers, ys) for gap, ys in drawn.items()],
        log="x",
        x_ticks=(2, 32, 1024, 32768),
        y_range=(0, 1),
        across="number of keys",
        up="largest weight",
        title="The largest possible weight for different numbers of keys",
        description=f"From {numbers[0]} to {numbers[-1]:,} keys, the largest weight that a bound on the differences between scores allows: {said}.",
    )
    return played(picture, gap=4, keys=32)
