"""Pictures of the weights of several heads, and of how features are split among heads."""

import torch

from derivations.kernel.site.diagrams import Picture, below, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.attention.formula import attention_weights
from snippets.heads.split import split_heads, split_heads_wrong
from snippets.seeing.atlas import LAYER, stored_atlas

TOKENS, FEATURES, HEADS = 4, 6, 2

# Made by hand: the first two features are about persons, the third is about events, and the fourth about things.
NAMES = ["Anna", "gave", "Ben", "her", "book"]
QUERIES = [[2, 1, 1, 0], [1, 0, 0, 2], [1, -1, 1, 0], [2, 2, 0, 2], [1, 1, 2, 0]]
KEYS = [[2, 2, 0, 0], [0, 0, 2, 0], [2, -2, 0, 0], [1, 1, 0, 0], [0, 0, 0, 2]]


def weights() -> Picture:
    query = NAMES.index("her")
    Q, K = (torch.tensor(rows, dtype=torch.float64) for rows in (QUERIES, KEYS))
    narrow = attention_weights(*(split_heads(x, num_heads=HEADS) for x in (Q, K)))[:, query]
    rows = torch.cat([narrow, attention_weights(Q, K)[query : query + 1]]).tolist()
    heads = ["head 1, width 2", "head 2, width 2", "one head, width 4"]
    picture = heat_map(
        rows,
        heads,
        NAMES,
        most=1.0,
        across="key",
        title="The weights of the word “her” in two heads and in one wide head",
        description="; ".join(
            f"{head}: " + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(NAMES, row)) for head, row in zip(heads, rows)
        )
        + ".",
    )
    return played(picture, names=NAMES, queries=QUERIES, keys=KEYS, query=query, split=[2, 2])


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
    favourites = ["full stop" if (token := atlas.tokens[key]) == "." else token for key in rows.argmax(-1).tolist()]
    return heat_map(
        rows.T,
        rows=atlas.tokens,
        columns=[str(head) for head in range(len(rows))],
        across="head",
        numbers=False,
        title="The weights of the word “it”, in the twelve heads of a layer",
        description="The largest weight of each head, in order, is that of " + ", ".join(favourites) + ".",
    )
