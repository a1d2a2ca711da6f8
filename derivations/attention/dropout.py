"""Dropout on the weights: what it keeps on average, how much it scatters, and what it does not keep."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    E,
    Var,
    independent,
    index,
    matrix,
    mean,
    nonnegative,
    nonzero,
    random,
    scalars,
    sizes,
    softmax,
    total,
    variance,
    vector,
)

n, m, d_v = sizes("n m d_v")
z, p, V = vector("z", m), vector("p", m), matrix("V", m, d_v)
b, r, s = random("b"), random("r", m), random("s")
kept = vector("u", m)
rho, nu = scalars("rho nu")
j, f = index("j", m), index("f", d_v)

derivation = Derivation("Dropout on the weights")

derivation.identity(
    "multiplier-mean",
    E(b / (1 - rho)),
    1,
    given=[mean(b, 1 - rho), nonzero(1 - rho)],
    title="What a weight is multiplied with has mean one",
)

derivation.identity(
    "multiplier-variance",
    Var(b / (1 - rho)),
    rho / (1 - rho),
    given=[variance(b, rho * (1 - rho)), nonnegative(rho * (1 - rho)), nonzero(1 - rho)],
    code=[("snippets.attention.dropout.multiplier_variance", rho)],
    title="Its variance",
)

derivation.identity("weight", E(r[j] * p[j]), p[j], given=[mean(r, 1)], title="A weight keeps its mean")

derivation.identity(
    "row-mean",
    E(total(r[j] * softmax(z)[j], j)),
    1,
    given=[mean(r, 1)],
    title="On average a row sums to one",
)

derivation.identity(
    "output-mean",
    E(total(r[j] * p[j] * V[j, f], j)),
    (p @ V)[f],
    given=[mean(r, 1)],
    title="The output keeps its mean",
)

derivation.identity(
    "row-variance",
    Var(total(r[j] * p[j], j)),
    nu * total(p[j] ** 2, j),
    given=[independent(r), variance(r, nu), nonnegative(nu)],
    code=[("snippets.attention.dropout.row_sum_variance", p, {"variance": nu})],
    title="The variance of a row's sum",
)

derivation.identity(
    "equal-weights",
    Var(total(r[j] * (1 / m), j)),
    nu / m,
    given=[independent(r), variance(r, nu), nonnegative(nu)],
    title="With equal weights, many keys make the sum steady",
)

derivation.identity(
    "output-variance",
    Var(total(r[j] * p[j] * V[j, f], j)),
    nu * total(p[j] ** 2 * V[j, f] ** 2, j),
    given=[independent(r), variance(r, nu), nonnegative(nu)],
    title="The variance of an output",
)

derivation.identity(
    "one-multiplier",
    Var(total(s * softmax(z)[j], j)),
    nu,
    given=[variance(s, nu), nonnegative(nu)],
    title="One multiplier for the whole row: the sum scatters as much as the multiplier",
)

derivation.refute(
    "row-sum",
    total(kept[j] * softmax(z)[j] / (1 - rho), j),
    1,
    at={kept: [1, 0], z: [0, 0], rho: Fraction(1, 10)},
    title="After dropout a row does not sum to one",
)

if __name__ == "__main__":
    derivation.main()
