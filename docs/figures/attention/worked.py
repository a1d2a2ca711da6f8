"""The weights of the worked case."""

from derivations.kernel.pages.drawing import Picture, below, heat_map
from snippets.attention.formula import attention_weights
from snippets.attention.worked import TOKENS


def weights() -> Picture:
    found = attention_weights(TOKENS, TOKENS, scale=1.0)
    names = [str(i) for i in range(1, 4)]
    maps = [
        heat_map(
            sequence,
            names,
            names,
            down="asks",
            across="is asked",
            digits=4,
            title=title,
            description="; ".join(f"row {name}: " + ", ".join(f"{weight:.4f}" for weight in row) for name, row in zip(names, sequence))
            + ".",
        )
        for title, sequence in zip(("First sequence", "Second sequence"), found)
    ]
    return below(*maps, title="The weights of the two sequences")
