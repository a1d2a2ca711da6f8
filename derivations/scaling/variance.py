"""Mean and variance of a dot product of random vectors, for every d, and what each assumption is there for."""

from derivations.kernel import Derivation, E, Var, gaussian, independent, index, mean, random, scalars, sizes, sqrt, total, variance, vector

d = sizes("d")
q, k, l = random("q", d), random("k", d), random("l", d)
a = vector("a", d)
mu, nu, sigma, tau = scalars("mu nu sigma tau")
i = index("i", d)

standard = [independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]

derivation = Derivation("The variance of a dot product")

derivation.chain(
    "mean",
    E(q @ k),
    (E(total(q[i] * k[i], i)), "write the dot product out"),
    (total(E(q[i] * k[i]), i), "the mean of a sum is the sum of the means"),
    (total(E(q[i]) * E(k[i]), i), "independent factors: the mean of the product is the product of the means"),
    (0, "each mean of $q$ is zero"),
    given=[independent(q, k), mean(q, 0)],
    code=[("snippets.scaling.variance.predicted_moments[0]", d)],
    title="The mean is zero",
)

derivation.chain(
    "variance",
    Var(q @ k),
    (Var(total(q[i] * k[i], i)), "write the dot product out"),
    (total(Var(q[i] * k[i]), i), "independent terms: their variances add"),
    (total(E(q[i] ** 2) * E(k[i] ** 2), i), "the mean of each term is zero, and its factors are independent"),
    (total(1, i), "mean zero and variance one make each second moment one"),
    (d, "count the terms"),
    given=standard,
    code=[("snippets.scaling.variance.predicted_moments[1]", d)],
    title="The variance is the width",
)

derivation.chain(
    "scaled",
    Var((q @ k) / sqrt(d)),
    (Var(q @ k) / d, "a constant factor leaves a variance squared"),
    (1, "the variance is the width"),
    given=standard,
    uses=["variance"],
    title="After division by the root of the width the variance is one",
)

derivation.chain(
    "gap",
    Var((q @ k - q @ l) / sqrt(d)),
    ((Var(q @ k) + Var(q @ l)) / d, "given the query, the two scores are uncorrelated"),
    (2, "each has the width as its variance"),
    given=[independent(q, k, l), mean(q, 0), mean(k, 0), mean(l, 0), variance(q, 1), variance(k, 1), variance(l, 1)],
    uses=["variance"],
    title="The gap between two scaled scores has variance two",
)

derivation.identity(
    "fixed-query",
    Var(a @ k),
    total(a[i] ** 2, i),
    given=[independent(k), variance(k, 1)],
    title="For a fixed query the variance is its squared length",
)

derivation.identity(
    "general-mean",
    E(q @ k),
    d * mu * nu,
    given=[independent(q, k), mean(q, mu), mean(k, nu)],
    title="Any means",
)

derivation.identity(
    "general-variance",
    Var(q @ k),
    d * (sigma**2 * tau**2 + sigma**2 * nu**2 + tau**2 * mu**2),
    given=[independent(q, k), mean(q, mu), mean(k, nu), variance(q, sigma**2), variance(k, tau**2)],
    title="Any means and variances",
)

derivation.identity(
    "same-variance",
    Var(q @ k),
    d * sigma**2 * (sigma**2 + 2 * mu**2),
    given=[independent(q, k), mean(q, mu), mean(k, mu), variance(q, sigma**2), variance(k, sigma**2)],
    uses=["general-variance"],
    code=[("snippets.scaling.variance.predicted_moments[1]", d, mu, sigma)],
    title="Queries and keys with one mean and one variance",
)

derivation.identity(
    "self-mean",
    E(q @ q),
    d,
    given=[mean(q, 0), variance(q, 1)],
    code=[("snippets.scaling.variance.predicted_moments_same[0]", d)],
    title="A vector with itself: the mean is the width",
)

derivation.identity(
    "self-variance",
    Var(q @ q),
    2 * d,
    given=[independent(q), mean(q, 0), variance(q, 1), gaussian(q)],
    code=[("snippets.scaling.variance.predicted_moments_same[1]", d)],
    title="A Gaussian vector with itself: the variance doubles",
)

derivation.refute(
    "without-independence",
    Var(q @ q),
    d,
    at={d: 1},
    given=[independent(q), mean(q, 0), variance(q, 1), gaussian(q)],
    title="Without independence the variance is not the width",
)

derivation.refute(
    "without-zero-mean",
    Var(q @ k),
    d,
    at={d: 1},
    given=[independent(q, k), mean(q, 1), mean(k, 1), variance(q, 1), variance(k, 1)],
    title="Without zero mean the variance is not the width",
)

derivation.refute(
    "squared-width",
    Var(q @ k),
    d**2,
    at={d: 2},
    given=standard,
    title="The variance does not grow with the square of the width",
)

if __name__ == "__main__":
    derivation.main()
