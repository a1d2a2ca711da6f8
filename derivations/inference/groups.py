"""Heads that share keys and values: what they can compute, what they save, and what pooling a checkpoint does."""

from derivations.kernel import Derivation, diff, index, matrix, rank, sizes, softmax, sqrt, total, vector

n, m, d, d_k, d_v, h, h_kv = sizes("n m d d_k d_v h h_kv")
w, s, r = sizes("w s r")  # width of all keys (or values) that are kept; rows of a stack; heads of a group
X, Z = matrix("X", n, d), matrix("Z", m, d)
Q, K, U, V = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("U", m, d_k), matrix("V", m, d_v)
Y = matrix("Y", n, d_k)  # a second head's queries
W_Q, W_K, W_V = matrix("W_Q", d, d_k), matrix("W_K", d, w), matrix("W_V", d, w)
R, T = matrix("R", w, d_k), matrix("T", w, d_v)  # pick a head's keys, and its values
A, C = matrix("A", s, d_k), matrix("C", d, d_k)  # the query projections of all heads, stacked; one key projection
F, M = matrix("F", r, s), vector("M", s)  # the projections of r heads, one a row; what they are replaced by
G, H = matrix("G", n, m), matrix("H", n, m)  # gradients of a loss with respect to the scores of two heads
i, j, t, a = index("i", n), index("j", m), index("t", m), index("a", d_k)
b, c = index("b", s), index("c", r)
u, z, x, y = vector("u", d), vector("z", d), vector("x", d), vector("y", d)
k, l, o, f = (index(name, d) for name in "klof")

derivation = Derivation("MQA and GQA: heads that share keys and values")

derivation.chain(
    "repeat",
    softmax((X @ W_Q) @ ((Z @ W_K) @ R).T) @ ((Z @ W_V) @ T),
    (
        softmax((X @ W_Q) @ (Z @ (W_K @ R)).T) @ (Z @ (W_V @ T)),
        "regroup: picking columns of a product picks columns of its last factor",
    ),
    title="Each head of GQA is a head of MHA",
)

derivation.inequality(
    "narrow",
    rank(W_K @ R),
    w,
    because=(W_K, R),
    title="A grouped head's keys have at most the kept width as rank",
)

derivation.inequality(
    "stack",
    rank(A @ C.T),
    d_k,
    because=(A, C.T),
    uses=["simplify/bilinear#rank"],
    title="All heads of MQA together have at most rank $d_k$",
)

derivation.identity(
    "minors",
    (u[k] * x[l]) * (z[o] * x[f]),
    (u[k] * x[f]) * (z[o] * x[l]),
    title="For two heads of width 1 that share keys, minors vanish",
)

derivation.refute(
    "not-every",
    (u[k] * x[l]) * (z[o] * y[f]),
    (u[k] * x[f]) * (z[o] * y[l]),
    at={u: [1, 0], x: [1, 0], z: [0, 1], y: [0, 1], k: 1, l: 1, o: 2, f: 2},
    uses=["minors"],
    title="With separate keys, minors need not vanish",
)

derivation.identity(
    "error",
    Q @ ((K + U) / 2).T - Q @ K.T,
    Q @ (U - K).T / 2,
    code=[("snippets.inference.groups.pooling_error", Q, K, U)],
    title="The error in the scores of the first head after pooling two heads",
)

derivation.identity(
    "twin",
    softmax((-1 * Q) @ (-1 * K).T / sqrt(d_k)),
    softmax(Q @ K.T / sqrt(d_k)),
    uses=["simplify/bilinear#gauge"],
    title="Flipping the signs of queries and keys changes no weight",
)

derivation.identity(
    "twins",
    softmax(Q @ ((K + (-1) * K) / 2).T / sqrt(d_k))[i, j],
    1 / m,
    uses=["twin", "error"],
    title="Pool a head with its sign-flipped twin, and all weights become equal",
)

derivation.refute(
    "keeps",
    softmax(Q @ ((K + (-1) * K) / 2).T),
    softmax(Q @ K.T),
    at={Q: [[1]], K: [[1], [0]]},
    uses=["twins"],
    title="Pooling two heads with equal weights may change the weights",
)

mean = total(F[c, b], c) / r
derivation.inequality(
    "nearest",
    total((F[c, b] - mean) ** 2, c, b),
    total((F[c, b] - M[b]) ** 2, c, b),
    because=r * total((M[b] - mean) ** 2, b),
    code=[("snippets.inference.groups.squared_distance_to_mean", F)],
    title="The mean has the least sum of squared distances to all projections",
)

grouped = derivation.define(
    "c_g",
    4 * n * d**2 + 4 * n * d**2 * h_kv / h + 4 * n**2 * d,
    code=[("snippets.inference.groups.grouped_operations", n, d, h, h_kv)],
    title="Operations of a layer with grouped heads",
)

derivation.identity(
    "saves",
    8 * n * d**2 + 4 * n**2 * d - grouped,
    4 * n * d**2 * (1 - h_kv / h),
    uses=["order/cost#forward"],
    title="Operations that sharing saves: a part of the projections",
)

derivation.refute(
    "as-fast",
    (4 * n * d**2 + 4 * n * d**2 * h_kv / h + 4 * n**2 * d) / (8 * n * d**2 + 4 * n**2 * d),
    h_kv / h,
    at={n: 1, d: 1, h: 8, h_kv: 1},
    uses=["saves"],
    title="The operations do not shrink as much as the cache",
)

derivation.chain(
    "weights",
    2 * d * (h * (d / h)) + 2 * d * (h_kv * (d / h)),
    (2 * d**2 * (1 + h_kv / h), "factor"),
    uses=["heads/parameters#count"],
    code=[("snippets.inference.groups.grouped_parameters", d, h, h_kv)],
    title="Parameters of a layer with grouped heads",
)

both = total(G[i, j] * (Q @ K.T)[i, j], i, j) + total(H[i, j] * (Y @ K.T)[i, j], i, j)
derivation.identity(
    "shared-gradient",
    diff(both, K[t, a]),
    (G.T @ Q + H.T @ Y)[t, a],
    code=[("snippets.inference.groups.shared_gradient", G, H, Q, Y, K)],
    title="The gradient of shared keys is the sum over their heads",
)

if __name__ == "__main__":
    derivation.main()
