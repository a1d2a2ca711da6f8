"""The backward pass of attention by hand: gradients of a loss with respect to values, weights, scores, queries and keys."""

from derivations.kernel import Derivation, diff, exp, eye, index, log, matrix, ones, paren, sizes, softmax, sqrt, total, vector

n, m, d_k, d_v = sizes("n m d_k d_v")
Q, K, V, G = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("V", m, d_v), matrix("G", n, d_v)
W, Z, v = matrix("W", n, m), matrix("Z", n, m), matrix("v", 1, d_v)
z, x = vector("z", m), vector("x", m)
i, r, j, l, s = index("i", n), index("r", n), index("j", m), index("l", m), index("s", m)
a, b, o, c = index("a", d_k), index("b", d_k), index("o", d_v), index("c", d_v)

snippets = "snippets.blocks.backward."
log_sums, output = (snippets + "log_sums", Q, K), ("snippets.attention.formula.attention", Q, K, V)


def loss(outputs):
    """A loss that is linear in the outputs, with gradient G."""
    return total(G[r, c] * outputs[r, c], r, c)


def both(part):
    """The two snippets that give the gradients of queries (0), keys (1) and values (2)."""
    return [
        (f"{snippets}backward[{part}]", Q, K, V, G),
        (f"{snippets}backward_in_blocks[{part}]", Q, K, V, output, log_sums, G, {"block_size": 2}),
    ]


derivation = Derivation("The way back")

S = derivation.define("S", Q @ K.T / sqrt(d_k), code=[("snippets.attention.formula.scores", Q, K)], title="The scores $S$")
P = derivation.define("P", softmax(S), code=[("snippets.attention.formula.attention_weights", Q, K)], title="The weights $P$")
O = derivation.define("O", P @ V, code=[output], title="The outputs $O$")
L = derivation.define("L", loss(O), title="A loss $L$ with gradient $G$ with respect to the outputs")

derivation.identity("values", diff(L, V[j, o]), (P.T @ G)[j, o], code=both(2), title="The gradient of the values")

derivation.identity("weights", diff(loss(W @ V), W[i, j]), (G @ V.T)[i, j], title="The gradient of the weights")

derivation.chain(
    "scores",
    diff(loss(softmax(Z) @ V), Z[i, j]),
    (softmax(Z)[i, j] * ((G @ V.T)[i, j] - total(softmax(Z)[i, l] * (G @ V.T)[i, l], l)), "back through softmax"),
    (softmax(Z)[i, j] * ((G @ V.T)[i, j] - total(G[i, o] * (softmax(Z) @ V)[i, o], o)), "the same mean, from the output"),
    code=[
        (snippets + "score_gradients", softmax(Z), G @ V.T, (snippets + "row_sums", G, softmax(Z) @ V)),
        ("snippets.softmax.jacobian.through_softmax", softmax(Z), G @ V.T),
    ],
    uses=["weights", "softmax/jacobian#backward"],
    title="The gradient of the scores",
)

D = derivation.define(
    "D",
    paren(G * O) @ ones(d_v, 1),
    code=[(snippets + "row_sums", G, output)],
    title="One number for each query, $D$",
)

derivation.chain(
    "mean",
    total(P[i, j] * (G @ V.T)[i, j], j),
    (total(P[i, j] * G[i, o] * V[j, o], j, o), "write the product out"),
    (total(G[i, o] * total(P[i, j] * V[j, o], j), o), "sum over the keys first"),
    (total(G[i, o] * O[i, o], o), "that sum is an output"),
    (D[i, 1], "a sum over a row"),
    title="The mean of the weights' gradients, from the output and its gradient",
)

R = derivation.define(
    "R",
    P * (G @ V.T - D @ ones(1, m)),
    code=[(snippets + "score_gradients", P, G @ V.T, D)],
    title="The gradient of the scores as a matrix, $R$",
)

derivation.identity(
    "rows",
    total(R[i, j], j),
    0,
    uses=["scores", "mean", "softmax/jacobian#backward-sum"],
    title="The scores' gradients of each query sum to zero",
)

derivation.identity(
    "queries", diff(L, Q[i, a]), (R @ K)[i, a] / sqrt(d_k), code=both(0), uses=["scores", "mean"], title="The gradient of the queries"
)

derivation.identity(
    "keys", diff(L, K[j, a]), (R.T @ Q)[j, a] / sqrt(d_k), code=both(1), uses=["scores", "mean"], title="The gradient of the keys"
)

derivation.identity(
    "keys-sum",
    total(R[i, j] * Q[i, a] / sqrt(d_k), j),
    0,
    uses=["keys", "rows"],
    title="The gradients that a query sends to all keys sum to zero",
)

derivation.identity(
    "balance",
    total(Q[i, a] * diff(L, Q[i, b]), i),
    total(diff(L, K[j, a]) * K[j, b], j),
    uses=["queries", "keys"],
    title="Queries times their gradients equal keys times their gradients",
)

derivation.identity(
    "shifted-values",
    diff(loss(softmax(Z) @ (V + ones(m, 1) @ v)), Z[i, j]),
    diff(loss(softmax(Z) @ V), Z[i, j]),
    uses=["scores"],
    title="A vector added to all values changes no score's gradient",
)

p = derivation.define("p", softmax(z), id="define-p-row", title="The weights $p$ of one query")

derivation.inequality(
    "size",
    total((p[j] * (x[j] - total(p[l] * x[l], l))) ** 2, j),
    total(p[j] * (x[j] - total(p[l] * x[l], l)) ** 2, j),
    because=total((1 - eye(m)[j, s]) ** 2 * p[j] * p[s] * (x[j] - total(p[l] * x[l], l)) ** 2, j, s),
    uses=["scores"],
    title="The squared gradients of a query's scores sum to at most a variance",
)

derivation.identity(
    "again",
    P[i, j],
    exp(S[i, j] - log(total(exp(S[i, l]), l))),
    code=[(snippets + "weights_again", Q, K, log_sums)],
    title="The weights, recomputed from one number per query",
)

derivation.refute(
    "no-mean",
    R,
    P * (G @ V.T),
    at={Q: [[0]], K: [[0], [0]], V: [[1], [0]], G: [[1]]},
    uses=["scores"],
    title="Without the mean, the scores' gradients are wrong",
)

derivation.refute(
    "no-scale",
    R @ K / sqrt(d_k),
    R @ K,
    at={Q: [[0, 0]], K: [[1, 0], [0, 0]], V: [[1], [0]], G: [[1]]},
    code=both(0)[:1],
    uses=["queries"],
    title="Without the scale, the queries' gradients are wrong",
)

if __name__ == "__main__":
    derivation.main()
