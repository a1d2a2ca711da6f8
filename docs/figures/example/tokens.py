"""Pictures of text as tokens and vectors."""

import torch

from derivations.kernel.site.diagrams import Picture, below, heat_map
from derivations.kernel.site.weight_pictures import Column, token_columns
from snippets.example.tokens import learn_merges, tokenize
from snippets.seeing.atlas import stored_head

TEXT = "the cat sat on the mat, the cat ate"


def lookup() -> Picture:
    """Draw the tokens of a text as one-hot rows, and the rows of a table that they select."""
    pieces = tokenize("the cat sat", learn_merges(TEXT, 4))
    vocabulary = sorted({*pieces})
    token = torch.tensor([vocabulary.index(piece) for piece in pieces])
    table = torch.randn(len(vocabulary), 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    one_hot = torch.nn.functional.one_hot(token, len(vocabulary)).double()
    names, entries = [f"“{piece}”" for piece in pieces], [f"“{piece}”" for piece in vocabulary]
    return below(
        heat_map(one_hot, names, entries, digits=0, title="One-hot rows of the text", description="Each row has a one at its token."),
        heat_map(table, entries, digits=1, title="The table", description="A row of three numbers for each of the tokens."),
        heat_map(one_hot @ table, names, digits=1, title="Embeddings of the text", description="Equal tokens have equal rows."),
        title="From tokens to vectors",
    )


def sentence() -> Picture:
    head = stored_head()
    columns = [Column("number", head.numbers.tolist(), 0, labels=True)]
    columns += [Column(f"entry {k}", values.tolist()) for k, values in enumerate(head.rows.T[:4], 1)]
    first, second = (place for place, token in enumerate(head.tokens) if token == "the")
    return token_columns(
        head.tokens,
        columns,
        title="The tokens of a sentence in a trained model",
        description=f"{len(head.tokens)} tokens, each with its number and the first four entries of its row in the embedding table. Tokens "
        f"{first + 1} and {second + 1} are both \u201cthe\u201d, with the number {head.numbers[first]} and the same entries.",
    )
