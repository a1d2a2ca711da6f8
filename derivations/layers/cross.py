"""Cross-attention: queries from one sequence, keys and values from another. Its derivatives, its gate, and its cache."""

from derivations.kernel import Derivation, diff, exp, eye, index, log, matrix, ones, scalars, sizes, softmax, sqrt, total, vector

n, m, d, d_k, d_v, p, T = sizes("n m d d_k d_v p T")
X, Z, c = matrix("X", n, d), matrix("Z", m, d), matrix("c", 1, d)  # the tokens, the context, and a context of one row
W_Q, W_K, W_V = matrix("W_Q", d, d_k), matrix("W_K", d, d_k), matrix("W_V", d, d_v)
Q, K, V, S = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("V", m, d_v), matrix("S", n, m)
q, x, y, R = vector("q", d), vector("x", d), vector("y", d), matrix("R", p, d)  # a query in the context's space; rows of it
i, k, g = index("i", n), index("k", n), index("g", n)
j, l, r, f = index("j", m), index("l", m), index("r", d_k), index("f", d_v)
a, b = index("a", d), index("b", p)
s, t, A, B = vector("s", p), vector("t", m), matrix("A", p, d_v), matrix("B", m, d_v)  # scores with own tokens and with the context
u, w, o = scalars("u w o")
step = index("tau", T)

derivation = Derivation("Cross-attention")

derivation.define(
    "C",
    softmax((X @ W_Q) @ (Z @ W_K).T / sqrt(d_k)) @ (Z @ W_V),
    code=[("snippets.layers.cross.cross_attention", X, Z, W_Q, W_K, W_V)],
    title="Cross-attention $C$: queries from $X$, keys and values from $Z$",
)

weights = derivation.define(
    "P",
    softmax(Q @ K.T / sqrt(d_k)),
    code=[("snippets.attention.formula.attention_weights", Q, K)],
    title="The weights $P$ of each query over the context",
)
derivation.identity(
    "query-gradient",
    diff((weights @ V)[i, f], Q[g, r]),
    eye(n)[i, g] / sqrt(d_k) * (total(weights[i, j] * K[j, r] * V[j, f], j) - (weights @ K)[i, r] * (weights @ V)[i, f]),
    uses=["scaling/saturation#jacobian"],
    code=[("snippets.layers.cross.query_jacobian", Q, K, V)],
    title=r"An output's derivative with respect to its own query is a covariance over $\sqrt{d_k}$",
)


def output(first, second):
    """Feature a of the query's output, from two rows of context in this order, and further rows."""
    near = [(exp(q @ row), row[a]) for row in (first, second)]
    far = exp((R @ q)[b])
    mixed = near[0][0] * near[0][1] + near[1][0] * near[1][1] + total(far * R[b, a], b)
    return mixed / (near[0][0] + near[1][0] + total(exp((R @ q)[b]), b))


derivation.identity(
    "context-order",
    output(x, y),
    output(y, x),
    uses=["order/permutation#any-query"],
    title="Swapping two rows of the context changes no output",
)

derivation.identity(
    "one-row",
    softmax((X @ W_Q) @ (c @ W_K).T / sqrt(d_k)) @ (c @ W_V),
    ones(n, 1) @ (c @ W_V),
    code=[("snippets.layers.cross.cross_attention", X, c, W_Q, W_K, W_V)],
    title="With one row of context, every output is that row's value",
)

there, back = softmax(S), softmax(S.T)
derivation.refute(
    "both-ways",
    there[i, j],
    back[j, i],
    at={S: [[0, 0]], i: 1, j: 1},
    title="Weights normalised over keys differ from weights normalised over queries",
)

derivation.identity(
    "odds",
    (there[i, j] * there[k, l]) / (there[i, l] * there[k, j]),
    (back[j, i] * back[l, k]) / (back[l, i] * back[j, k]),
    code=[("snippets.layers.cross.odds_ratios", softmax(S))],
    title="Odds ratios of two queries and two keys are the same in both directions",
)

log_s, log_t = log(total(exp(s[b]), b)), log(total(exp(t[j]), j))
own, across = softmax(s) @ A, softmax(t) @ B
both = (exp(s) @ A + exp(t) @ B) / (total(exp(s[b]), b) + total(exp(t[j]), j))
derivation.identity(
    "gate",
    both,
    own + 1 / (1 + exp(log_s - log_t)) * (across - own),
    uses=["blocks/merge#averages"],
    code=[("snippets.layers.cross.over_both", s, A, t, B), ("snippets.layers.cross.gated_cross_attention", s, A, t, B)],
    title="One attention over both sequences is a gated mean of self- and cross-attention",
)

derivation.refute(
    "not-the-sum",
    both,
    own + across,
    at={s: [0], A: [[1]], t: [0], B: [[1]]},
    code=[("snippets.layers.cross.over_both", s, A, t, B)],
    title="One attention over both sequences is not the sum of the two attentions",
)

derivation.identity(
    "reads",
    total(step, step) - T * m,
    T * (T + 1 - 2 * m) / 2,
    code=[("snippets.layers.cross.reads_more", T, m)],
    title="Keys read by self-attention, minus those read by cross-attention, over $T$ steps",
)

derivation.identity(
    "twice",
    (2 * exp(u) * w + total(exp(t[j]) * B[j, f], j)) / (2 * exp(u) + total(exp(t[j]), j)),
    (exp(u + log(2)) * w + total(exp(t[j]) * B[j, f], j)) / (exp(u + log(2)) + total(exp(t[j]), j)),
    title="A row that occurs twice counts as if its score were higher by the logarithm of two",
)

derivation.identity(
    "no-gradient",
    diff((softmax((X @ W_Q) @ (c @ W_K).T) @ (c @ W_V))[i, f], W_Q[a, r]),
    0,
    uses=["one-row"],
    title="With one row of context, $W_Q$ gets no gradient",
)

if __name__ == "__main__":
    derivation.main()
