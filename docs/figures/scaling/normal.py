"""Pictures of how the distribution of a scaled dot product tends to a normal one."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.scaling.normal import (
    characteristic_function,
    excess_kurtosis,
    normal_characteristic_function,
    predicted_excess_kurtosis,
    scaled_dots,
)


def kurtosis() -> Picture:
    generator, widths = torch.Generator().manual_seed(0), [2**power for power in range(7)]
    measured = [excess_kurtosis(scaled_dots(100_000, d, generator=generator)).item() for d in widths]
    finer = [2 ** (power / 4) for power in range(25)]
    predicted = [predicted_excess_kurtosis(d) for d in finer]
    return curves(
        [("measured", widths, measured, True), ("predicted", finer, predicted)],
        log="x",
        x_ticks=(1, 4, 16, 64),
        across="width $d$",
        up="excess kurtosis",
        title="The excess kurtosis of a dot product, by its width",
        description=f"Over 100,000 draws for each width, the excess kurtosis falls from {measured[0]:.2f} at width 1 to "
        f"{measured[-1]:.2f} at width {widths[-1]}. The predictions are {predicted[0]:.2f} and {predicted[-1]:.2f}.",
    )


def characteristic() -> Picture:
    t = torch.linspace(0, 3, 61, dtype=torch.float64)
    widths = (1, 4, 16)
    drawn = [characteristic_function(t, d=d) for d in widths] + [normal_characteristic_function(t)]
    labels = [*(f"width {d}" for d in widths), "normal"]
    return curves(
        list(zip(labels, [t] * 4, drawn)),
        across="$t$",
        x_ticks=(0, 1, 2, 3),
        title="Characteristic functions of scaled dot products, and of a normal variable",
        description="All start at one and fall. The wider the vectors, the closer the curve is to the normal one. At t 3 the values are "
        + ", ".join(f"{values[-1]:.3f} ({label})" for label, values in zip(labels, drawn))
        + ".",
    )
