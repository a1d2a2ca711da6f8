"""Pictures of text as tokens and vectors."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, heat_map
from snippets.example.tokens import learn_merges, tokenize

TEXT = "the cat sat on the mat, the cat ate"


def lookup() -> Picture:
    """Draw the tokens of a text as one-hot rows, and the rows of a table that they select."""
    pieces = tokenize("the cat at the", learn_merges(TEXT, 4))
    vocabulary = sorted({*pieces})
    token = torch.tensor([vocabulary.index(piece) for piece in pieces])
    table = torch.randn(len(vocabulary), 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    one_hot = torch.nn.functional.one_hot(token, len(vocabulary)).double()
    names = [f"“{piece}”" for piece in pieces]
    return beside(
        heat_map(one_hot, names, digits=0, title="One-hot rows", description="Each row has a one at the number of its token."),
        heat_map(one_hot @ table, digits=1, title="Their embeddings", description="Equal tokens have equal rows."),
        title="From tokens to vectors",
    )
