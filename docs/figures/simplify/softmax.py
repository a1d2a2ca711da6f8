"""Pictures of what softmax does to the rank."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, heat_map
from snippets.simplify.softmax import rank_one_scores


def ranks() -> Picture:
    q, k = torch.tensor([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]], dtype=torch.float64)
    S = rank_one_scores(q, k.log())
    matrices = {f"{name}, of rank {torch.linalg.matrix_rank(M)}": M for name, M in (("Scores", S), ("Weights", S.softmax(-1)))}
    return beside(
        *(heat_map(M, title=name, description=said(M)) for name, M in matrices.items()),
        title="Scores of three queries and three keys, and their weights",
    )


def said(M: torch.Tensor) -> str:
    return "rows " + "; ".join(", ".join(f"{x:.2f}" for x in row) for row in M.tolist()) + "."
