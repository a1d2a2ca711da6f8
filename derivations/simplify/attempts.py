"""Attempts at writing attention's scores with one matrix product fewer: what fails, and what solving for a matrix gives."""

from derivations.kernel import Derivation, array, eye, index, inverse, invertible, matrix, product_is, sizes, total

n, d, d_k = sizes("n d d_k")
Q, K = matrix("Q", d, d_k), matrix("K", d, d_k)
A, B = matrix("A", n, d), matrix("B", n, d)  # inputs of any shape
F, G = matrix("F", d, d), matrix("G", d, d)  # square inputs: as many tokens as features
L, N = matrix("L", d, n), matrix("N", d, n)
H, J = matrix("H", d, d), matrix("J", d, d)  # square weights
X, i = matrix("X", 1, 1), index("i", 2)

derivation = Derivation("Solving for one matrix")

derivation.refute(
    "commuted",
    (F @ H) @ (F @ J).T,
    (F @ F) @ (H @ J).T,
    at={F: [[0, 1], [0, 0]], H: [[1, 0], [0, 1]], J: [[1, 0], [0, 1]]},
    code=[("snippets.simplify.attempts.unscaled_scores", F, H, J), ("snippets.simplify.attempts.commuted_merge_wrong", F, H, J)],
    title="Factors cannot be sorted by kind",
)

derivation.chain(
    "solution",
    inverse(F) @ ((F @ Q) @ (F @ K).T),
    (inverse(F) @ ((F @ Q) @ (K.T @ F.T)), "a transpose reverses a product"),
    (Q @ K.T @ F.T, "regroup, and cancel the inverse"),
    given=[invertible(F)],
    code=[("snippets.simplify.attempts.solve_for_scores", F, Q, K)],
    title="What solving gives when the input is square and invertible",
)

derivation.refute(
    "same-solution",
    inverse(F) @ ((F @ Q) @ (F @ K).T),
    inverse(G) @ ((G @ Q) @ (G @ K).T),
    at={F: [[1]], G: [[2]], Q: [[1]], K: [[1]]},
    given=[],
    code=[("snippets.simplify.attempts.solve_for_scores", F, Q, K), ("snippets.simplify.attempts.solve_for_scores", G, Q, K)],
    title="The solution depends on the input",
)

derivation.identity(
    "residual",
    (B @ Q) @ (B @ K).T - B @ (Q @ K.T @ A.T),
    B @ (Q @ K.T) @ (B - A).T,
    code=[("snippets.simplify.attempts.score_residual", B, Q @ K.T @ A.T, Q, K)],
    title="What is left when the input changes and the solution stays",
)

derivation.identity(
    "difference",
    Q @ K.T @ (2 * eye(d)).T - Q @ K.T @ eye(d).T,
    Q @ K.T,
    title="Two inputs that tell the solutions apart",
)

derivation.identity(
    "no-dependence",
    Q @ K.T @ A.T - Q @ K.T @ B.T,
    0 * (Q @ K.T @ A.T),
    given=[product_is(Q, K.T, 0)],
    title="Where the product of the weights is zero, all inputs have one solution",
)

derivation.identity(
    "always-solves",
    A @ (Q @ K.T @ A.T),
    (A @ Q) @ (A @ K).T,
    code=[("snippets.simplify.attempts.unscaled_scores", A, Q, K)],
    title="It solves the equation for inputs of every shape",
)

derivation.identity(
    "many-solutions",
    A @ (Q @ K.T @ A.T + N),
    (A @ Q) @ (A @ K).T,
    given=[product_is(A, N, 0)],
    uses=["always-solves"],
    code=[("snippets.simplify.attempts.unscaled_scores", A, Q, K)],
    title="What the input sends to zero may be added",
)

derivation.identity(
    "left-inverse",
    L @ (A @ N),
    N,
    given=[product_is(L, A, 1)],
    title="A left inverse gives back what the input was multiplied with",
)

derivation.identity(
    "one-solution",
    L @ ((A @ Q) @ (A @ K).T),
    Q @ K.T @ A.T,
    given=[product_is(L, A, 1)],
    uses=["left-inverse"],
    title="Of the scores it makes the one solution",
)

derivation.inequality(
    "no-solution",
    1,
    total((array([[1], [0]]) @ X - array([[0], [1]]))[i, 1] ** 2, i),
    because=X[1, 1] ** 2,
    title="Another right-hand side may have none",
)

if __name__ == "__main__":
    derivation.main()
