"""Gates on a state: a mask that decays, gates for each channel, how far back a gate remembers, and the delta rule with a gate."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    array,
    diff,
    each,
    exp,
    eye,
    index,
    log,
    matrix,
    nonzero,
    product_is,
    scalars,
    sizes,
    softmax,
    total,
    vector,
)

n, d_k, d_v, N, t = sizes("n d_k d_v N t")
Q, K, V = matrix("Q", n, d_k), matrix("K", n, d_k), matrix("V", n, d_v)
C, D = matrix("C", n, d_k), matrix("D", n, n)  # products of gates, by channel; the row of the mask before
S, k, q, v = matrix("S", d_k, d_v), matrix("k", 1, d_k), matrix("q", 1, d_k), matrix("v", 1, d_v)
g, u, f, w = matrix("g", 1, d_k), matrix("u", 1, d_v), matrix("f", 1, d_k), matrix("w", 1, d_v)
a, z = vector("a", n), vector("z", n)
alpha, beta, gamma, eta, lamda, x, y = scalars("alpha beta gamma eta lambda x y")
i, j, l = index("i", n), index("j", n), index("l", n)
s, o, b = index("s", d_k), index("o", d_v), index("b", N)

chapter = "snippets.linear.gates."
length = total(k[1, s] ** 2, s)

derivation = Derivation("Gates")

derivation.identity(
    "three",
    gamma * (alpha * (g.T @ u) + f.T @ w) + k.T @ v,
    (gamma * alpha) * (g.T @ u) + gamma * (f.T @ w) + k.T @ v,
    title="Three tokens: each is weighted by the product of all gates since",
)

derivation.identity(
    "masked",
    total((a[i] * D[i, j] + eye(n)[i, j]) * (Q @ K.T)[i, j] * V[j, o], j),
    total(Q[i, s] * (a[i] * total(D[i, j] * K[j, s] * V[j, o], j) + K[i, s] * V[i, o]), s),
    uses=["three", "linear/attention#masked"],
    title="A gate on the state equals a mask on the scores",
)

derivation.identity(
    "absorbed",
    total(Q[i, s] * (C[i, s] / C[j, s]) * K[j, s], s),
    (each(Q[i, s] * C[i, s], i, s) @ each(K[j, s] / C[j, s], j, s).T)[i, j],
    given=[nonzero(C[j, s])],
    title="Gates for each channel can be absorbed into queries and keys",
)

derivation.identity(
    "no-mask",
    array([1, 1]) @ (array([[1, 0], [0, x]]) @ array([1, -1])) - y * (array([1, 1]) @ array([1, -1])),
    1 - x,
    title="Gates for each channel are not a mask: two channels, one of them gated",
)

derivation.identity(
    "alibi",
    softmax(each(z[i] - lamda * (n - i), i)),
    each(exp(-lamda * (n - i)) * exp(z[i]) / total(exp(-lamda * (n - l)) * exp(z[l]), l), i),
    code=[(chapter + "weights_with_alibi", z, {"slope": lamda})],
    title="ALiBi is a constant gate on exponentials of scores",
)

derivation.identity(
    "share",
    (1 - (1 - x) ** t) + x * (1 - x) ** t,
    1 - (1 - x) ** (t + 1),
    title="The share of the newest tokens, with one more token",
)

derivation.limit(
    "horizon",
    (1 - x) ** (1 / x),
    x,
    0,
    exp(-1),
    uses=["share"],
    title="For gates close to one, the share beyond the horizon tends to one over e",
)

derivation.refute(
    "window",
    total(x * (1 - x) ** (b - 1), b),
    1,
    at={x: Fraction(1, 2), N: 2},
    title="The tokens within the horizon do not have all the weight",
)

gated = alpha * S + beta * (k.T @ (v - k @ (alpha * S)))

derivation.identity(
    "gated-delta",
    gated,
    alpha * ((eye(d_k) - beta * (k.T @ k)) @ S) + beta * (k.T @ v),
    uses=["linear/delta#step"],
    code=[(chapter + "gated_delta_step", S, k, v, {"alpha": alpha, "beta": beta})],
    title="Gated DeltaNet: decay, then correct",
)

derivation.identity(
    "still-exact",
    k @ (alpha * S + (1 / length) * (k.T @ (v - k @ (alpha * S)))),
    v,
    given=[nonzero(length)],
    uses=["linear/delta#exact"],
    title="At the right rate, the newest value is stored exactly, whatever the gate",
)

derivation.identity(
    "elsewhere",
    q @ gated,
    alpha * (q @ S),
    given=[product_is(q, k.T, 0)],
    uses=["gated-delta"],
    title="For a query at a right angle to the key, the state only decays",
)

derivation.identity(
    "exercise-half-life",
    exp(-lamda * (t + log(2) / lamda)),
    exp(-lamda * t) / 2,
    given=[nonzero(lamda)],
    title="The half-life is the same at every age",
)

loss = total(((k @ S)[1, o] - v[1, o]) ** 2, o) / 2 + eta * total(S[s, o] ** 2, s, o) / 2

derivation.identity(
    "exercise-decay",
    S - beta * each(diff(loss, S[s, o]), s, o),
    (1 - beta * eta) * S + beta * (k.T @ (v - k @ S)),
    uses=["linear/delta#step"],
    title="A step of gradient descent with weight decay",
)

derivation.refute(
    "exercise-not-decay",
    (1 - beta * eta) * S + beta * (k.T @ (v - k @ ((1 - beta * eta) * S))),
    (1 - beta * eta) * S + beta * (k.T @ (v - k @ S)),
    at={S: [[1]], k: [[1]], v: [[1]], beta: 1, eta: 1},
    title="Gated DeltaNet is not gradient descent with weight decay",
)

if __name__ == "__main__":
    derivation.main()
