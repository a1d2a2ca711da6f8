"""Pictures of how dot products grow with their width."""

import torch

from derivations.kernel.site.diagrams import Picture, bars, curves
from derivations.kernel.site.figure_widgets import played
from snippets.scaling.variance import dot, draw, predicted_moments, sample_moments

WIDTHS = [2**power for power in range(11)]
SHOWN = 200  # of the pairs of each width, in the widget


def growth() -> Picture:
    pairs = random_pairs()
    measured = [sample_moments(q, k)[1].sqrt().item() for q, k in pairs]
    predicted = [predicted_moments(d)[1] ** 0.5 for d in WIDTHS]
    scaled = [deviation * d**-0.5 for deviation, d in zip(measured, WIDTHS)]
    picture = curves(
        [("measured", WIDTHS, measured, True), ("predicted", WIDTHS, predicted), ("scaled", WIDTHS, scaled, True)],
        log="xy",
        across="width $d$",
        up="standard deviation of $q·k$",
        title="The standard deviation of a dot product, by its width",
        description=f"Over 2,000 pairs for each width, the standard deviation grows from {measured[0]:.2f} at width 1 to "
        f"{measured[-1]:.1f} at width {WIDTHS[-1]:,}; the predictions are {predicted[0]:.0f} and {predicted[-1]:.0f}. "
        f"Scaled, it stays between {min(scaled):.2f} and {max(scaled):.2f}.",
    )
    return played(picture, widths=WIDTHS, first=64, scores=[[round(score, 2) for score in dot(q, k)[:SHOWN].tolist()] for q, k in pairs])


def random_pairs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """2,000 queries with one key each, for each width in `WIDTHS`."""
    generator = torch.Generator().manual_seed(0)
    drawn = (draw(2, 2000, d, generator=generator) for d in WIDTHS)
    return [(q, k) for q, k in drawn]


def failures() -> Picture:
    d, generator = 16, torch.Generator().manual_seed(0)
    q, k = draw(2, 20_000, d, generator=generator)
    repeated = [vector[:, :1].expand_as(vector) for vector in (q, k)]
    cases = {
        "independent": (q, k),
        "$q$ repeats one number": (repeated[0], k),
        "$k$ is $q$": (q, q),
        "mean 1": (q + 1, k + 1),
        "both repeat one number": repeated,
    }
    rows = [(name, sample_moments(*pair)[1].item()) for name, pair in cases.items()]
    return bars(
        rows,
        digits=1,
        title=f"The variance of a dot product of width {d}, when assumptions fail",
        description="Over 20,000 pairs. " + "; ".join(f"{name.replace('$', '')}: {value:.1f}" for name, value in rows) + ".",
    )
