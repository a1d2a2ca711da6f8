"""What large gaps between scores do to softmax: the derivative of a weight, its bounds, and its limit."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, eye, index, scalars, sizes, softmax, total, vector

n = sizes("n")
z = vector("z", n)
pair = vector("s", 2)
i, j, k = index("i", n), index("j", n), index("k", n)
gap = scalars("Delta")

derivation = Derivation("What saturation does to the weights")

derivation.chain(
    "two-scores",
    softmax(pair)[1],
    (exp(pair[1]) / (exp(pair[1]) + exp(pair[2])), "write softmax out"),
    (1 / (1 + exp(-(pair[1] - pair[2]))), "divide numerator and denominator by the first exponential"),
    code=[("snippets.scaling.saturation.two_key_weight", pair[1] - pair[2])],
    title="With two keys, a weight depends only on the gap between the scores",
)

p = derivation.define(
    "p",
    1 / (1 + exp(-gap)),
    code=[("snippets.scaling.saturation.two_key_weight", gap)],
    title="The first weight $p$ as a function of the gap",
)

derivation.identity(
    "slope",
    diff(p, gap),
    p * (1 - p),
    code=[("snippets.scaling.saturation.two_key_gradient", gap)],
    title="The derivative of the weight with respect to the gap",
)

derivation.chain(
    "hyperbolic",
    p * (1 - p),
    (exp(-gap) / (1 + exp(-gap)) ** 2, "insert the weight"),
    (1 / (exp(gap / 2) + exp(-gap / 2)) ** 2, "multiply numerator and denominator by $e^{\\Delta}$"),
    code=[("snippets.scaling.saturation.two_key_gradient", gap)],
    title="The same derivative, symmetric in the gap",
)

derivation.inequality(
    "quarter",
    p * (1 - p),
    Fraction(1, 4),
    because=(p - Fraction(1, 2)) ** 2,
    title="The derivative is at most a quarter",
)

derivation.limit("one-wins", p, gap, "oo", 1, title="As the gap grows, the first weight tends to one")

derivation.limit(
    "slope-vanishes", p * (1 - p), gap, "oo", 0, uses=["slope"], title="As the gap grows, the derivative of the weight tends to zero"
)

derivation.inequality(
    "exponential",
    p * (1 - p),
    exp(-gap),
    because=exp(-gap) * (2 * exp(-gap) + exp(-gap) ** 2) / (1 + exp(-gap)) ** 2,
    uses=["hyperbolic"],
    title="The derivative falls exponentially with the gap",
)

derivation.chain(
    "jacobian",
    diff(softmax(z)[i], z[j]),
    (diff(exp(z[i]) / total(exp(z[k]), k), z[j]), "write softmax out"),
    (eye(n)[i, j] * exp(z[i]) / total(exp(z[k]), k) - exp(z[i]) * exp(z[j]) / total(exp(z[k]), k) ** 2, "the quotient rule"),
    (softmax(z)[i] * (eye(n)[i, j] - softmax(z)[j]), "each quotient is a weight"),
    code=[("snippets.softmax.jacobian.softmax_jacobian", softmax(z))],
    title="The derivative of any weight with respect to any score",
)

derivation.identity(
    "jacobian-rows",
    total(diff(softmax(z)[i], z[j]), j),
    0,
    uses=["jacobian"],
    title="The derivatives of a weight with respect to all scores sum to zero",
)

derivation.identity(
    "jacobian-symmetric",
    diff(softmax(z)[i], z[j]),
    diff(softmax(z)[j], z[i]),
    uses=["jacobian"],
    title="The matrix of derivatives is symmetric",
)

derivation.refute(
    "scale-matters",
    softmax(2 * z),
    softmax(z),
    at={z: [1, 0]},
    title="Doubling all scores changes the weights",
)

if __name__ == "__main__":
    derivation.main()
