"""A sliding window: how many pairs it keeps, how far a stack of layers sees, and how much weight distant tokens have."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    E,
    Var,
    diff,
    each,
    exp,
    independent,
    index,
    matrix,
    mean,
    nonnegative,
    random,
    scalars,
    sizes,
    sqrt,
    total,
    variance,
    where,
)

n, m, w, L = sizes("n m w L")
d, d_k, d_v = sizes("d d_k d_v")
X = matrix("X", n, d)
W_Q, W_K, W_V = matrix("W_Q", d, d_k), matrix("W_K", d, d_k), matrix("W_V", d, d_v)
A, B = matrix("A", n, n), matrix("B", n, n)  # the weight of each token in each output, in one layer and in the layer before it
C = matrix("C", 3, 3)
D = random("D", L)  # how far back one layer after the other goes
i, j, l = index("i", n), index("j", n), index("l", n)
b, f = index("b", d), index("f", d_v)
k, t = index("k", L), index("t", w)
r, s = scalars("r s")
half = Fraction(1, 2)
from_the_last_two: list = [[1, 0, 0], [half, half, 0], [0, half, half]]  # a window of two, equal weights

counts = "snippets.sparse.window."

derivation = Derivation("Sliding-window attention")

pairs = (w + m) * w - w * (w - 1) / 2
derivation.chain(
    "pairs",
    total(t, t) + m * w,
    (w * (w + 1) / 2 + m * w, "sum over the first $w$ tokens, whose windows are still filling"),
    (pairs, "as if all windows were full, minus what the first tokens lack"),
    code=[(counts + "window_pairs", w + m, w)],
    title="Pairs under a window of $w$, for a text of $w + m$ tokens",
)

derivation.identity(
    "mask",
    total(1, i, j, where=[j <= i, i - j < w]),
    n * w - w * (w - 1) / 2,
    given=[nonnegative(n - w)],
    title="The pairs that the mask of a window keeps, for a text of at least $w$ tokens",
)

derivation.identity(
    "saved",
    (w + m) * (w + m + 1) / 2 - pairs,
    m * (m + 1) / 2,
    uses=["pairs", "order/causal#pairs"],
    code=[(counts + "pairs_saved", w + m, w)],
    title="A window saves the causal triangle of the tokens beyond it",
)

scores = derivation.define("S", (X @ W_Q) @ (X @ W_K).T / sqrt(d_k), title="The scores $S$ of the tokens")
values = derivation.define("V", X @ W_V, title="The values $V$ of the tokens")
window = [j <= i, i - j < w]
output = derivation.define(
    "O",
    each(total(exp(scores[i, j]) * values[j, f], j, where=window) / total(exp(scores[i, j]), j, where=window), i, f),
    title="The outputs $O$ of attention with a window of $w$",
)
derivation.identity(
    "outside",
    diff(output[i, f], X[l, b]) * where(1, l <= i - w),
    0,
    title="In one layer, the derivative of an output with respect to a token before its window is zero",
)

derivation.limit(
    "per-token",
    (n * w - w * (w - 1) / 2) / n,
    n,
    "oo",
    w,
    uses=["pairs"],
    title="In a long text, tokens have $w$ pairs on average",
)

derivation.inequality(
    "reach",
    0,
    (A @ B)[i, j] * (r + s - (i - j)),
    because=total(A[i, l] * (r - (i - l)) * B[l, j] + A[i, l] * (B[l, j] * (s - (l - j))), l),
    given=[
        nonnegative(A[i, l]),
        nonnegative(B[l, j]),
        nonnegative(A[i, l] * (r - (i - l))),
        nonnegative(B[l, j] * (s - (l - j))),
    ],
    without={
        nonnegative(A[i, l]): {n: 1, A: [[-1]], B: [[1]], r: 0, s: 1},
        nonnegative(B[l, j]): {n: 1, A: [[1]], B: [[-1]], r: 1, s: 0},
        nonnegative(B[l, j] * (s - (l - j))): {n: 2, A: [[1, 0], [0, 1]], B: [[0, 0], [1, 0]], r: 0, s: 0},
    },
    title="Reaches add up: the product of two layers reaches back by at most $r + s$",
)

derivation.identity(
    "step-mean",
    total((t - 1) / w, t),
    (w - 1) / 2,
    title="With equal weights, the mean step of a layer",
)

derivation.identity(
    "step-variance",
    total((t - 1 - (w - 1) / 2) ** 2 / w, t),
    (w**2 - 1) / 12,
    uses=["step-mean"],
    title="With equal weights, the variance of a layer's step",
)

derivation.identity(
    "mean-distance",
    E(total(D[k], k)),
    L * (w - 1) / 2,
    given=[mean(D, (w - 1) / 2)],
    uses=["step-mean"],
    title="With equal weights, the mean distance through $L$ layers is half the reach",
)

derivation.identity(
    "spread",
    Var(total(D[k], k)),
    L * (w**2 - 1) / 12,
    given=[independent(D), variance(D, (w**2 - 1) / 12)],
    uses=["step-variance"],
    title="With equal weights: the variance of the distance through $L$ independent layers",
)

derivation.refute(
    "knows-more",
    (C @ C)[3, 1],
    0,
    at={C: from_the_last_two},
    title="With a window of two, the first of three tokens has a weight in the third output of two layers",
)

derivation.refute(
    "not-equal",
    (C @ C)[3, 1],
    (C @ C)[3, 2],
    at={C: from_the_last_two},
    title="Tokens within reach don't have equal weights",
)

derivation.inequality(
    "thins-out",
    (L + 1) * (w - 1) + 1,
    w * (L * (w - 1) + 1),
    because=L * (w - 1) ** 2,
    title="One more layer multiplies the tokens within reach by at most $w$",
)

derivation.identity(
    "with-shortcut",
    total((t - 1) / (2 * w), t),
    (w - 1) / 4,
    uses=["step-mean"],
    title="If half of each token bypasses the layer, the mean step is half as large",
)

derivation.refute(
    "times-w",
    L * (w - 1) + 1,
    L * w,
    at={L: 2, w: 2},
    title="A stack doesn't see $L$ windows",
)

if __name__ == "__main__":
    derivation.main()
