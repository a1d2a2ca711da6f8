"""With its weights held fixed, a head is a Kronecker product on the flattened input, and several heads are a sum of them."""

from derivations.kernel import Derivation, index, matrix, rank, sizes, total
from derivations.kernel.core.expr import symbol

n, m, d, p, h = sizes("n m d p h")
P, X, W = matrix("P", n, m), matrix("X", m, d), matrix("W", d, p)
P_1, P_2, X_1 = matrix("P_1", n, n), matrix("P_2", n, n), matrix("X_1", n, d)
W_1, W_2 = matrix("W_1", d, d), matrix("W_2", d, d)
P_3, P_4 = matrix("P_3", n, n), matrix("P_4", n, n)  # two heads of a second layer
W_3, W_4 = matrix("W_3", d, d), matrix("W_4", d, d)
P_h, W_h = symbol("A", "real", (h, n, m)), symbol("B", "real", (h, d, p))  # the weights and the maps of h heads
i, j, k, l = index("i", n), index("j", m), index("k", n), index("l", m)
a, b, c, e = index("a", d), index("b", d), index("c", p), index("f", p)
s, g = index("s", h), index("g", 2)

derivation = Derivation("One head as one matrix")

derivation.identity(
    "by-rows",
    (P @ X @ W)[i, c],
    total(P[i, j] * W.T[c, a] * X[j, a], j, a),
    code=[("snippets.heads.kronecker.head", P, X, W), ("snippets.heads.kronecker.by_rows", P, X, W)],
    title="A head as one matrix on the input, flattened by rows",
)

derivation.identity(
    "by-columns",
    (P @ X @ W).T[c, i],
    total(W.T[c, a] * P[i, j] * X.T[a, j], a, j),
    code=[("snippets.heads.kronecker.by_columns", P, X, W)],
    title="Flattened by columns, the factors change places",
)

derivation.identity(
    "in-a-row",
    P_2 @ (P_1 @ X_1 @ W_1) @ W_2,
    (P_2 @ P_1) @ X_1 @ (W_1 @ W_2),
    code=[("snippets.heads.kronecker.head", P_2, ("snippets.heads.kronecker.head", P_1, X_1, W_1), W_2)],
    title="With fixed weights, two single heads in a row are one head",
)

derivation.identity(
    "two-layers",
    P_3 @ (P_1 @ X_1 @ W_1 + P_2 @ X_1 @ W_2) @ W_3 + P_4 @ (P_1 @ X_1 @ W_1 + P_2 @ X_1 @ W_2) @ W_4,
    (P_3 @ P_1) @ X_1 @ (W_1 @ W_3) + (P_3 @ P_2) @ X_1 @ (W_2 @ W_3) + (P_4 @ P_1) @ X_1 @ (W_1 @ W_4) + (P_4 @ P_2) @ X_1 @ (W_2 @ W_4),
    uses=["in-a-row"],
    title="Two layers of two heads: a sum of four heads",
)

derivation.identity(
    "residual",
    (X_1 + P_1 @ X_1 @ W_1) + P_2 @ (X_1 + P_1 @ X_1 @ W_1) @ W_2,
    X_1 + P_1 @ X_1 @ W_1 + P_2 @ X_1 @ W_2 + (P_2 @ P_1) @ X_1 @ (W_1 @ W_2),
    uses=["in-a-row"],
    title="Two heads in a row with residual connections: a sum of four terms",
)

derivation.identity(
    "several",
    total(P_h[s, i, j] * X[j, a] * W_h[s, a, c], s, j, a),
    total(total(P_h[s, i, j] * W_h[s, a, c], s) * X[j, a], j, a),
    code=[("snippets.heads.kronecker.heads", P_h, X, W_h), ("snippets.heads.kronecker.heads_by_rows", P_h, X, W_h)],
    title="The matrices of several heads add up",
)

derivation.identity(
    "exchange",
    (P[i, j] * W[a, c]) * (P[k, l] * W[b, e]),
    (P[k, l] * W[a, c]) * (P[i, j] * W[b, e]),
    title="One head: the weights of two entries can be exchanged",
)

pairs, maps = sizes("r q")
T_1, T_2 = matrix("T_1", h, pairs), matrix("T_2", h, maps)  # a head's weights and its map, each written as one row

derivation.inequality(
    "rank",
    rank(T_1.T @ T_2),
    h,
    because=(T_1.T, T_2),
    reason="a product whose inner dimension is the number of heads",
    uses=["simplify/bilinear#rank"],
    title="The rank of the rearranged matrix is at most the number of heads",
)

R, U = matrix("R", 2, 2), matrix("U", 2, 2)  # two heads: the weights of two keys for one query; from one feature to two


def entry(key, feature):
    """The entry of the heads' matrix for one query and one feature of the input: the heads' products, added."""
    return total(R[g, key] * U[g, feature], g)


derivation.refute(
    "no-exchange",
    entry(1, 1) * entry(2, 2),
    entry(2, 1) * entry(1, 2),
    at={R: [[1, 0], [0, 1]], U: [[1, 0], [0, 1]]},
    title="Two heads: the weights of two entries cannot be exchanged",
)

if __name__ == "__main__":
    derivation.main()
