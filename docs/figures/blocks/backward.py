"""Pictures of the backward pass: its steps, and weights with their gradients and those of the scores."""

import torch

from derivations.kernel.site.diagrams import Picture, below, heat_map, operations
from snippets.attention.formula import attention_weights
from snippets.blocks.backward import row_sums, score_gradients


def steps() -> Picture:
    return operations(
        {
            "O": ("$O$", 0, 0, "$n × d_v$"),
            "G": ("$G$", 1, 0, "$n × d_v$"),
            "V": ("$V$", 2, 0, "$m × d_v$"),
            "sums": ("row sums", 0, 1),
            "product": ("matrix product", 2, 1),
            "D": ("$D$", 0, 2, "$n × 1$"),
            "P": ("$P$", 1, 2, "$n × m$"),
            "A": ("$GV^⊤$", 2, 2, "$n × m$"),
            "softmax": ("back through softmax", 1, 3),
            "R": ("$R$", 1, 4, "$n × m$"),
            "to Q": ("times $K$", 0.4, 5),
            "to K": ("transposed, times $Q$", 1.6, 5),
            "dQ": ("queries' gradients", 0.4, 6, "$n × d_k$"),
            "dK": ("keys' gradients", 1.6, 6, "$m × d_k$"),
        },
        [
            ("O", "sums"),
            ("G", "sums"),
            ("G", "product"),
            ("V", "product"),
            ("sums", "D"),
            ("product", "A"),
            ("D", "softmax"),
            ("P", "softmax"),
            ("A", "softmax"),
            ("softmax", "R"),
            ("R", "to Q"),
            ("R", "to K"),
            ("to Q", "dQ"),
            ("to K", "dK"),
        ],
        title="The way back to queries and keys",
        description="The row sums of O and G, multiplied entry by entry, are D, one number for each query. G times the transpose of V gives "
        "the gradient of the weights, n by m. This, P and D go back through softmax, which gives R, the gradient of the scores, "
        "n by m. R times K leads to the gradient of the queries, n by d_k, and the transpose of R times Q to that of the "
        "keys, m by d_k.",
    )


def three_matrices() -> Picture:
    generator = torch.Generator().manual_seed(5)
    query, key, value, gradient = (2 * torch.randn(4, 4, generator=generator, dtype=torch.float64) for _ in range(4))
    query[3] = 0  # this one weights all keys equally
    weights, weight_gradients = attention_weights(query, key), gradient @ value.mT / 4
    score = score_gradients(weights, weight_gradients, row_sums(weights, weight_gradients))
    sums = score.sum(-1, keepdim=True)
    keys, queries = [f"key {j}" for j in range(1, 5)], [f"query {i}" for i in range(1, 5)]

    def rows(matrix):
        return "; ".join(", ".join(f"{x:.2f}" for x in row) for row in matrix.tolist())

    return below(
        heat_map(weights, queries, keys, digits=2, title="The weights", description=f"Four rows, one for each query: {rows(weights)}."),
        heat_map(
            weight_gradients,
            queries,
            keys,
            digits=2,
            title="The gradients of the weights",
            description=f"Four rows, one for each query: {rows(weight_gradients)}.",
        ),
        heat_map(
            torch.cat([score, sums.abs().round(decimals=9)], dim=-1),
            queries,
            [*keys, "sum"],
            digits=2,
            title="The gradients of the scores, and the sum of each row",
            description=f"Four rows, one for each query: {rows(score)}. Each row sums to {sums.abs().max():.2f}.",
        ),
        title="Weights, their gradients, and the gradients of the scores",
    )
