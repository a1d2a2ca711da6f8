"""Pictures of additive scores: how they are computed, and how they saturate."""

import torch

from derivations.kernel.site.diagrams import Picture, curves, operations
from snippets.around.additive import additive_scores


def network() -> Picture:
    return operations(
        {
            "q": ("query", 0, 0, "$d_q$"),
            "k": ("key", 1.2, 0, "$d_k$"),
            "W1": ("times $W_1$", 0, 1),
            "W2": ("times $W_2$", 1.2, 1),
            "add": ("add", 0.6, 2),
            "tanh": ("tanh", 0.6, 3),
            "v": ("times $v$", 0.6, 4),
            "s": ("score", 0.6, 5, "1"),
        },
        [("q", "W1"), ("k", "W2"), ("W1", "add"), ("W2", "add"), ("add", "tanh", "width $r$"), ("tanh", "v"), ("v", "s")],
        title="An additive score, operation by operation",
        description="The query is multiplied by one matrix and the key by another. The two are added, passed through tanh, and multiplied by a vector.",
    )


def two_keys() -> Picture:
    query = torch.linspace(-6, 6, 97, dtype=torch.float64).unsqueeze(-1)  # (n, 1)
    one = torch.ones(1, 1, dtype=torch.float64)
    key = torch.tensor([[0.0], [2.0]], dtype=torch.float64)
    added = additive_scores(query, key, one, one, 3 * one[0]).softmax(-1)[:, 1]
    dotted = (query @ key.mT).softmax(-1)[:, 1]
    x = query.flatten()
    return curves(
        [("additive", x, added), ("dot product", x, dotted)],
        across="query",
        up="weight of the larger key",
        x_ticks=(-6, -3, 0, 3, 6),
        title="The weight of the larger of two keys, by the query",
        description=f"Keys 0 and 2. The additive weight is {added[0]:.2f} at query −6, {added.max():.2f} at its largest, and {added[-1]:.2f} at query 6. "
        f"That of dot products rises from {dotted[0]:.2f} to {dotted[-1]:.2f}.",
    )
