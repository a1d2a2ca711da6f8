"""The Jacobian of softmax: its matrix form, its quadratic form, which is a variance, its bounds, and the gradients that pass through it."""

from sympy import Derivative, Eq, Idx, IndexedBase, KroneckerDelta, Le, Rational, Sum, evaluate, symbols

from derivations.kernel import Derivation, diff, each, eye, index, log, nonnegative, nonzero, ones, sizes, softmax, total, vector

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
        title="The derivative of a weight in a direction",
    )

    derivation.identity(
        "backward",
        Eq(slope, p[j] * (g[j] - Sum(g[i] * p[i], i))),
        code=[("snippets.softmax.jacobian.through_softmax", softmax(z), g)],
        uses=["scaling/saturation#jacobian"],
        title="The backward pass of softmax",
    )

    derivation.identity(
        "backward-sum",
        Eq(Sum(slope, j), 0),
        uses=["backward"],
        title="The gradient with respect to the scores sums to zero",
    )

    derivation.chain(
        "variance",
        form,
        (variance, "insert the derivatives"),
        (centred, "complete the square; the weights sum to one"),
        uses=["scaling/saturation#jacobian", "simplify/softmax#sums-to-one"],
        code=[("snippets.softmax.jacobian.variance", softmax(z), x)],
        title="The quadratic form of the Jacobian is a variance",
    )

    derivation.inequality(
        "not-negative",
        Le(0, form),
        because=centred,
        uses=["variance"],
        title="The Jacobian is positive semidefinite",
    )

    derivation.identity(
        "pairs",
        Eq(form, half * Sum(p[i] * p[j] * (x[i] - x[j]) ** 2, j, i)),
        uses=["variance"],
        title="The quadratic form is half the mean of squared differences",
    )

    derivation.inequality(
        "half",
        Le(form, half * Sum(x[i] ** 2, i)),
        because=2 * Sum((p[i] - half) ** 2 * x[i] ** 2, i)
        + half * Sum((1 - KroneckerDelta(i, j)) ** 2 * p[i] * p[j] * (x[i] + x[j]) ** 2, j, i),
        uses=["variance"],
        title="The quadratic form is at most half the squared length",
    )

    r = derivation.define("r", softmax(c * ones(2)), title="Two equal weights $r$")

    derivation.identity(
        "half-attained",
        (r[1] * a**2 + r[2] * (-a) ** 2) - (r[1] * a + r[2] * (-a)) ** 2,
        half * (a**2 + (-a) ** 2),
        uses=["half"],
        title="Two equal weights and opposite changes attain the bound",
    )

    derivation.inequality(
        "quarter",
        Le(Derivative(p[i], z[i]), quarter),
        because=(p[i] - half) ** 2,
        title="The derivative of a weight with respect to its own score is at most a quarter",
    )

    derivation.identity(
        "trace",
        Eq(Sum(Derivative(p[i], z[i]), i), 1 - Sum(p[i] ** 2, i)),
        uses=["scaling/saturation#jacobian"],
        title="The trace of the Jacobian",
    )

    derivation.inequality(
        "spread",
        Le(variance, quarter * (b - a) ** 2),
        because=Sum(p[i] * (b - x[i]) * (x[i] - a), i) + (mean - (a + b) / 2) ** 2,
        given=[nonnegative(b - x[i]), nonnegative(x[i] - a)],
        title="A variance is at most a quarter of the squared range",
    )

# The matrix form and the loss, in the kernel's own words: SymPy has no outer product of vectors.
scores, counts, k, l, one = vector("z", sizes("n")), vector("y", sizes("n")), index("k", sizes("n")), index("l", sizes("n")), index("o", 1)
column = derivation.define("w", each(p[k], k, one), title="The weights as a column, $w$")
diagonal = derivation.define("D", each(eye(sizes("n"))[k, l] * p[k], k, l), title="The diagonal matrix $D$ of the weights")

derivation.identity(
    "matrix",
    each(diff(p[k], scores[l]), k, l),
    diagonal - column @ column.T,
    code=[("snippets.softmax.jacobian.softmax_jacobian", softmax(scores))],
    uses=["scaling/saturation#jacobian"],
    title="The Jacobian of softmax in matrix form",
)

targets = derivation.define(
    "t", each(counts[k] / total(counts[l], l), k), given=[nonzero(total(counts[l], l))], title="Targets $t$ that sum to one"
)

derivation.identity(
    "cross-entropy",
    diff(-total(targets[l] * log(p[l]), l), scores[k]),
    p[k] - targets[k],
    given=[nonzero(total(counts[l], l))],
    code=[("snippets.softmax.jacobian.cross_entropy_gradient", scores, targets)],
    uses=["backward"],
    title="The gradient of cross-entropy with respect to the scores",
)

if __name__ == "__main__":
    derivation.main()
