"""State-space duality: the mask as the inverse of a recurrence, blocks of low rank, chunks, and costs."""

from derivations.kernel import (
    Derivation,
    array,
    each,
    eye,
    index,
    log,
    matrix,
    nonnegative,
    positive,
    product_is,
    rank,
    scalars,
    sizes,
    sqrt,
    tanh,
    total,
    vector,
)

n, m, r, d_v, c = sizes("n m r d_v c")
L, R = matrix("L", n, n), matrix("R", n, n)  # the mask, and the recurrence
C, B, X = matrix("C", n, r), matrix("B", n, r), matrix("X", n, d_v)  # queries, keys, values
F, G, Z, M = matrix("F", m, r), matrix("G", m, r), matrix("Z", m, d_v), matrix("M", m, m)  # those of a second chunk, and its mask
W, H, Y = matrix("W", n, d_v), matrix("H", r, d_v), matrix("Y", r, d_v)
u, g = vector("u", m), vector("g", n)
a_2, a_3, a_4, w, z, rho = scalars("a_2 a_3 a_4 w z rho")
i, j, l, s, o = index("i", n), index("j", n), index("l", m), index("s", r), index("o", d_v)

chapter = "snippets.linear.duality."

derivation = Derivation("State-space duality")

derivation.identity(
    "four",
    array([[1, 0, 0, 0], [-a_2, 1, 0, 0], [0, -a_3, 1, 0], [0, 0, -a_4, 1]])
    @ array([[1, 0, 0, 0], [a_2, 1, 0, 0], [a_3 * a_2, a_3, 1, 0], [a_4 * a_3 * a_2, a_4 * a_3, a_4, 1]]),
    eye(4),
    title="Four tokens: the matrix of the recurrence times the mask is the identity",
)

derivation.identity(
    "solves",
    R @ (L @ W),
    W,
    given=[product_is(R, L, 1)],
    uses=["four"],
    title="The inverse of the recurrence gives all states",
)

derivation.identity(
    "dual",
    total(C[i, s] * total(L[i, j] * B[j, s] * X[j, o], j), s),
    ((L * (C @ B.T)) @ X)[i, o],
    uses=["solves"],
    title="State-space duality: reading a state is masked attention without softmax",
)

derivation.identity(
    "block",
    array([[a_3 * a_2, a_3], [a_4 * a_3 * a_2, a_4 * a_3]]),
    array([[a_3], [a_4 * a_3]]) @ array([[a_2, 1]]),
    title="Four tokens: below the diagonal, a block is a column times a row",
)

derivation.identity(
    "chunks",
    ((each(u[l] * g[j], l, j) * (F @ B.T)) @ X + (M * (F @ G.T)) @ Z)[l, o],
    u[l] * (F @ (B.T @ each(g[j] * X[j, o], j, o)))[l, o] + ((M * (F @ G.T)) @ Z)[l, o],
    uses=["block"],
    title="Two chunks: a masked product within the second, and one state between them",
)

derivation.inequality(
    "rank",
    rank(each(u[l] * g[j], l, j) * (F @ B.T)),
    r,
    because=(each(u[l] * F[l, s], l, s), each(g[j] * B[j, s], s, j)),
    uses=["block"],
    title="Scores between two chunks have rank at most $r$",
)

derivation.define(
    "N_q",
    n**2 * (r + d_v),
    code=[(chapter + "masked_multiplications", n, r, d_v)],
    title="Multiplications of a masked product over all tokens, without those of the mask",
)
derivation.define(
    "N_r",
    3 * n * r * d_v,
    code=[(chapter + "recurrent_multiplications", n, r, d_v)],
    title="Multiplications of the recurrence, token by token",
)
chunked = n * c * (r + d_v) + 2 * n * r * d_v + n * r * d_v / c
derivation.define(
    "N_c",
    chunked,
    code=[(chapter + "chunked_multiplications", n, r, d_v, {"chunk": c})],
    title="Multiplications in chunks of $c$ tokens, without those of the mask",
)

derivation.inequality(
    "third",
    2 * (3 * n * r * d_v) / 3,
    chunked,
    because=n * c * (r + d_v) + n * r * d_v / c,
    uses=["define-n-r", "define-n-c"],
    title="Chunks save at most a third of a recurrence's multiplications",
)

derivation.refute(
    "wait",
    n,
    n / c,
    at={n: 4096, c: 64},
    relation="<=",
    title="A text of $n$ tokens does not need $n$ steps in sequence",
)

derivation.inequality(
    "least",
    2 * n * sqrt(rho * (r + d_v) * r * d_v) + 2 * n * r * d_v,
    n * c * (r + d_v) + 2 * n * r * d_v + rho * (n * r * d_v / c),
    because=n * (sqrt((r + d_v) * c) - sqrt(rho * r * d_v / c)) ** 2,
    given=[nonnegative(rho)],
    uses=["define-n-c"],
    title="No chunk length costs less than this",
)

derivation.identity(
    "best",
    (r + d_v) * sqrt(rho * r * d_v / (r + d_v)) + rho * r * d_v / sqrt(rho * r * d_v / (r + d_v)),
    2 * sqrt(rho * (r + d_v) * r * d_v),
    given=[positive(rho)],
    uses=["least"],
    title="The chunk length that reaches this bound",
)

derivation.identity(
    "exercise-merge",
    a_3 * (a_2 * H + Y) + B.T @ X,
    (a_3 * a_2) * H + (a_3 * Y + B.T @ X),
    title="Two stretches of a linear recurrence merge into one",
)

derivation.refute(
    "exercise-tanh",
    tanh(w * tanh(w * z)),
    tanh(w**2 * z),
    at={w: 1, z: log(2)},
    title="Two steps with tanh are not one tanh step with the squared factor",
)

if __name__ == "__main__":
    derivation.main()
