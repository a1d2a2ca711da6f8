"""Why recall needs weights that depend on the tokens: what fixed mixing cannot do, and how attention does it."""

from derivations.kernel import Derivation, array, exp, index, matrix, product_is, scalars, sizes, softmax, total, vector

n, m, d, d_v = sizes("n m d d_v")
X, Y = matrix("X", n, d), matrix("Y", n, d)
A, B, L = matrix("A", n, n), matrix("B", n, n), matrix("L", n, n)
W, U, G = matrix("W", d, d), matrix("U", d, d), matrix("G", n, d)
K, V = matrix("K", m, d), matrix("V", m, d_v)
a, q, r, k, w = vector("a", n), vector("q", d), vector("r", d), vector("k", d), vector("w", d)
z, u = vector("z", m), vector("u", 3)
i, j, l = index("i", d), index("j", m), index("l", n)
b, c, s, t, x, y, beta = scalars("b c s t x y beta")

derivation = Derivation("Recall needs attention")

derivation.identity(
    "one-mixing",
    B @ (A @ X @ W) @ U,
    (B @ A) @ X @ (W @ U),
    code=[
        ("snippets.seeing.recall.fixed_mixing", B, ("snippets.seeing.recall.fixed_mixing", A, X, W), U),
        ("snippets.seeing.recall.fixed_mixing", B @ A, X, W @ U),
    ],
    title="Two layers of fixed mixing are one layer",
)

derivation.identity(
    "additive",
    (a @ X + q) @ W - (a @ X + r) @ W,
    (a @ Y + q) @ W - (a @ Y + r) @ W,
    title="With fixed mixing, the effect of another question does not depend on the context",
)


def favour(context, question):
    """By how much fixed mixing favours one answer: a sum over features of the context and of the question."""
    return question @ w + total(G[l, i] * context[l, i], l, i)


derivation.identity(
    "four-cases",
    favour(X, q) + favour(Y, r),
    favour(X, r) + favour(Y, q),
    uses=["additive"],
    title="Two questions in two contexts: both pairs of cases have the same sum",
)

middle = (x + y) / 2
derivation.inequality(
    "fixed-fails",
    (x - y) ** 2,
    (b + s - x) ** 2 + (b + t - y) ** 2 + (c + s - y) ** 2 + (c + t - x) ** 2,
    because=(b + s - middle) ** 2 + (b + t - middle) ** 2 + (c + s - middle) ** 2 + (c + t - middle) ** 2,
    uses=["additive"],
    title="Over the four cases, the squared errors sum to at least the squared difference",
)

derivation.identity(
    "unit-scores",
    K @ K.T @ V,
    V,
    given=[product_is(K, K.T, 1)],
    title="With orthonormal keys, scores alone select each key's value",
)

derivation.inequality(
    "own-key",
    q @ k,
    (q @ q + k @ k) / 2,
    because=total((q[i] - k[i]) ** 2, i) / 2,
    title="A score is at most the mean of the two squared lengths",
)

others = total(exp(z[j] - c), j)
derivation.chain(
    "match",
    exp(c) / (exp(c) + total(exp(z[j]), j)),
    (1 / (1 + others), "divide numerator and denominator by the numerator"),
    code=[("snippets.seeing.recall.match_weight", c, z)],
    title="The weight of a key with the score $c$",
)

derivation.inequality(
    "missed",
    1 - 1 / (1 + others),
    others,
    because=others**2 / (1 + others),
    uses=["match"],
    title="An upper bound on the weight of all other keys",
)

derivation.limit(
    "sharper",
    exp(beta) / (exp(beta) + m),
    beta,
    "oo",
    1,
    uses=["match"],
    title="As its score grows, the match gets all of the weight",
)

derivation.identity(
    "shifted",
    X @ (L @ X).T,
    L.T,
    given=[product_is(X, X.T, 1)],
    title="The scores of tokens with the tokens before them",
)

derivation.limit(
    "by-hand",
    (softmax(beta * array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])) @ u)[1],
    beta,
    "oo",
    u[2],
    uses=["shifted"],
    title="Three tokens in a circle: the first gets the one that followed it",
)

if __name__ == "__main__":
    derivation.main()
