"""A padding mask, the weight that a finite constant lets through, and two causal masks for fewer queries than keys."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, curves, mask
from derivations.kernel.site.figure_widgets import played
from snippets.attention.masks import filled_weights, lower_right, mask_scores, padding_mask


def padding() -> Picture:
    """Three texts of three, five and two tokens, as in the example of the page."""
    kept = padding_mask(torch.tensor([3, 5, 2]), m=5)[:, 0, 0]
    return mask(
        kept,
        ["1", "2", "3"],
        ["1", "2", "3", "4", "5"],
        down="text",
        across="key",
        title="The padding mask of three texts",
        description=" ".join(f"Text {i} keeps its first {line.sum().item()} keys of 5." for i, line in enumerate(kept, 1)),
    )


def filled() -> Picture:
    """The weight of a masked key that is filled with lower and lower constants, beside one kept key."""
    constants = torch.arange(0, 20.5, 0.5, dtype=torch.float64)
    keep, nothing = torch.tensor([False, True]), torch.zeros_like(constants)
    lines = []
    for name, own in (("kept: zero", nothing), ("kept: 10 below zero", nothing - 10), ("kept: twice as low", -2 * constants)):
        weights = [
            filled_weights(torch.stack([0 * score, score]), keep, constant=-constant)[0].item()
            for constant, score in zip(constants.tolist(), own)
        ]
        lines.append((name, constants, weights))
    return curves(
        lines,
        across="distance of the constant below zero",
        up="weight of the masked key",
        x_ticks=(0, 5, 10, 15, 20),
        y_ticks=(0, 0.5, 1),
        title="The weight of a masked key, by the constant that fills it",
        description="Two keys, one of them masked by a constant in place of its score. Beside a score of zero, its weight falls at once. "
        "Beside a score 10 below zero it falls only when the constant passes 10. Beside a score twice as low as the constant it rises "
        f"from {lines[2][2][0]:.1f} to {lines[2][2][-1]:.2f}.",
    )


SCORES = [[1, 4, 2, 3], [2, 1, 3, 2]]


def causal() -> Picture:
    upper_left = mask_scores(torch.zeros(2, 4), is_causal=True) == 0
    rows, columns = ["1", "2"], ["1", "2", "3", "4"]
    pictures = [
        mask(
            kept,
            rows,
            columns,
            down="query",
            across="key",
            title=title,
            description=" ".join(
                f"Query {row} keeps keys {', '.join(c for c, k in zip(columns, line) if k)}." for row, line in zip(rows, kept)
            ),
        )
        for title, kept in (("From the upper left", upper_left), ("To the lower right", lower_right(2, 4)))
    ]
    picture = beside(*pictures, title="Two causal masks for two queries and four keys")
    return played(picture, scores=SCORES)
