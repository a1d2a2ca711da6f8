"""Matrix products can be regrouped, a scalar can be applied to any factor, and so can the scale of attention."""

from fractions import Fraction

from derivations.kernel import Derivation, index, matrix, nonzero, paren, scalars, sizes, sqrt, total

n, m, p, q, d_k = sizes("n m p q d_k")
A, B, C = matrix("A", n, p), matrix("B", p, q), matrix("C", q, m)
B_2 = matrix("B_2", p, q)
S, T = matrix("S", n, n), matrix("T", n, n)
Q, K = matrix("Q", n, d_k), matrix("K", m, d_k)
c = scalars("c")
i, j, k, l = index("i", n), index("j", m), index("k", p), index("l", q)

derivation = Derivation("Products regroup, scalars move")

derivation.chain(
    "entries",
    (paren(A @ B) @ C)[i, j],
    (total(total(A[i, k] * B[k, l], k) * C[l, j], l), "the inner product first"),
    (total(total(A[i, k] * B[k, l] * C[l, j], l), k), "multiply out, and swap two finite sums"),
    (total(A[i, k] * total(B[k, l] * C[l, j], l), k), "move the factor that does not depend on $l$ out of the sum"),
    ((A @ paren(B @ C))[i, j], "write it as a product of matrices again"),
    code=[
        ("snippets.associativity.products.grouped_left", A, B, C),
        ("snippets.associativity.products.grouped_right", A, B, C),
    ],
    title="One entry of both groupings",
)

derivation.identity(
    "associative",
    paren(A @ B) @ C,
    A @ paren(B @ C),
    uses=["entries"],
    code=[
        ("snippets.associativity.products.grouped_left", A, B, C),
        ("snippets.associativity.products.grouped_right", A, B, C),
    ],
    title="A product of three matrices can be grouped either way",
)

derivation.identity("distributive", A @ (B + B_2), A @ B + A @ B_2, title="A product distributes over a sum")

derivation.identity("transpose", (A @ B).T, B.T @ A.T, title="A transpose reverses a product")

derivation.chain(
    "scalar",
    (A @ B) / c,
    ((A / c) @ B, "divide the left factor"),
    (A @ (B / c), "or the right one"),
    given=[nonzero(c)],
    code=[
        ("snippets.associativity.rounding.divide_after", A, B, {"c": c}),
        ("snippets.associativity.rounding.divide_first", A, B, {"c": c}),
        ("snippets.associativity.products.scalar_placements", A, B, {"c": c}),
    ],
    title="A scalar can be applied to either factor",
)

quarter = d_k ** Fraction(1, 4)

derivation.chain(
    "scale",
    (Q @ K.T) / sqrt(d_k),
    ((Q / sqrt(d_k)) @ K.T, "scale the queries"),
    (Q @ (K / sqrt(d_k)).T, "or the keys"),
    ((Q / quarter) @ (K / quarter).T, "or both by the fourth root"),
    uses=["scalar"],
    code=[("snippets.attention.formula.scores", Q, K), ("snippets.associativity.products.split_scale", Q, K)],
    title="The scale can be applied to scores, queries, keys or both",
)

derivation.refute(
    "not-commutative",
    S @ T,
    T @ S,
    at={S: [[0, 1], [0, 0]], T: [[0, 0], [1, 0]]},
    title="The order of the factors matters",
)

derivation.refute(
    "transpose-keeps-order",
    (S @ T).T,
    S.T @ T.T,
    at={S: [[0, 0], [0, 1]], T: [[0, 0], [1, 0]]},
    title="A transpose does not keep the order of the factors",
)

if __name__ == "__main__":
    derivation.main()
