"""Pages of two sequences that begin with the same tokens."""

import torch

from derivations.kernel.site.diagrams import Picture, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.serving.paged import PagedCache

PREFIX, MOST, SIZES, SIZE = 5, 8, (2, 4, 8), 4
NAMES = ("A", "B")


def written(size: int) -> PagedCache:
    """Both sequences at their longest, written in turns."""
    cache, token = PagedCache(2 * MOST, size), torch.zeros(1)
    for _ in range(PREFIX):
        cache.append(token, token, name="A")
    cache.share("A", "B", tokens=PREFIX)
    for _ in range(MOST - PREFIX):
        for name in NAMES:
            cache.append(token, token, name=name)
    return cache


def tables() -> Picture:
    cache = written(SIZE)
    rows = [[cache.tables[name][place // SIZE] + 1 for place in range(MOST)] for name in NAMES]
    said = "; ".join(f"{name}: {', '.join(map(str, row))}" for name, row in zip(NAMES, rows))
    picture = heat_map(
        rows,
        [f"sequence {name}" for name in NAMES],
        [str(place) for place in range(1, MOST + 1)],
        across="token",
        title=f"The page of each token, with {SIZE} tokens in a page",
        description=f"The number of the page in which each of {MOST} tokens is stored. {said}. The first page is shared.",
    )
    return played(
        picture,
        prefix=PREFIX,
        most=MOST,
        names=list(NAMES),
        sizes=list(SIZES),
        size=SIZE,
        pools=[sum(use > 0 for use in written(size).uses) for size in SIZES],
    )
