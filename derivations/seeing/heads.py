"""What weights say about an output, and what they do not."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, index, inverse, invertible, matrix, product_is, rank, sizes, softmax, total, vector

n, m, d, d_v = sizes("n m d d_v")
P, D = matrix("P", n, m), matrix("D", n, m)
A, B = matrix("A", n, n), matrix("B", n, n)
V, N, R = matrix("V", m, d_v), matrix("N", m, d_v), matrix("R", d_v, m)
W_O, M = matrix("W_O", d_v, d), matrix("M", d_v, d_v)
X, W, U = matrix("X", n, d), matrix("W", d, d), matrix("U", d, d)
z = vector("z", m)
i, j, k = index("i", m), index("j", m), index("k", d_v)

derivation = Derivation("What weights say, and what they do not")

derivation.identity(
    "slope",
    diff(total(softmax(z)[j] * V[j, k], j), z[i]),
    softmax(z)[i] * (V[i, k] - total(softmax(z)[j] * V[j, k], j)),
    title="The derivative of an output with respect to a score",
)

derivation.identity(
    "two-paths",
    B @ (X + A @ X @ W) @ U,
    B @ X @ U + (B @ A) @ X @ (W @ U),
    code=[("snippets.seeing.heads.second_head", A, B, X, W, U)],
    title="A second head reads the tokens and what the first head added",
)

derivation.refute(
    "not-alone",
    B @ A,
    B,
    at={A: [[1, 0], [1, 0]], B: [[1, 0], [0, 1]]},
    title="The weights through both heads differ from those of the second head",
)

derivation.identity(
    "determined",
    P @ V @ R,
    P,
    given=[product_is(V, R, 1)],
    title="If a matrix undoes the values, the output determines the weights",
)

derivation.refute(
    "not-determined",
    P @ V @ R,
    P,
    at={P: [[1, 0]], V: [[1], [1]], R: [[Fraction(1, 2), Fraction(1, 2)]]},
    title="Two tokens with the same value: dividing equally does not recover the weights",
)

derivation.inequality(
    "value-rank",
    rank(V @ R),
    d_v,
    because=(V, R),
    title="The rank of a product with the values is at most their width",
)

derivation.identity(
    "same-output",
    (P + D) @ V,
    P @ V,
    given=[product_is(D, V, 0)],
    title="Different weights with the same output",
)

derivation.identity(
    "unseen",
    P @ (V + N) @ W_O,
    P @ V @ W_O,
    given=[product_is(N, W_O, 0)],
    title="A change of values that the output projection maps to zero",
)

derivation.identity(
    "value-gauge",
    P @ (V @ M) @ (inverse(M) @ W_O),
    P @ V @ W_O,
    given=[invertible(M)],
    title="An invertible matrix between values and output projection changes nothing",
)

if __name__ == "__main__":
    derivation.main()
