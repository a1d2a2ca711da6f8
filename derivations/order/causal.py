"""Causal attention: its derivatives, why a cache of keys and values is exact, and the error of dropping keys."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, eye, index, matrix, nonzero, ones, scalars, sizes, softmax, total, vector

n, m, d, d_k, d_v = sizes("n m d d_k d_v")
L, h, h_kv, g = sizes("L h h_kv g")  # layers, query heads, key-value heads, bytes per number
X, q, c = matrix("X", n, d), vector("q", d), vector("c", n)  # tokens; a query; keep factors: may it look at the token?
s, t = vector("s", m), vector("t", n)  # a query's scores with the tokens up to its own, and with those after
A, B = matrix("A", m, d_v), matrix("B", n, d_v)  # their values
J = matrix("J", n, n)
i, j, l, r = index("i", n), index("j", n), index("l", n), index("r", m)
a, b, f = index("a", d), index("b", d), index("f", d_v)
x, y, z = scalars("x y z")  # the logarithms of two sums of exponentials, and a drop in score

derivation = Derivation("Looking back only")


all_keys = total(c[l] * exp((X @ q)[l]), l)
weights = derivation.define(
    "p",
    c * exp(X @ q) / all_keys,
    given=[nonzero(all_keys)],
    code=[("snippets.order.causal.kept_weights", q, X, c)],
    title="The weights $p$: exponentials of the scores, times keep factors, over their sum",
)
output = derivation.define(
    "o",
    weights @ X,
    given=[nonzero(all_keys)],
    code=[("snippets.order.causal.kept_mean", q, X, c)],
    title="The output $o$: the weighted mean of the tokens",
)

derivation.identity(
    "by-token",
    diff(output[a], X[j, b]),
    weights[j] * (eye(d)[a, b] + (X[j, a] - output[a]) * q[b]),
    given=[nonzero(all_keys)],
    code=[("snippets.order.causal.token_gradients", q, X, c)],
    title="The derivative of an output with respect to a token",
)

early, late = total(exp(s[r]), r), total(exp(t[l]), l)
rest = late / (early + late)
derivation.identity(
    "window",
    (total(exp(s[r]) * A[r, f], r) + total(exp(t[l]) * B[l, f], l)) / (early + late),
    (1 - rest) * total(softmax(s)[r] * A[r, f], r) + rest * total(softmax(t)[l] * B[l, f], l),
    title="The output is a mean of two outputs, weighted by the share of the others",
)

derivation.chain(
    "share",
    exp(y - z) / (exp(x) + exp(y - z)),
    (1 / (1 + exp(x - y + z)), "divide numerator and denominator by the numerator"),
    uses=["window"],
    title="The share of the others after their scores are lowered by $z$",
)

derivation.limit(
    "vanishes",
    1 / (1 + exp(x - y + z)),
    z,
    "oo",
    0,
    uses=["share"],
    title="As $z$ grows without bound, the share goes to zero",
)

derivation.chain(
    "pairs",
    total((1 + eye(n)[i, j] + J[i, j] - J[j, i]) / 2, i, j),
    ((n**2 + n) / 2, "each entry of $J$ occurs once with each sign"),
    (n * (n + 1) / 2, "factor"),
    code=[("snippets.order.causal.causal_pairs", n)],
    title="The number of pairs that a causal mask keeps",
)

derivation.limit(
    "half",
    n * (n + 1) / (2 * n**2),
    n,
    "oo",
    Fraction(1, 2),
    uses=["pairs"],
    title="For long texts, a causal mask keeps half of all pairs",
)

derivation.identity(
    "marker",
    total(softmax(x * ones(n))[l] * eye(n)[l, 1], l),
    1 / n,
    code=[("snippets.order.causal.marker_share", n)],
    title="Equal weights on $n$ tokens: the share of the first",
)

derivation.define(
    "b_c",
    2 * L * h_kv * d_k * n * g,
    code=[("snippets.order.causal.cache_bytes", n, L, h_kv, d_k, g)],
    title="The bytes of a cache, $b_c$",
)

derivation.identity(
    "shared-cache",
    (2 * L * h_kv * d_k * n * g) / (2 * L * h * d_k * n * g),
    h_kv / h,
    title="Sharing keys and values shrinks the cache by the ratio of the heads",
)

if __name__ == "__main__":
    derivation.main()
