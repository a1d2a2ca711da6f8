"""The scores are a bilinear form in the input: one matrix in place of two, its rank, its freedom, and its price."""

from derivations.kernel import Derivation, index, inverse, invertible, matrix, nonnegative, rank, scalars, sizes, softmax, sqrt, total

n, m, d, d_k, d_v, h = sizes("n m d d_k d_v h")
X, Y, Z, U = matrix("X", n, d), matrix("Y", n, d), matrix("Z", m, d), matrix("U", m, d)
W_Q, W_K = matrix("W_Q", d, d_k), matrix("W_K", d, d_k)
W_V, W_O = matrix("W_V", d, d_v), matrix("W_O", d_v, d)
W, M = matrix("W", d, d), matrix("M", d_k, d_k)
P, S = matrix("P", n, m), matrix("S", n, n)
c = scalars("c")
i, j, a, b = index("i", n), index("j", n), index("a", d), index("b", d)

derivation = Derivation("The scores are a bilinear form")

derivation.chain(
    "merged",
    (X @ W_Q) @ (X @ W_K).T,
    ((X @ W_Q) @ (W_K.T @ X.T), "a transpose reverses a product"),
    (X @ (W_Q @ W_K.T) @ X.T, "regroup"),
    code=[
        ("snippets.simplify.bilinear.split_scores", X, W_Q, W_K, {"scale": 1}),
        ("snippets.simplify.bilinear.merged_scores", X, ("snippets.simplify.bilinear.merge", W_Q, W_K, {"scale": 1})),
    ],
    title="The scores are a bilinear form in the input",
)

derivation.identity(
    "merged-scaled",
    (X @ W_Q) @ (Z @ W_K).T / sqrt(d_k),
    X @ (W_Q @ W_K.T / sqrt(d_k)) @ Z.T,
    uses=["merged"],
    code=[("snippets.scaling.variance.scores", X @ W_Q, Z @ W_K)],
    title="With a context of its own, and the scale inside",
)

derivation.identity(
    "one-score",
    (X @ W @ X.T)[i, j],
    total(X[i, a] * W[a, b] * X[j, b], a, b),
    code=[("snippets.simplify.bilinear.merged_scores", X, W)],
    title="One score",
)

derivation.identity(
    "linear-in-each",
    (c * X + Y) @ W @ (Z + U).T,
    c * (X @ W @ Z.T) + c * (X @ W @ U.T) + Y @ W @ Z.T + Y @ W @ U.T,
    title="Linear in the tokens that ask, and in those that are asked",
)

derivation.identity(
    "quadratic",
    (2 * X) @ W @ (2 * X).T,
    4 * (X @ W @ X.T),
    code=[("snippets.simplify.bilinear.merged_scores", 2 * X, W)],
    title="Quadratic in the input as a whole",
)

derivation.inequality(
    "rank",
    rank(W_Q @ W_K.T),
    d_k,
    because=(W_Q, W_K.T),
    reason="it factors through $d_k$ columns",
    title="The merged matrix has low rank",
)

derivation.chain(
    "gauge",
    (X @ (W_Q @ M)) @ (X @ (W_K @ inverse(M).T)).T,
    ((X @ W_Q) @ (M @ inverse(M)) @ (X @ W_K).T, "a transpose reverses a product; regroup"),
    ((X @ W_Q) @ (X @ W_K).T, "a matrix times its inverse is the identity"),
    given=[invertible(M)],
    code=[
        ("snippets.simplify.bilinear.split_scores", X, W_Q, W_K, {"scale": 1}),
        (
            "snippets.simplify.bilinear.split_scores",
            X,
            ("snippets.simplify.bilinear.change_gauge[0]", W_Q, W_K, M),
            ("snippets.simplify.bilinear.change_gauge[1]", W_Q, W_K, M),
            {"scale": 1},
        ),
    ],
    title="Other projections with the same scores",
)

derivation.identity(
    "swap",
    (X @ W_K) @ (X @ W_Q).T,
    ((X @ W_Q) @ (X @ W_K).T).T,
    code=[("snippets.simplify.bilinear.split_scores", X, W_K, W_Q, {"scale": 1})],
    title="Swapping queries and keys transposes the scores",
)

derivation.refute(
    "swap-weights",
    softmax(S.T),
    softmax(S).T,
    at={S: [[0, 1], [0, 0]]},
    title="It does not transpose the weights",
)

derivation.chain(
    "output-merged",
    P @ (Z @ W_V) @ W_O,
    (P @ Z @ (W_V @ W_O), "regroup"),
    code=[
        ("snippets.simplify.bilinear.split_output", P, Z, W_V, W_O),
        ("snippets.simplify.bilinear.merged_output", P, Z, W_V @ W_O),
    ],
    title="Values and output merge too",
)

derivation.inequality(
    "output-rank",
    rank(W_V @ W_O),
    d_v,
    because=(W_V, W_O),
    title="The second merged matrix has low rank",
)

split = derivation.define(
    "c_s",
    2 * n * d * d_k + n**2 * d_k,
    code=[("snippets.simplify.bilinear.split_multiplications", n, d, d_k)],
    title="Multiplications, two projections",
)
merged = derivation.define(
    "c_m",
    n * d**2 + n**2 * d,
    code=[("snippets.simplify.bilinear.merged_multiplications", n, d)],
    title="Multiplications, one merged matrix",
)

derivation.identity(
    "cost-difference",
    merged - split,
    n * d * (d - 2 * d_k) + n**2 * (d - d_k),
    title="What merging changes",
)

derivation.identity(
    "cost-one-head",
    n * d**2 + n**2 * d,
    (2 * n * d * d + n**2 * d) - n * d**2,
    code=[("snippets.simplify.bilinear.merged_multiplications", n, d)],
    title="One head as wide as the model: merging saves",
)

derivation.inequality(
    "cost-heads",
    2 * n * d * (d / h) + n**2 * (d / h),
    n * d**2 + n**2 * d,
    because=n * d**2 * (h - 2) / h + n**2 * d * ((h - 2) + 1) / h,
    given=[nonnegative(h - 2)],
    title="Two or more heads: merging costs",
)

derivation.inequality(
    "parameters",
    2 * d * (d / h),
    d**2,
    because=d**2 * (h - 2) / h,
    given=[nonnegative(h - 2)],
    title="Two or more heads: the merged matrix holds at least as many numbers",
)

if __name__ == "__main__":
    derivation.main()
