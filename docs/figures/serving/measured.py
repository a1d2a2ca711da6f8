"""Pictures of counts beside times, which tests/bench/counts.py measured on one thread of a processor."""

import json
from pathlib import Path

from derivations.kernel.site.diagrams import Picture, curves

READS = ("docs/figures/serving/measured.json",)


def read_record() -> dict:
    """Return the record of the benchmark."""
    return json.loads((Path(__file__).resolve().parents[3] / READS[0]).read_text(encoding="utf-8"))


def _counted_and_measured(name: str, *, counted: str, across: str, title: str, log: str = "xy") -> Picture:
    record = read_record()
    found = record[name]
    xs, times = found["x"], found["measured"]
    each = ", ".join(f"{time:.2f} at {x}" for x, time in zip(xs, times, strict=True))
    return curves(
        [(counted, xs, found["counted"]), ("time", xs, times)],
        log=log,
        across=f"{across} ({record['machine']['processor']}, 1 thread, {record['date']})",
        up="as a multiple",
        x_ticks=xs,
        title=title,
        description=f"The time, as a multiple: {each}. The last count is {found['counted'][-1]:.2f}.",
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
    return _counted_and_measured("pages", counted="operations", across="places of a page", title=title)


def checked_tokens() -> Picture:
    title = "Operations and time of a layer's product for several tokens at once, as a multiple of one token"
    return _counted_and_measured("checked_tokens", counted="operations", across="tokens at once", title=title)
