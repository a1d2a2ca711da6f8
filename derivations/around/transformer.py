"""The parts of a transformer block, and its numbers of parameters and multiplications."""

from derivations.kernel import Derivation, absolute, eye, index, matrix, sizes, softmax, total, zeros

n, d, d_f, d_v, N = sizes("n d d_f d_v N")
X, E = matrix("X", n, d), matrix("E", N, d)
W_1, W_2, W_V = matrix("W_1", d, d_f), matrix("W_2", d_f, d), matrix("W_V", d, d_v)
A, Pi = matrix("A", n, n), matrix("Pi", n, n)
i, a, b = index("i", n), index("a", d), index("b", d_f)
w, o = index("w", N), index("o", d)

derivation = Derivation("A transformer block")

derivation.identity(
    "embedding",
    (eye(N) @ E)[w, o],
    E[w, o],
    title="A one-hot row times a matrix selects a row of the matrix",
)

derivation.identity(
    "every-token",
    (Pi @ X) @ W_V,
    Pi @ (X @ W_V),
    title="A linear layer commutes with any reordering of tokens",
)


def relu(at):
    return (at + absolute(at)) / 2


derivation.identity(
    "feed-forward",
    (((X @ W_1 + absolute(X @ W_1)) / 2) @ W_2)[i, o],
    total(relu(total(X[i, a] * W_1[a, b], a)) * W_2[b, o], b),
    title="The feed-forward layer with ReLU, as a sum over hidden units",
)

derivation.identity(
    "silent",
    X + softmax(A) @ (X @ W_V) @ zeros(d_v, d),
    X,
    title="Attention with a zero output matrix adds nothing",
)

derivation.define(
    "P_b",
    4 * d**2 + 4 * d + (2 * d * d_f + d_f + d) + 4 * d,
    code=[("snippets.around.transformer.block_parameters", d, d_f)],
    title="The number of parameters of a block, $P_b$",
)

derivation.identity(
    "parameters",
    4 * d**2 + 4 * d + (2 * d * (4 * d) + 4 * d + d) + 4 * d,
    12 * d**2 + 13 * d,
    code=[("snippets.around.transformer.block_parameters", d, 4 * d)],
    title="Parameters, with a feed-forward layer four times as wide as the model",
)

derivation.identity(
    "cost",
    2 * n**2 * d - (4 * n * d**2 + 2 * n * d * (4 * d)),
    2 * n * d * (n - 6 * d),
    title="Multiplications: scores and mixing, minus linear layers of inner width $4d$",
)

if __name__ == "__main__":
    derivation.main()
