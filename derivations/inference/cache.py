"""A cache of keys and values: why it is exact, why queries are not in it, what it saves, and what cannot be taken out of it again."""

from derivations.kernel import Derivation, diff, each, exp, eye, index, matrix, nonzero, scalars, sizes, softmax, total, vector, zero_or_one

n, m, d, d_k, d_v = sizes("n m d d_k d_v")
p, r, t = sizes("p r t")  # tokens of a prompt or of a chunk, tokens that are generated, chunks
s, g = vector("s", m), vector("g", m)  # the scores of one query, and for each token whether the mask lets it look there
Q, K, V = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("V", m, d_v)
u, Z = vector("u", m), matrix("Z", m, d_v)  # by what hidden scores and values may change
i, j, l = index("i", n), index("j", n), index("l", m)
a, f = index("a", d_k), index("f", d_v)
b, c = index("b", r), index("c", t)
x, y, z = scalars("x y z")  # three tokens of one feature

derivation = Derivation("KV cache: prefill and decode")


def row(scores, values):
    """A feature of what a query gets: exponentials times keep factors, normalised, times values."""
    kept = g[l] * exp(scores(l))
    return total(kept * values(l), l) / total(kept, l)


derivation.identity(
    "hidden",
    row(lambda l: s[l] + (1 - g[l]) * u[l], lambda l: V[l, f] + (1 - g[l]) * Z[l, f]),
    row(lambda l: s[l], lambda l: V[l, f]),
    given=[zero_or_one(g), nonzero(total(g[l] * exp(s[l]), l))],
    uses=["order/causal#vanishes"],
    code=[
        ("snippets.inference.cache.seen_row", each(s[l] + (1 - g[l]) * u[l], l), each(V[l, f] + (1 - g[l]) * Z[l, f], l, f), g),
        ("snippets.inference.cache.seen_row", s, V, g),
    ],
    title="What a mask hides may be anything: the row stays as it is",
)

P = softmax(Q @ K.T)
O = P @ V
derivation.identity(
    "query-slope",
    diff(O[i, f], Q[j, a]),
    eye(n)[i, j] * total(P[i, l] * (V[l, f] - O[i, f]) * K[l, a], l),
    code=[("snippets.inference.cache.output_slopes[0]", Q, K, V)],
    title="An output moves with its own query alone",
)

derivation.identity(
    "key-slope",
    diff(O[i, f], K[l, a]),
    P[i, l] * (V[l, f] - O[i, f]) * Q[i, a],
    code=[("snippets.inference.cache.output_slopes[1]", Q, K, V)],
    title="An output moves with every key that it sees",
)

anew = derivation.define(
    "c_u",
    total(8 * i * d**2 + 4 * i**2 * d, i),
    code=[("snippets.order.cost.operations_without_cache", n, d)],
    title="Operations for $n$ tokens without a cache: a pass over all tokens so far for each",
)
kept = derivation.define(
    "c_k",
    total(8 * d**2 + 4 * i * d, i),
    code=[("snippets.order.cost.operations_with_cache", n, d)],
    title="With a cache: one row for each",
)

derivation.identity(
    "cubic",
    anew,
    4 * n * (n + 1) * d**2 + 2 * n * (n + 1) * (2 * n + 1) * d / 3,
    title="Without a cache the sum is cubic",
)

derivation.identity("square", kept, 8 * n * d**2 + 2 * n * (n + 1) * d, title="With it, a square")

saved = derivation.define(
    "rho",
    anew / kept,
    code=[("snippets.inference.cache.saving", n, d)],
    title="What a cache saves, as a factor",
)

derivation.inequality(
    "at-least",
    (n + 1) / 2,
    saved,
    because=n * (n + 1) * (n - 1) * d / 3 / (8 * n * d**2 + 2 * n * (n + 1) * d),
    uses=["cubic", "square"],
    title="A cache saves a factor of half the text's length at least",
)

derivation.inequality(
    "at-most",
    saved,
    (2 * n + 1) / 3,
    because=4 * n * (n - 1) * d**2 / 3 / (8 * n * d**2 + 2 * n * (n + 1) * d),
    uses=["cubic", "square"],
    title="A cache saves a factor of two thirds of the text's length at most",
)

derivation.identity(
    "same-work",
    (8 * n * d**2 + 4 * n**2 * d) / n,
    8 * d**2 + 4 * n * d,
    code=[("snippets.order.cost.step_operations", n, d)],
    title="A token costs the same in a prefill of $n$ tokens as in decoding token $n$",
)

derivation.refute(
    "constant",
    8 * d**2 + 4 * (2 * n) * d,
    8 * d**2 + 4 * n * d,
    at={n: 1, d: 1},
    title="With a cache, a token does not cost the same however long the text is",
)

derivation.identity(
    "echo",
    ((x + y) / 2 + (y + z) / 2) / 2 - (y + (y + z) / 2) / 2,
    (x - y) / 4,
    code=[("snippets.inference.cache.echo", x, y, z)],
    title="What is left of a token that was taken out",
)

derivation.refute(
    "forgotten",
    ((x + y) / 2 + (y + z) / 2) / 2,
    (y + (y + z) / 2) / 2,
    at={x: 4, y: 0, z: 0},
    uses=["echo"],
    title="To drop a token from the cache is not to have never seen it",
)

derivation.identity(
    "after-prompt",
    total(8 * d**2 + 4 * (p + b) * d, b),
    8 * r * d**2 + 2 * r * (2 * p + r + 1) * d,
    code=[("snippets.inference.cache.decode_operations", p, r, d)],
    title="Decoding $r$ tokens after a prompt of $p$",
)

derivation.chain(
    "chunks",
    total(p * (p * c), c),
    (p**2 * (t * (t + 1) / 2), "a sum of the first numbers"),
    ((p * t) * (p * t + p) / 2, "regroup: the whole text has this many tokens"),
    code=[("snippets.inference.cache.chunked_pairs", p, t)],
    title="Pairs of a prefill in $t$ chunks of $p$ tokens",
)

if __name__ == "__main__":
    derivation.main()
