"""Layer normalisation: its output's mean and size, what it ignores, and its derivative."""

from derivations.kernel import Derivation, diff, eye, index, matrix, nonzero, ones, positive, scalars, sizes, sqrt, total, vector

d, p = sizes("d p")
x, u, g, b = vector("x", d), vector("u", d), vector("g", d), vector("b", d)
W = matrix("W", d, p)
a, c, s, epsilon = scalars("a c s epsilon")  # s: any divisor
i, j, k, r, o = index("i", d), index("j", d), index("k", d), index("r", d), index("o", p)

derivation = Derivation("Layer normalisation")

mu = derivation.define("mu", total(x[r], r) / d, title="The mean of a token's features, $\\mu$")


t = derivation.define("t", sqrt((u @ u) / d + epsilon), given=[positive(epsilon)], title="The divisor, $t$")

y = derivation.define(
    "y",
    u / t,
    given=[positive(epsilon)],
    code=[("snippets.around.layernorm.rms_norm", u, {"eps": epsilon})],
    title="The normalised token, $y$",
)

derivation.identity(
    "mean-zero",
    total((x[i] - mu) / s, i),
    0,
    given=[nonzero(s)],
    title="Centred features sum to zero, whatever you divide them by",
)

derivation.identity(
    "mean-square",
    (y @ y) / d,
    1 - d * epsilon / (u @ u + d * epsilon),
    given=[positive(epsilon)],
    code=[("snippets.around.layernorm.mean_square", ("snippets.around.layernorm.rms_norm", u, {"eps": epsilon}))],
    title="The mean square of the output, with epsilon",
)

derivation.inequality(
    "below-one",
    1 - d * epsilon / (u @ u + d * epsilon),
    1,
    because=d * epsilon / (u @ u + d * epsilon),
    given=[positive(epsilon)],
    title="The mean square of the output is at most one",
)

derivation.identity(
    "square-one",
    total((u[i] / sqrt((u @ u) / d)) ** 2, i) / d,
    1,
    given=[positive(u @ u)],
    code=[("snippets.around.layernorm.mean_square", ("snippets.around.layernorm.rms_norm", u, {"eps": 0}))],
    title="Without epsilon, the mean square of the output is one",
)

derivation.identity(
    "one-less",
    total((u[i] / sqrt((u @ u) / (d - 1))) ** 2, i) / d,
    1 - 1 / d,
    given=[positive(u @ u), positive(d - 1)],
    title="If the squares are divided by $d - 1$, the mean square of the output falls short of one by $1/d$",
)

derivation.identity(
    "shift",
    (x + c * ones(d))[i] - total((x + c * ones(d))[r], r) / d,
    x[i] - mu,
    title="Centring removes a constant that is added to all features",
)

derivation.identity(
    "scale",
    (a * u)[i] / sqrt(((a * u) @ (a * u)) / d),
    u[i] / sqrt((u @ u) / d),
    given=[positive(a), positive(u @ u)],
    code=[("snippets.around.layernorm.rms_norm", a * u, {"eps": 0})],
    title="Without epsilon, a positive factor cancels",
)

derivation.identity(
    "centring-slope",
    diff(x[i] - mu, x[j]),
    eye(d)[i, j] - 1 / d,
    title="The derivative of centring",
)

derivation.identity(
    "scaling-slope",
    diff(y[i], u[j]),
    (eye(d)[i, j] - y[i] * y[j] / d) / t,
    given=[positive(epsilon)],
    title="The derivative of the division",
)

derivation.identity(
    "both",
    total((eye(d)[i, k] - (a * (x[i] - mu)) * (a * (x[k] - mu)) / d) * (eye(d)[k, j] - 1 / d), k),
    eye(d)[i, j] - 1 / d - (a * (x[i] - mu)) * (a * (x[j] - mu)) / d,
    uses=["centring-slope", "scaling-slope"],
    title="The product of both derivatives, without the divisor; outputs are $a$ times the centred features",
)

derivation.identity(
    "takes-ones",
    total(eye(d)[i, j] - 1 / d, j),
    0,
    uses=["centring-slope"],
    title="Adding the same number to all features changes no centred feature",
)

derivation.identity(
    "takes-itself",
    total(diff(y[i], u[j]) * u[j], j),
    y[i] * (d * epsilon / (u @ u + d * epsilon)),
    given=[positive(epsilon)],
    uses=["scaling-slope"],
    title="Along the token itself, the derivative is the output times epsilon's share",
)

derivation.identity(
    "folds",
    ((u * g + b) @ W)[o],
    total(u[i] * (g[i] * W[i, o]), i) + (b @ W)[o],
    title="A linear layer can absorb gain and bias",
)

if __name__ == "__main__":
    derivation.main()
