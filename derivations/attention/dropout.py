"""Dropout on the attention weights: the means that it preserves, the variance that it adds, and the row sums that it changes.

A mask of independent coins keeps each weight whose coin is 1. A kept weight is divided by the probability of keeping.
"""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    E,
    Var,
    independent,
    index,
    matrix,
    mean,
    nonzero,
    random,
    scalars,
    sizes,
    softmax,
    total,
    vector,
    zero_or_one,
)

n, m, d_v = sizes("n m d_v")
z, p, V = vector("z", m), vector("p", m), matrix("V", m, d_v)
b, r, s = random("b", m), random("r", m), random("s")
kept = vector("u", m)
rho = scalars("rho")
j, f = index("j", m), index("f", d_v)

mask = [independent(b), zero_or_one(b), mean(b, 1 - rho), nonzero(1 - rho)]

derivation = Derivation("Attention dropout")

derivation.identity(
    "multiplier-mean",
    E(s / (1 - rho)),
    1,
    given=[mean(s, 1 - rho), nonzero(1 - rho)],
    title="The multiplier of a weight has mean one",
)

derivation.identity(
    "multiplier-variance",
    Var(s / (1 - rho)),
    rho / (1 - rho),
    given=[zero_or_one(s), mean(s, 1 - rho), nonzero(1 - rho)],
    code=[("snippets.attention.dropout.multiplier_variance", rho)],
    title="The variance of the multiplier",
)

derivation.identity("weight", E(r[j] * p[j]), p[j], given=[mean(r, 1)], title="Dropout preserves the mean of a weight")

derivation.identity(
    "row-mean",
    E(total(r[j] * softmax(z)[j], j)),
    1,
    given=[mean(r, 1)],
    title="The mean of a row sum is one",
)

derivation.identity(
    "output-mean",
    E(total(r[j] * p[j] * V[j, f], j)),
    (p @ V)[f],
    given=[mean(r, 1)],
    title="Dropout preserves the mean of an output",
)

derivation.identity(
    "row-variance",
    Var(total(b[j] / (1 - rho) * p[j], j)),
    rho / (1 - rho) * total(p[j] ** 2, j),
    given=mask,
    code=[("snippets.attention.dropout.row_sum_variance", p, {"variance": rho / (1 - rho)})],
    title="The variance of a row sum",
)

derivation.identity(
    "equal-weights",
    Var(total(b[j] / (1 - rho) * (1 / m), j)),
    rho / ((1 - rho) * m),
    given=mask,
    title="With equal weights, the variance of the row sum falls as keys are added",
)

derivation.identity(
    "output-variance",
    Var(total(b[j] / (1 - rho) * p[j] * V[j, f], j)),
    rho / (1 - rho) * total(p[j] ** 2 * V[j, f] ** 2, j),
    given=mask,
    title="The variance of an output",
)

derivation.identity(
    "one-multiplier",
    Var(total(s / (1 - rho) * softmax(z)[j], j)),
    rho / (1 - rho),
    given=[zero_or_one(s), mean(s, 1 - rho), nonzero(1 - rho)],
    title="One coin for the whole row: the variance does not fall",
)

derivation.refute(
    "row-sum",
    total(kept[j] * softmax(z)[j] / (1 - rho), j),
    1,
    at={kept: [1, 0], z: [0, 0], rho: Fraction(1, 10)},
    title="After dropout, a row need not sum to one",
)

if __name__ == "__main__":
    derivation.main()
