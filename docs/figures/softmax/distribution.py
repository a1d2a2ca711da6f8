"""A picture of outputs inside the convex hull of the values."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.softmax.axes import mix_values


def hull() -> Picture:
    generator = torch.Generator().manual_seed(0)
    values = torch.tensor([[0.0, 0.0], [4.0, 1.0], [3.0, 4.0], [1.0, 3.0]], dtype=torch.float64)
    outputs = mix_values(2 * torch.randn(150, 4, generator=generator, dtype=torch.float64), values)
    around = torch.cat([values, values[:1]])
    return curves(
        [("", *around.T), ("", *outputs.T, True), ("", *values.T, True)],
        across="first feature",
        up="second feature",
        x_ticks=(0, 1, 2, 3, 4),
        y_ticks=(0, 1, 2, 3, 4),
        title="Outputs lie in the convex hull of the values",
        description="Four values at the corners of a quadrangle, and 150 outputs for random scores, which all lie inside it. "
        f"The outputs reach from {outputs[:, 0].min():.2f} to {outputs[:, 0].max():.2f} across and "
        f"from {outputs[:, 1].min():.2f} to {outputs[:, 1].max():.2f} up.",
    )
