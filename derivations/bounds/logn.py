"""Log-n scaling: which gap between scores survives as the context grows, and which does not."""

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
    (1 / (1 + total(exp(-(a * g)), l)), "divide by the leader's exponential"),
    (1 / (1 + m * exp(-(a * g))), "all terms are alike"),
    code=[("snippets.bounds.logn.leader_weight", g, m + 1, {"scale": a})],
    title="The weight of a leader over equal others",
)

derivation.limit("fixed", 1 / (1 + m * exp(-(a * g))), m, "oo", 0, uses=["weight"], title="A fixed scale loses every leader")

log_n = log(m + 1)


def weight(scale):
    """Of the first key, whose score is s, beside others with the scores y."""
    return exp(scale * s) / (exp(scale * s) + total(exp(scale * y[l]), l))


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
    title="A gap above one takes all, whatever the others score",
)

derivation.inequality(
    "below",
    weight(log_n),
    (m + 1) ** (-g),
    because=exp(-(log_n * g))
    * ((1 - exp(-(log_n * (1 - g)))) + total(exp(-(log_n * (1 - g))) * (exp(log_n * (1 - g - (s - y[l]))) - 1), l))
    / (1 + others),
    given=[nonnegative(1 - g), nonnegative(1 - g - (s - y[l]))],
    title="A gap below one loses all, whatever the others score",
)

derivation.limit("tie", 1 / (1 + m / (m + 1)), m, "oo", Fraction(1, 2), title="A gap of one keeps half")

derivation.limit("won", 1 / (1 + m * (m + 1) ** Fraction(-3, 2)), m, "oo", 1, uses=["above"], title="A gap of one and a half takes all")
derivation.limit("lost", 1 / (1 + m * (m + 1) ** Fraction(-1, 2)), m, "oo", 0, uses=["below"], title="A gap of a half loses all")

derivation.refute(
    "normalised",
    1 / (1 + m * exp(-(a * g))),
    1 / (1 + 2 * m * exp(-(a * g))),
    at={m: 3, a: 1, g: 2},
    uses=["weight"],
    title="Softmax does not make up for the length",
)

derivation.identity(
    "trained",
    1 / (1 + m * exp(-(log_n / t) * g)),
    1 / (1 + m * (m + 1) ** (-g / t)),
    given=[nonzero(t)],
    uses=["weight"],
    title="Measured from the length of training",
)

derivation.refute(
    "exercise-two-keys",
    1 / (1 + m * exp(-g)),
    1 / (1 + m * (m + 1) ** (-g)),
    relation="<=",
    at={m: 1, g: 1},
    title="A scale of log n does not sharpen two keys",
)

derivation.identity(
    "exercise-constant",
    1 / (1 + m * exp(-(log(m * x) / g) * g)),
    x / (1 + x),
    given=[positive(x), nonzero(g)],
    title="The scale that holds a weight at every length",
)

if __name__ == "__main__":
    derivation.main()
