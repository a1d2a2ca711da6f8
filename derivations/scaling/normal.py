"""How close a scaled dot product of Gaussian vectors is to a normal variable: moments, characteristic function, limit."""

from derivations.kernel import (
    Derivation,
    E,
    I,
    Var,
    exp,
    gaussian,
    has_moment,
    independent,
    index,
    mean,
    nonzero,
    random,
    scalars,
    sizes,
    sqrt,
    total,
    variance,
)

d = sizes("d")
i = index("i", d)
q, k = random("q", d), random("k", d)
x, y, z = random("x"), random("y"), random("z")
s, t, sigma, tau = scalars("s t sigma tau")


def standard_normal(*randoms):
    return [independent(*randoms), gaussian(*randoms)] + [rule for r in randoms for rule in (mean(r, 0), variance(r, 1))]


derivation = Derivation("The limit is normal")

derivation.identity(
    "third-moment",
    E((q @ k) ** 3),
    0,
    given=[independent(q, k), mean(q, 0), gaussian(q), has_moment(k, 3)],
    title="The third moment is zero if one vector is Gaussian with mean zero",
)

derivation.identity(
    "self-third-moment",
    E((q @ q - d) ** 3),
    8 * d,
    given=standard_normal(q),
    uses=["scaling/variance#self-mean"],
    title="A Gaussian vector with itself: the third central moment",
)

derivation.identity(
    "fourth-moment",
    E((q @ k) ** 4),
    3 * d**2 + 6 * d,
    given=standard_normal(q, k),
    code=[("snippets.scaling.normal.predicted_fourth_moment", d)],
    title="The fourth moment of a dot product of Gaussian vectors",
)

derivation.identity(
    "fourth-moment-any",
    E((q @ k) ** 4),
    total(E(q[i] ** 4) * E(k[i] ** 4), i) + 3 * d * (d - 1),
    given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1), has_moment(q, 4), has_moment(k, 4)],
    title="The fourth moment, for any entries with mean zero and variance one",
)

derivation.chain(
    "excess-kurtosis",
    E((q @ k) ** 4) / Var(q @ k) ** 2 - 3,
    ((3 * d**2 + 6 * d) / d**2 - 3, "the fourth moment over the square of the variance; both variances cancel"),
    (6 / d, "cancel"),
    given=[
        independent(q, k),
        gaussian(q, k),
        mean(q, 0),
        mean(k, 0),
        variance(q, sigma**2),
        variance(k, tau**2),
        nonzero(sigma),
        nonzero(tau),
    ],
    uses=["fourth-moment", "scaling/variance#variance"],
    code=[("snippets.scaling.normal.predicted_excess_kurtosis", d)],
    title="For Gaussian vectors, the excess kurtosis is six over the width",
)

derivation.limit(
    "kurtosis-vanishes",
    6 / d,
    d,
    "oo",
    0,
    title="The excess kurtosis tends to zero",
)

derivation.chain(
    "one-product",
    E(exp(I * s * (x * y))),
    (E(exp(-(s**2 * y**2) / 2)), "average over $x$ with $y$ fixed: a Gaussian integral"),
    (1 / sqrt(1 + s**2), "average over $y$: another Gaussian integral"),
    given=standard_normal(x, y),
    title="The characteristic function of a product of two normal numbers",
)

derivation.identity(
    "characteristic",
    E(exp(I * t * (q @ k) / sqrt(d))),
    (1 + t**2 / d) ** (-d / 2),
    reason="a product of $d$ independent factors, one for each coordinate",
    given=standard_normal(q, k),
    uses=["one-product"],
    code=[("snippets.scaling.normal.characteristic_function", t, {"d": d})],
    title="The characteristic function of the scaled dot product of Gaussian vectors",
)

derivation.identity(
    "normal-characteristic",
    E(exp(I * t * z)),
    exp(-(t**2) / 2),
    given=standard_normal(z)[1:],
    code=[("snippets.scaling.normal.normal_characteristic_function", t)],
    title="The characteristic function of a standard normal variable",
)

derivation.limit(
    "normal-limit",
    (1 + t**2 / d) ** (-d / 2),
    d,
    "oo",
    exp(-(t**2) / 2),
    reason="in the series of the logarithm, only the first term does not vanish",
    uses=["characteristic", "normal-characteristic"],
    title="The characteristic function tends to that of a normal variable",
)

if __name__ == "__main__":
    derivation.main()
