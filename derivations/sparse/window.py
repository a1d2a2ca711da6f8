"""A sliding window: how many pairs it keeps, how far a stack of layers sees, and how much of what it sees arrives."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    E,
    Var,
    independent,
    index,
    matrix,
    mean,
    nonnegative,
    random,
    scalars,
    sizes,
    total,
    variance,
)

n, m, w, L = sizes("n m w L")
A, B = matrix("A", n, n), matrix("B", n, n)  # what each token takes from each, in one layer and in the layer before it
C = matrix("C", 3, 3)
D = random("D", L)  # how far back one layer after the other goes
i, j, l = index("i", n), index("j", n), index("l", n)
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
    (w * (w + 1) / 2 + m * w, "sum up the first tokens, whose windows are not yet full"),
    (pairs, "as if all were full, less what the first tokens lack"),
    code=[(counts + "window_pairs", w + m, w)],
    title="Pairs under a window of $w$, for $m$ tokens more than it holds",
)

derivation.identity(
    "saved",
    (w + m) * (w + m + 1) / 2 - pairs,
    m * (m + 1) / 2,
    uses=["pairs", "order/causal#pairs"],
    code=[(counts + "pairs_saved", w + m, w)],
    title="What a window saves is the causal triangle of the tokens beyond it",
)

derivation.limit(
    "per-token",
    (n * w - w * (w - 1) / 2) / n,
    n,
    "oo",
    w,
    uses=["pairs"],
    title="Pairs for each token, in a long text",
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
    },
    title="Reaches add: where the product of two layers has a weight, the distance is at most $r + s$",
)

derivation.identity(
    "step-mean",
    total((t - 1) / w, t),
    (w - 1) / 2,
    title="With equal weights a layer looks back half its window, on average",
)

derivation.identity(
    "step-variance",
    total((t - 1 - (w - 1) / 2) ** 2 / w, t),
    (w**2 - 1) / 12,
    uses=["step-mean"],
    title="The variance of the distance that a layer looks back",
)

derivation.identity(
    "mean-distance",
    E(total(D[k], k)),
    L * (w - 1) / 2,
    given=[mean(D, (w - 1) / 2)],
    uses=["step-mean"],
    title="Through $L$ layers, half of the reach",
)

derivation.identity(
    "spread",
    Var(total(D[k], k)),
    L * (w**2 - 1) / 12,
    given=[independent(D), variance(D, (w**2 - 1) / 12)],
    uses=["step-variance"],
    title="The spread about half the reach grows with the root of the number of layers only",
)

derivation.refute(
    "knows-more",
    (C @ C)[3, 1],
    0,
    at={C: from_the_last_two},
    title="A window of two does not mean that a token knows two tokens only",
)

derivation.refute(
    "not-equal",
    (C @ C)[3, 1],
    (C @ C)[3, 2],
    at={C: from_the_last_two},
    title="What lies within reach does not arrive equally",
)

derivation.inequality(
    "thins-out",
    (L + 1) * (w - 1) + 1,
    w * (L * (w - 1) + 1),
    because=L * (w - 1) ** 2,
    title="One layer more: the tokens within reach, against $w$ times as many as before",
)

derivation.identity(
    "with-shortcut",
    total((t - 1) / (2 * w), t),
    (w - 1) / 4,
    uses=["step-mean"],
    title="Where half of each token stays with itself, a layer looks back half as far",
)

derivation.refute(
    "times-w",
    L * (w - 1) + 1,
    L * w,
    at={L: 2, w: 2},
    title="A stack does not see $L$ windows",
)

if __name__ == "__main__":
    derivation.main()
