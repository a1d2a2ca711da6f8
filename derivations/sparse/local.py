"""Local layers, global layers and global tokens: what a mixture costs, how tokens connect, and what can't pass through a few of them."""

from fractions import Fraction

from derivations.kernel import Derivation, eye, index, matrix, nonnegative, nonzero, rank, scalars, sizes, total, vector

n, m, r, w, g = sizes("n m r w g")  # tokens; beyond a window; local layers for each global one; window; global tokens
A, B = matrix("A", n, n), matrix("B", n, n)  # what each token takes from each, in one layer and in the layer before it
F, G = matrix("F", n, g), matrix("G", g, n)  # what tokens take from the global ones, and these from tokens
c = vector("c", n)  # a class for each token: where in a gap it stands, or which document it belongs to
C, D = matrix("C", 2, 1), matrix("D", 1, 2)
i, j, l, o = index("i", n), index("j", n), index("l", n), index("o", n)
x, y = scalars("x y")
half = Fraction(1, 2)

counts = "snippets.sparse.local."

derivation = Derivation("Local and global layers")

derivation.identity(
    "fraction",
    (r * w + (w + m)) / ((r + 1) * (w + m)),
    1 / (r + 1) + r / (r + 1) * (w / (w + m)),
    code=[(counts + "cache_fraction", w + m, r, w)],
    title="The KV cache of a mixture, relative to global layers alone",
)

derivation.limit(
    "fraction-long",
    1 / (r + 1) + r / (r + 1) * (w / (w + m)),
    m,
    "oo",
    1 / (r + 1),
    uses=["fraction"],
    title="In a long text, only the share of the global layers remains",
)

derivation.refute(
    "six-times",
    (r * w + (w + m)) / ((r + 1) * (w + m)),
    1 / (r + 1),
    at={r: 5, w: 1, m: 1},
    title="With five local layers for each global one, the cache isn't six times smaller",
)

long = 2 * r * w / (r - 1)
derivation.identity(
    "half-left",
    r * w + long,
    (r + 1) * long * half,
    given=[nonzero(r - 1)],
    uses=["fraction"],
    title="With this many tokens, the cache is half as large",
)

derivation.inequality(
    "two-hops",
    A[i, o] * B[o, j],
    (A @ B)[i, j],
    because=total((1 - eye(n)[l, o]) ** 2 * (A[i, l] * B[l, j]), l),
    given=[nonnegative(A[i, l]), nonnegative(B[l, j])],
    without={
        nonnegative(A[i, l]): {n: 2, A: [[0, -1], [0, -1]], B: [[1, 1], [1, 1]]},
        nonnegative(B[l, j]): {n: 2, A: [[1, 1], [1, 1]], B: [[0, 0], [-1, -1]]},
    },
    title="In two hops, at least the product of two weights arrives",
)

derivation.identity(
    "global-pairs",
    n**2 - (n - g) ** 2,
    2 * g * n - g**2,
    code=[(counts + "global_pairs", n, g)],
    title="Pairs with at least one of $g$ global tokens",
)

derivation.inequality(
    "bottleneck",
    rank(F @ G),
    g,
    because=(F, G),
    title="Weights through $g$ global tokens have rank at most $g$",
)

derivation.identity(
    "no-copy",
    (C @ D)[1, 1] * (C @ D)[2, 2] - (C @ D)[1, 2] * (C @ D)[2, 1],
    0,
    uses=["bottleneck"],
    title="Two tokens through one: the determinant is zero, whatever the weights",
)

derivation.refute(
    "told-apart",
    C @ D,
    eye(2),
    at={C: [[1], [1]], D: [[half, half]]},
    uses=["bottleneck"],
    title="Weights through one token that are not those of a copy",
)

derivation.identity(
    "crossing",
    (c[i] - c[j]) * (A @ B)[i, j],
    total(((c[i] - c[l]) * A[i, l]) * B[l, j] + A[i, l] * ((c[l] - c[j]) * B[l, j]), l),
    title="What crosses between classes in two layers crosses in one of them",
)

derivation.identity(
    "eight-evenly",
    (1 + x) * (1 + x**2) * (1 + x**4),
    1 + x + x**2 + x**3 + x**4 + x**5 + x**6 + x**7,
    title="Gaps of one, two and four give one path to each of eight tokens",
)

derivation.identity(
    "doubling",
    (1 - y) / (1 - x) * (1 + y),
    (1 - y**2) / (1 - x),
    given=[nonzero(1 - x)],
    title="One more layer, with twice the gap, doubles the tokens and keeps one path to each",
)

if __name__ == "__main__":
    derivation.main()
