"""Weights and scores of self-attention without parameters."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, heat_map
from snippets.attention.formula import attention_weights, scores
from snippets.attention.worked import TOKENS


def mixing() -> Picture:
    X = torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
    weights = attention_weights(X, X, scale=1.0)
    outputs = weights @ X
    names = [f"({token[0]:.0f}, {token[1]:.0f})" for token in X.tolist()]
    said = "; ".join(f"{name} has the weights {row[0]:.2f} and {row[1]:.2f}" for name, row in zip(names, weights.tolist()))
    means = " and ".join(f"({first:.2f}, {second:.0f})" for first, second in outputs.tolist())
    return beside(
        heat_map(weights, names, names, across="key", down="query", title="Weights", description=f"{said}."),
        heat_map(outputs, digits=2, most=4, title="Outputs", description=f"The rows {means}."),
        title="Two tokens attend to each other",
    )


def mutual() -> Picture:
    X = TOKENS[0]
    matrices = {"Scores": scores(X, X, scale=1.0), "Weights": attention_weights(X, X, scale=1.0)}
    names = [f"{i}" for i in range(1, len(X) + 1)]
    pictures = []
    for name, M in matrices.items():
        first, second = M[0, 1].item(), M[1, 0].item()
        said = f"Row 1, column 2 is {first:.2f}; row 2, column 1 is {second:.2f}."
        pictures.append(heat_map(M, names, names, title=name, description=said))
    return beside(*pictures, title="Three tokens as queries and as keys")
