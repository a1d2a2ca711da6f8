"""Batched matrix products, swapped axes, and the axis along which softmax sums to one."""

from derivations.kernel import Derivation, diff, exp, eye, index, matrix, ones, sizes, softmax, total
from derivations.kernel.core.expr import symbol

b, n, m, p, r = sizes("b n m p r")
A, B, C = symbol("A", "real", (b, n, m)), symbol("B", "real", (b, m, p)), symbol("C", "real", (b, p, r))
X = symbol("X", "real", (b, n, m))
S, V, row, F = matrix("S", n, m), matrix("V", m, p), matrix("s", 1, m), matrix("F", 2, 3)
a, c = index("a", b), index("c", b)
i, u = index("i", n), index("u", n)
j, k, l = index("j", m), index("k", m), index("l", m)
q, v = index("q", p), index("v", r)

SWAP = "snippets.softmax.axes.swap_last_axes"

derivation = Derivation("Axes")

derivation.identity(
    "swapped",
    total(A[a, i, k] * B[a, k, q], k),
    total(B[a, k, q] * A[a, i, k], k),
    code=[
        ("snippets.softmax.axes.batched_product", A, B),
        (SWAP, ("snippets.softmax.axes.batched_product", (SWAP, B), (SWAP, A))),
    ],
    title="Swapping the last two axes reverses the order of the factors",
)

derivation.identity(
    "batches-apart",
    diff(total(A[a, i, k] * B[a, k, q], k), A[c, u, l]),
    eye(b)[a, c] * eye(n)[i, u] * B[a, l, q],
    title="A product in a batch depends only on its own matrices",
)

derivation.identity(
    "associative",
    total(total(A[a, i, k] * B[a, k, q], k) * C[a, q, v], q),
    total(A[a, i, k] * total(B[a, k, q] * C[a, q, v], q), k),
    code=[
        ("snippets.softmax.axes.batched_product", ("snippets.softmax.axes.batched_product", A, B), C),
        ("snippets.softmax.axes.batched_product", A, ("snippets.softmax.axes.batched_product", B, C)),
    ],
    title="Batched matrix products are associative",
)

derivation.identity(
    "multiplications",
    total(1, a, i, k, q),
    b * n * m * p,
    title="The number of multiplications in a batched product",
)

derivation.refute(
    "reshape",
    F[1, 2],
    F[2, 1],
    at={F: [[1, 2, 3], [4, 5, 6]]},
    title="A reshape is not a transpose",
)

derivation.identity(
    "last-axis",
    total(softmax(X)[a, i, j], j),
    1,
    code=[("snippets.softmax.axes.sums", X, {"dim": 2})],
    uses=["simplify/softmax#sums-to-one"],
    title="Softmax along the last axis: each row sums to one",
)

derivation.identity(
    "middle-axis",
    total(exp(X[a, i, j]) / total(exp(X[a, u, j]), u), i),
    1,
    code=[("snippets.softmax.axes.sums", X, {"dim": 1})],
    title="Softmax along the middle axis: each column sums to one",
)

derivation.identity(
    "first-axis",
    total(exp(X[a, i, j]) / total(exp(X[c, i, j]), c), a),
    1,
    code=[("snippets.softmax.axes.sums", X, {"dim": 0})],
    title="Softmax along the first axis: sums over the batch are one",
)

derivation.refute(
    "wrong-axis",
    softmax(S.T).T @ ones(m, 1),
    ones(n, 1),
    at={S: [[0, 0]]},
    code=[("snippets.softmax.axes.mix_values", S, ones(m, 1), {"dim": -2})],
    title="Softmax along the wrong axis: rows need not sum to one",
)

derivation.identity(
    "one-query",
    softmax(row.T).T @ V,
    ones(1, m) @ V,
    code=[("snippets.softmax.axes.mix_values", row, V, {"dim": -2})],
    title="With one query, softmax along the wrong axis adds up all values",
)

derivation.identity(
    "rows-apart",
    diff(softmax(S)[i, j], S[u, l]),
    eye(n)[i, u] * softmax(S)[i, j] * (eye(m)[j, l] - softmax(S)[i, l]),
    uses=["scaling/saturation#jacobian"],
    title="Along the last axis, weights depend only on their own row",
)

derivation.identity(
    "wrong-axis-mixes",
    diff(softmax(S.T).T[i, j], S[u, l]),
    eye(m)[j, l] * softmax(S.T).T[i, j] * (eye(n)[i, u] - softmax(S.T).T[u, j]),
    uses=["scaling/saturation#jacobian"],
    title="Along the wrong axis, weights depend on other queries",
)

if __name__ == "__main__":
    derivation.main()
