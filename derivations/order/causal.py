"""Causal attention: its derivatives, why a cache of keys and values is exact, and the error of dropping keys."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    diff,
    each,
    exp,
    eye,
    index,
    matrix,
    nonzero,
    ones,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    where,
)

n, m, d, d_k, d_v = sizes("n m d d_k d_v")
L, h, h_kv, g = sizes("L h h_kv g")  # layers, query heads, key-value heads, bytes per number
X, q, c = matrix("X", n, d), vector("q", d), vector("c", n)  # tokens; a query; keep factors: may it look at the token?
s, t = vector("s", m), vector("t", n)  # a query's scores with the tokens up to its own, and with those after
A, B = matrix("A", m, d_v), matrix("B", n, d_v)  # their values
W_Q, W_K, W_V = matrix("W_Q", d, d_k), matrix("W_K", d, d_k), matrix("W_V", d, d_v)
i, j, l, r = index("i", n), index("j", n), index("l", n), index("r", m)
a, b, f = index("a", d), index("b", d), index("f", d_v)
x, y, z = scalars("x y z")  # the logarithms of two sums of exponentials, and a drop in score

derivation = Derivation("Looking back only")

scores = derivation.define("S", (X @ W_Q) @ (X @ W_K).T / sqrt(d_k), title="The scores $S$ of the tokens")
values = derivation.define("V", X @ W_V, title="The values $V$ of the tokens")
causal = derivation.define(
    "O",
    each(total(where(1, j <= i) * exp(scores[i, j]) * values[j, f], j) / total(where(1, j <= i) * exp(scores[i, j]), j), i, f),
    id="define-outputs",
    code=[("snippets.attention.formula.attention", X @ W_Q, X @ W_K, X @ W_V, {"is_causal": True})],
    title="The outputs $O$ of causal attention",
)

derivation.identity(
    "so-far",
    causal[i, f],
    total(exp(scores[i, j]) * values[j, f], j, where=j <= i) / total(exp(scores[i, j]), j, where=j <= i),
    title="Output $i$ of causal attention is attention on the first $i$ tokens",
)

derivation.identity(
    "later",
    diff(causal[i, f], X[l, b]) * where(1, i < l),
    0,
    title="The derivative of an output with respect to a later token is zero",
)

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
    total(1, i, j, where=j <= i),
    (total(i, i), "row $i$ keeps its first $i$ entries"),
    (n * (n + 1) / 2, "sum the first $n$ numbers"),
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
