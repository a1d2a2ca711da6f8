"""A wrong scale, the root of the number of elements of K: weights become uniform, and padding changes the output."""

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
    title="For weights that do not depend on the values, the mean output is the mean value",
)

derivation.identity(
    "slip",
    Q @ K.T / sqrt(h * m * d_k),
    Q @ K.T / sqrt(d_k) / sqrt(h * m),
    code=[("snippets.attention.reference.scores_by_size_wrong", Q, K, {"num_heads": h})],
    title="The wrong scale divides scores by another root",
)

derivation.identity(
    "slip-variance",
    Var((q @ k) / sqrt(h * m * d_k)),
    1 / (h * m),
    given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
    uses=["scaling/variance#variance"],
    title="The variance of a score with the wrong scale",
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
    title="With the wrong scale and more heads, the factor in the bound tends to one",
)

derivation.refute(
    "padding",
    softmax(s / sqrt(h * m)),
    softmax(s / sqrt(h * 2)),
    at={s: [1, 0], h: 1, m: 3},
    title="With the wrong scale, masked keys can change the weights of the others",
)

derivation.limit(
    "padded-away",
    1 / (1 + exp(-gap / sqrt(h * m))),
    m,
    "oo",
    Fraction(1, 2),
    uses=["scaling/saturation#two-scores"],
    title="With the wrong scale, more padding brings the first weight to a half",
)

if __name__ == "__main__":
    derivation.main()
