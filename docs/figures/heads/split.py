"""A picture of which head gets which number."""

import torch

from derivations.kernel.site.diagrams import Picture, below, heat_map
from snippets.heads.split import split_heads, split_heads_wrong
from snippets.seeing.atlas import LAYER, stored_atlas

TOKENS, FEATURES, HEADS = 4, 6, 2


def owners() -> Picture:
    x = torch.arange(TOKENS * FEATURES).view(TOKENS, FEATURES)
    names = [f"token {t + 1}" for t in range(TOKENS)], [str(f + 1) for f in range(FEATURES)]

    def drawn(split, title: str) -> Picture:
        head = torch.zeros(TOKENS * FEATURES)
        for number, numbers in enumerate(split(x, num_heads=HEADS)):
            head[numbers.flatten()] = number + 1
        head = head.view(TOKENS, FEATURES)
        said = "; ".join(f"{name}: heads {', '.join(f'{one:.0f}' for one in row)}" for name, row in zip(names[0], head.tolist()))
        return heat_map(head, *names, title=title, description=f"{said}.", across="feature")

    return below(
        drawn(split_heads, "A view and a transpose"),
        drawn(split_heads_wrong, "A view alone"),
        title="The head that each number of the input goes to",
    )


def sentence() -> Picture:
    atlas = stored_atlas()
    rows = atlas.weights[LAYER, :, atlas.tokens.index("it")]  # (heads, n)
    favourites = [atlas.tokens[key] for key in rows.argmax(-1).tolist()]
    return heat_map(
        rows.T,
        rows=atlas.tokens,
        columns=[str(head) for head in range(len(rows))],
        across="head",
        numbers=False,
        title="The weights of the word it, in the twelve heads of a layer",
        description="The largest weight of each head, in order, is that of " + ", ".join(favourites) + ".",
    )
