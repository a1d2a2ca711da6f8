"""Softmax weights form a distribution, so that an output is a mean of values. And two operations that softmax does not commute with."""

from derivations.kernel import (
    Derivation,
    exp,
    eye,
    index,
    largest,
    log,
    matrix,
    nonnegative,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)

n, m, d_k, d_v = sizes("n m d_k d_v")
c = scalars("c")
z, v, pair = vector("z", m), vector("v", m), vector("s", 2)
u = vector("u", d_v)
S, V = matrix("S", n, m), matrix("V", m, d_v)
i = index("i", n)
j, k, l = index("j", m), index("k", m), index("l", m)

derivation = Derivation("Softmax")

derivation.identity(
    "definition",
    softmax(z)[j],
    exp(z[j]) / total(exp(z[k]), k),
    code=[("snippets.softmax.distribution.softmax", z)],
    title="Softmax: one exponential divided by the sum of all exponentials",
)

derivation.identity(
    "gaps",
    softmax(z)[j],
    1 / total(exp(z[k] - z[j]), k),
    code=[("snippets.softmax.distribution.softmax", z)],
    uses=["definition", "simplify/softmax#shift"],
    title="A weight depends only on differences between scores",
)

derivation.identity(
    "largest-first",
    softmax(z)[j],
    exp(z[j] - largest(z)) / total(exp(z[k] - largest(z)), k),
    code=[("snippets.softmax.distribution.softmax", z)],
    uses=["simplify/softmax#shift"],
    title="Subtracting the largest score first changes nothing",
)

derivation.inequality(
    "positive",
    0,
    softmax(z)[j],
    because=1 / total(exp(z[k] - z[j]), k),
    uses=["gaps"],
    title="No weight is negative",
)

derivation.inequality(
    "at-most-one",
    softmax(z)[j],
    1,
    because=total((1 - eye(m)[j, k]) ** 2 * softmax(z)[k], k),
    uses=["simplify/softmax#sums-to-one"],
    title="No weight exceeds one",
)

derivation.identity(
    "log-odds",
    log(softmax(z)[j]) - log(softmax(z)[k]),
    z[j] - z[k],
    title="Log-weights differ by as much as the scores do",
)

derivation.inequality(
    "mean-below",
    total(softmax(z)[j] * v[j], j),
    c,
    because=total(softmax(z)[j] * (c - v[j]), j),
    given=[nonnegative(c - v[j])],
    uses=["positive", "simplify/softmax#sums-to-one"],
    title="A weighted mean does not exceed an upper bound of its values",
)

derivation.inequality(
    "mean-above",
    c,
    total(softmax(z)[j] * v[j], j),
    because=total(softmax(z)[j] * (v[j] - c), j),
    given=[nonnegative(v[j] - c)],
    uses=["positive", "simplify/softmax#sums-to-one"],
    title="A weighted mean is not below a lower bound of its values",
)

derivation.inequality(
    "hull",
    ((softmax(S) @ V) @ u)[i],
    c,
    because=total(softmax(S)[i, j] * (c - (V @ u)[j]), j),
    given=[nonnegative(c - (V @ u)[j])],
    uses=["mean-below"],
    title="Every output lies in the convex hull of the values",
)

derivation.inequality(
    "effective-most",
    total(exp(z[j]), j) ** 2 / total(exp(z[j]) ** 2, j),
    m,
    because=m * total((exp(z[j]) - total(exp(z[k]), k) / m) ** 2, j) / total(exp(z[j]) ** 2, j),
    code=[("snippets.softmax.distribution.effective_keys", z)],
    title="The effective number of keys is at most the number of keys",
)

derivation.inequality(
    "effective-least",
    1,
    total(exp(z[j]), j) ** 2 / total(exp(z[j]) ** 2, j),
    because=total((1 - eye(m)[j, k]) ** 2 * exp(z[j]) * exp(z[k]), j, k) / total(exp(z[j]) ** 2, j),
    title="The effective number of keys is at least one",
)

derivation.refute(
    "scale-outside",
    softmax(z / sqrt(d_k))[1],
    exp(z[1]) / (sqrt(d_k) * total(exp(z[l]), l)),
    at={z: [0], d_k: 4},
    code=[
        ("snippets.softmax.distribution.scaled_before[0]", z, {"d_k": d_k}),
        ("snippets.softmax.distribution.scaled_after_wrong[0]", z, {"d_k": d_k}),
    ],
    title="A scale cannot be moved out of softmax",
)

derivation.identity(
    "scale-outside-sum",
    total(exp(z[j]) / (sqrt(d_k) * total(exp(z[l]), l)), j),
    1 / sqrt(d_k),
    title="The sum of a row whose weights are scaled",
)

derivation.refute(
    "rounding-first",
    1 / (1 + exp(rounded(pair[1]) - rounded(pair[2]))),
    softmax(pair)[2],
    at={pair: [2**24, 2**24 + 1]},
    title="Rounding the scores first can change a weight",
)

derivation.refute(
    "rounded-sum",
    total(rounded(softmax(z)[j]), j),
    1,
    at={z: [0, 0, 0]},
    title="Rounded weights need not sum to one",
)

if __name__ == "__main__":
    derivation.main()
