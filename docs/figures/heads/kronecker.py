"""A picture of a Kronecker product."""

import torch

from derivations.kernel.site.diagrams import Picture, below, beside, heat_map
from snippets.heads.kronecker import kronecker


def product() -> Picture:
    P = torch.tensor([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.0, 0.0, 1.0]])
    W = torch.tensor([[1.0, -1.0], [0.0, 2.0]])
    whole = kronecker(P, W.mT)
    pairs = [f"{t}, {f}" for t in (1, 2, 3) for f in (1, 2)]
    weights, map_ = heat_map(P, title="Weights", description=said(P)), heat_map(W.mT, title="Map, transposed", description=said(W.mT))
    factors = beside(weights, map_, title="Three tokens and two features")
    product_ = heat_map(
        whole,
        pairs,
        pairs,
        across="token, feature of the input",
        down="of the output",
        title="Their Kronecker product",
        description=said(whole),
    )
    return below(factors, product_, title="A head as one matrix on the flattened input")


def said(M: torch.Tensor) -> str:
    return "rows " + "; ".join(", ".join(f"{x:.2f}" for x in row) for row in M.tolist()) + "."
