"""The gradient of a recurrent network through time is a product of matrices, one for each token; that of attention is one weight."""

from derivations.kernel import (
    Derivation,
    diff,
    exp,
    eye,
    index,
    matrix,
    nonnegative,
    positive,
    product_is,
    scalars,
    sizes,
    softmax,
    tanh,
    total,
    vector,
)

d, p, n, m, d_v, T, N = sizes("d p n m d_v T N")
h, z = vector("h", d), vector("z", d)
x, y = vector("x", p), vector("y", p)
W, A, B, U, R = matrix("W", d, d), matrix("A", d, d), matrix("B", d, d), matrix("U", p, d), matrix("R", d, d)
S, V = matrix("S", n, m), matrix("V", m, d_v)
i, j, k, l = (index(name, d) for name in "ijkl")
a, c, b, o = index("a", n), index("c", m), index("b", d_v), index("o", d_v)
t, s, g, w = scalars("t s g w")

derivation = Derivation("A recurrent network")


def slope(at):
    return 4 * exp(2 * at) * (1 / (1 + exp(2 * at))) ** 2


derivation.identity(
    "tanh",
    tanh(t),
    (exp(t) - exp(-t)) / (exp(t) + exp(-t)),
    code=[("snippets.predecessors.rnn.squash", t)],
    title="The hyperbolic tangent as a quotient",
)

derivation.chain(
    "slope",
    diff(tanh(t), t),
    (1 - tanh(t) ** 2, "differentiate"),
    (slope(t), "put both terms over one denominator"),
    (4 / (exp(t) + exp(-t)) ** 2, "divide numerator and denominator by the same exponential"),
    code=[("snippets.predecessors.rnn.squash_gradient", t)],
    title="The derivative of tanh",
)

derivation.inequality("slope-least", 0, 1 - tanh(t) ** 2, because=slope(t), uses=["slope"], title="The derivative of tanh is not negative")

derivation.inequality("slope-most", 1 - tanh(t) ** 2, 1, because=tanh(t) ** 2, title="The derivative of tanh is at most one")

derivation.limit(
    "saturates", 4 / (exp(t) + exp(-t)) ** 2, t, "oo", 0, uses=["slope"], title="For large arguments, the derivative of tanh goes to zero"
)

derivation.identity(
    "linear",
    (h @ W + x @ U) @ W + y @ U,
    h @ W @ W + x @ U @ W + y @ U,
    code=[("snippets.predecessors.rnn.linear_step", y, ("snippets.predecessors.rnn.linear_step", x, h, U, W), U, W)],
    title="Without tanh, each step multiplies by the same matrix",
)


def state(at):
    return tanh((h @ W)[at] + (x @ U)[at])


derivation.identity(
    "step",
    diff(state(j), h[i]),
    W[i, j] * (1 - state(j) ** 2),
    uses=["slope"],
    title="The derivative of the new state with respect to the old one",
)

derivation.identity(
    "two-steps",
    diff(total(state(j) * W[j, k], j) + (y @ U)[k], h[i]),
    total((W[i, j] * slope((h @ W)[j] + (x @ U)[j])) * W[j, k], j),
    uses=["step"],
    title="Two steps, before the second tanh: the derivatives multiply as matrices",
)

derivation.inequality(
    "step-bound",
    (W[i, j] * (1 - tanh(z[j]) ** 2)) ** 2,
    W[i, j] ** 2,
    because=W[i, j] ** 2 * tanh(z[j]) ** 2 * (1 + 4 * exp(2 * z[j]) / (1 + exp(2 * z[j])) ** 2),
    uses=["slope-most"],
    title="No entry of a step's derivative exceeds the matrix's in absolute value",
)

derivation.inequality(
    "product-bound",
    total((A @ B)[i, k] ** 2, i, k),
    total(A[i, j] ** 2, i, j) * total(B[l, k] ** 2, l, k),
    because=total((A[i, j] * B[l, k] - A[i, l] * B[j, k]) ** 2, i, j, k, l) / 2,
    title="The squared norm of a product is at most the product of the squared norms",
)

derivation.identity(
    "rotation",
    (h @ (w * R)) @ (h @ (w * R)),
    w**2 * (h @ h),
    given=[product_is(R, R.T, 1)],
    uses=["linear"],
    title="A rotation times $w$ multiplies squared lengths by $w^2$",
)

derivation.refute(
    "may-be-smaller",
    total((W @ W)[i, j] ** 2, i, j),
    total(W[i, j] ** 2, i, j) ** 2,
    at={W: [[0, 2], [0, 0]]},
    title="The norm of a square can be smaller than the square of the norm",
)

derivation.inequality(
    "growth",
    1 + (T + 1) * s,
    (1 + s) * ((1 + T * s) + g),
    because=(1 + s) * g + T * s**2,
    given=[positive(1 + s), nonnegative(g)],
    without={positive(1 + s): {s: -3, g: 5, T: 1}},
    title="Powers stay above a line: the induction step",
)

derivation.limit(
    "vanishes",
    1 / (1 + T / N),
    T,
    "oo",
    0,
    uses=["growth"],
    title="One over a rising line goes to zero",
)

derivation.identity(
    "attention",
    diff((softmax(S) @ V)[a, b], V[c, o]),
    softmax(S)[a, c] * eye(d_v)[b, o],
    title="Attention: the derivative of an output with respect to a value is a weight",
)

if __name__ == "__main__":
    derivation.main()
