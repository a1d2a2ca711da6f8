"""Softmax at every temperature: its two limits, its entropy, what it maximises, and the gradient of distillation."""

from fractions import Fraction

from derivations.kernel import (Derivation, diff, exp, eye, index, log, nonnegative, nonzero, positive, scalars, sizes, softmax,
                                total, vector)

n = sizes("n")
z, x, v = vector("z", n), vector("x", n), vector("v", n)
three, other = vector("s", 3), vector("r", 3)
beta, tau, t, k, l = scalars("beta tau t k l")
i, j = index("i", n), index("j", n)

derivation = Derivation("Temperature")

derivation.identity(
    "power",
    softmax(beta * z)[i] / softmax(beta * z)[j], softmax(z)[i] ** beta / softmax(z)[j] ** beta,
    title="A factor on the scores is an exponent on the ratios of weights",
)

derivation.limit(
    "hot",
    softmax(three / tau)[1], tau, "oo", Fraction(1, 3),
    given=[nonzero(tau)],
    title="Hot: all keys alike",
)

derivation.limit(
    "cold",
    1 / (k + l * exp(-beta)), beta, "oo", 1 / k,
    given=[positive(k), nonnegative(l)],
    title="Cold: the largest scores share all the weight",
)

derivation.inequality(
    "leader",
    exp(t) / (exp(t) + n - 1), softmax(z)[i],
    because=total(softmax(z)[j] * ((1 - eye(n)[i, j]) * (exp(z[i] - z[j]) - exp(t))), j) / (exp(t) + (n - 1)),
    given=[nonnegative((1 - eye(n)[i, j]) * (exp(z[i] - z[j]) - exp(t)))],
    title="A score that leads by t has this weight at least",
)

derivation.limit(
    "leader-takes-all",
    exp(t) / (exp(t) + n - 1), t, "oo", 1,
    uses=["leader"],
    title="As its lead grows it takes all the weight",
)

p = derivation.define("p", softmax(beta * z), title="The weights at inverse temperature β")

derivation.identity(
    "mean-slope",
    diff(total(p[i] * z[i], i), beta), total(p[i] * z[i] ** 2, i) - total(p[i] * z[i], i) ** 2,
    uses=["softmax/jacobian#variance"],
    code=[("snippets.softmax.jacobian.variance", softmax(beta * z), z)],
    title="Cooling raises the mean score by the variance of the scores",
)

derivation.identity(
    "perplexity-slope",
    diff(exp(-total(p[i] * log(p[i]), i)), beta),
    -beta * (total(p[i] * z[i] ** 2, i) - total(p[i] * z[i], i) ** 2) * exp(-total(p[i] * log(p[i]), i)),
    title="And lowers the exponential of the entropy",
)

derivation.identity(
    "value",
    total(softmax(z)[i] * z[i], i) - total(softmax(z)[i] * log(softmax(z)[i]), i), log(total(exp(z[i]), i)),
    code=[("snippets.softmax.temperature.objective", softmax(z), z)],
    title="Mean score plus entropy, at softmax",
)

q = derivation.define("q", softmax(z + t * x), title="Any other weights")

derivation.identity(
    "path-slope",
    diff(exp(total(q[i] * z[i], i) - total(q[i] * log(q[i]), i)), t),
    -t * total(q[i] * (x[i] - total(q[j] * x[j], j)) ** 2, i) * exp(total(q[i] * z[i], i) - total(q[i] * log(q[i]), i)),
    title="On the way from softmax to any other weights",
)

derivation.inequality(
    "maximum",
    t * diff(exp(total(q[i] * z[i], i) - total(q[i] * log(q[i]), i)), t), 0,
    because=t ** 2 * total(q[i] * (x[i] - total(q[j] * x[j], j)) ** 2, i)
    * exp(total(q[i] * z[i], i) - total(q[i] * log(q[i]), i)),
    uses=["path-slope"],
    title="It only falls",
)

derivation.identity(
    "distillation",
    -total(softmax(v / tau)[i] * diff(softmax(z / tau)[i], z[j]) / softmax(z / tau)[i], i),
    (softmax(z / tau)[j] - softmax(v / tau)[j]) / tau,
    code=[("snippets.softmax.temperature.distillation_gradient", z, v, tau)],
    given=[nonzero(tau)],
    title="The gradient of distillation",
)

derivation.limit(
    "distillation-hot",
    tau * (softmax(three / tau)[1] - softmax(other / tau)[1]), tau, "oo",
    Fraction(1, 3) * ((three[1] - (three[1] + three[2] + three[3]) / 3) - (other[1] - (other[1] + other[2] + other[3]) / 3)),
    given=[nonzero(tau)],
    title="At a high temperature distillation compares the scores themselves",
)

if __name__ == "__main__":
    derivation.main()
