"""Self-attention without parameters, what queries, keys and values add, and common statements about both that are false."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, index, matrix, nonnegative, scalars, sizes, softmax, sqrt, total, vector

n, d, d_k, d_v = sizes("n d d_k d_v")
X, W, U = matrix("X", n, d), matrix("W", d, d_k), matrix("U", d, d)
W_Q, W_K, W_V, P = matrix("W_Q", d, d_k), matrix("W_K", d, d_k), matrix("W_V", d, d_v), matrix("P", n, n)
O, W_O, G = matrix("O", n, d_v), matrix("W_O", d_v, d), matrix("G", n, d)
Q, K, V = matrix("Q", n, d_k), matrix("K", n, d_k), matrix("V", n, d_v)
s, t, c = scalars("s t c")
x, y, T = vector("x", d), vector("y", d), matrix("T", 2, d)
i, j, l, a, b = index("i", n), index("j", n), index("l", n), index("a", d), index("b", d_v)

chapter = "snippets.attention.basic."

derivation = Derivation("Basic self-attention")

weights = derivation.define(
    "P_0",
    softmax(X @ X.T),
    code=[("snippets.attention.formula.attention_weights", X, X, {"scale": 1})],
    title="The weights $P_0$: softmax of the dot products of all tokens",
)

output = derivation.define("Y_0", weights @ X, title="The output $Y_0$: weighted means of the tokens")

derivation.identity(
    "basic", output, softmax(X @ X.T) @ X, code=[(chapter + "basic_attention", X)], title="Self-attention without parameters"
)

derivation.chain(
    "one-output",
    output[i, a],
    (total(weights[i, j] * X[j, a], j), "write the product out"),
    (total(exp(total(X[i, a] * X[j, a], a)) * X[j, a], j) / total(exp(total(X[i, a] * X[l, a], a)), l), "insert the weights"),
    title="One entry of the output",
)

derivation.identity("scores-symmetric", (X @ X.T).T, X @ X.T, title="The scores are symmetric")

derivation.identity(
    "shared-symmetric",
    ((X @ W) @ (X @ W).T).T,
    (X @ W) @ (X @ W).T,
    title="If queries and keys share a matrix, the scores are symmetric",
)

derivation.refute(
    "weights-not-symmetric",
    softmax((X @ W) @ (X @ W).T).T,
    softmax((X @ W) @ (X @ W).T),
    at={X: [[0], [1]], W: [[1]]},
    title="If queries and keys share a matrix, the weights need not be symmetric",
)

derivation.identity(
    "two-tokens",
    exp(x @ x) / (exp(x @ x) + exp(x @ y)),
    1 / (1 + exp(x @ (y - x))),
    title="The weight of the first of two tokens on itself",
)

derivation.refute(
    "self-first",
    softmax(T @ T.T)[1, 2],
    softmax(T @ T.T)[1, 1],
    at={T: [[1, 0], [2, 0]]},
    relation="<=",
    title="A token may attend less to itself than to another",
)

derivation.inequality(
    "equal-lengths",
    x @ y,
    (x @ x + y @ y) / 2,
    because=total((x[a] - y[a]) ** 2, a) / 2,
    title="A score is at most the mean of the two squared lengths",
)

first = (exp(s**2) * s + exp(s * t) * t) / (exp(s**2) + exp(s * t))  # the output for token s, beside a token t
other = 1 / (1 + exp(s * (s - t)))  # the weight of t


def slope(x, weight):
    return (1 - weight) + weight * (1 - weight) * (t - x) * (t - 2 * x)


derivation.identity(
    "two-numbers",
    first,
    s + other * (t - s),
    title="The first of two outputs, for tokens with one feature",
)

derivation.identity(
    "own-slope",
    diff(first, s),
    slope(s, other),
    code=[(chapter + "own_gradient", s, t)],
    uses=["two-numbers"],
    title="The derivative of the first output with respect to its own token",
)

derivation.identity(
    "slope-at-zero",
    slope(0 * t, 1 / (1 + exp(0 * t))),
    t**2 / 4 + Fraction(1, 2),
    uses=["own-slope"],
    title="The same derivative where the first token is zero",
)

derivation.inequality(
    "no-bound",
    c,
    (2 * sqrt(c)) ** 2 / 4 + Fraction(1, 2),
    because=Fraction(1, 2),
    given=[nonnegative(c)],
    uses=["slope-at-zero"],
    title="No constant $c$ bounds the derivative",
)

derivation.chain(
    "conventions",
    X @ W,
    ((W.T @ X.T).T, "transposing reverses a product, and two transposes cancel"),
    code=[(chapter + "project_rows", X, W), (chapter + "project_columns", W.T, X)],
    title="Rows times a matrix, or its transpose times columns",
)

derivation.chain(
    "values-last",
    softmax((X @ W_Q) @ (X @ W_K).T) @ (X @ W_V),
    ((softmax((X @ W_Q) @ (X @ W_K).T) @ X) @ W_V, "regroup"),
    code=[(chapter + "average_values", X, W_Q, W_K, W_V), ("snippets.simplify.softmax.matrix_after", (X @ W_Q) @ (X @ W_K).T, X @ W_V)],
    title="Averaging values equals averaging tokens and then applying $W_V$",
)

derivation.refute(
    "values-forgotten",
    P @ X,
    P @ (X @ U),
    at={P: [[1]], X: [[1]], U: [[2]]},
    title="Averaging the tokens differs from averaging the values",
)

derivation.identity(
    "output-gradient",
    diff(total(G[i, a] * (O @ W_O)[i, a], i, a), O[j, b]),
    (G @ W_O.T)[j, b],
    title="The gradient with respect to a head's output contains $W_O$ as a factor",
)

derivation.refute(
    "swapped",
    softmax(Q @ K.T) @ V,
    softmax(K @ Q.T) @ V,
    at={Q: [[1], [1]], K: [[1], [0]], V: [[1], [0]]},
    code=[
        ("snippets.attention.formula.attention", Q, K, V, {"scale": 1}),
        ("snippets.attention.formula.attention", K, Q, V, {"scale": 1}),
    ],
    uses=["simplify/bilinear#swap"],
    title="Exchanging queries and keys changes the output",
)

if __name__ == "__main__":
    derivation.main()
