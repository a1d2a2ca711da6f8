"""The rooms of the kernel, as the contracts in pyproject.toml list them."""

import tomllib
from pathlib import Path

from derivations.kernel.site.diagrams import Picture, operations

READS = ("pyproject.toml",)
ROOT = Path(__file__).resolve().parents[3]


def layers() -> list[list[str]]:
    """The rooms from the top layer to the bottom one; in one layer, rooms that never import one another."""
    contracts = tomllib.loads((ROOT / READS[0]).read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (named,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [[room.strip().rpartition(".")[2] for room in layer.split("|")] for layer in named]


def rooms() -> Picture:
    rows = layers()
    widest = max(map(len, rows))
    nodes = {room: (room, place + (widest - len(row)) / 2, number) for number, row in enumerate(rows) for place, room in enumerate(row)}
    arrows = [(one, other) for upper, lower in zip(rows, rows[1:]) for one in upper for other in lower]
    said = ", then ".join(" beside ".join(row) for row in rows)
    return operations(
        nodes,
        arrows,
        title="The rooms of the kernel, each above all that it may import",
        description=f"From top to bottom: {said}. A room may import any room below it, none above it, and none beside it.",
    )
