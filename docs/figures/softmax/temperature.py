"""Pictures of weights, entropy and mean score at different temperatures."""

import torch

from derivations.kernel.site.diagrams import Picture, curves, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.scaling.saturation import entropy
from snippets.softmax.temperature import softmax_with_temperature

SCORES = torch.tensor([3.0, 3.0, 2.0, 0.0], dtype=torch.float64)


def weights() -> Picture:
    temperatures = (100.0, 10.0, 1.0, 0.3, 0.1)
    rows = torch.stack([softmax_with_temperature(SCORES, tau=tau) for tau in temperatures])
    picture = heat_map(
        rows.tolist(),
        [f"{tau:g}" for tau in temperatures],
        [f"{score:g}" for score in SCORES.tolist()],
        digits=2,
        most=0.5,
        across="score",
        down="temperature",
        title="Weights at five temperatures",
        description=f"At temperature 100 all four weights are near a quarter, from {rows[0].max():.2f} to {rows[0].min():.2f}. "
        f"At temperature 1 they are {', '.join(f'{w:.2f}' for w in rows[2].tolist())}. At temperature 0.1 the two "
        f"largest scores have {rows[4, 0]:.2f} each.",
    )
    return played(picture, scores=SCORES.tolist())


def spread() -> Picture:
    beta = torch.linspace(0, 5, 101, dtype=torch.float64)
    along = torch.softmax(beta.unsqueeze(-1) * SCORES, dim=-1)
    mean, spread_ = (along * SCORES).sum(-1), entropy(along)
    return curves(
        [("mean score", beta, mean), ("entropy", beta, spread_)],
        across="inverse temperature",
        up="",
        y_range=(0, 3),
        title="Mean score and entropy at different inverse temperatures",
        description=f"From inverse temperature 0 to 5 the mean score rises from {mean[0]:.2f} to {mean[-1]:.2f}, and the "
        f"entropy falls from {spread_[0]:.2f} to {spread_[-1]:.2f}.",
    )
