"""The weights of sixteen keys. A reader keeps some of them, one by one or in blocks."""

import torch

from derivations.kernel.site.diagrams import Picture, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.sparse.learned import missed_weight
from snippets.sparse.patterns import top_k_mask

KEYS, KEPT = 16, 4


def scores_and_values() -> tuple[torch.Tensor, torch.Tensor]:
    """Scores of sixteen keys, and one feature of their values between minus one and one, to one decimal."""
    generator = torch.Generator().manual_seed(5)
    scores = 1.5 * torch.randn(KEYS, generator=generator, dtype=torch.float64)
    values = 2 * torch.rand(KEYS, generator=generator, dtype=torch.float64) - 1
    return scores.mul(10).round() / 10, values.mul(10).round() / 10


def selection() -> Picture:
    scores, values = scores_and_values()
    weights, keep = scores.softmax(-1), top_k_mask(scores, k=KEPT)
    half = KEYS // 2
    picture = heat_map(
        weights.view(2, half).tolist(),
        [f"keys {first} to {first + half - 1}" for first in (1, half + 1)],
        digits=2,
        most=1,
        marked=[divmod(j, half) for j in keep.nonzero().flatten().tolist()],
        title="The weights of sixteen keys",
        description=f"The {KEPT} largest weights are kept, and framed. The others have {missed_weight(scores[keep], scores[~keep]).item():.2f} of the weight.",
    )
    return played(picture, scores=scores.tolist(), values=values.tolist(), sizes=[1, 2, 4], kept=[4, 8, 12, 16], first=KEPT)
