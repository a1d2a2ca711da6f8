"""ALiBi: weights times a decay, what a step of distance costs, how far a head can see, and a bias that belongs to keys."""

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
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)

n, m, d_k, h = sizes("n m d_k h")
mu, nu, c = scalars("mu nu c")  # slopes, and a shift
z, r = vector("z", m), vector("r", m)  # scores of a query with its keys, and how far back each key stands
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
    title="Weights under ALiBi are plain weights times a decay, divided by their sum",
)

derivation.identity(
    "odds",
    weights[j] / weights[l],
    exp(z[j] - z[l]) * exp(-mu * (r[j] - r[l])),
    uses=["decay"],
    title="The ratio of two weights: a factor from content, a factor from distance",
)

derivation.identity(
    "step",
    softmax(c * ones(m) - mu * r)[j] / softmax(c * ones(m) - mu * r)[l],
    exp(-mu) ** (r[j] - r[l]),
    uses=["odds"],
    title="With equal contents each step of distance costs a factor of $e^{-\\mu}$",
)

derivation.refute(
    "content",
    weights[j],
    softmax(-mu * r)[j],
    at={z: [2, 0], r: [1, 0], mu: 1, j: 1},
    title="Not so: a distance does not have a weight of its own",
)

derivation.inequality(
    "horizon",
    weights[j],
    exp(z[j] - z[l] - mu * (r[j] - r[l])),
    because=exp(z[j] - z[l] - mu * (r[j] - r[l])) * total((1 - eye(m)[t, l]) ** 2 * weights[t], t),
    uses=["odds"],
    title="What a key can get at most, whatever the other keys are",
)

derivation.identity(
    "half-life",
    exp(-mu * (log(2) / mu)),
    Fraction(1, 2),
    given=[nonzero(mu)],
    uses=["step"],
    code=[("snippets.positions.alibi.decay", log(2) / mu, {"slope": mu})],
    title="The distance that halves a weight",
)

scores = Q @ K.T / sqrt(d_k)

derivation.chain(
    "feature",
    softmax(each((total(Q[o, a] * K[j, a], a) + 1 * (sqrt(d_k) * mu * u[j])) / sqrt(d_k), o, j)),
    (softmax(scores + mu * each(u[j], o, j)), "the last feature is a bias of the key"),
    (softmax(scores - mu * each(p[o] - u[j], o, j)), "a query's own position is in all scores of its row, and softmax does not see it"),
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
    title="Not so: distances to both sides are no bias of the key",
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
    title="A lead of $c$ against a hundred positions, at a slope of one sixteenth",
)

derivation.inequality(
    "exercise-window",
    weights[j],
    exp(c - mu * (r[j] - r[l])),
    because=(exp(c - mu * (r[j] - r[l])) - exp(z[j] - z[l] - mu * (r[j] - r[l])))
    + exp(z[j] - z[l] - mu * (r[j] - r[l])) * total((1 - eye(m)[t, l]) ** 2 * weights[t], t),
    given=[nonnegative(c - (z[j] - z[l]))],
    uses=["horizon"],
    title="What a key can get at most if no score leads by more than $c$",
)

derivation.identity(
    "exercise-twice",
    softmax(z - mu * r)[j] * exp(-nu * r[j]) / total(softmax(z - mu * r)[l] * exp(-nu * r[l]), l),
    softmax(z - (mu + nu) * r)[j],
    uses=["decay"],
    title="Two slopes, one after the other, are one slope",
)

if __name__ == "__main__":
    derivation.main()
