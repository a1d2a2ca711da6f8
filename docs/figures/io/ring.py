"""A picture of who works how much."""

from derivations.kernel.pages.drawing import Picture, bars
from snippets.io.ring import contiguous, step_pairs, striped, zigzag


def pairs() -> Picture:
    rows: list = []
    said = []
    for name, assign in (("plain", contiguous), ("zigzag", zigzag), ("striped", striped)):
        found = step_pairs(assign(24, 4)).sum(0).tolist()
        rows += [*((f"{name}, device {device}", count) for device, count in enumerate(found, 1)), None]
        said.append(f"{name}: {', '.join(map(str, found))}")
    return bars(
        rows[:-1],
        digits=0,
        title="Pairs of each of four devices under a causal mask, 24 tokens",
        description="Pairs of the four devices. " + "; ".join(said) + ".",
    )
