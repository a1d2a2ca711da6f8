"""Pictures of counts beside times, which tests/bench/counts.py measured on one thread of a processor."""

import json
import math
from pathlib import Path

from derivations.kernel.site.diagrams import Picture, curves

READS = ("docs/figures/serving/measured.json",)


def read_record() -> dict:
    """Return the record of the benchmark."""
    return json.loads((Path(__file__).resolve().parents[3] / READS[0]).read_text(encoding="utf-8"))


def _counted_and_measured(name: str, *, counted: str, across: str, title: str, most: float = math.inf) -> Picture:
    record = read_record()
    drawn = [row for row in zip(*(record[name][key] for key in ("x", "counted", "measured")), strict=True) if row[0] <= most]
    xs, counts, times = map(list, zip(*drawn, strict=True))
    each = ", ".join(f"{time:.2f} at {x}" for x, time in zip(xs, times, strict=True))
    return curves(
        [(counted, xs, counts), ("time", xs, times)],
        log="xy",
        across=across,
        up="as a multiple",
        x_ticks=xs,
        title=title,
        description=f"The time, as a multiple: {each}. The last count is {counts[-1]:.2f}. "
        f"Measured on {record['machine']['processor']}, one thread, {record['date']}.",
    )


def chunks() -> Picture:
    title = "Multiplications and time of the delta rule in chunks, as a multiple of token by token"
    return _counted_and_measured("chunks", counted="multiplications", across="tokens in a chunk", title=title)


def blocks() -> Picture:
    title = "Computed blocks and time of attention within documents, as a multiple of one document"
    return _counted_and_measured("blocks", counted="computed blocks", across="documents", title=title)


def indexer() -> Picture:
    title = "Pairs and time of an indexer's scores, as a multiple of 256 tokens"
    return _counted_and_measured("indexer", counted="pairs", across="tokens", title=title)


def shared_heads() -> Picture:
    title = "Bytes and time of one token's attention, as a multiple of 16 heads of keys and values"
    return _counted_and_measured("shared_heads", counted="bytes", across="heads of keys and values", title=title)


def pages() -> Picture:
    title = "Operations and time of attention through a page table, as a multiple of keys and values that lie together"
    return _counted_and_measured("pages", counted="operations", across="places of a page", title=title, most=1024)


def checked_tokens() -> Picture:
    title = "Operations and time of a layer's product for several tokens at once, as a multiple of one token"
    return _counted_and_measured("checked_tokens", counted="operations", across="tokens at once", title=title)
