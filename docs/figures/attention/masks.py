"""Two triangles for fewer queries than keys."""

import torch

from derivations.kernel.pages.drawing import Picture, beside, mask
from derivations.kernel.pages.playing import played
from snippets.attention.masks import lower_right, mask_scores

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
