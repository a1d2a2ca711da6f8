"""Additive scores compared with dot products: concatenation, why tanh is needed, how large they get, and parameters."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, index, log, matrix, nonnegative, ones, scalars, sizes, softmax, tanh, total, vector

d_q, d_k, d, r, m, n, D = sizes("d_q d_k d r m n D")
q, v, t = vector("q", d_q), vector("v", r), vector("t", r)
K, Q = matrix("K", m, d_k), matrix("Q", n, d_q)
W_1, W_2, W_Q, W_K = matrix("W_1", d_q, r), matrix("W_2", d_k, r), matrix("W_Q", d_q, r), matrix("W_K", d_k, r)
c, A, B = vector("c", D), matrix("A", D, d_q), matrix("B", D, d_k)  # A and B select query and key from c
a, b, j, l = index("a", r), index("b", r), index("j", m), index("l", d_q)
x, y = scalars("x y")

derivation = Derivation("Additive scores")


derivation.chain(
    "concat",
    c @ (A @ W_1 + B @ W_2),
    (c @ (A @ W_1) + c @ (B @ W_2), "multiply out"),
    ((c @ A) @ W_1 + (c @ B) @ W_2, "regroup"),
    title="One matrix for the concatenation is a sum of two projections",
)

derivation.chain(
    "query-drops",
    softmax((q @ W_1 @ v) * ones(m) + K @ W_2 @ v),
    (softmax(K @ W_2 @ v), "the query's part is the same for every key, and softmax ignores it"),
    uses=["simplify/softmax#shift"],
    code=[("snippets.around.additive.plain_weights", q, K, W_1, W_2, v)],
    title="Without tanh, the weights do not depend on the query",
)

derivation.identity(
    "query-slope",
    diff(softmax((q @ W_1 @ v) * ones(m) + K @ W_2 @ v)[j], q[l]),
    0,
    uses=["query-drops"],
    title="Without tanh, the derivative of a weight by the query is zero",
)

derivation.refute(
    "tanh-matters",
    exp(tanh(x)) / (exp(tanh(x)) + exp(tanh(x + y))),
    exp(tanh(0)) / (exp(tanh(0)) + exp(tanh(0 + y))),
    at={x: log(2), y: log(2)},
    title="With tanh, the weights depend on the query",
)

derivation.inequality(
    "tanh-below-one",
    tanh(x) ** 2,
    1,
    because=4 * exp(2 * x) / (1 + exp(2 * x)) ** 2,
    title="The square of tanh is at most one",
)

derivation.inequality(
    "bounded",
    (v @ t) ** 2,
    r * (v @ v),
    because=total((v[a] * t[b] - v[b] * t[a]) ** 2, a, b) / 2 + (v @ v) * (r - t @ t),
    given=[nonnegative(r - t @ t)],
    uses=["tanh-below-one"],
    title="The squared additive score is bounded, for any query and key",
)

derivation.limit(
    "forgets",
    exp(tanh(x)) / (exp(tanh(x)) + exp(tanh(x + y))),
    x,
    "oo",
    Fraction(1, 2),
    title="With one hidden unit, a growing query gives two keys equal weights",
)

derivation.identity(
    "general",
    (Q @ W_Q) @ (K @ W_K).T,
    Q @ (W_Q @ W_K.T) @ K.T,
    uses=["simplify/bilinear#merged"],
    code=[("snippets.around.additive.general_scores", Q, K, W_Q @ W_K.T)],
    title="Dot products of projections are a general score",
)

derivation.identity(
    "parameters",
    (d * r + d * r + r) - (d * r + d * r),
    r,
    title="Additive scores have $r$ more parameters than dot products of projections",
)

if __name__ == "__main__":
    derivation.main()
