"""Masks of packed documents, of prefixes and of blocks: what a masked block may leave out, and how many blocks are computed."""

from derivations.kernel import (
    Derivation,
    diff,
    exp,
    eye,
    index,
    matrix,
    nonnegative,
    scalars,
    sizes,
    softmax,
    total,
    vector,
    where,
    zero_or_one,
)

n, m, d_v = sizes("n m d_v")
a, w, N, p = sizes("a w N p")  # tokens of the first document; a block's width; blocks in a row; a prefix
S, V = matrix("S", n, n), matrix("V", n, d_v)
i, j, l, f = index("i", n), index("j", n), index("l", n), index("f", d_v)
s, t = vector("s", m), vector("t", w)  # scores of a query with the keys outside a block, and with those in it
g, u, v = vector("g", w), vector("u", m), vector("v", w)  # the mask in the block; one feature of the values outside and inside
k, r, o = index("k", w), index("r", m), index("o", w)
J, K = index("J", w), index("K", w)  # blocks of queries and of keys, as many as tokens in a block
D, G = index("D", N), index("G", N)  # blocks of a longer row, or documents
c, M = vector("c", N), scalars("M")  # lengths of documents; that of the longest
x, y = vector("x", 2), vector("y", 2)  # scores and values of two tokens
A, B = matrix("A", N, N), matrix("B", N, N)  # two masks

counts = "snippets.attention.packing."

derivation = Derivation("Masks in practice")


def attend(*masks):
    """Feature f of the output of query i from the keys that one of the masks keeps: conditions that exclude one another."""
    above = sum((total(exp(S[i, j]) * V[j, f], j, where=mask) for mask in masks[1:]), total(exp(S[i, j]) * V[j, f], j, where=masks[0]))
    below = sum((total(exp(S[i, j]), j, where=mask) for mask in masks[1:]), total(exp(S[i, j]), j, where=masks[0]))
    return above / below


packed = attend([i <= a, j <= i], [a < i, a < j, j <= i])  # a query in the first document, or a query and a key after it
derivation.identity(
    "alone",
    where(packed, a < i),
    where(attend([a < j, j <= i]), a < i),
    uses=["order/causal#so-far"],
    title="Outputs of the second document: causal attention on its own tokens",
)

derivation.refute(
    "causal-is-enough",
    softmax(x) @ y,
    y[2],
    at={x: [0, 0], y: [4, 2]},
    uses=["alone"],
    title="A causal mask alone doesn't separate documents",
)

outside, inside = total(exp(s[r]), r), total(g[k] * exp(t[k]), k)
without = total(exp(s[r]) * u[r], r) / total(exp(s[r]), r)
whole = (total(exp(s[r]) * u[r], r) + total(g[k] * exp(t[k]) * v[k], k)) / (outside + inside)
derivation.identity(
    "block",
    whole - without,
    total(g[k] * exp(t[k]) / (outside + inside) * (v[k] - without), k),
    given=[zero_or_one(g)],
    uses=["order/causal#window"],
    title="What a block of keys adds to an output: its weights, times the differences of its values from the output without it",
)

derivation.identity(
    "allowed",
    diff(whole - without, v[o]),
    g[o] * exp(t[o]) / (outside + inside),
    given=[zero_or_one(g)],
    uses=["block"],
    title="The derivative of this difference with respect to a value in the block is the key's weight",
)

derivation.refute(
    "mostly-masked",
    whole,
    without,
    at={m: 1, w: 4, s: [0], u: [0], t: [0, 0, 0, 0], g: [0, 0, 0, 1], v: [0, 0, 0, 1]},
    uses=["block"],
    title="A block with one allowed pair can't always be left out",
)

derivation.identity(
    "causal-blocks",
    total(1, D, G, where=G <= D),
    N * (N + 1) / 2,
    code=[(counts + "causal_blocks", N)],
    title="Computed blocks of a causal mask, $N$ blocks by $N$",
)

derivation.identity(
    "masked-computed",
    N * (N + 1) / 2 * w**2 - N * w * (N * w + 1) / 2,
    N * w * (w - 1) / 2,
    uses=["causal-blocks", "order/causal#pairs"],
    code=[(counts + "masked_pairs_computed", N, w)],
    title="Masked pairs that a causal mask computes in blocks of $w$ by $w$",
)

derivation.identity(
    "same-pairs",
    total(eye(w)[J, K], J, K, k, o),
    total(eye(w)[k, o], J, K, k, o),
    title="Tokens that see their own block, or their own place in each block: the same number of pairs",
)

derivation.refute(
    "same-blocks",
    total(eye(w)[J, K], J, K),
    total(1, J, K),
    at={w: 2},
    uses=["same-pairs"],
    title="Two masks with the same number of pairs don't always compute the same number of blocks",
)

derivation.identity(
    "between-documents",
    total(c[D], D) ** 2 - total(c[D] ** 2, D),
    total(c[D] * (total(c[G], G) - c[D]), D),
    title="Pairs between documents: each token with all tokens of the others",
)

derivation.inequality(
    "padding",
    total(c[D] ** 2, D),
    N * M**2,
    because=total((M - c[D]) * ((M - c[D]) + 2 * c[D]), D),
    given=[nonnegative(c[D]), nonnegative(M - c[D])],
    title="Pairs inside documents are at most the pairs of the padded batch",
)

prefix = attend([j <= i], [i < j, j <= p])
derivation.identity(
    "after-prefix",
    diff(prefix, V[l, f]) * where(1, i < l) * where(1, p + 1 <= l),
    0,
    title="The derivative of an output with respect to the value of a later token after the prefix is zero",
)
derivation.identity(
    "prefix-grows",
    where(prefix, p <= i),
    where(attend([j <= i]), p <= i),
    title="From the last token of the prefix on, outputs are those of causal attention",
)

derivation.identity(
    "prefix-pairs",
    total(1, i, j, where=j <= i) + total(1, i, j, where=[i < j, j <= p]),
    n * (n + 1) / 2 + p * (p - 1) / 2,
    given=[nonnegative(n - p)],
    code=[(counts + "prefix_pairs", n, p)],
    title="The number of pairs that a causal mask with a prefix keeps",
)

derivation.identity(
    "either",
    (A[D, G] + B[D, G] - A[D, G] * B[D, G]) ** 2,
    A[D, G] + B[D, G] - A[D, G] * B[D, G],
    given=[zero_or_one(A), zero_or_one(B)],
    title="A mask that keeps what either of two masks keeps has entries that are zero or one",
)
if __name__ == "__main__":
    derivation.main()
