"""Learned sparsity: what the missed weight changes, what a block's mean key says about the block, and what is still computed for all pairs."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    array,
    exp,
    index,
    largest,
    log,
    matrix,
    nonnegative,
    nonzero,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)

m, n, w, k, d, N = sizes("m n w k d N")  # kept and missed keys; a block's keys; selected keys; a head's width; more keys than selected
s, t = vector("s", m), vector("t", n)  # scores of the kept and of the missed keys
A, B = vector("A", m), vector("B", n)  # one feature of their values
i, l = index("i", m), index("l", n)
q, K, z = vector("q", d), matrix("K", w, d), vector("z", w)  # a query; the keys of a block; their scores
r, c = index("r", w), index("c", d)
x, y, u = scalars("x y u")  # the mean scores of two blocks, and how far the two scores of the second are from its mean
b, f, h = scalars("b f h")  # the largest size of a value; multiplications for one pair: in the attention, and in the indexer
v, g1, g2, g3 = scalars("v g_1 g_2 g_3")  # the value of all keys, and three gates
j, o = index("j", N), index("o", k)

counts = "snippets.sparse.learned."

derivation = Derivation("Learned sparsity")

above, below = total(exp(s[i]), i), total(exp(t[l]), l)
missed = below / (above + below)
kept_output = total(softmax(s)[i] * A[i], i)
full = (total(exp(s[i]) * A[i], i) + total(exp(t[l]) * B[l], l)) / (above + below)

derivation.identity(
    "error",
    full - kept_output,
    missed * (total(softmax(t)[l] * B[l], l) - kept_output),
    uses=["order/causal#window", "sparse/patterns#error"],
    code=[(counts + "selection_error", s, A, t, B)],
    title="The error of a selection: the missed weight, times the difference of two outputs",
)

derivation.inequality(
    "bound",
    full - kept_output,
    2 * b * missed,
    because=missed * (total(softmax(t)[l] * (b - B[l]), l) + total(softmax(s)[i] * (b + A[i]), i)),
    given=[nonnegative(b - B[l]), nonnegative(b + A[i])],
    uses=["error"],
    title="If no value is larger in size than $b$, the error is at most twice the missed weight times $b$",
)

mean_score = total(z[r], r) / w
derivation.identity(
    "mean-key",
    total(total(K[r, c], r) / w * q[c], c),
    total((K @ q)[r], r) / w,
    title="The score of a block's mean key is the mean of the scores of its keys",
)

derivation.inequality(
    "at-least",
    w * exp(mean_score),
    total(exp(z[r]), r),
    because=total(exp(mean_score) * (exp(z[r] - mean_score) - 1 - (z[r] - mean_score)), r),
    title="The exponentials of a block have at least the sum that equal scores with the same mean would give",
)

derivation.refute(
    "largest-score",
    largest(array([y + u, y - u])),
    x,
    at={x: 2, y: Fraction(3, 2), u: Fraction(3, 2)},
    relation="<=",
    uses=["mean-key"],
    title="A block with a smaller mean score can contain the largest score",
)

derivation.refute(
    "heaviest-block",
    exp(y + u) + exp(y - u),
    2 * exp(x),
    at={x: 0, y: -log(2), u: log(8)},
    relation="<=",
    uses=["at-least"],
    title="A block with a smaller mean score can have more weight",
)


def multiplications(tokens):
    """Those of the indexer for all pairs of a causal mask, and those of attention to at most k keys."""
    return h * (tokens * (tokens + 1) / 2) + f * (tokens * k - k * (k - 1) / 2)


derivation.identity(
    "multiplications",
    h * (total(o, o) + total(k + j, j)) + f * (total(o, o) + total(k, j)),
    multiplications(k + N),
    uses=["order/causal#pairs", "sparse/window#pairs"],
    code=[(counts + "indexed_multiplications", k + N, k, h, f)],
    title="Multiplications of an indexer for all pairs, and of attention to $k$ selected keys",
)

derivation.identity(
    "doubled",
    multiplications(2 * (k + N)) - 2 * multiplications(k + N),
    h * (k + N) ** 2 + f * (k * (k - 1) / 2),
    uses=["multiplications"],
    title="Multiplications for twice as many tokens, less twice those for $k + N$ tokens",
)

derivation.refute(
    "linear",
    multiplications(2 * n),
    2 * multiplications(n),
    at={h: 1, f: 1, n: 2, k: 1},
    relation="<=",
    uses=["multiplications"],
    title="Twice the tokens don't always take at most twice the multiplications",
)

derivation.identity(
    "half",
    h * (f * k / h),
    f * k,
    given=[nonzero(h)],
    uses=["multiplications"],
    title="The number of keys at which the indexer multiplies as often as the attention to $k$ keys",
)

derivation.limit(
    "indexer-share",
    h * n / (h * n + f * k),
    n,
    "oo",
    1,
    given=[nonzero(h)],
    uses=["multiplications"],
    title="In a long text, nearly all multiplications of a query are the indexer's",
)

derivation.inequality(
    "block-size",
    2 * sqrt(n * k),
    n / w + k * w,
    because=(sqrt(n / w) - sqrt(k * w)) ** 2,
    title="Scores of a query, for $n/w$ mean keys and the keys of $k$ blocks: a lower bound for any size $w$",
)

derivation.identity(
    "best-size",
    n / sqrt(n / k) + k * sqrt(n / k),
    2 * sqrt(n * k),
    uses=["block-size"],
    code=[(counts + "scores_of_query", n, k, sqrt(n / k))],
    title="Blocks of $\\sqrt{n/k}$ keys attain the bound",
)

derivation.refute(
    "gates",
    g1 * v + g2 * v + g3 * v,
    v,
    at={g1: 1, g2: 1, g3: 1, v: 1},
    title="Three branches with their own gates don't always give a mean of values",
)
if __name__ == "__main__":
    derivation.main()
