"""The slopes of softmax as a matrix: a variance, never negative, at most a half, and what it makes of a gradient."""

from sympy import Derivative, Eq, Idx, IndexedBase, KroneckerDelta, Le, Rational, Sum, evaluate, symbols

from derivations.kernel import Derivation, nonnegative, ones, softmax

n = symbols("n", integer=True, positive=True)
a, b, c = symbols("a b c", real=True)
z, x, g = (IndexedBase(name, shape=(n,), real=True) for name in "zxg")
i, j = Idx("i", (1, n)), Idx("j", (1, n))
half, quarter = Rational(1, 2), Rational(1, 4)

derivation = Derivation("The Jacobian of softmax")

p = derivation.define("p", softmax(z), title="The weights $p$")

with evaluate(False):  # SymPy keeps what is written
    mean = Sum(p[i] * x[i], i)
    variance = Sum(p[i] * x[i] ** 2, i) - mean**2
    centred = Sum(p[i] * (x[i] - Sum(p[j] * x[j], j)) ** 2, i)
    form = Sum(x[i] * Derivative(p[i], z[j]) * x[j], j, i)
    slope = Derivative(Sum(g[i] * p[i], i), z[j])

    derivation.identity(
        "direction",
        Eq(Sum(Derivative(p[i], z[j]) * x[j], j), p[i] * (x[i] - Sum(p[j] * x[j], j))),
        code=[("snippets.softmax.jacobian.through_softmax", softmax(z), x)],
        uses=["scaling/saturation#jacobian"],
        title="What a change of the scores does to a weight",
    )

    derivation.identity(
        "backward",
        Eq(slope, p[j] * (g[j] - Sum(g[i] * p[i], i))),
        code=[("snippets.softmax.jacobian.through_softmax", softmax(z), g)],
        uses=["scaling/saturation#jacobian"],
        title="The gradient that passes through softmax",
    )

    derivation.identity(
        "backward-sum",
        Eq(Sum(slope, j), 0),
        uses=["backward"],
        title="What passes back through softmax sums to zero",
    )

    derivation.chain(
        "variance",
        form,
        (variance, "insert the slopes"),
        (centred, "the weights sum to one"),
        uses=["scaling/saturation#jacobian", "simplify/softmax#sums-to-one"],
        code=[("snippets.softmax.jacobian.variance", softmax(z), x)],
        title="The Jacobian as a quadratic form is a variance",
    )

    derivation.inequality(
        "not-negative",
        Le(0, form),
        because=centred,
        uses=["variance"],
        title="The Jacobian's quadratic form is never negative",
    )

    derivation.identity(
        "pairs",
        Eq(form, half * Sum(p[i] * p[j] * (x[i] - x[j]) ** 2, j, i)),
        uses=["variance"],
        title="The Jacobian's quadratic form is half a mean of squared gaps",
    )

    derivation.inequality(
        "half",
        Le(form, half * Sum(x[i] ** 2, i)),
        because=2 * Sum((p[i] - half) ** 2 * x[i] ** 2, i)
        + half * Sum((1 - KroneckerDelta(i, j)) ** 2 * p[i] * p[j] * (x[i] + x[j]) ** 2, j, i),
        uses=["variance"],
        title="The Jacobian's quadratic form is at most half the squared length",
    )

    r = derivation.define("r", softmax(c * ones(2)), title="Two equal weights $r$")

    derivation.identity(
        "half-attained",
        (r[1] * a**2 + r[2] * (-a) ** 2) - (r[1] * a + r[2] * (-a)) ** 2,
        half * (a**2 + (-a) ** 2),
        uses=["half"],
        title="Two equal weights attain the half",
    )

    derivation.inequality(
        "quarter",
        Le(Derivative(p[i], z[i]), quarter),
        because=(p[i] - half) ** 2,
        title="No weight answers its own score by more than a quarter",
    )

    derivation.identity(
        "trace",
        Eq(Sum(Derivative(p[i], z[i]), i), 1 - Sum(p[i] ** 2, i)),
        uses=["scaling/saturation#jacobian"],
        title="The sum of these slopes",
    )

    derivation.inequality(
        "spread",
        Le(variance, quarter * (b - a) ** 2),
        because=Sum(p[i] * (b - x[i]) * (x[i] - a), i) + (mean - (a + b) / 2) ** 2,
        given=[nonnegative(b - x[i]), nonnegative(x[i] - a)],
        title="A variance is at most a quarter of the squared range",
    )

if __name__ == "__main__":
    derivation.main()
