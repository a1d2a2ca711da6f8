"""A picture of the largest possible weight if scores are bounded."""

from derivations.kernel.site.diagrams import Picture, curves
from snippets.bounds.qknorm import bounded_weights


def most() -> Picture:
    numbers = [2**power for power in range(1, 27)]
    drawn = {scale: [bounded_weights(float(scale), n)[1] for n in numbers] for scale in (8, 4, 1)}
    half = {scale: max((n for n, y in zip(numbers, ys) if y > 0.5), default=0) for scale, ys in drawn.items()}
    said = "; ".join(f"at scale {scale} it stays above a half up to {half[scale]:,} keys" for scale in drawn)
    return curves(
        [(f"scale {scale}", numbers, ys) for scale, ys in drawn.items()],
        log="x",
        x_ticks=(2, 1024, 2**20),
        y_range=(0, 1),
        across="number of keys",
        up="largest weight",
        title="The largest weight of a perfect match with QK-norm, by the number of keys",
        description=f"From {numbers[0]} to {numbers[-1]:,} keys, if all other keys point in the opposite direction: {said}. Then each curve falls towards zero.",
    )
