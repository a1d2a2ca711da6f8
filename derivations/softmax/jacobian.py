"""The slopes of softmax as a matrix: a variance, never negative, at most a half, and what it makes of a gradient."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, eye, index, nonnegative, ones, scalars, sizes, softmax, total, vector

n = sizes("n")
z, x, g = vector("z", n), vector("x", n), vector("g", n)
a, b, c = scalars("a b c")
i, j = index("i", n), index("j", n)
half, quarter = Fraction(1, 2), Fraction(1, 4)

derivation = Derivation("The Jacobian of softmax")

p = derivation.define("p", softmax(z), title="The weights")

derivation.identity(
    "direction",
    total(diff(p[i], z[j]) * x[j], j),
    p[i] * (x[i] - total(p[j] * x[j], j)),
    code=[("snippets.softmax.jacobian.through_softmax", softmax(z), x)],
    uses=["scaling/saturation#jacobian"],
    title="What a change of the scores does to a weight",
)

derivation.identity(
    "backward",
    diff(total(g[i] * p[i], i), z[j]),
    p[j] * (g[j] - total(g[i] * p[i], i)),
    code=[("snippets.softmax.jacobian.through_softmax", softmax(z), g)],
    uses=["scaling/saturation#jacobian"],
    title="The gradient that passes through softmax",
)

derivation.identity(
    "backward-sum",
    total(diff(total(g[i] * p[i], i), z[j]), j),
    0,
    uses=["backward"],
    title="It sums to zero",
)

derivation.chain(
    "variance",
    total(x[i] * diff(p[i], z[j]) * x[j], i, j),
    (total(p[i] * x[i] ** 2, i) - total(p[i] * x[i], i) ** 2, "insert the slopes"),
    (total(p[i] * (x[i] - total(p[j] * x[j], j)) ** 2, i), "the weights sum to one"),
    uses=["scaling/saturation#jacobian", "simplify/softmax#sums-to-one"],
    code=[("snippets.softmax.jacobian.variance", softmax(z), x)],
    title="The Jacobian as a quadratic form is a variance",
)

derivation.inequality(
    "not-negative",
    0,
    total(x[i] * diff(p[i], z[j]) * x[j], i, j),
    because=total(p[i] * (x[i] - total(p[j] * x[j], j)) ** 2, i),
    uses=["variance"],
    title="It is never negative",
)

derivation.identity(
    "pairs",
    total(x[i] * diff(p[i], z[j]) * x[j], i, j),
    half * total(p[i] * p[j] * (x[i] - x[j]) ** 2, i, j),
    uses=["variance"],
    title="It is a mean of squared gaps",
)

derivation.inequality(
    "half",
    total(x[i] * diff(p[i], z[j]) * x[j], i, j),
    half * total(x[i] ** 2, i),
    because=2 * total((p[i] - half) ** 2 * x[i] ** 2, i) + half * total((1 - eye(n)[i, j]) ** 2 * p[i] * p[j] * (x[i] + x[j]) ** 2, i, j),
    uses=["variance"],
    title="It is at most half the squared length",
)

q = derivation.define("q", softmax(c * ones(2)), title="Two equal weights")

derivation.identity(
    "half-attained",
    (q[1] * a**2 + q[2] * (-a) ** 2) - (q[1] * a + q[2] * (-a)) ** 2,
    half * (a**2 + (-a) ** 2),
    uses=["half"],
    title="Two equal weights attain the half",
)

derivation.inequality(
    "quarter",
    diff(p[i], z[i]),
    quarter,
    because=(p[i] - half) ** 2,
    title="No weight answers its own score by more than a quarter",
)

derivation.identity(
    "trace",
    total(diff(p[i], z[i]), i),
    1 - total(p[i] ** 2, i),
    uses=["scaling/saturation#jacobian"],
    title="The sum of these slopes",
)

derivation.inequality(
    "spread",
    total(p[i] * x[i] ** 2, i) - total(p[i] * x[i], i) ** 2,
    quarter * (b - a) ** 2,
    because=total(p[i] * (b - x[i]) * (x[i] - a), i) + (total(p[i] * x[i], i) - (a + b) / 2) ** 2,
    given=[nonnegative(b - x[i]), nonnegative(x[i] - a)],
    title="A variance is at most a quarter of the squared range",
)

if __name__ == "__main__":
    derivation.main()
