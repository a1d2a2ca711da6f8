"""Pictures of two attempts at scores with fewer matrices."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, heat_map
from snippets.simplify.attempts import solve_for_scores


def solutions() -> Picture:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
    Q, K = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64)
    found = [solve_for_scores(A, Q, K) for A in inputs]
    most = max(X.abs().max().item() for X in found)
    names = ("The solution for one input", "The solution for another")
    return beside(
        *(heat_map(X, most=most, digits=1, title=name, description=said(X)) for X, name in zip(found, names)),
        title="The matrix that solves for the scores, for two inputs",
    )


def said(X: torch.Tensor) -> str:
    return "rows " + "; ".join(", ".join(f"{x:.1f}" for x in row) for row in X.tolist()) + "."
