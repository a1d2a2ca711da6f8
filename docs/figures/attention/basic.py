"""Which token looks at which, without parameters."""

import torch

from derivations.kernel.pages.drawing import Picture, tokens
from snippets.attention.formula import attention_weights
from snippets.attention.worked import TOKENS


def mixing() -> Picture:
    weights = attention_weights(TOKENS[0], TOKENS[0], scale=1.0)
    names = [f"token {i}" for i in range(1, len(weights) + 1)]
    largest = ", ".join(f"{name} to {names[int(torch.argmax(row))]} with {row.max():.2f}" for name, row in zip(names, weights))
    return tokens(
        weights,
        names,
        names,
        heads=("asks", "is asked"),
        title="Three tokens attend to one another",
        description=f"Lines as strong as the weights. Most of each token's weight goes like this: {largest}.",
    )
