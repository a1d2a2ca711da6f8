"""A worked example in small integers: three tokens, their queries, keys, values and scores."""

from derivations.kernel import Derivation, array, index, matrix, sizes, total, vector

n, m, d_k, d_v = sizes("n m d_k d_v")
w = vector("w", d_k)
Q, K, V, P = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("V", m, d_v), matrix("P", n, m)  # of any sizes
i, j, a, b, c = index("i", n), index("j", m), index("a", d_k), index("b", d_v), index("c", 4)

derivation = Derivation("A worked example in integers")

X = derivation.define(
    "X",
    array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]),
    code=[("snippets.example.integers.tokens",)],
    title="The tokens $X$: three rows of four features",
)

W_Q = derivation.define(
    "W_Q",
    array([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]),
    code=[("snippets.example.integers.projections[0]",)],
    title="The query matrix $W_Q$",
)

W_K = derivation.define(
    "W_K",
    array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]),
    code=[("snippets.example.integers.projections[1]",)],
    title="The key matrix $W_K$",
)

W_V = derivation.define(
    "W_V",
    array([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]),
    code=[("snippets.example.integers.projections[2]",)],
    title="The value matrix $W_V$",
)

derivation.chain(
    "one-number",
    (X @ W_Q)[3, 3],
    (total(X[3, c] * W_Q[c, 3], c), "the third row times the third column"),
    (3, "insert the numbers: $1 + 0 + 1 + 1$"),
    title="One entry of a query, by hand",
)

derivation.identity(
    "queries",
    X @ W_Q,
    array([[1, 0, 2], [2, 2, 2], [2, 1, 3]]),
    code=[("snippets.example.integers.project_tokens", X, W_Q)],
    title="The queries",
)

derivation.identity(
    "keys",
    X @ W_K,
    array([[0, 1, 1], [4, 4, 0], [2, 3, 1]]),
    code=[("snippets.example.integers.project_tokens", X, W_K)],
    title="The keys",
)

derivation.identity(
    "values",
    X @ W_V,
    array([[1, 2, 3], [2, 8, 0], [2, 6, 3]]),
    code=[("snippets.example.integers.project_tokens", X, W_V)],
    title="The values",
)

derivation.chain(
    "scores",
    (X @ W_Q) @ (X @ W_K).T,
    (array([[1, 0, 2], [2, 2, 2], [2, 1, 3]]) @ array([[0, 1, 1], [4, 4, 0], [2, 3, 1]]).T, "insert the queries and the keys"),
    (array([[2, 4, 4], [4, 16, 12], [4, 12, 10]]), "multiply out"),
    uses=["queries", "keys"],
    code=[("snippets.attention.formula.scores", X @ W_Q, X @ W_K, {"scale": 1})],
    title="All nine scores are one matrix product",
)

derivation.identity(
    "merged",
    X @ (W_Q @ W_K.T) @ X.T,
    array([[2, 4, 4], [4, 16, 12], [4, 12, 10]]),
    uses=["simplify/bilinear#merged"],
    title="The same scores with one merged matrix",
)

derivation.identity(
    "one-score",
    (Q @ K.T)[i, j],
    total(Q[i, a] * K[j, a], a),
    title="A score is a sum over the features that queries and keys share",
)

derivation.identity(
    "one-output",
    (P @ V)[i, b],
    total(P[i, j] * V[j, b], j),
    title="An entry of the output is a weighted sum over the keys",
)

four = array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1], [0, 1, 0, 0]])  # the three tokens, and one more

derivation.chain(
    "fourth",
    (four @ W_Q) @ (four @ W_K).T,
    (
        array([[1, 0, 2], [2, 2, 2], [2, 1, 3], [1, 0, 0]]) @ array([[0, 1, 1], [4, 4, 0], [2, 3, 1], [1, 1, 0]]).T,
        "the new query is $(1, 0, 0)$ and the new key $(1, 1, 0)$",
    ),
    (array([[2, 4, 4, 1], [4, 16, 12, 4], [4, 12, 10, 3], [0, 4, 2, 1]]), "multiply out"),
    code=[("snippets.attention.formula.scores", four @ W_Q, four @ W_K, {"scale": 1})],
    title="The scores with a fourth token",
)

derivation.refute(
    "symmetric",
    ((four @ W_Q) @ (four @ W_K).T)[1, 4],
    ((four @ W_Q) @ (four @ W_K).T)[4, 1],
    at={},
    title="With a fourth token, the scores are not symmetric",
)

derivation.chain(
    "same-in-every-key",
    total(Q[i, a] * (K[j, a] + w[a]), a),
    (total(Q[i, a] * K[j, a], a) + total(Q[i, a] * w[a], a), "multiply out, and split the sum"),
    ((Q @ K.T)[i, j] + (Q @ w)[i], "the second sum does not depend on the key"),
    title="A row added to every key shifts all scores of a query equally",
)

if __name__ == "__main__":
    derivation.main()
