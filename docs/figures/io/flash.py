"""Pictures of FlashAttention: a tile on its way, and the numbers moved for several tiles."""

from derivations.kernel.site.diagrams import Picture, bars, operations
from derivations.kernel.site.figure_widgets import played
from snippets.io.flash import plain_moved, tiled_moved

TOKENS, WIDTH = 8192, 64
# Four tokens with two features, as in the example of the page; the first query has scores of its other example.
SCORES, VALUES, NARROW, SIZES = [[0, 1, 3, 2], [2, 0, 1, 1], [1, 3, 0, 2], [0, 2, 2, 4]], [10, 20, 30, 40], 2, [1, 2, 4]


def tile() -> Picture:
    nodes = {
        "queries": ("queries", 0, 0, "a tile, read once"),
        "keys": ("keys", 1, 0, "tile after tile"),
        "values": ("values", 2, 0, "tile after tile"),
        "scores": ("scores", 0.5, 1, "in fast memory"),
        "weights": ("exponentials", 0.5, 2, "in fast memory"),
        "state": ("largest score, sums", 1.25, 3, "in fast memory"),
        "output": ("outputs", 1.25, 4, "a tile, written once"),
    }
    arrows = [
        ("queries", "scores"),
        ("keys", "scores"),
        ("scores", "weights"),
        ("weights", "state"),
        ("values", "state"),
        ("state", "output"),
    ]
    picture = operations(
        nodes,
        arrows,
        title="One tile of queries on its way",
        description="A tile of queries is read once. Tiles of keys and values are read one after another. Scores and exponentials of a "
        "tile exist only in fast memory. The largest score and the sums are kept there. At the end, a tile of outputs is written once.",
    )
    plain, tiled = ([moved(len(SCORES), NARROW, size) for size in SIZES] for moved in (plain_moved, tiled_moved))
    return played(picture, scores=SCORES, values=VALUES, width=NARROW, sizes=SIZES, size=2, plain=plain, tiled=tiled)


def moved() -> Picture:
    rows: list[tuple[str, float] | None] = []
    for size in (16, 32, 64, 128):
        rows += [
            (f"plain, tiles of {size}", plain_moved(TOKENS, WIDTH, size) / 1e6),
            (f"FlashAttention, tiles of {size}", tiled_moved(TOKENS, WIDTH, size) / 1e6),
            None,
        ]
    said = "; ".join(f"{name}: {count:.0f}" for name, count in filter(None, rows))
    return bars(
        rows[:-1],
        digits=0,
        unit="million",
        title="Millions of numbers moved by one head",
        description=f"One head of width {WIDTH}, {TOKENS:,} tokens, millions of numbers. {said}.",
    )
