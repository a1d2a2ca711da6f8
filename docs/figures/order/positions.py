"""Pictures of positions as sines and cosines."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.order.positions import frequencies, sinusoidal_encoding, waves
from snippets.seeing.one_token import stored_order


def encodings() -> Picture:
    place = torch.arange(0, 64.25, 0.25, dtype=torch.float64)
    omega = frequencies(8, dtype=torch.float64)
    sines = waves(place, omega)[1]
    return curves(
        [(f"feature {2 * k + 1}", place, sines[:, k]) for k in range(3)],
        across="position",
        x_ticks=(0, 16, 32, 48, 64),
        y_ticks=(-1, 0, 1),
        title="The sines of three frequencies",
        description=f"For a width of 8 the frequencies are {', '.join(f'{x:g}' for x in omega[:3].tolist())} and one smaller still. "
        "Each wave is ten times as long as the one before.",
    )


def products() -> Picture:
    PE = sinusoidal_encoding(121, 512, dtype=torch.float64)
    product = PE[60] @ PE.mT
    place = torch.arange(-60, 61)
    return curves(
        [("", place, product)],
        across="distance",
        up="product",
        x_ticks=(-60, -30, 0, 30, 60),
        y_range=(0, 256),
        title="The dot product of two encodings of width 512, by their distance",
        description=f"It is {product[60]:.0f} at distance 0, decreases in waves, symmetrically to both sides, and is {product[0]:.0f} at distance 60.",
    )


def sentence() -> Picture:
    cosines = stored_order().cosines[1:, 1:]  # without the row of the first token
    n = len(cosines)
    distances = list(range(1, n))
    pairs = torch.triu_indices(n, n, 1)
    means = [cosines.diagonal(distance).mean() for distance in distances]
    return curves(
        [("mean", distances, means), ("pairs", pairs[1] - pairs[0], cosines[*pairs], True)],
        across="distance",
        up="cosine",
        x_ticks=(1, 5, 10, n - 1),
        y_range=(0, 1),
        title="The cosine of two rows of a learned table of positions, by their distance",
        description="Means by distance: " + ", ".join(f"{distance}: {mean:.2f}" for distance, mean in zip(distances, means)) + ".",
    )
