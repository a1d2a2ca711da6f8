"""What a mask does: a limit, a deletion, a renormalisation; what a finite constant lets through; and a bias that is not a mask."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    each,
    exp,
    index,
    matrix,
    nonzero,
    ones,
    positive,
    rounded,
    scalars,
    sizes,
    softmax,
    total,
    vector,
    zero_or_one,
)

n, m, r, d_v = sizes("n m r d_v")
z, y, b = vector("z", m), vector("y", r), vector("b", m)
V, U = matrix("V", m, d_v), matrix("U", r, d_v)
S, p, u = matrix("S", n, m), vector("p", n), vector("u", m)
a, c, g, h, k, mu, s, w, x = scalars("a c g h k mu s w x")
t, v = vector("t", 2), vector("v", 2)
j, l, i, f, o = index("j", m), index("l", m), index("i", r), index("f", d_v), index("o", n)

kept = total(b[l] * exp(z[l]), l)

derivation = Derivation("Masks")

derivation.limit(
    "delete",
    (exp(t[1]) * v[1] + exp(t[2]) * v[2] + exp(x - c) * w) / (exp(t[1]) + exp(t[2]) + exp(x - c)),
    c,
    "oo",
    softmax(t) @ v,
    title="Two keys kept and one masked: in the limit, the masked key drops out",
)

derivation.identity(
    "common-factor",
    total(exp(y[i] - c) * U[i, f], i),
    exp(-c) * total(exp(y[i]) * U[i, f], i),
    title="Subtracting a constant from scores scales their contribution",
)

derivation.limit(
    "any-number",
    (g + exp(-c) * h) / (k + exp(-c) * a),
    c,
    "oo",
    g / k,
    given=[positive(k)],
    uses=["common-factor"],
    title="With any number of keys, the contribution of masked keys vanishes",
)

derivation.limit(
    "any-mask",
    softmax(z - c * (ones(m) - b))[j],
    c,
    "oo",
    b[j] * exp(z[j]) / kept,
    given=[zero_or_one(b), nonzero(kept)],
    uses=["any-number"],
    title="Masking with minus infinity, as a limit",
)

derivation.identity(
    "masked-twice",
    b * (b * exp(z) / kept),
    b * exp(z) / kept,
    given=[zero_or_one(b), nonzero(kept)],
    code=[("snippets.attention.masks.infinite_weights", z, b)],
    title="Masking masked weights again changes nothing",
)

derivation.identity(
    "kept-share",
    total(b[l] * softmax(z)[l], l),
    kept / total(exp(z[l]), l),
    title="The total weight of the kept keys before masking",
)

derivation.identity(
    "renormalise",
    b * softmax(z) * (total(exp(z[l]), l) / kept),
    b * exp(z) / kept,
    given=[nonzero(kept)],
    code=[("snippets.attention.masks.renormalised_weights", z, b)],
    uses=["kept-share"],
    title="Renormalised weights equal masked weights",
)

derivation.inequality(
    "leak",
    total(exp(y[i] - c), i) / (total(exp(z[j]), j) + total(exp(y[i] - c), i)),
    exp(-c) * total(exp(y[i]), i) / total(exp(z[j]), j),
    because=total(exp(y[i] - c), i) ** 2 / (total(exp(z[j]), j) * (total(exp(z[j]), j) + total(exp(y[i] - c), i))),
    uses=["common-factor"],
    title="A bound on the weight that a finite constant lets through",
)

derivation.chain(
    "lower-score",
    exp(-c) / (exp(-c) + exp(-2 * c)),
    (1 / (1 + exp(-c)), "divide numerator and denominator by the first exponential"),
    title="The weight of a filled key beside a key whose score is twice as low",
)

derivation.limit(
    "wrong-winner",
    1 / (1 + exp(-c)),
    c,
    "oo",
    1,
    uses=["lower-score"],
    title="In the limit, the filled key takes all the weight",
)

derivation.refute(
    "times-zero",
    softmax(b * z)[j],
    b[j] * exp(z[j]) / kept,
    at={z: [0, 0], b: [1, 0], j: 2},
    title="Multiplying a score by zero does not mask its key",
)

derivation.refute(
    "upper-left",
    softmax(t) @ v,
    v[1],
    at={t: [0, 0], v: [1, 0]},
    title="Attention of a new query to two keys differs from the value of the first key",
)

derivation.identity(
    "all-added",
    softmax(S - c * ones(n, m)) @ V,
    softmax(S) @ V,
    uses=["simplify/softmax#shift"],
    title="A constant added to every score masks nothing",
)

derivation.identity(
    "all-filled",
    (softmax(-c * ones(n, m)) @ V),
    ones(n, m) @ V / m,
    title="Filling every score with one constant gives the mean of the values",
)

derivation.refute(
    "ten-thousand",
    rounded(s - 10**4) - rounded(x - 10**4),
    s - x,
    at={s: Fraction(1, 2**12), x: 0},
    title="Next to ten thousand, fp32 can lose a small difference between scores",
)

derivation.refute(
    "billion",
    rounded(s - 10**9) - rounded(x - 10**9),
    s - x,
    at={s: 2, x: 1},
    title="Next to a billion, fp32 loses a difference of one between scores",
)

derivation.identity(
    "alibi",
    softmax(S - mu * each(p[o] - u[j], o, j)),
    softmax(S + mu * each(u[j], o, j)),
    code=[
        ("snippets.attention.masks.weights_by_distance", S, p, u, {"slope": mu}),
        ("snippets.attention.masks.weights_by_place", S, u, {"slope": mu}),
    ],
    title="Biases by signed distance and by key position give the same weights",
)

if __name__ == "__main__":
    derivation.main()
