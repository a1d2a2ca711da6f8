"""Pictures of the weights of two padded texts, and of the derivatives of causal attention."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, heat_map
from derivations.kernel.site.figure_widgets import played
from derivations.kernel.site.weight_pictures import sentence_weights
from snippets.attention.formula import attention, attention_weights
from snippets.attention.masks import mask_scores, masked_softmax, padding_mask
from snippets.seeing.atlas import stored_head

# The scores of two texts in a batch, and how many of the five tokens are theirs.
SCORES = [
    [[1, 0, 2, 1, 0], [2, 1, 0, 3, 1], [0, 2, 1, 1, 2], [1, 3, 0, 2, 1], [2, 0, 1, 3, 1]],
    [[2, 1, 0, 1, 3], [0, 1, 2, 0, 1], [1, 0, 2, 3, 0], [2, 2, 0, 1, 1], [1, 3, 1, 0, 2]],
]
LENGTHS = [5, 3]


def batch() -> Picture:
    scores = torch.tensor(SCORES, dtype=torch.float64)
    kept = padding_mask(torch.tensor(LENGTHS), m=5)[:, 0] & torch.ones(5, 5, dtype=torch.bool).tril()  # (2, 5, 5)
    weights = masked_softmax(mask_scores(scores, attn_mask=kept))
    names = [str(k) for k in range(1, 6)]
    pictures = [
        heat_map(
            table,
            names,
            names,
            down="query",
            across="key",
            title=f"Text {text}, {length} tokens",
            description="rows " + "; ".join(", ".join(f"{x:.2f}" for x in row) for row in table.tolist()) + ".",
        )
        for text, (length, table) in enumerate(zip(LENGTHS, weights), 1)
    ]
    picture = beside(*pictures, title="Causal attention in two texts of a batch")
    return played(picture, scores=SCORES, lengths=LENGTHS)


def slopes() -> Picture:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(5, 3, generator=generator, dtype=torch.float64)
    by_all = torch.func.jacrev(lambda tokens: attention(tokens, tokens, tokens, is_causal=True))(X)  # (n, d, n, d)
    steepest = by_all.abs().amax((1, 3))  # (n, n)
    names = [str(k) for k in range(1, 6)]
    return heat_map(
        steepest,
        rows=names,
        columns=names,
        across="token",
        down="output",
        title="The largest derivative of each output (row) by each token (column)",
        description="rows "
        + "; ".join(", ".join(f"{x:.2f}" for x in row) for row in steepest.tolist())
        + ". Above the diagonal all are 0.",
    )


def sentence() -> Picture:
    head = stored_head()
    query = head.tokens.index("it")
    row = attention_weights(head.query, head.key, is_causal=True)[query]
    return sentence_weights(
        head.tokens,
        row.tolist(),
        query,
        head.tokens.index("because"),
        title="The weights of the word “it” under a causal mask",
        description=f"From the word “it”, lines lead to the earlier tokens with a weight of at least half a percent, as thick as their weights: "
        f"“{head.tokens[row.argmax()]}” has {row.max():.2f}. No line leads to a later token.",
    )
