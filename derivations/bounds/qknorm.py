"""QK-norm: scores that are bounded by their scale, and how a bound on scores bounds the weights."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    each,
    exp,
    eye,
    index,
    log,
    matrix,
    nonnegative,
    norm,
    positive,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)

n, m, d_k = sizes("n m d_k")
q, k, w, u = vector("q", d_k), vector("k", d_k), vector("w", d_k), vector("u", d_k)
z, K = vector("z", n), matrix("K", m, d_k)
g, c, t = scalars("g c t")
a, b = index("a", d_k), index("b", d_k)
i, j, l = index("i", n), index("j", n), index("l", m)


derivation = Derivation("QK-norm")

derivation.inequality(
    "cauchy-schwarz",
    (q @ k) ** 2,
    (q @ q) * (k @ k),
    because=total((q[a] * k[b] - q[b] * k[a]) ** 2, a, b) / 2,
    title="The inequality of Cauchy and Schwarz",
)

derivation.inequality(
    "bounded",
    (g * (q @ k) / (norm(q) * norm(k))) ** 2,
    g**2,
    because=g**2 / (2 * (q @ q)) * (total((q[a] * k[b] - q[b] * k[a]) ** 2, a, b) / (k @ k)),
    given=[positive(q @ q), positive(k @ k)],
    uses=["cauchy-schwarz"],
    title="With QK-norm, no score exceeds the scale in absolute value",
)

derivation.identity(
    "rms-length",
    norm(each(q[a] / sqrt(q @ q / d_k), a)) ** 2,
    d_k,
    given=[positive(q @ q)],
    title="After RMSNorm, the squared length of a vector is its width",
)

derivation.inequality(
    "rms-bounded",
    total(w[a] * q[a] * k[a], a) ** 2,
    c**2 * (q @ q) * (k @ k),
    because=total((w[a] * q[a] * k[b] - w[b] * q[b] * k[a]) ** 2, a, b) / 2
    + total((c**2 - w[a] ** 2) * q[a] ** 2, a) * total(k[b] ** 2, b),
    given=[nonnegative(c**2 - w[a] ** 2)],
    uses=["cauchy-schwarz"],
    title="With gains, the bound grows by at most their largest product",
)

derivation.identity(
    "length-drops-out",
    g * ((t * q) @ k) / (norm(t * q) * norm(k)),
    g * (q @ k) / (norm(q) * norm(k)),
    given=[positive(t), positive(q @ q), positive(k @ k)],
    title="The length of the query drops out",
)

bounds = [nonnegative(c - z[j]), nonnegative(c + z[j])]

derivation.inequality(
    "most",
    softmax(z)[i],
    1 / (1 + (n - 1) * exp(-(2 * c))),
    because=softmax(z)[i] * total((1 - eye(n)[i, j]) ** 2 * (exp(z[j] - z[i]) - exp(-(2 * c))), j) / (1 + (n - 1) * exp(-(2 * c))),
    given=bounds,
    without={bounds[1]: {c: 0, z: [0, -1], i: 1}},
    title="An upper bound on a weight if all scores are between $-c$ and $c$",
)

derivation.inequality(
    "least",
    1 / (1 + (n - 1) * exp(2 * c)),
    softmax(z)[i],
    because=softmax(z)[i] * total((1 - eye(n)[i, j]) ** 2 * (exp(2 * c) - exp(z[j] - z[i])), j) / (1 + (n - 1) * exp(2 * c)),
    given=bounds,
    without={bounds[1]: {c: 0, z: [0, -1], i: 2}},
    title="A lower bound on a weight if all scores are between $-c$ and $c$",
)

derivation.identity(
    "attained",
    exp(c) / (exp(c) + total(exp(-c), l)),
    1 / (1 + m * exp(-(2 * c))),
    uses=["most"],
    title="The ceiling is reached by one score of $c$ among scores of $-c$",
)

derivation.limit(
    "diluted",
    1 / (1 + (n - 1) * exp(-(2 * c))),
    n,
    "oo",
    0,
    uses=["most"],
    title="At a fixed scale, the ceiling tends to zero",
)

derivation.identity(
    "half",
    1 / (1 + m * exp(-(2 * (log(m) / 2)))),
    Fraction(1, 2),
    uses=["most"],
    title="With half the logarithm as the scale, the ceiling is one half",
)

derivation.refute(
    "no-scale",
    Fraction(1, 2),
    exp((q @ q) / (norm(q) * norm(q)))
    / (exp((q @ q) / (norm(q) * norm(q))) + total(exp((K @ q)[l] / (norm(q) * norm(each(K[l, a], a)))), l)),
    relation="<=",
    at={q: [1], K: [[-1]] * 8},
    title="At a scale of one, a perfect match can get less than half",
)

derivation.identity(
    "exercise-unrelated",
    exp(c) / (exp(c) + total(exp(0 * z[j]), j)),
    1 / (1 + n * exp(-c)),
    title="The weight of a match among keys at right angles to the query",
)

if __name__ == "__main__":
    derivation.main()
