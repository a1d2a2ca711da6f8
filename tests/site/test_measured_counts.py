"""The benchmark of counted costs: its ways do the same work, and pages quote its record. No test looks at times."""

import json
import re
from pathlib import Path

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from derivations.kernel.site import figure_block
from snippets.sparse.local import document_mask
from tests.bench import counts as bench

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def record():
    return json.loads(bench.RECORD.read_text(encoding="utf-8"))


def text_of(page):
    return re.sub(r"\s+", " ", (ROOT / f"docs/{page}.md").read_text(encoding="utf-8"))


# The ways -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("comparison", [bench.chunks(n=64, width=8), bench.pages(tokens=2048, width=8)], ids=["chunks", "pages"])
def test_all_ways_give_the_same_output(comparison):
    expected = comparison.runs[comparison.base]()
    for run in comparison.runs.values():
        torch.testing.assert_close(run(), expected, atol=1e-4, rtol=1e-4)


def test_attention_that_skips_blocks_is_attention_within_documents():
    n, comparison = 128, bench.blocks(n=128, block_size=4)
    query, key, value = bench.draw(3, 8, n, 64)
    for documents, run in comparison.runs.items():
        mask = document_mask(torch.arange(n) // (n // documents))
        torch.testing.assert_close(run(), scaled_dot_product_attention(query, key, value, attn_mask=mask), atol=1e-4, rtol=1e-4)
    assert comparison.counted[1] == 32 * 33 / 2  # blocks on the diagonal and below it


def test_every_way_of_sharing_has_the_same_query_heads():
    comparison = bench.shared_heads(tokens=16, heads=16, width=4)
    for stored, run in comparison.runs.items():
        assert run().shape == (stored, 16 // stored, 4)
        assert comparison.counted[stored] == stored * 2 * 16 * 4 * 4  # keys and values of 4 bytes


def test_counts_and_times_are_multiples_of_the_base():
    found = bench.measure(bench.indexer(lengths=(8, 16)), rounds=2)
    assert found["x"] == [8, 16] and found["counted"] == [1, 4] and found["measured"][0] == 1 and found["measured"][1] > 0


# The record ---------------------------------------------------------------------------------------------------------------


def test_the_record_holds_every_comparison_at_its_sizes(record):
    for make in bench.COMPARISONS:
        found, base = record[make.__name__], make()
        assert found["x"] == list(base.runs) and found["sizes"] == base.sizes
        assert found["counted"] == [round(base.counted[x] / base.counted[base.base], 3) for x in base.runs]
        assert found["measured"][found["x"].index(base.base)] == 1 and min(found["measured"]) > 0
    assert record["machine"]["threads"] == 1


def test_numbers_in_the_text_are_those_of_the_record(record):
    def of(name, x):
        found = record[name]
        at = found["x"].index(x)
        return found["counted"][at], found["measured"][at]

    (more, less), (most, still) = of("chunks", 64), of("chunks", 1024)
    fewer, time = of("blocks", 32)
    (pairs, short), (all_pairs, long) = of("indexer", 1024), of("indexer", 4096)
    (quarter, fourth), half = of("shared_heads", 4), of("shared_heads", 8)[1]
    (eight, checked), many = of("checked_tokens", 8), of("checked_tokens", 32)[1]
    sentences = {
        "linear/chunks": f"Chunks of 64 tokens take {more:.2f} times as many multiplications as the recurrence, and {less:.2f} times its time. "
        f"Chunks of 1,024 tokens take {most:.1f} times as many, and still only {still:.2f} times its time.",
        "attention/packing": f"With 32 documents, the code computes {fewer:.2f} times as many blocks as with one, and takes {time:.2f} times the time.",
        "sparse/learned": f"From 1,024 to 4,096 tokens, the pairs grow {all_pairs / pairs:.0f} times and the time {long / short:.0f} times.",
        "inference/groups": f"With 4 heads of keys and values instead of 16, the step reads {quarter:.2f} times the bytes and takes {fourth:.2f} times "
        f"the time. With 8 it takes {half:.2f} times the time",
        "serving/paged": f"With pages of 16 tokens, `paged_attention` takes {of('pages', 16)[1]:.1f} times as long as attention without pages, "
        f"and with pages of one token {of('pages', 1)[1]:.1f} times.",
        "serving/speculative": f"Eight tokens take {eight:.0f} times the operations of one and {checked:.1f} times its time, "
        f"and 32 tokens take {many:.1f} times.",
    }
    for page, sentence in sentences.items():
        assert sentence in text_of(page), sentence
        assert f"on one thread of an {record['machine']['processor']} processor" in text_of(page)


@pytest.mark.parametrize("make", bench.COMPARISONS, ids=lambda make: make.__name__)
def test_a_picture_shows_the_count_and_the_time(make, record):
    drawn = figure_block._load_module(ROOT / "docs/figures/serving/measured.py")
    picture = getattr(drawn, make.__name__)()
    found = record[make.__name__]
    assert f"{found['measured'][0]:.2f} at {found['x'][0]}, {found['measured'][1]:.2f} at {found['x'][1]}" in str(picture)
