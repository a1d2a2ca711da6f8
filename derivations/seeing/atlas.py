"""What the measures of an atlas of attention heads compare: symmetric and antisymmetric parts, and what tokens share."""

from derivations.kernel import Derivation, E, independent, index, matrix, mean, random, sizes, total, variance, vector

n, d = sizes("n d")
W, X, R, x = matrix("W", d, d), matrix("X", n, d), random("R", d, d), vector("x", d)
a, b, i, r = index("a", d), index("b", d), index("i", n), index("r", d)

derivation = Derivation("The measures of an atlas of heads")

derivation.identity(
    "symmetric-squares",
    total(((W[a, b] + W[b, a]) / 2) ** 2, a, b),
    (total(W[a, b] ** 2, a, b) + total(W[a, b] * W[b, a], a, b)) / 2,
    code=[("snippets.seeing.atlas.squares_of_parts[0]", W)],
    title="The squares of the symmetric part",
)

derivation.identity(
    "antisymmetric-squares",
    total(((W[a, b] - W[b, a]) / 2) ** 2, a, b),
    (total(W[a, b] ** 2, a, b) - total(W[a, b] * W[b, a], a, b)) / 2,
    code=[("snippets.seeing.atlas.squares_of_parts[1]", W)],
    title="The squares of the antisymmetric part",
)

derivation.identity(
    "parts",
    total(((W[a, b] + W[b, a]) / 2) ** 2, a, b) + total(((W[a, b] - W[b, a]) / 2) ** 2, a, b),
    total(W[a, b] ** 2, a, b),
    uses=["symmetric-squares", "antisymmetric-squares"],
    title="The squares of the symmetric and the antisymmetric part add up to those of the matrix",
)

derivation.identity(
    "self-score",
    x @ (W @ x),
    x @ (((W + W.T) / 2) @ x),
    title="The score of a token with itself depends on the symmetric part only",
)

derivation.identity(
    "random-symmetric",
    E(total(((R[a, b] + R[b, a]) / 2) ** 2, a, b)),
    d * (d + 1) / 2,
    given=[independent(R), mean(R, 0), variance(R, 1)],
    title="The mean squares of the symmetric part of a random matrix",
)

derivation.identity(
    "random-total",
    E(total(R[a, b] ** 2, a, b)),
    d**2,
    given=[mean(R, 0), variance(R, 1)],
    title="The mean squares of a random matrix",
)

derivation.identity(
    "own",
    total(total((X[i, r] - total(X[i, r], i) / n) ** 2, i) / n, r),
    total(total(X[i, r] ** 2, i) / n, r) - total((total(X[i, r], i) / n) ** 2, r),
    code=[("snippets.seeing.atlas.own_squares", X)],
    title="The mean squared distance of the tokens from their mean",
)

if __name__ == "__main__":
    derivation.main()
