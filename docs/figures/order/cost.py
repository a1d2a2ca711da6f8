"""Pictures of what attention costs: operations, which are counted, and time and memory, which tests/bench/attention.py measured."""

import json
from pathlib import Path

from derivations.kernel.site.diagrams import Picture, below, curves, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.order.cost import doubling_ratio, pair_operations, projection_operations

READS = ("docs/figures/order/attention_speed.json", "docs/figures/order/attention_speed_gpu.json")
WIDTH = 512
LENGTHS = [2 ** (k / 2) for k in range(10, 33)]  # 32 to 65536


def operations() -> Picture:
    projections, pairs = ([count(n, WIDTH) / 1e9 for n in LENGTHS] for count in (projection_operations, pair_operations))
    picture = curves(
        [("projections", LENGTHS, projections), ("pairs", LENGTHS, pairs)],
        log="xy",
        across="tokens",
        up="billion operations",
        x_ticks=(32, 256, 1024, 8192, 65536),
        title=f"Operations of a layer of width {WIDTH}, by the number of tokens",
        description=f"Both grow with the number of tokens, the pairs twice as steeply on these logarithmic axes. At 32 tokens the projections take "
        f"{projections[0]:.3f} billion operations and the pairs {pairs[0]:.4f}. They meet at {2 * WIDTH} tokens. "
        f"At 65536 tokens it is {projections[-1]:.0f} and {pairs[-1]:.0f}.",
    )
    return played(picture, lengths=[2**k for k in range(5, 18)], first=2 * WIDTH, widths=[2**k for k in range(7, 15)], width=WIDTH)


def doubling() -> Picture:
    ratios = [doubling_ratio(n, WIDTH) for n in LENGTHS]
    return curves(
        [("", LENGTHS, ratios)],
        log="x",
        across="tokens",
        up="times as much",
        x_ticks=(32, 256, 1024, 8192, 65536),
        y_range=(1, 4),
        title="The cost of twice as many tokens, as a multiple",
        description=f"From {ratios[0]:.2f} times at 32 tokens the ratio rises to {ratios[-1]:.2f} at 65536. "
        f"At {2 * WIDTH} tokens it is {doubling_ratio(2 * WIDTH, WIDTH):.0f}.",
    )


def measured(path: str = READS[0]) -> dict:
    """The record of a benchmark."""
    return json.loads((Path(__file__).resolve().parents[3] / path).read_text(encoding="utf-8"))


def _machine(record: dict) -> str:
    machine, threads = record["machine"], record["machine"].get("threads")
    parts = [machine["processor"], f"{threads} thread{'s' * (threads > 1)}"] if threads else [machine["processor"]]
    return ", ".join([*parts, record["date"]])


def slowdown() -> Picture:
    return _slowdown(measured(), "as a multiple of the time of SDPA")


def slowdown_gpu() -> Picture:
    return _slowdown(measured(READS[1]), "on a GPU, as a multiple of the time of SDPA")


def _slowdown(record: dict, what: str) -> Picture:
    lengths, forward = record["lengths"], record["attention"]["forward"]
    shown = ("formula", "blocks", "naive", "SDPA, math")
    last = ", ".join(f"{name} {forward[name]['ratio'][-1]:.1f}" for name in shown)
    return curves(
        [(name, lengths, forward[name]["ratio"]) for name in shown],
        log="x",
        across=f"tokens ({_machine(record)})",
        up="times as slow as SDPA",
        x_ticks=lengths,
        y_range=(0, 1),
        title=f"Time of causal attention, forward, {what}",
        description=f"Ratios at {lengths[-1]} tokens: {last}. At {lengths[0]} tokens the formula takes "
        f"{forward['formula']['ratio'][0]:.1f} times as long as SDPA.",
    )


def _table(record: dict, passed: str, rows: dict[str, list[float]], *, digits: int, what: str) -> Picture:
    lengths = record["lengths"]
    ends = "; ".join(f"{name} {values[0]:.{digits}f} to {values[-1]:.{digits}f}" for name, values in rows.items())
    return heat_map(
        list(rows.values()),
        list(rows),
        [str(n) for n in lengths],
        digits=digits,
        across="tokens",
        title=f"{what}, {passed}",
        description=f"From {lengths[0]} to {lengths[-1]} tokens: {ends}.",
    )


def times() -> Picture:
    record = measured()
    tables = []
    for passed, found in record["attention"].items():
        ratios = {name: row["ratio"] for name, row in found.items()}
        tables.append(_table(record, passed, ratios, digits=2, what="Time as a multiple of SDPA's"))
    return below(*tables, title="Time of causal attention by length, as a multiple of the time of SDPA")


def peaks() -> Picture:
    record = measured()
    tables = []
    for passed, found in record["attention"].items():
        mebibytes = {name: [held / 2**20 for held in row["bytes"]] for name, row in found.items()}
        tables.append(_table(record, passed, mebibytes, digits=1, what="Memory in MiB"))
    return below(*tables, title="Memory of causal attention at its peak, by length")


def writing() -> Picture:
    record = measured()
    counts, found = record["counts"], record["decoding"]
    last = ", ".join(f"{name} {row['per second'][-1]:.0f}" for name, row in found.items())
    return curves(
        [(name, counts, row["per second"]) for name, row in found.items()],
        log="x",
        across=f"tokens written ({_machine(record)})",
        up="tokens a second",
        x_ticks=counts,
        y_range=(0, 1),
        title="Tokens a second that small decoders of one size write",
        description=f"Tokens a second, for texts of {counts[-1]} tokens: {last}.",
    )
