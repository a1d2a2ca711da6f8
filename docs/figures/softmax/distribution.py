"""A picture of outputs inside the convex hull of the values."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.weight_pictures import Column, token_columns
from snippets.attention.formula import scores
from snippets.seeing.atlas import stored_head
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


def sentence() -> Picture:
    head = stored_head()
    query = head.tokens.index("it")
    row = scores(head.query, head.key)[query]
    gaps = row - row.max()
    return token_columns(
        head.tokens,
        [
            Column("score", row.tolist()),
            Column("minus the largest", gaps.tolist(), labels=True),
            Column("exponential", gaps.exp().tolist(), 3),
            Column("weight", row.softmax(-1).tolist(), 3),
        ],
        title="From scores to weights, for the word “it”",
        description=f"The scores lie between {row.min():.2f} and {row.max():.2f}. After the largest is subtracted, the exponentials add up to "
        f"{gaps.exp().sum():.2f}, and the largest weight is {row.softmax(-1).max():.2f}.",
        query=query,
    )
