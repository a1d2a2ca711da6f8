"""Permutations of tokens: what they do to scores, weights and outputs of self-attention, with and without a causal mask."""

from derivations.kernel import Derivation, exp, eye, index, matrix, product_is, scalars, sizes, softmax, total, vector
from derivations.kernel.core.expr import symbol

n, m, d, d_v, h = sizes("n m d d_v h")
X, W, W_V, P = matrix("X", n, d), matrix("W", d, d), matrix("W_V", d, d_v), matrix("P", n, n)
S, Pi, Y = matrix("S", n, n), matrix("Pi", n, n), matrix("Y", n, d)
H = symbol("H", "real", (h, n, n))  # the weights of every head
M = symbol("M", "real", (h, d, d))  # for every head W_V W_O
Q = matrix("Q", h, d)  # a query in every head, times W_K^T
x, y = vector("x", d), vector("y", d)  # two tokens
R = matrix("R", m, d)  # any number of further tokens
u, D = matrix("u", 1, n), matrix("D", n, n)
s, t = scalars("s t")
g = index("g", h)
i, j, k, l, p, r = index("i", n), index("j", n), index("k", n), index("l", n), index("p", n), index("r", m)
a, b = index("a", d), index("b", d)

derivation = Derivation("No order among tokens")

derivation.identity(
    "scores",
    (Pi @ X) @ W @ (Pi @ X).T,
    Pi @ (X @ W @ X.T) @ Pi.T,
    code=[("snippets.simplify.bilinear.merged_scores", ("snippets.order.permutation.reorder", Pi, X), W)],
    title="Reordering the tokens reorders rows and columns of the scores",
)

derivation.chain(
    "mixing",
    (Pi @ P @ Pi.T) @ (Pi @ X) @ W_V,
    (Pi @ P @ (Pi.T @ Pi) @ X @ W_V, "regroup"),
    (Pi @ (P @ X @ W_V), "the transpose undoes the reordering"),
    given=[product_is(Pi.T, Pi, 1)],
    title="Reordered weights times reordered values: the outputs, reordered",
)

derivation.identity(
    "heads",
    total(Pi[i, j] * H[g, j, k] * Pi[l, k] * Pi[l, p] * X[p, a] * M[g, a, b], g, j, k, l, p, a),
    total(Pi[i, j] * total(H[g, j, k] * X[k, a] * M[g, a, b], g, k, a), j),
    given=[product_is(Pi.T, Pi, 1)],
    uses=["mixing"],
    title="Reordered tokens and weights give reordered outputs, for any number of heads",
)

derivation.refute(
    "any-rotation",
    softmax(Pi @ S @ Pi.T),
    Pi @ softmax(S) @ Pi.T,
    at={Pi: [[1, 0], [0, -1]], S: [[0, 0], [0, 0]]},
    title="Softmax does not commute with every orthogonal matrix",
)


def output(first, second):
    """Feature b of a query's output from two tokens, in this order, and the further ones, summed over all heads."""
    near = [(exp((Q @ token)[g]), token[a]) for token in (first, second)]
    far = exp((Q @ R.T)[g, r])
    mean = (near[0][0] * near[0][1] + near[1][0] * near[1][1] + total(far * R[r, a], r)) / (near[0][0] + near[1][0] + total(far, r))
    return total(mean * M[g, a, b], g, a)


whole = "snippets.order.permutation.output_of_one_query"
derivation.identity(
    "any-query",
    output(x, y),
    output(y, x),
    code=[(whole, Q, ("snippets.order.permutation.sequence", x, y, R), M), (whole, Q, ("snippets.order.permutation.sequence", y, x, R), M)],
    title="Exchanging two tokens does not change the output of any query",
)

derivation.identity(
    "pooled",
    u @ ((eye(n) + D) @ Y),
    u @ Y,
    given=[product_is(u, D, 0)],
    title="A row that $D$ maps to zero gives the same sum of outputs",
)

derivation.refute(
    "invariant",
    softmax((Pi @ X) @ (Pi @ X).T) @ (Pi @ X),
    softmax(X @ X.T) @ X,
    at={Pi: [[0, 1], [1, 0]], X: [[0], [1]]},
    code=[("snippets.attention.basic.basic_attention", ("snippets.order.permutation.reorder", Pi, X))],
    title="Self-attention is not invariant under permutations",
)

derivation.refute(
    "causal",
    (exp(t * s) * s + exp(t * t) * t) / (exp(t * s) + exp(t * t)),
    t,
    at={s: 0, t: 1},
    title="With a causal mask, a token's output depends on whether it comes first or second",
)

if __name__ == "__main__":
    derivation.main()
