"""Attention compared with a linear layer: what is linear, what is not, linear attention, and kernel regression."""

from derivations.kernel import (
    Derivation,
    E,
    diff,
    exp,
    eye,
    gaussian,
    independent,
    index,
    log,
    matrix,
    mean,
    ones,
    paren,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
)

n, m, d, d_k, d_v, r, t = sizes("n m d d_k d_v r t")
Q, K = matrix("Q", n, d_k), matrix("K", m, d_k)
U, V, S = matrix("U", m, d_v), matrix("V", m, d_v), matrix("S", n, m)
X, A = matrix("X", n, d), matrix("A", n, n)
F, G = matrix("F", n, r), matrix("G", m, r)  # features of the queries and of the keys
B, W, f, g, v = matrix("B", t, r), matrix("W", t, d_v), matrix("f", 1, r), matrix("g", 1, r), matrix("v", 1, d_v)
omega, eta = random("omega"), random("eta")
alpha, beta, c, x, y, z, u = scalars("alpha beta c x y z u")
i, j, l = index("i", n), index("j", m), index("l", n)
a, b, o, s = index("a", d), index("b", d), index("o", d_v), index("s", d_k)

derivation = Derivation("A linear layer")

derivation.identity(
    "fixed",
    diff((A @ X)[i, a], X[l, b]),
    A[i, l] * eye(d)[a, b],
    title="A linear layer over tokens has the same derivative for every input",
)

derivation.identity(
    "values",
    softmax(S) @ (alpha * U + beta * V),
    alpha * (softmax(S) @ U) + beta * (softmax(S) @ V),
    code=[("snippets.simplify.softmax.matrix_after", S, alpha * U + beta * V)],
    title="With fixed weights, attention is linear in the values",
)

derivation.identity(
    "weights-move",
    diff((softmax(S) @ V)[i, o], S[i, j]),
    softmax(S)[i, j] * (V[j, o] - (softmax(S) @ V)[i, o]),
    uses=["scaling/saturation#jacobian"],
    title="The derivative of an output with respect to a score",
)

derivation.refute(
    "not-linear",
    softmax((2 * X) @ (2 * X).T) @ (2 * X),
    2 * (softmax(X @ X.T) @ X),
    at={X: [[0], [1]]},
    title="Attention is not linear in its input",
)

derivation.chain(
    "reassociate",
    (F @ G.T) @ V,
    (F @ (G.T @ V), "regroup: the sum over keys comes first"),
    code=[("snippets.predecessors.linear.weigh_then_mix", F, G, V), ("snippets.predecessors.linear.sum_then_ask", F, G, V)],
    title="Without softmax, the product can be regrouped",
)

derivation.chain(
    "normalised",
    total((exp(Q) @ paren(exp(K)).T)[i, j] * V[j, o], j) / total((exp(Q) @ paren(exp(K)).T)[i, j], j),
    (total(exp(Q)[i, s] * (paren(exp(K)).T @ V)[s, o], s) / total(exp(Q)[i, s] * total(exp(K)[j, s], j), s), "regroup both sums"),
    uses=["reassociate"],
    code=[("snippets.predecessors.linear.kernel_attention", Q, K, V), ("snippets.predecessors.linear.linear_attention", Q, K, V)],
    title="Linear attention, with exponentials as features",
)

derivation.refute(
    "not-softmax",
    exp(x * y) / (exp(x * y) + exp(x * z)),
    exp(x) * exp(y) / (exp(x) * exp(y) + exp(x) * exp(z)),
    at={x: 0, y: log(2), z: 0},
    title="Linear attention with exponentials is not softmax attention",
)

derivation.chain(
    "recurrence",
    f @ (B.T @ W + g.T @ v),
    (f @ (B.T @ W) + f @ (g.T @ v), "multiply out"),
    ((f @ B.T) @ W + (f @ g.T) @ v, "regroup: the sums over the tokens so far, and the new token"),
    uses=["reassociate"],
    title="One causal step: the state is a running sum",
)

derivation.define(
    "c_q",
    n * m * (r + d_v),
    code=[("snippets.predecessors.linear.quadratic_multiplications", n, m, r, d_v)],
    title="Multiplications, weights first",
)
derivation.define(
    "c_l",
    (n + m) * r * d_v,
    code=[("snippets.predecessors.linear.linear_multiplications", n, m, r, d_v)],
    title="Multiplications, keys and values first",
)

derivation.identity(
    "saving",
    n**2 * (r + d_v) - 2 * n * r * d_v,
    n * (n * (r + d_v) - 2 * r * d_v),
    title="Multiplications saved by regrouping, with as many keys as queries",
)

D = derivation.define(
    "D",
    paren(Q * Q) @ ones(d_k, m) - 2 * (Q @ K.T) + ones(n, d_k) @ (K * K).T,
    code=[("snippets.predecessors.linear.squared_distances", Q, K)],
    title="Squared lengths of queries and keys, minus twice their products",
)

derivation.identity("distances", D[i, j], total((Q[i, s] - K[j, s]) ** 2, s), title="Its entries are squared distances")

derivation.identity(
    "kernel",
    softmax(Q @ K.T / sqrt(d_k)),
    softmax((ones(n, d_k) @ (K * K).T - D) / (2 * sqrt(d_k))),
    uses=["simplify/softmax#shift"],
    code=[("snippets.attention.formula.attention_weights", Q, K)],
    title="Attention weights by distances and by the lengths of keys",
)

derivation.identity(
    "gaussian",
    softmax((c * ones(n, m) - D) / (2 * sqrt(d_k))),
    softmax(-D / (2 * sqrt(d_k))),
    uses=["kernel", "simplify/softmax#shift"],
    code=[("snippets.predecessors.linear.gaussian_weights", Q, K)],
    title="With keys of one length, the weights depend on distances only",
)


def feature(w, at):
    """The exponent of a random feature of a number."""
    return w * at - at**2 / 2


derivation.identity(
    "features",
    E(exp(feature(omega, x) + feature(omega, y))),
    exp(x * y),
    given=[gaussian(omega), mean(omega, 0), variance(omega, 1)],
    title="Random features whose mean product is the exponential of a score: one coordinate",
)

derivation.identity(
    "features-wider",
    E(exp(feature(omega, x) + feature(omega, y) + feature(eta, z) + feature(eta, u))),
    exp(x * y + z * u),
    given=[gaussian(omega, eta), independent(omega, eta), mean(omega, 0), variance(omega, 1), mean(eta, 0), variance(eta, 1)],
    uses=["features"],
    title="The same with two independent coordinates",
)

if __name__ == "__main__":
    derivation.main()
