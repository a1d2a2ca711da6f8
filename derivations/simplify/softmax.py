"""Why no matrix can be moved through softmax, and what drops out."""

from derivations.kernel import Derivation, index, log, matrix, ones, paren, rank, scalars, sizes, softmax, total, vector

n, m, d, d_v = sizes("n m d d_v")
y, z = vector("y", n), vector("z", n)
i, j = index("i", n), index("j", n)
c = scalars("c")
S, W = matrix("S", n, n), matrix("W", n, n)
q, k = matrix("q", n, 1), matrix("k", n, 1)
P, X, V_W = matrix("P", n, m), matrix("X", m, d), matrix("W_V", d, d_v)
Q, K, V = matrix("Q", n, d), matrix("K", m, d), matrix("V", m, d_v)

derivation = Derivation("Softmax stops the merge")

derivation.identity(
    "without-softmax",
    paren(Q @ K.T) @ V,
    Q @ paren(K.T @ V),
    uses=["associativity/products#associative"],
    title="Without softmax, keys and values can be multiplied first",
)

derivation.identity("sums-to-one", total(softmax(z)[i], i), 1, title="The weights sum to one")

derivation.refute(
    "not-additive",
    softmax(y + z),
    softmax(y) + softmax(z),
    at={y: [0], z: [0]},
    title="Softmax is not additive",
)

derivation.refute(
    "not-homogeneous",
    softmax(2 * z),
    softmax(z),
    at={z: [1, 0]},
    title="A factor does not drop out of softmax",
)

derivation.refute(
    "not-homogeneous-outside",
    softmax(2 * z),
    2 * softmax(z),
    at={z: [0]},
    title="A factor does not come out of softmax",
)

derivation.refute(
    "no-matrix-through",
    softmax(S @ W),
    softmax(S) @ W,
    at={S: [[0]], W: [[2]]},
    code=[("snippets.simplify.softmax.matrix_inside", S, W), ("snippets.simplify.softmax.matrix_after", S, W)],
    title="A matrix does not move through softmax",
)

derivation.identity(
    "shift",
    softmax(z + c * ones(n)),
    softmax(z),
    title="Shift invariance: a constant added to every score drops out",
)

derivation.identity(
    "sum-of-scores",
    softmax(y + z)[i],
    softmax(y)[i] * softmax(z)[i] / total(softmax(y)[j] * softmax(z)[j], j),
    title="The softmax of a sum is a normalised product of softmaxes",
)

derivation.identity(
    "after-softmax",
    P @ (X @ V_W),
    (P @ X) @ V_W,
    title="To the right of the weights, products can be regrouped",
)

derivation.inequality(
    "low-rank-scores",
    rank(q @ k.T),
    1,
    because=(q, k.T),
    title="The scores of a head of width one have rank at most one",
)

derivation.refute(
    "low-rank-weights",
    rank(softmax(q @ k.T)),
    1,
    at={q: [[0], [1], [2]], k: [[0], [log(2)], [log(3)]]},
    title="The weights of scores of rank one can have a higher rank",
)

if __name__ == "__main__":
    derivation.main()
