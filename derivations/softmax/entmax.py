"""Other ways to weigh: sparsemax and entmax, whose weights can be zero, and sigmoid and ReLU, which treat each key alone."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    index,
    log,
    nonnegative,
    ones,
    positive,
    scalars,
    sizes,
    softmax,
    total,
    vector,
    zero_or_one,
)

n, m = sizes("n m")  # keys that keep a weight, and other keys
x, y = vector("x", n), vector("y", m)  # their scores
g, h = vector("g", n), vector("h", m)  # other weights, up to a common factor
mu, nu = vector("mu", n), vector("nu", m)  # a choice of keys, with ones and zeros
z, v, w = vector("z", n), vector("v", n), vector("w", 2)  # scores, values, scores of two keys
a, b, c = scalars("a b c")
i, j, k = index("i", n), index("j", n), index("k", n)
l = index("l", m)

entmax = "snippets.softmax.entmax."

derivation = Derivation("Sparsemax, entmax, sigmoid, ReLU")


def cut(number):
    """The number if it is positive, otherwise zero."""
    return (number + absolute(number)) / 2


# Sparsemax

t = derivation.define(
    "t",
    (total(x[j], j) - 1) / n,
    title="The threshold of sparsemax: the mean of the kept scores, less an equal share",
)

p = derivation.define(
    "p",
    each(x[i] - t, i),
    uses=["define-t"],
    title="The weights of sparsemax that are not zero: the kept scores, less the threshold",
)

derivation.identity(
    "sums-to-one",
    total(p[i], i),
    1,
    uses=["define-p"],
    title="With this threshold, the weights sum to one",
)

others = total(g[j], j) + total(h[l], l)

derivation.inequality(
    "projection",
    total((p[i] - x[i]) ** 2, i) + total((0 - y[l]) ** 2, l),
    total((g[i] / others - x[i]) ** 2, i) + total((h[l] / others - y[l]) ** 2, l),
    because=total((g[i] / others - p[i]) ** 2, i) + total((h[l] / others) ** 2, l) + 2 * total(h[l] / others * (t - y[l]), l),
    given=[nonnegative(t - y[l]), nonnegative(h[l]), positive(others)],
    uses=["sums-to-one"],
    title="No other weights are nearer to the scores than those of sparsemax",
)

chosen = total(mu[j], j) + total(nu[l], l)

derivation.inequality(
    "largest-threshold",
    (total(mu[j] * x[j], j) + total(nu[l] * y[l], l) - 1) / chosen,
    t,
    because=(total((1 - mu[i]) * p[i], i) + total(nu[l] * (t - y[l]), l)) / chosen,
    given=[zero_or_one(mu), zero_or_one(nu), positive(chosen), nonnegative(p[i]), nonnegative(t - y[l])],
    without={zero_or_one(mu): {x: [1], y: [0], mu: [2], nu: [0]}, zero_or_one(nu): {x: [1, 1], y: [-10], mu: [1, 1], nu: [-1]}},
    uses=["define-p"],
    title="No other choice of keys has a larger threshold",
)

derivation.identity(
    "lead",
    cut(y[l] - (a - 1)),
    0,
    given=[nonnegative(a - 1 - y[l])],
    title="If one score leads by at least one, all other weights are zero",
)

derivation.identity(
    "jacobian",
    diff(p[i], x[k]),
    eye(n)[i, k] - 1 / n,
    uses=["define-p"],
    title="The derivatives of sparsemax, as long as the same keys keep a weight",
)

derivation.identity(
    "backward",
    total(diff(p[i], x[k]) * v[k], k),
    v[i] - total(v[k], k) / n,
    code=[(entmax + "through_sparsemax", ones(n), v)],
    uses=["jacobian"],
    title="Through sparsemax, a gradient loses its mean",
)

derivation.identity(
    "shift",
    x[i] + c - (total(x[j] + c, j) - 1) / n,
    p[i],
    uses=["define-p"],
    title="A constant added to all scores changes no weight of sparsemax",
)

derivation.identity(
    "never-zero",
    softmax(z)[i],
    exp(z[i] - z[j]) * softmax(z)[j],
    uses=["softmax/distribution#gaps"],
    title="With softmax, a key that is behind keeps a share of the leader's weight",
)

f = derivation.define(
    "f",
    array(
        [(2 + absolute(w[1] - w[2] + 1) - absolute(w[1] - w[2] - 1)) / 4, (2 + absolute(w[2] - w[1] + 1) - absolute(w[2] - w[1] - 1)) / 4]
    ),
    code=[(entmax + "sparsemax", w)],
    title="Sparsemax of two scores",
)

derivation.refute(
    "softmax-only",
    f[1],
    softmax(w)[1],
    at={w: [Fraction(1, 2), 0]},
    uses=["define-f"],
    title="Sparsemax of two scores is not their softmax",
)

# Entmax

derivation.identity(
    "entmax-lead",
    cut(c * y[l] - (c * a - 1)),
    0,
    given=[nonnegative(c * a - 1 - c * y[l])],
    uses=["lead"],
    title="If the lead times $c$ is at least one, all other weights of entmax are zero",
)

derivation.limit(
    "entmax-limit",
    (1 + a / b) ** b,
    b,
    "oo",
    exp(a),
    title="The powers of entmax tend to exponentials",
)

# Each key alone

s = derivation.define(
    "s",
    each(1 / (1 + exp(-(z[i] - log(n)))), i),
    code=[(entmax + "sigmoid_weights", z)],
    title="Weights of sigmoid attention",
)

derivation.inequality(
    "sigmoid-sum",
    total(s[i], i),
    total(exp(z[i]), i) / n,
    because=total(exp(z[i]) ** 2 / (n * (n + exp(z[i]))), i),
    uses=["define-s"],
    title="Sigmoid weights sum to at most the mean of the exponentials",
)

derivation.limit(
    "sigmoid-equal",
    n * (1 / (1 + exp(-(a - log(n))))),
    n,
    "oo",
    exp(a),
    uses=["define-s"],
    title="With more and more equal scores, the sum tends to the exponential of the score",
)

derivation.identity(
    "sigmoid-alone",
    diff(s[i], z[k]),
    eye(n)[i, k] * (s[i] * (1 - s[i])),
    uses=["define-s"],
    title="A sigmoid weight depends only on its own score",
)

u = derivation.define(
    "u",
    each(cut(z[i]) / n, i),
    code=[(entmax + "relu_weights", z)],
    title="Weights of ReLU attention",
)

derivation.inequality(
    "relu-sum",
    total(u[i], i),
    c,
    because=total((c - absolute(z[i])) / n + (absolute(z[i]) - z[i]) / (2 * n), i),
    given=[nonnegative(c - absolute(z[i]))],
    uses=["define-u"],
    title="ReLU weights sum to at most any bound on the absolute scores",
)

if __name__ == "__main__":
    derivation.main()
