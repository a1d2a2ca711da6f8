"""Measure what pages count: `python tests/bench/counts.py`, some minutes on one thread of a processor.

Each measurement compares the times of the same work done in different ways, as ratios, with the ratios that a page counts. All ways take
turns in rounds, and a ratio is the median of those of the rounds. The results are written to docs/figures/serving/measured.json, which the
pages draw beside their counts; `--dry` only prints them.
"""

import datetime
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch
from torch import Tensor
from torch.nn.functional import normalize

from snippets.attention.formula import attention
from snippets.attention.packing import count_blocks, skipping_attention
from snippets.linear.chunks import chunked_delta_multiplications, chunked_delta_rule, delta_multiplications
from snippets.linear.delta import delta_rule
from snippets.serving.paged import paged_attention
from snippets.sparse.learned import index_scores
from snippets.sparse.local import document_mask
from tests.bench.attention import ROUNDS, SETUPS, describe_machine, median_ratio, take_turns

RECORD = ROOT / "docs/figures/serving/measured.json"


class Comparison(NamedTuple):
    """The same work done in several ways: what runs, what is counted for each, which one the others are compared with, and the sizes."""

    runs: dict[int, Callable[[], Tensor]]
    counted: dict[int, float]
    base: int
    sizes: dict[str, int]
    repeats: int = 1


def measure(comparison: Comparison, rounds: int = ROUNDS) -> dict:
    """Return the counts of all ways and their median times, as multiples of those of one of them."""
    runs, counted, base, sizes, repeats = comparison
    with torch.no_grad():
        taken = take_turns({str(x): run for x, run in runs.items()}, rounds=rounds, repeats=repeats)
    return {
        "x": list(runs),
        "counted": [round(counted[x] / counted[base], 3) for x in runs],
        "measured": [round(median_ratio(taken[str(x)], taken[str(base)]), 3) for x in runs],
        "sizes": sizes,
    }


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def chunks(n: int = 1024, width: int = 128) -> Comparison:
    """The delta rule in chunks. A chunk of one token stands for the recurrence."""
    query, key, value = draw(3, n, width)
    key, rate = normalize(key, dim=-1), torch.full((n,), 0.5)
    lengths = [length for length in (4, 16, 64, 256, 1024) if length <= n]
    runs = {1: partial(delta_rule, query, key, value, rate)}
    runs |= {length: partial(chunked_delta_rule, query, key, value, rate, chunk=length) for length in lengths}
    counted = {1: float(delta_multiplications(n, width, width))}
    counted |= {length: chunked_delta_multiplications(n, width, width, chunk=length) for length in lengths}
    return Comparison(runs, counted, 1, {"tokens": n, "width": width})


def blocks(n: int = 4096, block_size: int = 128) -> Comparison:
    """Attention that skips blocks, by the number of documents of equal length."""
    query, key, value = draw(3, 8, n, 64)
    runs, counted = {}, {}
    for documents in (1, 2, 4, 8, 16, 32):
        mask = document_mask(torch.arange(n) // (n // documents))
        runs[documents] = partial(skipping_attention, query, key, value, mask, block_size=block_size)
        counted[documents] = sum(count_blocks(mask, block_size=block_size)[1:])
    return Comparison(runs, counted, 1, {"tokens": n, "block": block_size, "heads": 8, "width": 64})


def indexer(lengths: tuple[int, ...] = (256, 512, 1024, 2048, 4096)) -> Comparison:
    """The scores of an indexer, by the number of tokens."""
    heads, width = 8, 64
    runs = {n: partial(index_scores, draw(heads, n, width), draw(n, width), draw(n, heads)) for n in lengths}
    return Comparison(runs, {n: n * n for n in lengths}, lengths[0], {"heads": heads, "width": width})


def shared_heads(tokens: int = 32_768, heads: int = 16, width: int = 128) -> Comparison:
    """One new token's attention to stored keys and values, by the number of heads that store them."""
    query = draw(heads, width)
    runs = {}
    for stored in (1, 2, 4, 8, 16):
        key, value = draw(2, stored, tokens, width)
        runs[stored] = partial(attention, query.unflatten(0, (stored, -1)), key, value)  # (stored, heads / stored, width)
    counted = {stored: 2 * stored * tokens * width * query.itemsize for stored in runs}
    return Comparison(runs, counted, heads, {"tokens": tokens, "query heads": heads, "width": width}, repeats=3)


def pages(tokens: int = 65_536, width: int = 128) -> Comparison:
    """One new token's attention through a page table, by the size of a page. A page of all tokens stands for attention without a table."""
    query, key, value = draw(1, width), draw(tokens, width), draw(tokens, width)
    runs = {}
    for size in (1, 4, 16, 64, 256, 1024):
        table = torch.randperm(tokens // size, generator=torch.Generator().manual_seed(size))
        in_pages = (x.unflatten(0, (-1, size))[table.argsort()] for x in (key, value))
        runs[size] = partial(paged_attention, query, *in_pages, table)
    runs[tokens] = partial(attention, query, key, value)
    counted = dict.fromkeys(runs, 4 * tokens * width)
    return Comparison(runs, counted, tokens, {"tokens": tokens, "width": width}, repeats=3)


def checked_tokens(width: int = 4096) -> Comparison:
    """A layer's product for several tokens at once."""
    weights = draw(width, width)
    runs = {tokens: partial(torch.matmul, draw(tokens, width), weights) for tokens in (1, 2, 4, 8, 16, 32)}
    return Comparison(runs, {tokens: 2 * tokens * width**2 for tokens in runs}, 1, {"width": width}, repeats=10)


COMPARISONS = (chunks, blocks, indexer, shared_heads, pages, checked_tokens)


def main() -> None:
    torch.set_num_threads(1)
    record = {"machine": describe_machine(SETUPS["cpu"]), "torch": str(torch.__version__), "date": datetime.date.today().isoformat()}
    for make in COMPARISONS:
        found = record[make.__name__] = measure(make())
        print(make.__name__, *(f"{key} {found[key]}" for key in ("x", "counted", "measured")), sep="\n  ", flush=True)
    if "--dry" not in sys.argv:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        print(f"written to {RECORD.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
