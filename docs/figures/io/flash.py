"""A picture of what moves, for tiles of several sizes."""

from derivations.kernel.pages.drawing import Picture, bars
from snippets.io.flash import plain_moved, tiled_moved

TOKENS, WIDTH = 8192, 64


def moved() -> Picture:
    rows = [("no tiles", plain_moved(TOKENS, WIDTH) / 1e6), None]
    rows += [(f"tiles of {size}", tiled_moved(TOKENS, WIDTH, size) / 1e6) for size in (16, 32, 64, 128, 256)]
    said = "; ".join(f"{name}: {count:.0f}" for name, count in filter(None, rows))
    return bars(
        rows,
        digits=0,
        title="Millions of numbers moved by one head",
        description=f"One head of width {WIDTH}, {TOKENS:,} tokens, millions of numbers. {said}.",
    )
