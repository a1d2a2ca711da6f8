"""Many keys: a bound on every weight, the lead that keeps a weight, and what copies of a key do."""

from fractions import Fraction

from derivations.kernel import Derivation, exp, eye, index, log, nonnegative, positive, scalars, sizes, softmax, total, vector

n, m = sizes("n m")
z, v = vector("z", n), vector("v", n)
B, c, g, s, u, w = scalars("B c g s u w")
i, j = index("i", n), index("j", n)
r = index("r", m)

derivation = Derivation("Many keys")

derivation.inequality(
    "gap-bound",
    softmax(z)[i],
    exp(g) / (exp(g) + n - 1),
    because=total((1 - eye(n)[i, j]) ** 2 * softmax(z)[j] * (exp(g) - exp(z[i] - z[j])), j) / (exp(g) + (n - 1)),
    given=[nonnegative(exp(g) - exp(z[i] - z[j]))],
    title="If differences of scores are bounded, so is every weight",
)

not_above, not_below = nonnegative(exp(B) - exp(z[1])), nonnegative(exp(B) - exp(-z[j]))

derivation.inequality(
    "dilution",
    softmax(z)[1],
    exp(2 * B) / (exp(2 * B) + n - 1),
    because=total(
        (1 - eye(n)[1, j]) ** 2 * softmax(z)[j] * (exp(B) * (exp(B) - exp(-z[j])) + exp(-z[j]) * (exp(B) - exp(z[1]))),
        j,
    )
    / (exp(2 * B) + (n - 1)),
    given=[not_above, not_below],
    without={not_above: {B: 0, z: [2, 1]}, not_below: {B: 0, z: [-1, -2]}},
    uses=["gap-bound"],
    title="If scores are bounded, so is every weight",
)

derivation.limit(
    "thin",
    exp(g) / (exp(g) + n - 1),
    n,
    "oo",
    0,
    code=[("snippets.softmax.dilution.most_weight", g, n)],
    uses=["gap-bound"],
    title="As the number of keys grows, the bound tends to zero",
)

derivation.identity(
    "needed-gap",
    exp(log(m * w)) / (exp(log(m * w)) + m),
    w / (1 + w),
    given=[positive(w)],
    code=[
        ("snippets.softmax.dilution.most_weight", log(m * w), m + 1),
        ("snippets.softmax.dilution.most_weight", ("snippets.softmax.dilution.needed_gap", w / (1 + w), m + 1), m + 1),
    ],
    title="The lead that gives odds of $w$ to one against $m$ keys",
)

derivation.identity(
    "logarithmic-lead",
    exp(c * log(m)) / (exp(c * log(m)) + m),
    1 / (1 + m ** (1 - c)),
    code=[("snippets.softmax.dilution.most_weight", c * log(m), m + 1)],
    title="The weight of a key that leads by $c$ times the logarithm of $m$",
)

derivation.limit(
    "lost",
    1 / (1 + m ** Fraction(1, 2)),
    m,
    "oo",
    0,
    uses=["logarithmic-lead"],
    title="With half the logarithm, the weight tends to zero",
)

derivation.limit(
    "won",
    1 / (1 + 1 / m),
    m,
    "oo",
    1,
    uses=["logarithmic-lead"],
    title="With twice the logarithm, the weight tends to one",
)

derivation.identity(
    "copies",
    (total(exp(s) * u, r) + total(exp(z[j]) * v[j], j)) / (total(exp(s), r) + total(exp(z[j]), j)),
    (exp(s + log(m)) * u + total(exp(z[j]) * v[j], j)) / (exp(s + log(m)) + total(exp(z[j]), j)),
    code=[
        ("snippets.softmax.dilution.mean_with_copies", s, u, z, v, {"copies": m}),
        ("snippets.softmax.dilution.mean_with_bias", s, u, z, v, {"copies": m}),
    ],
    title="$m$ copies of a key act like one key with a higher score",
)

if __name__ == "__main__":
    derivation.main()
