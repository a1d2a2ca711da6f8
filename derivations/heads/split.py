"""Splitting features into heads and combining them: why no loop over heads is needed, and why the output is a sum."""

from derivations.kernel import Derivation, index, log, matrix, product_is, rank, sizes, softmax, total
from derivations.kernel.core.expr import symbol

n, m, d, d_v, w, h = sizes("n m d d_v w h")
d_1, d_2 = sizes("d_1 d_2")
X, W, W_O = matrix("X", n, d), matrix("W", d, w), matrix("W_O", w, d)
H_1, H_2 = matrix("H_1", n, d_1), matrix("H_2", n, d_2)  # two heads of any widths; either may be several heads combined
E_1, E_2 = matrix("E_1", d_1, w), matrix("E_2", d_2, w)  # selectors: which of all the columns are the head's
Q_1, Q_2 = matrix("Q_1", n, d_1), matrix("Q_2", n, d_2)
K_1, K_2 = matrix("K_1", n, d_1), matrix("K_2", n, d_2)
B_1, B_2 = matrix("B_1", d_1, w), matrix("B_2", d_2, w)  # blocks of an output as wide as all heads: one size fewer to try
apart = [product_is(E_1, E_1.T, 1), product_is(E_2, E_1.T, 0)]
layout = [*apart, product_is(E_2, E_2.T, 1)]

derivation = Derivation("Splitting into heads, and combining them")

derivation.chain(
    "fused",
    (X @ W) @ E_1.T,
    (X @ (W @ E_1.T), "regroup"),
    title="Select columns after the projection or before it",
)

derivation.chain(
    "combine-split",
    (H_1 @ E_1 + H_2 @ E_2) @ E_1.T,
    (H_1 @ (E_1 @ E_1.T) + H_2 @ (E_2 @ E_1.T), "multiply out"),
    (H_1, "the selector of a head keeps this head and removes the other"),
    given=apart,
    title="Splitting undoes combining",
)

derivation.identity(
    "heads-add",
    (H_1 @ E_1 + H_2 @ E_2) @ W_O,
    H_1 @ (E_1 @ W_O) + H_2 @ (E_2 @ W_O),
    title="Projecting the combined heads adds up the projected heads",
)

O, E = symbol("O", "real", (h, n, d_v)), symbol("E", "real", (h, d_v, w))  # all heads, and all selectors
B = symbol("B", "real", (h, d_v, d))  # their blocks of the output matrix
i, t, f, a, c = index("i", h), index("t", n), index("f", d_v), index("a", w), index("c", d)

derivation.identity(
    "all-heads-add",
    total(total(O[i, t, f] * E[i, f, a], i, f) * W_O[a, c], a),
    total(total(O[i, t, f] * total(E[i, f, a] * W_O[a, c], a), f), i),
    title="The output is a sum over heads, for any number of heads",
)

derivation.identity(
    "by-entries",
    total(total(O[i, t, f] * B[i, f, c], f), i),
    total(total(O[i, t, f] * B[i, f, c], i), f),
    code=[("snippets.heads.split.project_and_add", O, B), ("snippets.heads.split.combine_and_project", O, B)],
    title="The sums over heads and features can be exchanged",
)

derivation.identity(
    "layout",
    (H_1 @ E_1 + H_2 @ E_2) @ (E_1.T @ B_1 + E_2.T @ B_2),
    H_1 @ B_1 + H_2 @ B_2,
    given=layout,
    title="The order of the heads' columns does not matter",
)

derivation.identity(
    "scores-add",
    (Q_1 @ E_1 + Q_2 @ E_2) @ (K_1 @ E_1 + K_2 @ E_2).T,
    Q_1 @ K_1.T + Q_2 @ K_2.T,
    given=layout,
    title="The scores of one wide head are the sum of the heads' scores",
)

derivation.inequality(
    "rank",
    rank(Q_1 @ K_1.T),
    d_1,
    because=(Q_1, K_1.T),
    reason="it factors through the columns of the head",
    uses=["simplify/bilinear#rank"],
    title="The rank of a head's scores is at most its width",
)

A, C, V = matrix("A", n, m), matrix("C", n, m), matrix("V", m, d)
derivation.refute(
    "not-one-head",
    softmax(A) @ V + softmax(C) @ V,
    softmax(A + C) @ (V + V),
    at={A: [[0, log(3)]], C: [[0, log(3)]], V: [[0], [1]]},
    code=[("snippets.heads.split.sum_of_heads", A, C, V), ("snippets.heads.split.one_wide_head", A, C, V)],
    title="The sum of two heads is not one wide head",
)

M = matrix("M", n, n)
derivation.refute(
    "view",
    M,
    M.T,
    at={M: [[0, 1], [0, 0]]},
    title="A view without the transpose differs from the split",
)

if __name__ == "__main__":
    derivation.main()
