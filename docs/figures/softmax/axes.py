"""A picture of softmax along each of three axes."""

import torch

from derivations.kernel.site.diagrams import Picture, below, beside, heat_map

SIZES = (2, 3, 4)


def box() -> Picture:
    X = torch.randn(SIZES, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return below(*(_along(torch.softmax(X, dim), dim) for dim in range(3)), title="Softmax along each axis of a tensor")


def _along(weights, dim: int) -> Picture:
    """Both matrices of the batch. The entries that sum to one with the first are framed."""
    places = [(0, 0, 0)] + [tuple(k if axis == dim else 0 for axis in range(3)) for k in range(1, SIZES[dim])]
    matrices = [
        heat_map(
            weights[a].tolist(),
            digits=2,
            most=1,
            marked=[(i, j) for b, i, j in places if b == a],
            title=f"matrix {a}",
            description=f"{sum(b == a for b, _, _ in places)} of the entries that sum to one with the first are framed.",
        )
        for a in range(SIZES[0])
    ]
    return beside(*matrices, title=f"dim {dim}, of size {SIZES[dim]}", gap=24)
