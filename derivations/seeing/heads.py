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
    title="How an output moves with a score",
)

derivation.identity(
    "two-paths",
    B @ (X + A @ X @ W) @ U,
    B @ X @ U + (B @ A) @ X @ (W @ U),
    code=[("snippets.seeing.heads.second_head", A, B, X, W, U)],
    title="A second head reads the tokens, and what the first head brought them",
)

derivation.refute(
    "not-alone",
    B @ A,
    B,
    at={A: [[1, 0], [1, 0]], B: [[1, 0], [0, 1]]},
    title="The second head's weights alone do not say whose letter arrives",
)

derivation.identity(
    "determined",
    P @ V @ R,
    P,
    given=[product_is(V, R, 1)],
    title="Where values are independent, the output determines the weights",
)

derivation.refute(
    "not-determined",
    P @ V @ R,
    P,
    at={P: [[1, 0]], V: [[1], [1]], R: [[Fraction(1, 2), Fraction(1, 2)]]},
    title="Two tokens of one value: the output does not determine the weights",
)

derivation.inequality(
    "value-rank",
    rank(V @ R),
    d_v,
    because=(V, R),
    title="More tokens than dimensions: nothing undoes the values",
)

derivation.identity(
    "same-output",
    (P + D) @ V,
    P @ V,
    given=[product_is(D, V, 0)],
    title="Other weights, same output",
)

derivation.identity(
    "unseen",
    P @ (V + N) @ W_O,
    P @ V @ W_O,
    given=[product_is(N, W_O, 0)],
    title="What the output projection drops, weights carry for nothing",
)

derivation.identity(
    "value-gauge",
    P @ (V @ M) @ (inverse(M) @ W_O),
    P @ V @ W_O,
    given=[invertible(M)],
    title="Values have no meaning before they are projected",
)

if __name__ == "__main__":
    derivation.main()
