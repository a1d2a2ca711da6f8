"""A reference implementation, and a slip: under the root the number of elements of K, which makes weights flat and padding count."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    E,
    Var,
    exp,
    independent,
    index,
    matrix,
    mean,
    nonnegative,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
)

n, m, h, d_k = sizes("n m h d_k")
Q, K = matrix("Q", n, d_k), matrix("K", m, d_k)
q, k, v = random("q", d_k), random("k", d_k), random("v", m)
z, s = vector("z", m), vector("s", 2)
delta, gap, g = scalars("delta Delta g")
i, j = index("i", m), index("j", m)

derivation = Derivation("A reference, and a wrong width")

derivation.identity(
    "uniform-mean",
    E(total(softmax(z)[j] * v[j], j)),
    Fraction(1, 2),
    given=[mean(v, Fraction(1, 2))],
    title="Whatever the weights, the mean output is the mean value",
)

derivation.identity(
    "slip",
    Q @ K.T / sqrt(h * m * d_k),
    Q @ K.T / sqrt(d_k) / sqrt(h * m),
    code=[("snippets.attention.reference.scores_by_size_wrong", Q, K, {"num_heads": h})],
    title="The slip divides the scores once more, by the root of heads times keys",
)

derivation.identity(
    "slip-variance",
    Var((q @ k) / sqrt(h * m * d_k)),
    1 / (h * m),
    given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
    uses=["scaling/variance#variance"],
    title="The variance of such a score",
)

derivation.inequality(
    "flat-upper",
    softmax(z)[i],
    g**2 / m,
    because=total(g * (g * exp(z[j]) - 1) + (g - exp(z[i])), j) / (m * total(exp(z[j]), j)),
    given=[nonnegative(g - exp(z[i])), nonnegative(g * exp(z[j]) - 1)],
    title="Scores near zero give no key much more than an equal share",
)

derivation.inequality(
    "flat-lower",
    1 / m,
    g**2 * softmax(z)[i],
    because=total(g * (g * exp(z[i]) - 1) + (g - exp(z[j])), j) / (m * total(exp(z[j]), j)),
    given=[nonnegative(g * exp(z[i]) - 1), nonnegative(g - exp(z[j]))],
    title="Scores near zero give no key much less than an equal share",
)

derivation.limit(
    "flattens",
    exp(delta / sqrt(h)) ** 2,
    h,
    "oo",
    1,
    uses=["flat-upper"],
    title="With the slip, the bound on a weight tends to an equal share as heads are added",
)

derivation.refute(
    "padding",
    softmax(s / sqrt(h * m)),
    softmax(s / sqrt(h * 2)),
    at={s: [1, 0], h: 1, m: 3},
    title="With the slip, two keys share their weight differently once others are added that are masked",
)

derivation.limit(
    "padded-away",
    1 / (1 + exp(-gap / sqrt(h * m))),
    m,
    "oo",
    Fraction(1, 2),
    uses=["scaling/saturation#two-scores"],
    title="Enough padding makes the two weights equal",
)

if __name__ == "__main__":
    derivation.main()
