"""The attention formula in five steps, each also entry by entry, and a self-attention layer with four matrices."""

from derivations.kernel import Derivation, Var, exp, independent, index, matrix, mean, random, sizes, softmax, sqrt, total, variance

n, m, d, d_k, d_v = sizes("n m d d_k d_v")
Q, K, V, M = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("V", m, d_v), matrix("M", n, m)
X = matrix("X", n, d)
W_Q, W_K, W_V, W_O = matrix("W_Q", d, d_k), matrix("W_K", d, d_k), matrix("W_V", d, d_v), matrix("W_O", d_v, d)
U_Q, U_K, U_V, U_O = matrix("U_Q", d, d_k), matrix("U_K", d, d_k), matrix("U_V", d, d_v), matrix("U_O", d_v, d)
q, k = random("q", d_k), random("k", d_k)
i, j, l, a, b = index("i", n), index("j", m), index("l", m), index("a", d_k), index("b", d_v)

scores = "snippets.attention.formula.scores"
mask_scores = "snippets.attention.masks.mask_scores"

derivation = Derivation("The formula, taken apart")

products = derivation.define(
    "A",
    Q @ K.T,
    code=[(scores, Q, K, {"scale": 1})],
    title="Step 1: the products $A$ of every query with every key",
)

derivation.identity("one-product", products[i, j], total(Q[i, a] * K[j, a], a), title="An entry of $A$ is a dot product")

scaled = derivation.define("C", products / sqrt(d_k), code=[(scores, Q, K)], title="Step 2: the scaled products $C$")

masked = derivation.define(
    "S", scaled + M, code=[(mask_scores, (scores, Q, K), {"attn_mask": M})], title="Step 3: the mask is added, which gives the scores $S$"
)

derivation.identity(
    "one-score",
    masked[i, j],
    total(Q[i, a] * K[j, a], a) / sqrt(d_k) + M[i, j],
    uses=["one-product"],
    title="One score",
)

weights = derivation.define("P", softmax(masked), title="Step 4: the weights $P$ are the softmax of every row")

derivation.chain(
    "one-weight",
    weights[i, j],
    (exp(masked[i, j]) / total(exp(masked[i, l]), l), "write softmax out"),
    (exp(scaled[i, j]) * exp(M[i, j]) / total(exp(scaled[i, l]) * exp(M[i, l]), l), "the exponential of a sum is a product"),
    title="One weight: an added mask multiplies the exponentials",
)

output = derivation.define("O", weights @ V, title="Step 5: the output $O$ is the weights times the values")

derivation.identity(
    "formula",
    output,
    softmax(Q @ K.T / sqrt(d_k) + M) @ V,
    code=[
        ("snippets.attention.formula.attention_steps[4]", Q, K, V, {"attn_mask": M}),
        ("snippets.attention.formula.attention", Q, K, V, {"attn_mask": M}),
    ],
    title="Scaled dot-product attention with an additive mask",
)

derivation.chain(
    "one-output",
    output[i, b],
    (total(weights[i, j] * V[j, b], j), "write the product out"),
    (total(exp(masked[i, j]) * V[j, b], j) / total(exp(masked[i, l]), l), "insert the weights; they share a denominator"),
    uses=["one-weight"],
    title="One entry of the output",
)


def block(x, w_q, w_k, w_v, w_o):
    return softmax((x @ w_q) @ (x @ w_k).T / sqrt(d_k)) @ (x @ w_v) @ w_o


once = derivation.define(
    "Y",
    block(X, W_Q, W_K, W_V, W_O),
    code=[("snippets.attention.formula.self_attention", X, W_Q, W_K, W_V, W_O)],
    title="Self-attention $Y$: queries, keys and values from one input",
)

derivation.define(
    "Y_2",
    block(once, U_Q, U_K, U_V, U_O),
    code=[
        (
            "snippets.attention.formula.self_attention",
            ("snippets.attention.formula.self_attention", X, W_Q, W_K, W_V, W_O),
            U_Q,
            U_K,
            U_V,
            U_O,
        )
    ],
    title="A second layer $Y_2$ takes the output of the first",
)

derivation.identity(
    "slip-is-a-temperature",
    Q @ K.T / sqrt(d_k * d_v),
    Q @ K.T / sqrt(d_k) / sqrt(d_v),
    code=[("snippets.attention.formula.scores_by_both_widths_wrong", Q, K, V)],
    title="With both widths under the root, the scores are divided twice",
)

derivation.identity(
    "slip-variance",
    Var((q @ k) / sqrt(d_k * d_v)),
    1 / d_v,
    given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
    uses=["scaling/variance#variance"],
    title="With both widths under the root, the variance is one over $d_v$",
)

derivation.refute(
    "slip-matters",
    softmax(Q @ K.T / sqrt(d_k * d_v)),
    softmax(Q @ K.T / sqrt(d_k)),
    at={d_v: 4, Q: [[1]], K: [[1], [0]]},
    title="Dividing by the root of both widths changes the weights",
)

if __name__ == "__main__":
    derivation.main()
