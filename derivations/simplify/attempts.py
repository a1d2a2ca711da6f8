"""Two attempts at writing the scores with fewer matrices: sorting the factors, and solving for one matrix."""

from derivations.kernel import Derivation, array, eye, index, inverse, invertible, matrix, product_is, sizes, total

n, d, d_k = sizes("n d d_k")
W_Q, W_K = matrix("W_Q", d, d_k), matrix("W_K", d, d_k)
X, Z = matrix("X", n, d), matrix("Z", n, d)  # inputs of any shape
F, G = matrix("F", d, d), matrix("G", d, d)  # square inputs: as many tokens as features
L, N = matrix("L", d, n), matrix("N", d, n)
H, J = matrix("H", d, d), matrix("J", d, d)  # square weight matrices
U, i = matrix("U", 1, 1), index("i", 2)

derivation = Derivation("Solving for one matrix")

derivation.refute(
    "commuted",
    (F @ H) @ (F @ J).T,
    (F @ F) @ (H @ J).T,
    at={F: [[0, 1], [0, 0]], H: [[1, 0], [0, 1]], J: [[1, 0], [0, 1]]},
    code=[("snippets.simplify.attempts.unscaled_scores", F, H, J), ("snippets.simplify.attempts.commuted_merge_wrong", F, H, J)],
    title="The factors of the scores cannot be sorted",
)

derivation.chain(
    "solution",
    inverse(F) @ ((F @ W_Q) @ (F @ W_K).T),
    (inverse(F) @ ((F @ W_Q) @ (W_K.T @ F.T)), "a transpose reverses a product"),
    (W_Q @ W_K.T @ F.T, "regroup, and cancel the inverse"),
    given=[invertible(F)],
    code=[("snippets.simplify.attempts.solve_for_scores", F, W_Q, W_K)],
    title="The solution for a square and invertible input contains the input",
)

derivation.refute(
    "same-solution",
    inverse(F) @ ((F @ W_Q) @ (F @ W_K).T),
    inverse(G) @ ((G @ W_Q) @ (G @ W_K).T),
    at={F: [[1]], G: [[2]], W_Q: [[1]], W_K: [[1]]},
    given=[],
    code=[("snippets.simplify.attempts.solve_for_scores", F, W_Q, W_K), ("snippets.simplify.attempts.solve_for_scores", G, W_Q, W_K)],
    title="The solution depends on the input",
)

derivation.identity(
    "residual",
    (Z @ W_Q) @ (Z @ W_K).T - Z @ (W_Q @ W_K.T @ X.T),
    Z @ (W_Q @ W_K.T) @ (Z - X).T,
    code=[("snippets.simplify.attempts.score_residual", Z, W_Q @ W_K.T @ X.T, W_Q, W_K)],
    title="The error of a solution that is kept for another input",
)

derivation.identity(
    "difference",
    W_Q @ W_K.T @ (2 * eye(d)).T - W_Q @ W_K.T @ eye(d).T,
    W_Q @ W_K.T,
    title="The difference of the solutions for twice the identity and for the identity",
)

derivation.identity(
    "no-dependence",
    W_Q @ W_K.T @ X.T - W_Q @ W_K.T @ Z.T,
    0 * (W_Q @ W_K.T @ X.T),
    given=[product_is(W_Q, W_K.T, 0)],
    title="If the product of the weight matrices is zero, the solution does not depend on the input",
)

derivation.identity(
    "always-solves",
    X @ (W_Q @ W_K.T @ X.T),
    (X @ W_Q) @ (X @ W_K).T,
    code=[("snippets.simplify.attempts.unscaled_scores", X, W_Q, W_K)],
    title="The same formula solves the equation for inputs of every shape",
)

derivation.identity(
    "many-solutions",
    X @ (W_Q @ W_K.T @ X.T + N),
    (X @ W_Q) @ (X @ W_K).T,
    given=[product_is(X, N, 0)],
    uses=["always-solves"],
    code=[("snippets.simplify.attempts.unscaled_scores", X, W_Q, W_K)],
    title="Adding a matrix that the input sends to zero gives another solution",
)

derivation.identity(
    "left-inverse",
    L @ (X @ N),
    N,
    given=[product_is(L, X, 1)],
    title="A left inverse recovers the second factor of a product",
)

derivation.identity(
    "one-solution",
    L @ ((X @ W_Q) @ (X @ W_K).T),
    W_Q @ W_K.T @ X.T,
    given=[product_is(L, X, 1)],
    uses=["left-inverse"],
    title="A left inverse of the input gives the solution",
)

derivation.inequality(
    "no-solution",
    1,
    total((array([[1], [0]]) @ U - array([[0], [1]]))[i, 1] ** 2, i),
    because=U[1, 1] ** 2,
    title="With another right side, the equation can have no solution",
)

if __name__ == "__main__":
    derivation.main()
