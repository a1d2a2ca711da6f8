"""The residual stream: a sum that every block reads and adds to. Its derivatives, its growth, and its rotations."""

from derivations.kernel import (
    Derivation,
    E,
    Var,
    diff,
    eye,
    independent,
    index,
    matrix,
    mean,
    nonnegative,
    nonzero,
    norm,
    ones,
    positive,
    product_is,
    random,
    scalars,
    sizes,
    sqrt,
    tanh,
    total,
    variance,
    vector,
)

d, L, N, d_f = sizes("d L N d_f")
x, F, W = vector("x", d), matrix("F", L, d), matrix("W", d, N)  # what comes in, what each block writes, the head
R, M, T = matrix("R", d, d), matrix("M", d, d), matrix("T", d, d)  # a rotation, and two linear blocks
A, B = matrix("A", d, d_f), matrix("B", d_f, d)
a, k, l, w, r = index("a", d), index("k", d), index("l", L), index("w", N), index("r", d_f)
u, v, G = random("u", d), random("v", d), random("G", L, d)
p, s, t, c = scalars("p s t c")  # variances: of what came in, of the stream before a write, of a write; and a factor

derivation = Derivation("The residual stream")

stream = x + ones(L) @ F
after = derivation.define(
    "x_L", stream, code=[("snippets.layers.residual.stream", x, F)], title="The stream $x_L$ after $L$ writes", id="stream"
)

size = derivation.define("b", norm(after) / sqrt(d), title="The root mean square of the stream, $b$")

derivation.identity(
    "attribution",
    ((after / size) @ W)[w],
    (x @ W)[w] / size + total((F @ W)[l, w] / size, l),
    given=[nonzero(norm(stream))],
    code=[("snippets.layers.residual.stream_logits", x, F, W)],
    title="Direct logit attribution: each logit has one summand for each write",
)

derivation.chain(
    "ablation",
    (x + x @ M) @ (eye(d) + T) - x @ (eye(d) + T),
    (x @ M + x @ M @ T, "multiply out; what came in cancels"),
    title="Removing a block removes its write, and what a later block made of it",
)

derivation.refute(
    "any-order",
    x @ (eye(d) + M) @ (eye(d) + T),
    x @ (eye(d) + T) @ (eye(d) + M),
    at={x: [1, 0], M: [[0, 1], [0, 0]], T: [[0, 0], [1, 0]]},
    title="Two blocks can't be swapped",
)

derivation.identity(
    "length",
    (x @ R) @ (x @ R),
    x @ x,
    given=[product_is(R, R.T, 1)],
    title="A rotation preserves the length, and so the root mean square",
)

derivation.identity(
    "rotation",
    ((x @ R + ((c * (x @ R)) @ (R.T @ A)) @ (B @ R)) @ R.T)[a],
    (x + ((c * x) @ A) @ B)[a],
    given=[product_is(R, R.T, 1)],
    uses=["length"],
    title="After rotating the stream and its weights, a linear block does the same",
)

derivation.refute(
    "mean-turned",
    (x @ R - ones(d) * total((x @ R)[k], k) / d) @ R.T,
    x - ones(d) * total(x[k], k) / d,
    at={x: [1, 0], R: [[-1, 0], [0, 1]]},
    title="Subtracting the mean is not the same after an orthogonal change of basis",
)

f = tanh(x @ A) @ B
derivation.identity(
    "slope",
    diff((x + f)[a], x[k]),
    eye(d)[k, a] + total(A[k, r] * (1 - tanh((x @ A)[r]) ** 2) * B[r, a], r),
    uses=["predecessors/lstm#residual"],
    title="The derivative of a block: the identity plus the derivative of its write",
)

derivation.identity(
    "post-norm",
    diff((sqrt(d) / norm(x)) * x[a], x[k]),
    (sqrt(d) / norm(x)) * (eye(d)[a, k] - x[a] * x[k] / (x @ x)),
    given=[nonzero(x @ x)],
    uses=["around/layernorm#scaling-slope"],
    title="The derivative of a norm: the identity without one direction, over the root mean square",
)

derivation.refute(
    "post-norm-identity",
    total((sqrt(d) / norm(x)) * (eye(d)[a, k] - x[a] * x[k] / (x @ x)) * x[k], k),
    x[a],
    at={x: [2, 0], a: 1},
    title="A norm behind the sum doesn't pass on a gradient along the stream",
)

derivation.identity(
    "growth",
    Var(u[a] + total(G[l, a], l)),
    p + L * t,
    given=[independent(u, G), variance(u, p), variance(G, t), nonnegative(p), nonnegative(t)],
    title="Independent writes: the variance of the stream grows with their number",
)

derivation.identity(
    "scaled",
    Var(u[a] + total(G[l, a] / sqrt(L), l)),
    p + t,
    given=[independent(u, G), variance(u, p), variance(G, t), nonnegative(p), nonnegative(t)],
    title="If writes are divided by the root of their number, the variance doesn't depend on it",
)

derivation.identity(
    "cosine",
    E(u @ (u + v)) ** 2 / (E(u @ u) * E((u + v) @ (u + v))),
    s / (s + t),
    given=[independent(u, v), mean(u, 0), mean(v, 0), variance(u, s), variance(v, t), positive(s), positive(t)],
    title="The squared cosine between the stream before and after a write, by means",
)

derivation.limit(
    "deep", s / (s + t), s, "oo", 1, title="As the stream grows without bound, a write stops changing its direction", uses=["cosine"]
)

if __name__ == "__main__":
    derivation.main()
