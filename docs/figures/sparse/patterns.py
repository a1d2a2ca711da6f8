"""Pictures of what dropped keys leave behind: two means with the output between them, and many small weights."""

import torch

from derivations.kernel.pages.drawing import Picture, curves
from derivations.kernel.pages.picture import line, part, quiet, text
from snippets.sparse.patterns import error, tail_weight, top_k_mask

COUNTS = [round(10 ** (k / 4)) for k in range(29)]  # 1 to 10 million


def means() -> Picture:
    generator = torch.Generator().manual_seed(0)
    scores, values = torch.randn(2, 16, generator=generator, dtype=torch.float64)
    keep, weights = top_k_mask(scores, k=4), scores.softmax(-1)
    dropped = weights[~keep].sum().item()
    kept_mean, dropped_mean = ((weights[one] @ values[one] / weights[one].sum()).item() for one in (keep, ~keep))
    output = kept_mean + error(scores, values, keep.double()).item()

    left, right, ground, level = 20.0, 380.0, 150.0, 178.0
    ends = (-1.75, 1.75)

    def across(value: float) -> float:
        return left + (right - left) * (value - ends[0]) / (ends[1] - ends[0])

    drawn = [line((left, ground), (right, ground), css="picture__axis")]
    for value, weight, kept in zip(values.tolist(), weights.tolist(), keep.tolist()):
        order, x, y = 0 if kept else 1, across(value), ground - 460 * weight
        drawn.append(line((x, y), (x, ground), css=f"picture__curve picture__curve--{order}"))
        drawn.append(part("circle", f"picture__dot picture__dot--{order}", cx=x, cy=y, r=4))
    drawn.append(quiet(right, ground + 16, "value", anchor="end"))
    for order, words in enumerate(("kept", "dropped")):
        drawn.append(part("circle", f"picture__dot picture__dot--{order}", cx=260, cy=12 + 20 * order, r=4))
        drawn.append(text(272, 12 + 20 * order, words, anchor="start"))

    first, middle, last = (across(value) for value in (kept_mean, output, dropped_mean))
    drawn.append(line((first, level), (last, level)))
    for x, order in ((first, 0), (middle, 2), (last, 1)):
        drawn.append(line((x, level - 9), (x, level + 9), css=f"picture__curve picture__dot--{order}"))
    drawn.append(text(first - 10, level, "kept mean", anchor="end"))
    drawn.append(text(middle, level + 20, "output"))
    drawn.append(text(last + 10, level, "dropped mean", anchor="start"))
    return Picture(
        "Where the output lies between two means",
        f"The mean of the four kept values is {kept_mean:.2f}, that of the dropped ones {dropped_mean:.2f}. The dropped weight is "
        f"{dropped:.2f}, and so the output, {output:.2f}, is by that part of the way from the kept mean to the dropped one.",
        right + 20,
        level + 34,
        tuple(drawn),
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
        title="The weight of all keys but the one that leads",
        description="Each curve rises from nothing to nearly all of the weight, half of it where there are as many other keys as the "
        f"exponential of the lead. With ten million of them, the weights are {last[0]:.2f}, {last[1]:.2f} and {last[2]:.2f}.",
    )
