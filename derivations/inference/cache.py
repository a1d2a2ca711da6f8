"""A cache of keys and values: why it is exact, why it holds no queries, what it saves, and what a dropped token leaves behind."""

from derivations.kernel import Derivation, diff, each, exp, eye, index, matrix, nonzero, scalars, sizes, softmax, total, vector, zero_or_one

n, m, d, d_k, d_v = sizes("n m d d_k d_v")
p, r, t = sizes("p r t")  # tokens of a prompt or of a chunk, tokens that are generated, chunks
s, g = vector("s", m), vector("g", m)  # the scores of one query, and for each token whether the mask lets it look there
Q, K, V = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("V", m, d_v)
u, Z = vector("u", m), matrix("Z", m, d_v)  # added to hidden scores and values
i, j, l = index("i", n), index("j", n), index("l", m)
a, f = index("a", d_k), index("f", d_v)
b, c = index("b", r), index("c", t)
x, y, z = scalars("x y z")  # three tokens of one feature

derivation = Derivation("KV cache: prefill and decode")


def row(scores, values):
    """One feature of a row: weights from the visible scores, times values."""
    kept = g[l] * exp(scores(l))
    return total(kept * values(l), l) / total(kept, l)


derivation.identity(
    "hidden",
    row(lambda l: s[l] + (1 - g[l]) * u[l], lambda l: V[l, f] + (1 - g[l]) * Z[l, f]),
    row(lambda l: s[l], lambda l: V[l, f]),
    given=[zero_or_one(g), nonzero(total(g[l] * exp(s[l]), l))],
    uses=["order/causal#vanishes"],
    code=[
        ("snippets.inference.cache.masked_output", each(s[l] + (1 - g[l]) * u[l], l), each(V[l, f] + (1 - g[l]) * Z[l, f], l, f), g),
        ("snippets.inference.cache.masked_output", s, V, g),
    ],
    title="Hidden scores and values have no effect on a row",
)

P = softmax(Q @ K.T)
O = P @ V
derivation.identity(
    "query-slope",
    diff(O[i, f], Q[j, a]),
    eye(n)[i, j] * total(P[i, l] * (V[l, f] - O[i, f]) * K[l, a], l),
    code=[("snippets.inference.cache.output_jacobians[0]", Q, K, V)],
    title="An output depends only on its own query",
)

derivation.identity(
    "key-slope",
    diff(O[i, f], K[l, a]),
    P[i, l] * (V[l, f] - O[i, f]) * Q[i, a],
    code=[("snippets.inference.cache.output_jacobians[1]", Q, K, V)],
    title="The derivative of an output with respect to a key contains the weight",
)

anew = derivation.define(
    "c_u",
    total(8 * i * d**2 + 4 * i**2 * d, i),
    code=[("snippets.order.cost.operations_without_cache", n, d)],
    title="Operations without a cache: each of $n$ tokens takes a full pass",
)
kept = derivation.define(
    "c_k",
    total(8 * d**2 + 4 * i * d, i),
    code=[("snippets.order.cost.operations_with_cache", n, d)],
    title="Operations with a cache: each of $n$ tokens takes one row",
)

derivation.identity(
    "cubic",
    anew,
    4 * n * (n + 1) * d**2 + 2 * n * (n + 1) * (2 * n + 1) * d / 3,
    title="Without a cache, operations grow with the cube",
)

derivation.identity("square", kept, 8 * n * d**2 + 2 * n * (n + 1) * d, title="With a cache, operations grow with the square")

saved = derivation.define(
    "rho",
    anew / kept,
    code=[("snippets.inference.cache.saving", n, d)],
    title="The factor by which a cache reduces the operations",
)

derivation.inequality(
    "at-least",
    (n + 1) / 2,
    saved,
    because=n * (n + 1) * (n - 1) * d / 3 / (8 * n * d**2 + 2 * n * (n + 1) * d),
    uses=["cubic", "square"],
    title="The factor is at least about half the number of tokens",
)

derivation.inequality(
    "at-most",
    saved,
    (2 * n + 1) / 3,
    because=4 * n * (n - 1) * d**2 / 3 / (8 * n * d**2 + 2 * n * (n + 1) * d),
    uses=["cubic", "square"],
    title="The factor is at most about two thirds of the number of tokens",
)

derivation.identity(
    "same-work",
    (8 * n * d**2 + 4 * n**2 * d) / n,
    8 * d**2 + 4 * n * d,
    code=[("snippets.order.cost.step_operations", n, d)],
    title="Per token, a prefill of $n$ tokens costs as much as decoding token $n$",
)

derivation.refute(
    "constant",
    8 * d**2 + 4 * (2 * n) * d,
    8 * d**2 + 4 * n * d,
    at={n: 1, d: 1},
    title="With a cache, the cost of a token still depends on the length of the text",
)

derivation.identity(
    "echo",
    ((x + y) / 2 + (y + z) / 2) / 2 - (y + (y + z) / 2) / 2,
    (x - y) / 4,
    code=[("snippets.inference.cache.trace_of_dropped_token", x, y, z)],
    title="The trace that a dropped token leaves",
)

derivation.refute(
    "forgotten",
    ((x + y) / 2 + (y + z) / 2) / 2,
    (y + (y + z) / 2) / 2,
    at={x: 4, y: 0, z: 0},
    uses=["echo"],
    title="Dropping a token from the cache does not undo having seen it",
)

derivation.identity(
    "after-prompt",
    total(8 * d**2 + 4 * (p + b) * d, b),
    8 * r * d**2 + 2 * r * (2 * p + r + 1) * d,
    code=[("snippets.inference.cache.decode_operations", p, r, d)],
    title="Operations of decoding $r$ tokens after a prompt of $p$",
)

derivation.chain(
    "chunks",
    total(p * (p * c), c),
    (p**2 * (t * (t + 1) / 2), "sum of the first $t$ numbers"),
    ((p * t) * (p * t + p) / 2, "regroup: the text has $pt$ tokens"),
    code=[("snippets.inference.cache.chunked_pairs", p, t)],
    title="Pairs computed by a prefill in $t$ chunks of $p$ tokens",
)

if __name__ == "__main__":
    derivation.main()
