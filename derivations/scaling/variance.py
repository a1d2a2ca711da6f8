"""Mean and variance of a dot product of random vectors, for every d, and what each assumption is there for."""

from sympy import Idx, MatAdd, MatMul, MatrixSymbol, Sum, evaluate, sqrt, symbols
from sympy.stats import Expectation, Variance
from sympy.stats.rv import RandomMatrixSymbol

from derivations.kernel import Derivation, gaussian, has_moment, independent, mean, variance

d = symbols("d", integer=True, positive=True)
mu, nu, sigma, tau = symbols("mu nu sigma tau", real=True)
q, k, l = (RandomMatrixSymbol(name, d, 1) for name in "qkl")  # columns, of which nothing is known but what is given
a = MatrixSymbol("a", d, 1)
i = Idx("i", d)
q_i, k_i, a_i = q[i, 0], k[i, 0], a[i, 0]
standard = [independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]

derivation = Derivation("The variance of a dot product")

with evaluate(False):  # SymPy keeps what is written
    qk, ql = MatMul(q.T, k), MatMul(q.T, l)

    derivation.chain(
        "mean",
        Expectation(qk),
        (Expectation(Sum(q_i * k_i, i)), "write the dot product out"),
        (Sum(Expectation(q_i * k_i), i), "the mean of a sum is the sum of the means"),
        (Sum(Expectation(q_i) * Expectation(k_i), i), "independent factors: the mean of the product is the product of the means"),
        (0, "each mean of $q$ is zero"),
        given=[independent(q, k), mean(q, 0), has_moment(k, 1)],
        code=[("snippets.scaling.variance.predicted_moments[0]", d)],
        title="The mean is zero",
    )

    derivation.chain(
        "variance",
        Variance(qk),
        (Variance(Sum(q_i * k_i, i)), "write the dot product out"),
        (Sum(Variance(q_i * k_i), i), "independent terms: their variances add"),
        (Sum(Expectation(q_i**2) * Expectation(k_i**2), i), "the mean of each term is zero, and its factors are independent"),
        (Sum(1, i), "mean zero and variance one make each second moment one"),
        (d, "count the terms"),
        given=standard,
        code=[("snippets.scaling.variance.predicted_moments[1]", d)],
        title="The variance is the width",
    )

    derivation.chain(
        "scaled",
        Variance(MatMul(1 / sqrt(d), qk)),
        (Variance(qk) / d, "a constant factor leaves a variance squared"),
        (1, "the variance is the width"),
        given=standard,
        uses=["variance"],
        title="After division by the root of the width the variance is one",
    )

    derivation.chain(
        "gap",
        Variance(MatMul(1 / sqrt(d), MatAdd(qk, MatMul(-1, ql)))),
        ((Variance(qk) + Variance(ql)) / d, "given the query, the two scores are uncorrelated"),
        (2, "each has the width as its variance"),
        given=[independent(q, k, l), mean(q, 0), mean(k, 0), mean(l, 0), variance(q, 1), variance(k, 1), variance(l, 1)],
        uses=["variance"],
        title="The gap between two scaled scores has variance two",
    )

    derivation.identity(
        "fixed-query",
        Variance(MatMul(a.T, k)),
        Sum(a_i**2, i),
        given=[independent(k), variance(k, 1)],
        title="For a fixed query the variance is its squared length",
    )

    derivation.identity(
        "general-mean",
        Expectation(qk),
        d * mu * nu,
        given=[independent(q, k), mean(q, mu), mean(k, nu)],
        title="Any means",
    )

    derivation.identity(
        "general-variance",
        Variance(qk),
        d * (sigma**2 * tau**2 + sigma**2 * nu**2 + tau**2 * mu**2),
        given=[independent(q, k), mean(q, mu), mean(k, nu), variance(q, sigma**2), variance(k, tau**2)],
        title="Any means and variances",
    )

    derivation.identity(
        "same-variance",
        Variance(qk),
        d * sigma**2 * (sigma**2 + 2 * mu**2),
        given=[independent(q, k), mean(q, mu), mean(k, mu), variance(q, sigma**2), variance(k, sigma**2)],
        uses=["general-variance"],
        code=[("snippets.scaling.variance.predicted_moments[1]", d, {"mu": mu, "sigma": sigma})],
        title="Queries and keys with one mean and one variance",
    )

    derivation.identity(
        "self-mean",
        Expectation(MatMul(q.T, q)),
        d,
        given=[mean(q, 0), variance(q, 1)],
        code=[("snippets.scaling.variance.predicted_moments_same[0]", d)],
        title="A vector with itself: the mean is the width",
    )

    derivation.identity(
        "self-variance",
        Variance(MatMul(q.T, q)),
        2 * d,
        given=[independent(q), mean(q, 0), variance(q, 1), gaussian(q)],
        code=[("snippets.scaling.variance.predicted_moments_same[1]", d)],
        title="A Gaussian vector with itself: the variance doubles",
    )

    derivation.refute(
        "without-independence",
        Variance(MatMul(q.T, q)),
        d,
        at={d: 1},
        given=[independent(q), mean(q, 0), variance(q, 1), gaussian(q)],
        title="Without independence the variance is not the width",
    )

    derivation.refute(
        "without-zero-mean",
        Variance(qk),
        d,
        at={d: 1},
        given=[independent(q, k), mean(q, 1), mean(k, 1), variance(q, 1), variance(k, 1)],
        title="Without zero mean the variance is not the width",
    )

    derivation.refute(
        "squared-width",
        Variance(qk),
        d**2,
        at={d: 2},
        given=standard,
        title="The variance does not grow with the square of the width",
    )

if __name__ == "__main__":
    derivation.main()
