"""Pictures of the derivatives of causal attention."""

import torch

from derivations.kernel.site.diagrams import Picture, heat_map
from derivations.kernel.site.weight_pictures import sentence_weights
from snippets.attention.formula import attention, attention_weights
from snippets.seeing.atlas import stored_head


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
        title="The weights of the word it under a causal mask",
        description=f"From the word it, lines lead to the tokens before it, as thick as their weights: {head.tokens[row.argmax()]} has "
        f"{row.max():.2f}. No line leads to a token after it.",
    )
