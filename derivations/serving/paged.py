"""Paged attention: the output does not depend on where pages are stored, and what pages and shared prefixes save."""

from derivations.kernel import (
    Derivation,
    cos,
    each,
    exp,
    index,
    matrix,
    nonzero,
    product_is,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)
from derivations.kernel.core.expr import symbol

N, n, m, d, d_v = sizes("N n m d d_v")  # pages of the pool and of one table, places of a page, widths
B, p, r, c, g, h = sizes("B p r c g h")  # sequences, shared tokens, own tokens, empty places, bytes of a token and of an entry of a table
T, Pi = matrix("T", n, N), matrix("Pi", N, N)
f, l = vector("f", N), vector("l", N)  # of each page: a sum of weighted values, a sum of weights
q, K, V, L, W = (
    vector("q", d),
    matrix("K", m, d),
    matrix("V", m, d_v),
    matrix("L", m, d),
    matrix("W", m, d_v),
)  # two pages: keys and values of each
R, X = symbol("R", "real", (N, m, d)), symbol("X", "real", (N, m, d_v))  # any number of further pages
z, v = vector("z", m), vector("v", m)
s, t, u, w, x, y, omega = scalars("s t u w x y omega")
i, j, k, a, b, o = index("i", n), index("j", m), index("k", N), index("a", d), index("b", d_v), index("o", r)

paged = "snippets.serving.paged."

derivation = Derivation("Paged attention")

derivation.identity(
    "moved",
    total(((T @ Pi.T) @ (Pi @ f))[i], i) / total(((T @ Pi.T) @ (Pi @ l))[i], i),
    total((T @ f)[i], i) / total((T @ l)[i], i),
    given=[product_is(Pi.T, Pi, 1), nonzero(total((T @ l)[i], i))],
    code=[(paged + "mean_through_table", T, f, l)],
    title="Moving the pages and changing the table with them does not change the output",
)


def output(first, second):
    """The output of a query from two pages, in this order, and the further ones."""
    near = [(exp((keys @ q)[j]), values) for keys, values in (first, second)]
    far = exp(total(R[k, j, a] * q[a], a))
    sums = total(near[0][0] * near[0][1][j, b], j) + total(near[1][0] * near[1][1][j, b], j) + total(far * X[k, j, b], k, j)
    return each(sums / (total(near[0][0], j) + total(near[1][0], j) + total(far, k, j)), b)


derivation.identity(
    "exchanged",
    output((K, V), (L, W)),
    output((L, W), (K, V)),
    uses=["order/permutation#any-query"],
    code=[(paged + "through_exchanged_table", q, (paged + "exchange_pages", K, L, R), (paged + "exchange_pages", V, W, X))],
    title="Two pages in the other order, and a table that lists them in the first order, give the same output",
)

derivation.refute(
    "empty-places",
    total(exp(z[j]) * v[j], j) / (total(exp(z[j]), j) + c),
    softmax(z) @ v,
    at={z: [0], v: [1], c: 1},
    code=[(paged + "mean_with_empty_places_wrong", z, v, {"empty": c})],
    title="Empty places must not count as keys",
)

derivation.chain(
    "saved",
    B * (p + r) * g - (p + B * r) * g,
    ((B - 1) * p * g, "each sequence keeps its own tokens, and all but one save the prefix"),
    code=[(paged + "bytes_saved_by_sharing", B, p, r, g)],
    title="Sharing a prefix of $p$ tokens saves all its copies but one",
)

derivation.identity(
    "last-page",
    total(m - j, j) / m,
    (m - 1) / 2,
    code=[(paged + "average_empty", m)],
    title="Empty places of the last page, averaged over how many tokens it holds",
)

derivation.identity(
    "copied",
    (B - 1) * (n * m + r) - (B - 1) * r,
    (B - 1) * (n * m),
    uses=["saved"],
    title="Tokens not copied if $B$ branches share $n$ full pages and copy only a last page with $r$ tokens",
)

derivation.refute(
    "other-position",
    cos((t - s) * omega),
    cos((t - u) * omega),
    at={t: 1, s: 1, u: 0, omega: 1},
    uses=["order/rotary#relative"],
    title="The score of one pair of RoPE features changes if a key from position $s$ is used at position $u$",
)

derivation.refute(
    "other-beginning",
    (exp(w * x) * x + exp(w * w) * w) / (exp(w * x) + exp(w * w)),
    (exp(w * y) * y + exp(w * w) * w) / (exp(w * y) + exp(w * w)),
    at={w: 0, x: 0, y: 1},
    title="After another token, the next layer gets another input for the token $w$",
)

derivation.identity(
    "rotated-again",
    (x * cos(s * omega) - y * sin(s * omega)) * cos(u * omega) - (x * sin(s * omega) + y * cos(s * omega)) * sin(u * omega),
    x * cos((s + u) * omega) - y * sin((s + u) * omega),
    title="A key from position $s$, rotated again by $u$ positions, is the key at position $s + u$",
)

derivation.chain(
    "prefix-pairs",
    (p + r) * (p + r + 1) / 2 - total(p + o, o),
    (p * (p + 1) / 2, "new token $o$ meets the prefix and $o$ tokens"),
    code=[(paged + "pairs_saved_by_prefix", p, r)],
    title="Pairs of query and key that a prefill saves if its prefix is in the cache",
)

derivation.inequality(
    "page-size",
    sqrt(2 * n * g * h) - g / 2,
    (m - 1) / 2 * g + n / m * h,
    because=(sqrt(m * g / 2) - sqrt(n * h / m)) ** 2,
    uses=["last-page"],
    title="The empty places of a last page and a table for $n$ tokens take at least this many bytes",
)

if __name__ == "__main__":
    derivation.main()
