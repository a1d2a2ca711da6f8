"""What the biases of attention do and do not do, and how many parameters there are."""

from derivations.kernel import Derivation, diff, index, matrix, ones, sizes, softmax, sqrt

n, m, d, d_k, d_v, h = sizes("n m d d_k d_v h")
Q, K, V, S, P = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("V", m, d_v), matrix("S", n, m), matrix("P", n, m)
b_Q, b_K, b_V, b_O = matrix("b_Q", 1, d_k), matrix("b_K", 1, d_k), matrix("b_V", 1, d_v), matrix("b_O", 1, d)  # rows
W_O, B = matrix("W_O", d_v, d), matrix("B", m, d_k)
R, U, b_U, W_U = matrix("R", n, m), matrix("U", m, d_v), matrix("b_U", 1, d_v), matrix("W_U", d_v, d)  # a second head
i, j, r = index("i", n), index("j", m), index("r", d_k)
rows, keys = ones(n, 1), ones(m, 1)

derivation = Derivation("Parameters that do nothing")

derivation.chain(
    "key-bias",
    softmax(Q @ (K + keys @ b_K).T / sqrt(d_k)),
    (softmax(Q @ K.T / sqrt(d_k) + (Q @ b_K.T / sqrt(d_k)) @ keys.T), "multiply out: every score of a row gains one number"),
    (softmax(Q @ K.T / sqrt(d_k)), "softmax ignores a number that is added to all scores of a row"),
    uses=["simplify/softmax#shift"],
    code=[
        ("snippets.heads.parameters.weights_with_biases", Q, K, {"key_bias": b_K}),
        ("snippets.attention.formula.attention_weights", Q, K),
    ],
    title="A bias that all keys share does not change the weights",
)

derivation.identity(
    "key-bias-gradient",
    diff(softmax(Q @ (K + keys @ b_K).T)[i, j], b_K[1, r]),
    0,
    uses=["key-bias"],
    title="A bias of the keys gets no gradient",
)

derivation.refute(
    "query-bias",
    softmax((Q + rows @ b_Q) @ K.T),
    softmax(Q @ K.T),
    at={Q: [[0]], b_Q: [[1]], K: [[0], [1]]},
    title="A bias of the queries changes the weights",
)

derivation.refute(
    "turned-key-bias",
    softmax(Q @ (K + B).T),
    softmax(Q @ K.T),
    at={Q: [[1, 0]], K: [[0, 0], [0, 0]], B: [[1, 0], [0, 1]]},
    title="A bias that differs from key to key changes the weights",
)

derivation.chain(
    "value-bias",
    softmax(S) @ (V + keys @ b_V),
    (softmax(S) @ V + (softmax(S) @ keys) @ b_V, "multiply out"),
    (softmax(S) @ V + rows @ b_V, "the weights of each row sum to one"),
    uses=["simplify/softmax#sums-to-one"],
    title="A bias of the values passes through the weights unchanged",
)

derivation.chain(
    "fold",
    softmax(S) @ (V + keys @ b_V) @ W_O + rows @ b_O,
    ((softmax(S) @ V + rows @ b_V) @ W_O + rows @ b_O, "the bias passes through the weights"),
    (softmax(S) @ V @ W_O + rows @ (b_V @ W_O + b_O), "regroup"),
    uses=["value-bias"],
    title="A bias of the values can be folded into the bias of the output",
)

derivation.identity(
    "fold-heads",
    softmax(S) @ (V + keys @ b_V) @ W_O + softmax(R) @ (U + keys @ b_U) @ W_U,
    softmax(S) @ V @ W_O + softmax(R) @ U @ W_U + rows @ (b_V @ W_O + b_U @ W_U),
    uses=["fold"],
    title="The biases of two heads fold into one",
)

derivation.refute(
    "dropped-weights",
    P @ (V + keys @ b_V),
    P @ V + rows @ b_V,
    at={P: [[0]], V: [[0]], b_V: [[1]]},
    title="Without weights that sum to one, the bias changes",
)

derivation.define(
    "N_w",
    h * (2 * d * d_k + d * d_v) + h * d_v * d,
    code=[("snippets.heads.parameters.weight_count", d, h, d_k, d_v)],
    title="The number of weights in $h$ heads, $N_w$",
)
derivation.define(
    "N_b",
    h * (2 * d_k + d_v) + d,
    code=[("snippets.heads.parameters.bias_count", d, h, d_k, d_v)],
    title="The number of biases in $h$ heads, $N_b$",
)
derivation.identity(
    "count",
    h * (2 * d * (d / h) + d * (d / h)) + h * (d / h) * d,
    4 * d**2,
    uses=["define-n-w"],
    title="If heads share the width, the number of weights is independent of $h$",
)
derivation.identity(
    "count-biases",
    h * (2 * (d / h) + d / h) + d,
    4 * d,
    uses=["define-n-b"],
    title="If heads share the width, the number of biases is independent of $h$",
)

if __name__ == "__main__":
    derivation.main()
