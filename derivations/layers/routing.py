"""DeepSeek-V3's routing: sigmoid gates, a bias that only chooses, its update from the load, and numbers of weights."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    diff,
    exp,
    eye,
    index,
    matrix,
    nonnegative,
    ones,
    scalars,
    sizes,
    total,
    vector,
)

k, n, N = sizes("k n N")  # experts of a token, tokens, all experts
d, x, r = sizes("d x r")  # model width, width inside an expert, shared experts
z, p, O = vector("z", k), vector("p", k), vector("O", k)  # the logits, the biases and an output of the chosen experts
i, j, l = index("i", k), index("j", k), index("l", k)
S, D, A = matrix("S", n, N), matrix("D", n, N), matrix("A", n, N)  # affinities, the choice, another choice
b, a, f = vector("b", N), vector("a", N), vector("f", N)  # biases, other biases, loads
t, v, u = index("t", n), index("v", N), index("u", N)
c, h, gamma, T = scalars("c h gamma T")  # the factor, a shift of all biases, a step of the bias, how many steps
s, w = scalars("s w")  # the logits of two experts
mu = scalars("mu")  # the mean load
y, o, g = scalars("y o g")  # by how much two tokens prefer the first expert, and the lead of its bias
q = vector("q", N)  # the affinities of one token

routing = "snippets.layers.routing."

derivation = Derivation("Sigmoid gates and a bias without gradient")


def sigmoid(at):
    return 1 / (1 + exp(-at))


def affinities():
    return total(sigmoid(z[l]), l)


derivation.identity(
    "sums",
    total(c * sigmoid(z[i]) / affinities(), i),
    c,
    code=[(routing + "gate_sum", z, c)],
    title="The weights of the chosen experts sum to the factor",
)

derivation.identity(
    "own-score",
    diff(sigmoid(z[i]), z[j]),
    eye(k)[i, j] * sigmoid(z[i]) * (1 - sigmoid(z[i])),
    title="An affinity depends on its own logit alone",
)

derivation.identity(
    "gate-jacobian",
    diff(sigmoid(z[i]) / affinities(), z[j]),
    sigmoid(z[i]) / affinities() * (eye(k)[i, j] - sigmoid(z[j]) / affinities()) * (1 - sigmoid(z[j])),
    uses=["own-score"],
    code=[(routing + "gate_jacobian", z)],
    title="The gate's Jacobian: softmax's form, times one minus the affinity of the logit that moves",
)

derivation.identity(
    "no-gradient",
    diff(total(((sigmoid(z[l]) + p[l]) - p[l]) * O[l], l), p[j]),
    0,
    title="The derivative of the outputs, weighted without the biases, with respect to a bias is zero",
)

derivation.refute(
    "biased-gate",
    (q[1] + b[1]) / total(q[u] + b[u], u),
    q[1] / total(q[u], u),
    at={q: [Fraction(9, 10), Fraction(1, 2)], b: [0, Fraction(2, 5)]},
    uses=["no-gradient"],
    title="Weights from biased affinities are different weights",
)

derivation.identity(
    "same-shift",
    (q + b + h * ones(N))[v] - (q + b + h * ones(N))[u],
    (q[v] + b[v]) - (q[u] + b[u]),
    title="A constant that is added to all biases changes no comparison of two experts",
)

derivation.inequality(
    "overtakes",
    sigmoid(s) - T * gamma,
    sigmoid(w) + T * gamma,
    because=sigmoid(w) + exp(-s) / (1 + exp(-s)) + (2 * T * gamma - 1),
    given=[nonnegative(2 * T * gamma - 1)],
    without={nonnegative(2 * T * gamma - 1): {s: 0, w: 0, T: 1, gamma: -1}},
    title="After enough opposite steps, any expert overtakes any other",
)


def affinity(choice):
    return total(total(choice[t, v] * S[t, v], v), t)


def lead(choice, other, bias):
    return total(total((choice[t, v] - other[t, v]) * (S[t, v] + bias[v]), v), t)


derivation.identity(
    "optimal",
    affinity(D) - affinity(A),
    lead(D, A, b) - total(b[v] * (total(D[t, v], t) - total(A[t, v], t)), v),
    code=[(routing + "affinity_lead", D, A, S, b)],
    title="The affinity of one choice less that of another: the lead by biased scores, less the biases times the loads' difference",
)

row_lead = total(D[t, v] * (S[t, v] + b[v]), v) - total(A[t, v] * (S[t, v] + b[v]), v)
load_lead = total(b[v] * (total(A[t, v], t) - total(D[t, v], t)), v)

derivation.inequality(
    "best-balanced",
    affinity(A),
    affinity(D),
    because=total(row_lead, t) + load_lead,
    given=[nonnegative(row_lead), nonnegative(load_lead)],
    without={
        nonnegative(row_lead): {D: [[1, 0]], A: [[0, 1]], S: [[0, 1]], b: [0, 0]},
        nonnegative(load_lead): {D: [[1, 0]], A: [[0, 1]], S: [[0, 1]], b: [2, 0]},
    },
    uses=["optimal"],
    title="Of all choices with as many experts for each token and the same loads, the one by biased scores has the most affinity",
)


def height(choice, bias):
    return total(total(choice[t, v] * (S[t, v] + bias[v]), v), t) - mu * total(bias[v], v)


derivation.identity(
    "subgradient",
    height(A, a) - (height(D, b) + total((total(D[t, v], t) - mu) * (a[v] - b[v]), v)),
    lead(A, D, a),
    uses=["optimal"],
    title="The scores' sum at other biases, less its linear forecast from the loads",
)


def chosen(gap):
    """1 if the gap is positive, 0 if it is negative."""
    return (1 + gap / absolute(gap)) / 2


derivation.refute(
    "fixed-scores",
    chosen(y + g) + chosen(o + g),
    chosen(y) + chosen(o),
    at={y: Fraction(1, 10), o: Fraction(2, 5), g: -Fraction(1, 5)},
    title="With all affinities fixed, a bias still changes the load",
)

mean = total(f[u], u) / N
derivation.refute(
    "drifts",
    total((mean - f[v]) / absolute(mean - f[v]), v),
    0,
    at={f: [4, 1, 1]},
    title="The steps by sign need not sum to zero",
)

derivation.identity(
    "steps-sum",
    total(gamma * (mean - f[v]), v),
    0,
    title="Steps in proportion to the distance from the mean load sum to zero",
)

derivation.identity(
    "idle",
    ((N + r) * (3 * d * x) + N * d) - ((k + r) * (3 * d * x) + N * d),
    (N - k) * (3 * d * x),
    code=[(routing + "idle_weights", N, k, d, x)],
    title="Weights of a layer of experts that a token does not use",
)

if __name__ == "__main__":
    derivation.main()
