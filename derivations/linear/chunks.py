"""The delta rule in chunks: a product of steps as two thin matrices, a triangular system for what is written, and the counts of both."""

from derivations.kernel import Derivation, array, each, eye, index, matrix, product_is, scalars, sizes, sqrt, total, vector, where, zeros

n, m, c, d_k, d_v = sizes("n m c d_k d_v")  # the tokens of a chunk, or of a text where costs are counted
S = matrix("S", d_k, d_v)  # the state before the chunk
Q, K, V, U, W = matrix("Q", n, d_k), matrix("K", n, d_k), matrix("V", n, d_v), matrix("U", n, d_v), matrix("W", n, d_k)
F, Y = matrix("F", m, d_k), matrix("Y", m, d_k)  # the keys and the thin matrix of a second chunk
T, A = matrix("T", n, n), matrix("A", n, n)
G, H, g, l = matrix("G", 2, d_k), matrix("H", 2, d_v), vector("g", 2), index("l", 2)  # those of a chunk of two tokens
b = vector("b", n)
i, j, s, t, r, o = index("i", n), index("j", n), index("s", d_k), index("t", d_k), index("r", d_k), index("o", d_v)
x, y, z, a_21, a_31, a_32, a_41, a_42, a_43 = scalars("x y z a_21 a_31 a_32 a_41 a_42 a_43")

chapter = "snippets.linear.chunks."

derivation = Derivation("The delta rule in chunks")

M = derivation.define(
    "M",
    each(eye(n)[i, j] + where(b[i] * total(K[i, s] * K[j, s], s), j < i), i, j),
    code=[(chapter + "chunk_system", K, b)],
    title="The system of a chunk: ones on the diagonal, and products of keys below it",
)


def state(some):
    """An entry of the old state plus what some tokens write."""
    return S[s, o] + total(K[j, s] * U[j, o], j, where=some)


read = total(K[i, t] * (S[t, o] + total(K[j, t] * U[j, o], j, where=j < i)), t)

derivation.identity(
    "writes",
    state(j <= i) - (state(j < i) + b[i] * K[i, s] * (V[i, o] - read)),
    K[i, s] * (total(M[i, j] * U[j, o], j) - b[i] * (V[i, o] - total(K[i, t] * S[t, o], t))),
    uses=["define-m", "linear/delta#step"],
    title="By how much the sum of the writes misses a step of the delta rule",
)


def product(some):
    """An entry of the identity less a product of two thin matrices, of some tokens."""
    return eye(d_k)[s, t] - total(K[j, s] * W[j, t], j, where=some)


derivation.identity(
    "product",
    product(j <= i) - (product(j < i) - b[i] * K[i, s] * (K[i, t] - total(K[i, r] * total(K[j, r] * W[j, t], j, where=j < i), r))),
    K[i, s] * (b[i] * K[i, t] - total(M[i, j] * W[j, t], j)),
    uses=["define-m", "linear/delta#step"],
    title="By how much the identity less two thin matrices misses a product of steps",
)

rated = each(b[i] * (V - K @ S)[i, o], i, o)

earlier = g[2] * total(G[2, s] * G[1, s], s)
rated_2 = each(g[l] * H[l, o], l, o)

derivation.identity(
    "two",
    array([[1, 0], [-earlier, 1]]) @ rated_2,
    rated_2 - array([[0, 0], [earlier, 0]]) @ rated_2,
    uses=["define-m"],
    code=[(chapter + "solve_chunk", G, H, g)],
    title="Two tokens: the second write is corrected by the first",
)

derivation.identity(
    "solves",
    M @ (T @ rated) - rated,
    (M @ T - eye(n)) @ rated,
    uses=["define-m"],
    title="The inverse of the system gives all writes of a chunk at once",
)

derivation.identity(
    "chunk",
    S + K.T @ (T @ rated),
    (eye(d_k) - K.T @ (T @ each(b[i] * K[i, s], i, s))) @ S + K.T @ (T @ each(b[i] * V[i, o], i, o)),
    uses=["writes", "product", "solves"],
    title="A chunk of the delta rule is one step, with two thin matrices",
)

derivation.identity(
    "reads",
    total(Q[i, t] * (S[t, o] + total(K[j, t] * U[j, o], j, where=j <= i)), t),
    (Q @ S + each(where((Q @ K.T)[i, j], j <= i), i, j) @ U)[i, o],
    uses=["writes"],
    title="What each query reads: the old state, and the writes up to its own token",
)

derivation.identity(
    "right-angles",
    K @ (S + K.T @ (V - K @ S)),
    V,
    given=[product_is(K, K.T, 1)],
    uses=["chunk"],
    title="With orthonormal keys and rates of one, writing the errors at the old state stores every value",
)

derivation.refute(
    "uncorrected",
    K @ (S + K.T @ (V - K @ S)),
    V,
    at={K: [[1], [1]], V: [[1], [1]], S: [[0]]},
    uses=["right-angles"],
    title="Writing the errors at the old state can fail to store the values",
)

derivation.identity(
    "four",
    array([[0, 0, 0, 0], [a_21, 0, 0, 0], [a_31, a_32, 0, 0], [a_41, a_42, a_43, 0]])
    @ array([[0, 0, 0, 0], [a_21, 0, 0, 0], [a_31, a_32, 0, 0], [a_41, a_42, a_43, 0]])
    @ array([[0, 0, 0, 0], [a_21, 0, 0, 0], [a_31, a_32, 0, 0], [a_41, a_42, a_43, 0]])
    @ array([[0, 0, 0, 0], [a_21, 0, 0, 0], [a_31, a_32, 0, 0], [a_41, a_42, a_43, 0]]),
    zeros(4, 4),
    title="The fourth power of a strictly triangular matrix of four rows is zero",
)

derivation.identity(
    "squares",
    (eye(n) + A) @ ((eye(n) - A) @ ((eye(n) + A @ A) @ (eye(n) + A @ A @ A @ A))),
    eye(n) - A @ A @ A @ A @ A @ A @ A @ A,
    uses=["four"],
    title="Three factors, by squaring twice, give the inverse up to an eighth power",
)

recurrent = derivation.define(
    "N_r",
    3 * n * d_k * d_v,
    code=[(chapter + "delta_multiplications", n, d_k, d_v)],
    title="Multiplications of the delta rule, token by token",
)
chunked = derivation.define(
    "N_c",
    3 * n * d_k * d_v + n * c * (2 * d_k + d_v) + n * (c - 1) * (d_k + d_v) / 2,
    code=[(chapter + "chunked_delta_multiplications", n, d_k, d_v, {"chunk": c})],
    title="Multiplications of the delta rule in chunks of $c$ tokens",
)

derivation.inequality(
    "more",
    recurrent,
    chunked,
    because=n * c * (2 * d_k + d_v) + n * (c - 1) * (d_k + d_v) / 2,
    uses=["define-n-r", "define-n-c"],
    title="Chunks save no multiplication of the delta rule",
)

steps = derivation.define(
    "s_c",
    n / c + c - 1,
    code=[(chapter + "chunked_steps", n, {"chunk": c})],
    title="Steps in sequence: the rows of all systems at once, then one chunk after another",
)

derivation.refute(
    "one-by-one",
    n,
    steps,
    at={n: 4096, c: 64},
    relation="<=",
    uses=["define-s-c"],
    title="The delta rule does not need a step in sequence for each token",
)

derivation.inequality(
    "fewest",
    2 * sqrt(n) - 1,
    steps,
    because=(sqrt(n / c) - sqrt(c)) ** 2,
    uses=["define-s-c"],
    title="No chunk length leaves fewer steps in sequence than this",
)

derivation.identity(
    "exercise-three",
    array([[1, 0, 0], [x, 1, 0], [y, z, 1]]) @ array([[1, 0, 0], [-x, 1, 0], [x * z - y, -z, 1]]),
    eye(3),
    uses=["define-m"],
    title="The inverse of the system of three tokens",
)

derivation.identity(
    "exercise-merge",
    (eye(d_k) - F.T @ Y) @ (eye(d_k) - K.T @ W),
    eye(d_k) - K.T @ W - F.T @ (Y - (Y @ K.T) @ W),
    uses=["product"],
    title="Two chunks are one longer chunk",
)

if __name__ == "__main__":
    derivation.main()
