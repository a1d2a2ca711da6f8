"""The benchmark of attention: its counts of memory, its record, and the numbers and pictures that the page takes from it. No test looks at times."""

import json
import re
from pathlib import Path

import pytest
import torch

from derivations.kernel.site import figure_block
from derivations.kernel.site.svg_picture import number
from tests.bench import attention as bench

ROOT = Path(__file__).parents[2]
SMALL = ((16, 32), (2, 3), 2)  # lengths, counts, rounds
CPU, GPU = bench.SETUPS["cpu"], bench.SETUPS["cuda"]


def read(setup):
    return json.loads(setup.record.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def record():
    return read(CPU)


@pytest.fixture
def figures():
    return figure_block._load_module(ROOT / "docs/figures/order/cost.py")


def peak(name, n, passed="forward"):
    function, inputs = bench.make_candidates(n, CPU)[name], bench.make_inputs(n, CPU)
    return bench.peak_bytes(lambda: bench.PASSES[passed](function, inputs))


# Measuring --------------------------------------------------------------------------------------------------------------


def test_peak_is_the_most_that_was_held_at_once():
    def run():
        first = torch.empty(256)  # 1024 bytes
        second = torch.empty(512)
        del first
        return torch.empty(128), second

    assert bench.peak_bytes(run) == 4 * (256 + 512)


def test_every_candidate_computes_causal_attention():
    query, key, value = bench.make_inputs(40, CPU)
    candidates = bench.make_candidates(40, CPU)
    for function in candidates.values():
        torch.testing.assert_close(function(query, key, value), candidates[bench.PEER](query, key, value), atol=1e-5, rtol=1e-4)


def test_candidates_take_turns_after_a_round_that_does_not_count():
    order = []
    taken = bench.take_turns({name: lambda name=name: order.append(name) for name in "ab"}, rounds=2)
    assert "".join(order) == "ababab" and [len(taken[name]) for name in "ab"] == [2, 2]


def test_ratio_is_the_median_of_the_rounds():
    assert bench.median_ratio([1, 4, 90], [1, 2, 3]) == 2


def test_calls_are_counted():
    x = torch.ones(2)
    assert bench.calls_of(lambda: (x + 1) * 2) == 2


# Memory -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["formula", "naive", "SDPA, math"])
def test_a_stored_square_needs_four_times_the_memory_at_twice_the_length(name):
    half, whole = peak(name, 256), peak(name, 512)
    assert whole >= 2 * bench.NUM_HEADS * 512**2 * 4  # two squares of fp32 at once
    assert 3.5 < whole / half < 4.1


@pytest.mark.parametrize("name", ["SDPA", "blocks"])
def test_blocks_need_no_square(name):
    half, whole = peak(name, 512), peak(name, 1024)
    assert whole < bench.NUM_HEADS * 1024**2 * 4 / 4  # less than a quarter of a square
    assert whole / half < 2.5


def test_autograd_keeps_the_blocks_of_flash_attention_but_sdpa_none():
    square = bench.NUM_HEADS * 512**2 * 4
    assert peak("SDPA", 512, "with backward") < square < peak("blocks", 512, "with backward") < peak("formula", 512, "with backward")


# The record -------------------------------------------------------------------------------------------------------------


def outline(value):
    """Return the structure of a record: the names of its fields, and the types of their values. All lists count as one type."""
    return {name: outline(one) for name, one in value.items()} if isinstance(value, dict) else type(value).__name__


def test_a_small_run_has_every_field_of_the_record(record, models):
    lengths, counts, rounds = SMALL
    small = bench.measure(CPU, lengths, counts, rounds)
    assert outline(small) == outline(record)
    for found, rows in ((small, 2), (record, len(record["lengths"]))):
        columns = [column for passed in found["attention"].values() for row in passed.values() for column in row.values()]
        assert {len(column) for column in columns} == {rows}
    assert json.loads(json.dumps(small)) == small


def test_a_run_without_transformers_measures_the_others(monkeypatch):
    monkeypatch.setattr(bench, "transformers", None)
    small = bench.measure(CPU, (16,), (2,), 1)
    assert list(small["decoding"]) == ["Decoder", "GPT", "GPT, no cache"]
    assert "transformers" not in small["attention"]["forward"]


@pytest.mark.parametrize("setup", [CPU, GPU], ids=lambda setup: setup.device)
def test_the_record_is_of_the_benchmark_as_it_is(setup):
    record = read(setup)
    assert record["lengths"] == list(setup.lengths) and record["counts"] == list(setup.counts)
    sizes = {"heads": bench.NUM_HEADS, "d_k": bench.D_K, "block": setup.block_size, "rounds": bench.ROUNDS, "decoder": bench.SIZES}
    assert record["sizes"] == sizes and f"torch.{record['dtype']}" == str(setup.dtype)
    assert record["machine"]["processor"] and re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert all(record["versions"].values())


def test_the_record_of_the_gpu_has_the_same_fields(record):
    of_gpu = outline(read(GPU))
    assert of_gpu | {"machine": {}} == outline(record) | {"machine": {}}
    assert of_gpu["machine"].items() <= outline(record)["machine"].items()  # which also names the threads and the system


# The page ---------------------------------------------------------------------------------------------------------------


def texts(picture):
    return ["".join(one.itertext()) for element in picture.elements for one in element.iter("text")]


def test_tables_show_the_record(record, figures):
    for passed in record["attention"].values():
        for row in passed.values():
            assert {number(ratio, 2) for ratio in row["ratio"]} <= set(texts(figures.times()))
            assert {number(held / 2**20, 1) for held in row["bytes"]} <= set(texts(figures.peaks()))


def test_pictures_follow_the_record_and_name_the_machine(record, figures, monkeypatch):
    changed = json.loads(json.dumps(record))
    changed["machine"]["processor"] = "Another processor"
    changed["attention"]["forward"]["formula"]["ratio"][-1] = 98.7
    changed["decoding"]["Decoder"]["per second"][-1] = 4321.0
    monkeypatch.setattr(figures, "measured", lambda *_: changed)
    for picture in (figures.slowdown(), figures.writing()):
        assert any("Another processor, 1 thread" in words for words in texts(picture))
    assert "98.7" in figures.slowdown().description and "98.70" in texts(figures.times())
    assert "4321" in figures.writing().description


def test_numbers_in_the_text_are_those_of_the_record(record):
    at, n = record["lengths"].index(2048), record["reasons"]
    forward, back = ({name: row["ratio"] for name, row in record["attention"][passed].items()} for passed in bench.PASSES)
    written = {name: row["ratio"][-1] for name, row in record["decoding"].items()}
    calls = {name: row["calls"] for name, row in record["decoding"].items()}
    sentences = [
        f"At {n['tokens']:,} tokens, `attention` takes {forward['formula'][at]:.1f} times as long as SDPA, "
        f"and {back['formula'][at]:.1f} times with the backward pass.",
        f"For naive code the two factors are {forward['naive'][at]:.1f} and {back['naive'][at]:.1f}, "
        f"for transformers' eager attention {forward['transformers'][at]:.1f} and {back['transformers'][at]:.1f}.",
        f"Matrix products take only {n['share of products']:.0%}".replace("%", " % of the time of `attention`."),
        f"with the causal mask, it takes {n['SDPA, causal to full']:.0%}".replace("%", " % of its time without a mask."),
        f"It takes {forward['blocks'][at]:.1f} times as long as SDPA",
        f"For a text of {record['counts'][-1]} tokens, transformers writes {written['transformers']:.2f} times as many tokens a second as *Decoder*, "
        f"*GPT* {written['GPT']:.2f} times as many, and *GPT* without its cache {written['GPT, no cache']:.2f} times.",
        f"*Decoder* calls {calls['Decoder']} operations for each token, transformers {calls['transformers']}.",
        f"at {record['lengths'][0]} tokens, `attention` takes {forward['formula'][0]:.1f} times as long as SDPA, "
        f"and {back['formula'][0]:.1f} times with the backward pass.",
    ]
    assert [sentence for sentence in sentences if sentence not in page_of_costs()] == []


def test_numbers_of_the_gpu_in_the_text_are_those_of_its_record(record, figures):
    on_processor, record = record, read(GPU)
    at, held = record["lengths"].index(4096), {name: row["bytes"] for name, row in record["attention"]["forward"].items()}
    forward, back = ({name: row["ratio"] for name, row in record["attention"][passed].items()} for passed in bench.PASSES)
    written, written_before = ({name: row["per second"] for name, row in one["decoding"].items()} for one in (record, on_processor))
    sentences = [
        f"at 4,096 tokens it takes {forward['formula'][at]:.1f} times as long as SDPA, "
        f"and {on_processor['attention']['forward']['formula']['ratio'][-1]:.1f} times on the processor.",
        f"With the backward pass it takes {back['formula'][at]:.1f} times as long at 4,096 tokens. "
        f"For naive code the two factors are {forward['naive'][at]:.1f} and {back['naive'][at]:.1f}.",
        f"At 16,384 tokens that is {held['formula'][-1] / 2**30:.1f} GiB, where SDPA holds {held['SDPA'][-1] / 2**20:.0f} MiB.",
        f"`flash_attention` holds {held['blocks'][-1] / 2**20:.0f} MiB, but it takes {forward['blocks'][-1]:.0f} times as long as SDPA",
        f"for 64 tokens, *Decoder* writes {written['Decoder'][0]:.0f} a second ({written_before['Decoder'][0]:.0f} on the processor), "
        f"and transformers {written['transformers'][0]:.0f} ({written_before['transformers'][0]:.0f}).",
    ]
    assert [sentence for sentence in sentences if sentence not in page_of_costs()] == []
    assert on_processor["lengths"][-1] == 4096 and on_processor["counts"][0] == record["counts"][0] == 64
    assert 1.9 < held["formula"][-1] / held["naive"][-1] < 2.1  # "twice as many bytes"
    assert any(record["machine"]["processor"] in words for words in texts(figures.slowdown_gpu()))


def page_of_costs():
    return " ".join((ROOT / "docs/order/cost.md").read_text(encoding="utf-8").split())
