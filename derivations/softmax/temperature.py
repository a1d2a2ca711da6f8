"""Softmax at every temperature: its two limits, its entropy, what it maximises, and the gradient of distillation."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    diff,
    exp,
    eye,
    index,
    largest,
    log,
    nonnegative,
    nonzero,
    ones,
    positive,
    scalars,
    sizes,
    softmax,
    total,
    vector,
)

n, l = sizes("n l")
z, v, y = vector("z", n), vector("v", n), vector("y", l)
three, other = vector("s", 3), vector("r", 3)
beta, tau, t, k, g, a = scalars("beta tau t k g a")
i, j, c = index("i", n), index("j", n), index("c", l)

derivation = Derivation("Temperature")

derivation.identity(
    "power",
    softmax(beta * z)[i] / softmax(beta * z)[j],
    softmax(z)[i] ** beta / softmax(z)[j] ** beta,
    title="A factor on the scores is an exponent on ratios of weights",
)

derivation.inequality(
    "hot-most",
    n * softmax(beta * z)[i],
    exp(beta * g),
    because=total(exp(beta * z[j]) * (exp(beta * g) - exp(beta * (z[i] - z[j]))), j) / total(exp(beta * z[j]), j),
    given=[nonnegative(exp(beta * g) - exp(beta * (z[i] - z[j])))],
    title="An upper bound on a weight, in units of an equal share",
)

derivation.inequality(
    "hot-least",
    exp(-beta * g),
    n * softmax(beta * z)[i],
    because=total(exp(beta * z[j]) * (exp(beta * (z[i] - z[j])) - exp(-beta * g)), j) / total(exp(beta * z[j]), j),
    given=[nonnegative(exp(beta * (z[i] - z[j])) - exp(-beta * g))],
    title="A lower bound on a weight, in units of an equal share",
)

derivation.limit("equal-shares", softmax(z / tau)[i], tau, "oo", 1 / n, title="At a high temperature each weight tends to an equal share")

derivation.inequality(  # one key leads, the first: each leading every other would contradict itself
    "leader",
    exp(t) / (exp(t) + n - 1),
    softmax(z)[1],
    because=total(softmax(z)[j] * ((1 - eye(n)[1, j]) * (exp(z[1] - z[j]) - exp(t))), j) / (exp(t) + (n - 1)),
    given=[nonnegative((1 - eye(n)[1, j]) * (exp(z[1] - z[j]) - exp(t)))],
    title="A lower bound on the weight of a key that leads by $t$",
)

derivation.identity(
    "same-leader",
    largest(beta * z + a * ones(n)) - (beta * z[i] + a),
    beta * (largest(z) - z[i]),
    given=[nonnegative(beta)],
    title="A nonnegative factor scales each distance from the largest score",
)

derivation.identity(
    "largest-weight",
    softmax(z)[i] / largest(softmax(z)),
    exp(z[i] - largest(z)),
    title="A weight relative to the largest weight",
)

derivation.limit(
    "winner",
    1 / (1 + total(exp((y[c] - a) / tau), c)),
    tau,
    0,
    1,
    given=[positive(a - y[c])],
    title="At a low temperature the weight of the largest score tends to one",
)

derivation.inequality(
    "cold-least",
    1 / (k + l * exp(-t)),
    1 / (k + total(exp(y[c]), c)),
    because=total(exp(-t) - exp(y[c]), c) / ((k + l * exp(-t)) * (k + total(exp(y[c]), c))),
    given=[positive(k), nonnegative(exp(-t) - exp(y[c]))],
    title="A lower bound on the weight of each of several leaders",
)

derivation.limit(
    "cold",
    1 / (k + l * exp(-t)),
    t,
    "oo",
    1 / k,
    given=[positive(k)],
    uses=["cold-least"],
    title="As the lead grows, the leaders share all the weight",
)

p = derivation.define("p", softmax(beta * z), title="The weights $p$ at inverse temperature $\\beta$")

derivation.identity(
    "mean-slope",
    diff(total(p[i] * z[i], i), beta),
    total(p[i] * z[i] ** 2, i) - total(p[i] * z[i], i) ** 2,
    uses=["softmax/jacobian#variance"],
    code=[("snippets.softmax.jacobian.variance", softmax(beta * z), z)],
    title="The derivative of the mean score is the variance of the scores",
)

derivation.inequality(
    "most-entropy",
    -total(p[i] * log(p[i]), i),
    log(n),
    because=log(n) + total(p[i] * log(p[i]), i),
    title="The entropy is at most the logarithm of the number of keys",
)

derivation.identity(
    "perplexity-slope",
    diff(exp(-total(p[i] * log(p[i]), i)), beta),
    -beta * (total(p[i] * z[i] ** 2, i) - total(p[i] * z[i], i) ** 2) * exp(-total(p[i] * log(p[i]), i)),
    title="The derivative of the perplexity",
)


def objective(weights):
    """The mean score, plus the entropy times the temperature."""
    return total(weights[i] * z[i], i) - tau * total(weights[i] * log(weights[i]), i)


derivation.identity(
    "value",
    objective(softmax(z / tau)),
    tau * log(total(exp(z[i] / tau), i)),
    given=[nonzero(tau)],
    code=[("snippets.softmax.temperature.objective", softmax(z / tau), z, {"tau": tau})],
    title="The value of the objective at softmax",
)


def relative_entropy(weights, others):
    """The relative entropy, or Kullback-Leibler divergence, of weights to others."""
    return total(weights[i] * (log(weights[i]) - log(others[i])), i)


derivation.identity(
    "gap",
    tau * log(total(exp(z[i] / tau), i)) - objective(softmax(v)),
    tau * relative_entropy(softmax(v), softmax(z / tau)),
    given=[nonzero(tau)],
    title="What other weights lose is the temperature times their relative entropy to softmax",
)

derivation.inequality(
    "relative-entropy",
    0,
    relative_entropy(softmax(v), softmax(z)),
    because=relative_entropy(softmax(v), softmax(z)),
    title="Gibbs' inequality: a relative entropy is not negative",
)

derivation.inequality(
    "maximum",
    objective(softmax(v)),
    tau * log(total(exp(z[i] / tau), i)),
    because=tau * relative_entropy(softmax(v), softmax(z / tau)),
    given=[positive(tau)],
    uses=["gap", "relative-entropy"],
    title="Softmax maximises the mean score plus the temperature times the entropy",
)

derivation.identity(
    "distillation",
    -total(softmax(v / tau)[i] * diff(softmax(z / tau)[i], z[j]) / softmax(z / tau)[i], i),
    (softmax(z / tau)[j] - softmax(v / tau)[j]) / tau,
    code=[("snippets.softmax.temperature.distillation_gradient", z, v, {"tau": tau})],
    given=[nonzero(tau)],
    title="The gradient of distillation",
)

derivation.limit(
    "distillation-hot",
    tau * (softmax(three / tau)[1] - softmax(other / tau)[1]),
    tau,
    "oo",
    Fraction(1, 3) * ((three[1] - (three[1] + three[2] + three[3]) / 3) - (other[1] - (other[1] + other[2] + other[3]) / 3)),
    title="With three keys and a high temperature, distillation compares centred scores",
)

if __name__ == "__main__":
    derivation.main()
