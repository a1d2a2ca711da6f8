"""A published encoder: the similarity of mean vectors, and distance against cosine."""

from derivations.kernel import Derivation, index, matrix, sizes, total, vector

n, m, d = sizes("n m d")
X, Y = matrix("X", n, d), matrix("Y", m, d)  # the tokens of two sentences after the last block
u, v = vector("u", d), vector("v", d)  # vectors of two sentences
i, j, f = index("i", n), index("j", m), index("f", d)

derivation = Derivation("A published encoder: MiniLM")

derivation.identity(
    "all-pairs",
    total((total(X[i, f], i) / n) * (total(Y[j, f], j) / m), f),
    total(total((X @ Y.T)[i, j], j), i) / (n * m),
    code=[("snippets.together.encoder.similarity_of_means", X, Y), ("snippets.together.encoder.mean_similarity", X, Y)],
    title="The dot product of two mean vectors is the mean over all pairs of tokens",
)

derivation.identity(
    "distance",
    (u - v) @ (u - v),
    u @ u + v @ v - 2 * (u @ v),
    title="The squared distance of two vectors, from their lengths and their dot product",
)
