"""The language-model head: logits, cross-entropy and its gradients, and the limit that the width puts on distributions."""

from derivations.kernel import (
    Derivation,
    diff,
    exp,
    eye,
    index,
    largest,
    log,
    matrix,
    ones,
    rank,
    sizes,
    softmax,
    total,
    vector,
)

n, N, d, L = sizes("n N d L")
H, U = matrix("H", n, d), matrix("U", N, d)  # what comes out of the blocks, and the output embeddings, a row for each token
z, x, t, v = vector("z", N), vector("x", d), vector("t", N), matrix("v", 1, d)
Z = matrix("Z", n, N)
p, q = vector("p", n), vector("q", N)
i, g, w, k = index("i", N), index("g", N), index("w", N), index("k", N)
a, r, s = index("a", d), index("r", n), index("s", n)

derivation = Derivation("The language-model head")


def loss(logits):
    """The cross-entropy of token g."""
    return log(total(exp(logits[w]), w)) - logits[g]


derivation.identity(
    "loss",
    -log(softmax(z)[g]),
    loss(z),
    code=[("snippets.layers.head.token_losses", z)],
    title="Cross-entropy: the log-sum-exp of the logits, minus the logit of the token that came",
)

derivation.identity(
    "error",
    diff(loss(z), z[i]),
    softmax(z)[i] - eye(N)[i, g],
    uses=["loss"],
    code=[("snippets.layers.head.logit_gradients", z)],
    title="The gradient of cross-entropy: the prediction, minus the token that came",
)

derivation.identity(
    "pull",
    diff(loss(U @ x), x[a]),
    (softmax(U @ x) @ U)[a] - U[g, a],
    uses=["error"],
    code=[("snippets.layers.head.feature_gradients", x, U)],
    title="The gradient of the final vector: the mean embedding predicted, minus the one that came",
)

derivation.identity(
    "shift",
    softmax((U + ones(N, 1) @ v) @ x),
    softmax(U @ x),
    uses=["simplify/softmax#shift"],
    title="A vector added to every output embedding changes no probability",
)

derivation.identity(
    "still",
    total(diff(loss(U @ x), U[i, a]), i),
    0,
    uses=["error"],
    title="The mean of the output embeddings gets no gradient",
)

derivation.inequality(
    "never-first",
    (softmax(t) @ U) @ x,
    largest(U @ x),
    because=total(softmax(t)[i] * (largest(U @ x) - (U @ x)[i]), i),
    uses=["simplify/softmax#sums-to-one"],
    title="The logit of a mean of embeddings is at most the largest logit",
)

derivation.identity(
    "centred",
    log(softmax(H @ U.T)[r, i]) - total(log(softmax(H @ U.T)[r, w]), w) / N,
    (H @ (U - (ones(N, N) @ U) / N).T)[r, i],
    uses=["softmax/distribution#log-odds"],
    code=[("snippets.layers.head.centred_logs", H, U)],
    title="Log-probabilities, minus the mean of their row, are a product of two matrices",
)

derivation.inequality(
    "bottleneck",
    rank(H @ (U - (ones(N, N) @ U) / N).T),
    d,
    because=(H, (U - (ones(N, N) @ U) / N).T),
    uses=["centred"],
    title="The softmax bottleneck: the rank is at most the width",
)

A = matrix("A", N, 1)  # output embeddings of width one
y = matrix("y", n, 1)


def gap(logs, row, token):
    """The difference of two log-probabilities: a token's, minus that of token k."""
    return logs[row, token] - logs[row, k]


narrow = y @ A.T
derivation.identity(
    "width-one",
    (log(softmax(narrow)[r, i]) - log(softmax(narrow)[r, k])) * (log(softmax(narrow)[s, g]) - log(softmax(narrow)[s, k])),
    (log(softmax(narrow)[r, g]) - log(softmax(narrow)[r, k])) * (log(softmax(narrow)[s, i]) - log(softmax(narrow)[s, k])),
    uses=["softmax/distribution#log-odds"],
    title="At width one, the gaps of two contexts are proportional",
)

derivation.refute(
    "any-distribution",
    (log(softmax(Z)[r, i]) - log(softmax(Z)[r, k])) * (log(softmax(Z)[s, g]) - log(softmax(Z)[s, k])),
    (log(softmax(Z)[r, g]) - log(softmax(Z)[r, k])) * (log(softmax(Z)[s, i]) - log(softmax(Z)[s, k])),
    at={Z: [[1, 0, 0], [0, 1, 0]], r: 1, s: 2, i: 1, g: 2, k: 3},
    title="For arbitrary logits, the gaps of two contexts need not be proportional",
)

derivation.identity(
    "share",
    N * d / (N * d + L * (12 * d**2)),
    N / (N + 12 * L * d),
    uses=["around/transformer#parameters"],
    code=[("snippets.layers.head.table_share", N, d, L)],
    title="The table's share of a tied model, without vectors",
)

derivation.identity(
    "start",
    log(total(exp(0 * z[w]), w)),
    log(N),
    title="If all logits are zero, the loss is the logarithm of the number of tokens",
)

derivation.identity(
    "errors-sum",
    total(diff(loss(z), z[i]), i),
    0,
    uses=["error", "simplify/softmax#sums-to-one"],
    title="The gradient with respect to the logits sums to zero",
)

if __name__ == "__main__":
    derivation.main()
