"""ALiBi: weights times a decay, the factor for one step of distance, a bound on weights, and a bias of the key."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    array,
    each,
    exp,
    eye,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    ones,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)

n, m, d_k, h = sizes("n m d_k h")
mu, nu, c = scalars("mu nu c")  # slopes, and a shift
z, r = vector("z", m), vector("r", m)  # scores of a query with its keys, and the distances back to the keys
p, u = vector("p", n), vector("u", m)  # the positions of queries and of keys
Q, K, S = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("S", n, m)
j, l, t, o, a = index("j", m), index("l", m), index("t", m), index("o", n), index("a", d_k)
k = index("k", h)  # a head

derivation = Derivation("ALiBi")

weights = softmax(z - mu * r)

derivation.identity(
    "decay",
    weights[j],
    softmax(z)[j] * exp(-mu * r[j]) / total(softmax(z)[l] * exp(-mu * r[l]), l),
    code=[
        ("snippets.positions.alibi.alibi_weights", z, r, {"slope": mu}),
        ("snippets.positions.alibi.decayed_weights", softmax(z), r, {"slope": mu}),
    ],
    title="Weights under ALiBi: plain weights times a decay, divided by their sum",
)

derivation.identity(
    "odds",
    weights[j] / weights[l],
    exp(z[j] - z[l]) * exp(-mu * (r[j] - r[l])),
    uses=["decay"],
    title="The ratio of two weights: a factor from content times one from distance",
)

derivation.identity(
    "step",
    softmax(c * ones(m) - mu * r)[j] / softmax(c * ones(m) - mu * r)[l],
    exp(-mu) ** (r[j] - r[l]),
    uses=["odds"],
    title="With equal contents, each step of distance multiplies a weight by $e^{-\\mu}$",
)

derivation.refute(
    "content",
    weights[j],
    softmax(-mu * r)[j],
    at={z: [2, 0], r: [1, 0], mu: 1, j: 1},
    title="A distance does not have a weight of its own",
)

derivation.inequality(
    "horizon",
    weights[j],
    exp(z[j] - z[l] - mu * (r[j] - r[l])),
    because=exp(z[j] - z[l] - mu * (r[j] - r[l])) * total((1 - eye(m)[t, l]) ** 2 * weights[t], t),
    uses=["odds"],
    title="An upper bound on the weight of a key, for any other keys",
)

derivation.identity(
    "half-life",
    exp(-mu * (log(2) / mu)),
    Fraction(1, 2),
    given=[nonzero(mu)],
    uses=["step"],
    code=[("snippets.positions.alibi.decay", log(2) / mu, {"slope": mu})],
    title="The distance at which the decay is one half",
)

scores = Q @ K.T / sqrt(d_k)

derivation.chain(
    "feature",
    softmax(each((total(Q[o, a] * K[j, a], a) + 1 * (sqrt(d_k) * mu * u[j])) / sqrt(d_k), o, j)),
    (softmax(scores + mu * each(u[j], o, j)), "the last feature is a bias of the key"),
    (softmax(scores - mu * each(p[o] - u[j], o, j)), "all scores of a row contain the query's position, and softmax ignores it"),
    code=[
        ("snippets.positions.alibi.one_more_feature", Q, K, u, {"slope": mu}),
        ("snippets.attention.masks.weights_by_place", scores, u, {"slope": mu}),
        ("snippets.attention.masks.weights_by_distance", scores, p, u, {"slope": mu}),
    ],
    title="ALiBi is one more feature: a one in each query, the position in each key",
)

derivation.refute(
    "both-sides",
    softmax(S - mu * each(absolute(p[o] - u[j]), o, j)),
    softmax(S + mu * each(u[j], o, j)),
    at={S: [[0, 0], [0, 0]], p: [0, 1], u: [0, 1], mu: 1},
    uses=["feature"],
    title=r"With distances to both sides, the bias $\mu u_j$ gives other weights",
)

derivation.identity(
    "last-slope",
    (2 ** (-8 / h)) ** h,
    Fraction(1, 256),
    title="The slope of the last of $h$ heads",
)

derivation.identity(
    "exercise-lead",
    softmax(array([c, 0]) - Fraction(1, 16) * array([100, 0]))[1] / softmax(array([c, 0]) - Fraction(1, 16) * array([100, 0]))[2],
    exp(c - Fraction(25, 4)),
    uses=["odds"],
    title="A lead of $c$ and a hundred positions, at a slope of one sixteenth",
)

derivation.inequality(
    "exercise-window",
    weights[j],
    exp(c - mu * (r[j] - r[l])),
    because=(exp(c - mu * (r[j] - r[l])) - exp(z[j] - z[l] - mu * (r[j] - r[l])))
    + exp(z[j] - z[l] - mu * (r[j] - r[l])) * total((1 - eye(m)[t, l]) ** 2 * weights[t], t),
    given=[nonnegative(c - (z[j] - z[l]))],
    uses=["horizon"],
    title="An upper bound on a weight if no score leads by more than $c$",
)

derivation.identity(
    "exercise-twice",
    softmax(z - mu * r)[j] * exp(-nu * r[j]) / total(softmax(z - mu * r)[l] * exp(-nu * r[l]), l),
    softmax(z - (mu + nu) * r)[j],
    uses=["decay"],
    title="Two decays, one after the other, are one with the sum of the slopes",
)

derivation.identity(
    "neighbours-in-bf16",
    rounded(257, "bf16"),
    rounded(256, "bf16"),
    title="In bf16, the positions 256 and 257 are the same number",
)

derivation.identity(
    "neighbours-in-fp16",
    rounded(2049, "fp16"),
    rounded(2048, "fp16"),
    title="In fp16, the positions 2048 and 2049 are the same number",
)

if __name__ == "__main__":
    derivation.main()
