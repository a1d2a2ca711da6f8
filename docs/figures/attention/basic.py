"""Weights and scores of self-attention without parameters."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, heat_map, tokens
from snippets.attention.formula import attention_weights, scores
from snippets.attention.worked import TOKENS


def mixing() -> Picture:
    weights = attention_weights(TOKENS[0], TOKENS[0], scale=1.0)
    names = [f"token {i}" for i in range(1, len(weights) + 1)]
    largest = ", ".join(f"{name} to {names[int(torch.argmax(row))]} with {row.max():.2f}" for name, row in zip(names, weights))
    return tokens(
        weights,
        names,
        names,
        heads=("query", "key"),
        title="Three tokens attend to one another",
        description=f"The thicker a line, the larger the weight. The largest weight of each token: {largest}.",
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
