"""Log-n scaling: which lead of one score over the others is enough as the context grows, and which is not."""

from fractions import Fraction

from derivations.kernel import Derivation, exp, index, log, nonnegative, nonzero, positive, scalars, sizes, total, vector

m = sizes("m")  # keys beside the leader, so that there are m + 1
y = vector("y", m)
s, a, g, x, t = scalars("s a g x t")
l = index("l", m)

derivation = Derivation("Log-n scaling")

derivation.chain(
    "weight",
    exp(a * s) / (exp(a * s) + total(exp(a * (s - g)), l)),
    (1 / (1 + total(exp(-(a * g)), l)), "divide numerator and denominator by the first key's exponential"),
    (1 / (1 + m * exp(-(a * g))), "all $m$ terms are equal"),
    code=[("snippets.bounds.logn.leader_weight", g, m + 1, {"scale": a})],
    title="The weight of a key that leads $m$ equal ones",
)

derivation.limit(
    "fixed", 1 / (1 + m * exp(-(a * g))), m, "oo", 0, uses=["weight"], title="At a fixed scale, every fixed lead over equal keys is lost"
)

log_n = log(m + 1)


def weight(scale):
    """The weight of the first key, whose score is s, among others with the scores y."""
    return exp(scale * s) / (exp(scale * s) + total(exp(scale * y[l]), l))


derivation.chain(
    "powers",
    weight(log_n),
    (1 / (1 + total(exp(-(log_n * (s - y[l]))), l)), "divide numerator and denominator by the first key's exponential"),
    (1 / (1 + total((m + 1) ** (-(s - y[l])), l)), "the exponential of a multiple of the logarithm is a power"),
    title="Each other key counts with a power of the number of keys",
)

others = total(exp(-(log_n * (s - y[l]))), l)

derivation.inequality(
    "above",
    1 - (m + 1) ** (-g),
    weight(log_n),
    because=(
        exp(-(log_n * (1 + g)))
        + total(exp(-(log_n * (1 + g))) * (1 - exp(-(log_n * (s - y[l] - (1 + g))))), l)
        + exp(-(log_n * g)) * others
    )
    / (1 + others),
    given=[nonnegative(s - y[l] - (1 + g))],
    title="A lead of more than one over every other key wins",
)

derivation.inequality(
    "below",
    weight(log_n),
    (m + 1) ** (-g),
    because=exp(-(log_n * g))
    * ((1 - exp(-(log_n * (1 - g)))) + total(exp(-(log_n * (1 - g))) * (exp(log_n * (1 - g - (s - y[l]))) - 1), l))
    / (1 + others),
    given=[nonnegative(1 - g), nonnegative(1 - g - (s - y[l]))],
    title="If no key is further behind than $1-g$, the weight is lost",
)

derivation.refute(
    "runner-up",
    weight(log_n),
    (m + 1) ** (-g),
    relation="<=",
    at={m: 2, s: 1, y: [Fraction(1, 2), -99], g: Fraction(1, 2)},
    title="It is not enough that one other key is close",
)

derivation.limit(
    "far-behind",
    1 / (1 + (m + 1) ** Fraction(-99, 100) + (m - 1) * (m + 1) ** (-2)),
    m,
    "oo",
    1,
    uses=["powers"],
    title="One key 0.99 behind and all others 2 behind: the first key wins",
)

derivation.limit("tie", 1 / (1 + m / (m + 1)), m, "oo", Fraction(1, 2), title="A lead of exactly one over equal keys keeps half")

derivation.limit(
    "won", 1 / (1 + m * (m + 1) ** Fraction(-3, 2)), m, "oo", 1, uses=["above"], title="A lead of one and a half over equal keys wins"
)
derivation.limit(
    "lost", 1 / (1 + m * (m + 1) ** Fraction(-1, 2)), m, "oo", 0, uses=["below"], title="A lead of a half over equal keys loses"
)

derivation.refute(
    "normalised",
    1 / (1 + m * exp(-(a * g))),
    1 / (1 + 2 * m * exp(-(a * g))),
    at={m: 3, a: 1, g: 2},
    uses=["weight"],
    title="Twice as many equal keys change the weight",
)

derivation.identity(
    "trained",
    1 / (1 + m * exp(-(log_n / t) * g)),
    1 / (1 + m * (m + 1) ** (-g / t)),
    given=[nonzero(t)],
    uses=["weight"],
    title="Log-n scaling relative to the training length",
)

derivation.refute(
    "exercise-two-keys",
    1 / (1 + m * exp(-g)),
    1 / (1 + m * (m + 1) ** (-g)),
    relation="<=",
    at={m: 1, g: 1},
    title="With two keys, a scale of log n gives less weight than a scale of one",
)

derivation.identity(
    "exercise-constant",
    1 / (1 + m * exp(-(log(m * x) / g) * g)),
    x / (1 + x),
    given=[positive(x), nonzero(g)],
    title="The scale that keeps a weight at every length",
)

if __name__ == "__main__":
    derivation.main()
