"""Scores of a query with one key at all places of a grid."""

import torch

from derivations.kernel.site.diagrams import Picture, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.positions.images import axial_frequencies, grid_angles, grid_positions, grid_score

SIDE = 7
QUERY, KEY = (3, 3), (4, 1)
PAIRS = 4


def aimed(displacement: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """Return both numbers of each pair of a key whose score with the query is highest at this displacement."""
    angle = grid_angles(displacement, W)
    return torch.stack([angle.cos(), -angle.sin()])


def displacements() -> Picture:
    axial = axial_frequencies(2 * PAIRS, base=9.0, dtype=torch.float64)
    mixed = axial @ torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64) / 2**0.5  # the axes turned by 45 degrees
    query = torch.stack([torch.ones(PAIRS, dtype=torch.float64), torch.zeros(PAIRS, dtype=torch.float64)])
    keys = [aimed(torch.tensor(KEY) - torch.tensor(QUERY), W) for W in (axial, mixed)]
    scores = grid_score(*query, *keys[0], torch.tensor(QUERY), grid_positions(SIDE, SIDE), axial).view(SIDE, SIDE)
    names = [str(one) for one in range(SIDE)]
    picture = heat_map(
        scores.tolist(),
        names,
        names,
        title="Scores of a query in row 3 and column 3 with the same key at every place",
        description=f"The largest score, {scores.max().item():.0f}, is in row {KEY[0]} and column {KEY[1]}. "
        "Scores are high along its row and its column, too.",
        across="column of the key",
        down="row of the key",
        digits=1,
        marked=[QUERY, KEY],
    )
    return played(
        picture,
        side=SIDE,
        query=query.tolist(),
        keys=[key.tolist() for key in keys],
        kinds=["axial", "mixed"],
        frequencies=[axial.tolist(), mixed.tolist()],
        places=[list(QUERY), list(KEY)],
    )
