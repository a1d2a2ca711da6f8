"""Pictures of a sink: the weights after it is dropped, and how its gate opens with the number of keys."""

import torch

from derivations.kernel.site.diagrams import Picture, bars, curves
from snippets.bounds.sinks import sink_gate, without_keys


def dropped() -> Picture:
    weights = torch.tensor([0.90, 0.06, 0.03, 0.01], dtype=torch.float64)
    kept = without_keys(weights, torch.tensor([True, False, False, False]))
    names = ("sink", "first", "second", "third")
    with_sink = [(f"with the sink: {name}", weight) for name, weight in zip(names, weights.tolist())]
    without = [(f"without: {name}", weight) for name, weight in zip(names[1:], kept.tolist()[1:])]
    return bars(
        [*with_sink, None, *without],
        most=1,
        title="The weights of three keys with a sink in the cache, and without it",
        description="; ".join(f"{name} {weight:.2f}" for name, weight in with_sink + without) + ".",
    )


def gate() -> Picture:
    numbers = [2**power for power in range(21)]
    drawn = {}
    for lead in (2, 5, 8):
        log_sums = torch.tensor(numbers, dtype=torch.float64).log()  # of this many keys with the score 0
        drawn[lead] = sink_gate(log_sums, torch.tensor(float(lead), dtype=torch.float64)).tolist()
    said = "; ".join(f"with a sink {lead} above the keys, from {ys[0]:.4f} to {ys[-1]:.4f}" for lead, ys in drawn.items())
    return curves(
        [(f"sink at {lead}", numbers, ys) for lead, ys in drawn.items()],
        log="x",
        x_ticks=(1, 1024, 2**20),
        y_range=(0, 1),
        across="number of keys",
        up="weight of the keys",
        title="The total weight of keys with scores of zero, by their number",
        description=f"From {numbers[0]} to {numbers[-1]:,} keys: {said}.",
    )
