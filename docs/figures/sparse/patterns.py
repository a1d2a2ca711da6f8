"""Pictures of two means with the output between them, and of many small weights."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.sparse.patterns import dropping_error, tail_weight, top_k_mask

COUNTS = [round(10 ** (k / 4)) for k in range(29)]  # 1 to 10 million


def means() -> Picture:
    generator = torch.Generator().manual_seed(0)
    scores, values = torch.randn(2, 16, generator=generator, dtype=torch.float64)
    keep, weights = top_k_mask(scores, k=4), scores.softmax(-1)
    dropped = weights[~keep].sum().item()
    kept_mean, dropped_mean = ((weights[one] @ values[one] / weights[one].sum()).item() for one in (keep, ~keep))
    output = kept_mean + dropping_error(scores, values, keep.double()).item()

    level = 1.15 * weights.max().item()
    shares = [("kept value", values[keep], weights[keep], True), ("dropped value", values[~keep], weights[~keep], True)]
    return curves(
        [*shares, ("from mean to mean", [kept_mean, dropped_mean], [level, level]), ("output", [output], [level], True)],
        across="value",
        up="weight",
        x_ticks=range(-2, 3),
        y_range=(0, level),
        title="Where the output lies between two means",
        description=f"The mean of the four kept values is {kept_mean:.2f}, that of the dropped ones {dropped_mean:.2f}. The dropped weight is "
        f"{dropped:.2f}, so the output, {output:.2f}, is at that fraction of the way from the kept mean to the dropped one.",
    )


def tail() -> Picture:
    drawn = []
    for lead in (5, 10, 15):
        gap = torch.tensor(float(lead), dtype=torch.float64)
        drawn.append((f"lead of {lead}", COUNTS, [tail_weight(gap, m=m).item() for m in COUNTS]))
    last = [found[-1] for _, _, found in drawn]
    return curves(
        drawn,
        across="other keys",
        up="their weight",
        log="x",
        y_ticks=(0, 0.5, 1),
        title="The weight of all keys except the leading one",
        description="Each curve rises from nothing to nearly all of the weight. It reaches a half when the number of other keys is the "
        f"exponential of the lead. With ten million of them, the weights are {last[0]:.2f}, {last[1]:.2f} and {last[2]:.2f}.",
    )
