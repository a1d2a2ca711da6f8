"""Attention as gradient descent: linear attention as a step of training, and softmax attention as a step of a memory."""

from derivations.kernel import Derivation, diff, each, exp, index, log, matrix, nonzero, scalars, sizes, softmax, total, vector, zeros

n, d, d_v = sizes("n d d_v")
K, V, W = matrix("K", n, d), matrix("V", n, d_v), matrix("W", d, d_v)
q, X, x, B = matrix("q", 1, d), matrix("X", n, d), vector("x", d), matrix("B", 1, d)
beta, eta = scalars("beta eta")
i, a, b, o = index("i", n), index("a", d), index("b", d), index("o", d_v)

chapter = "snippets.predecessors.memory."

derivation = Derivation("A step of gradient descent")

loss = derivation.define(
    "L",
    total((total(K[i, a] * W[a, o], a) - V[i, o]) ** 2, i, o) / 2,
    code=[(chapter + "linear_layer_loss", W, K, V)],
    title="The loss of a linear layer: half the sum of squared errors",
)

derivation.identity(
    "slope",
    diff(loss, W[b, o]),
    (K.T @ (K @ W - V))[b, o],
    title="The gradient of the loss",
)

derivation.identity(
    "step",
    q @ (W - eta * (K.T @ (K @ W - V))),
    q @ W + eta * ((q @ K.T) @ (V - K @ W)),
    code=[(chapter + "ask_after_step", q, W, K, V, {"rate": eta}), (chapter + "attend_to_errors", q, W, K, V, {"rate": eta})],
    uses=["slope"],
    title="One gradient step adds linear attention over the errors",
)

derivation.identity(
    "first-step",
    q @ (zeros(d, d_v) - eta * (K.T @ (K @ zeros(d, d_v) - V))),
    (eta * (q @ K.T)) @ V,
    uses=["step"],
    title="From a zero layer, one gradient step gives linear attention",
)

energy = derivation.define(
    "E",
    (x @ x) / 2 - log(total(exp(beta * (X @ x)[i]), i)) / beta,
    given=[nonzero(beta)],
    code=[(chapter + "hopfield_energy", x, X, {"beta": beta})],
    title="The energy of a state, with the stored patterns as rows of $X$",
)

recalled = softmax(beta * (X @ x)) @ X

derivation.identity(
    "energy-slope",
    diff(energy, x[a]),
    x[a] - recalled[a],
    given=[nonzero(beta)],
    title="The gradient of the energy: the state minus an attention output",
)

derivation.chain(
    "recall",
    x - each(diff(energy, x[a]), a),
    (x - (x - recalled), "the gradient at each entry"),
    (recalled, "the state cancels"),
    given=[nonzero(beta)],
    code=[(chapter + "hopfield_step", x, X, {"beta": beta})],
    uses=["energy-slope"],
    title="A gradient step of size one gives attention",
)

derivation.identity(
    "one-pattern",
    (softmax(beta * (B @ x)) @ B)[a],
    B[1, a],
    uses=["recall"],
    title="A single pattern is recalled in one step, from any state",
)

derivation.identity(
    "no-scores",
    (softmax(0 * (X @ x)) @ X)[a],
    total(X[i, a], i) / n,
    uses=["recall"],
    title="With a scale of zero, the mean of all patterns is recalled",
)

derivation.refute(
    "not-itself",
    softmax(X @ X.T) @ X,
    X,
    at={X: [[0], [1]]},
    code=[(chapter + "hopfield_step", X, X, {"beta": 1})],
    title="Two patterns are not recalled exactly",
)

if __name__ == "__main__":
    derivation.main()
