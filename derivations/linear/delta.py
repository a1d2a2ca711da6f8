"""The delta rule: one step of gradient descent on the newest token, what it stores and leaves unchanged, and linear attention's loss."""

from derivations.kernel import Derivation, array, diff, each, eye, index, matrix, nonzero, product_is, scalars, sizes, total, zeros

d_k, d_v = sizes("d_k d_v")
S = matrix("S", d_k, d_v)
k, q, v = matrix("k", 1, d_k), matrix("q", 1, d_k), matrix("v", 1, d_v)
g, u = matrix("g", 1, d_k), matrix("u", 1, d_v)  # an earlier key and its value
alpha, beta = scalars("alpha beta")
s, o = index("s", d_k), index("o", d_v)

chapter = "snippets.linear.delta."
length = total(k[1, s] ** 2, s)
product = total(k[1, s] * g[1, s], s)

derivation = Derivation("The delta rule")

loss = derivation.define(
    "L",
    total(((k @ S)[1, o] - v[1, o]) ** 2, o) / 2,
    code=[(chapter + "squared_error", S, k, v)],
    title="The loss: half the squared error of what the newest key reads",
)

gradient = each(diff(loss, S[s, o]), s, o)
stepped = S + beta * (k.T @ (v - k @ S))

derivation.chain(
    "step",
    S - beta * gradient,
    (S - beta * (k.T @ (k @ S - v)), "the gradient is the key times the error of what is read"),
    (stepped, "move the sign into the brackets"),
    ((eye(d_k) - beta * (k.T @ k)) @ S + beta * (k.T @ v), "regroup: the old state times a matrix, and the new value"),
    code=[(chapter + "delta_step", S, k, v, {"beta": beta})],
    title="The delta rule is one step of gradient descent on the newest token",
)

derivation.identity(
    "error",
    v - k @ stepped,
    (1 - beta * length) * (v - k @ S),
    uses=["step"],
    title="A step multiplies the error by one factor",
)

derivation.identity(
    "exact",
    k @ (S + (1 / length) * (k.T @ (v - k @ S))),
    v,
    given=[nonzero(length)],
    uses=["error"],
    title="At a rate of one over its squared length, the key reads exactly its new value",
)

derivation.identity(
    "elsewhere",
    q @ stepped,
    q @ S,
    given=[product_is(q, k.T, 0)],
    uses=["step"],
    title="A query at a right angle to the key reads the same as before",
)

derivation.identity(
    "additive",
    S - beta * each(diff(-total((k @ S)[1, o] * v[1, o], o), S[s, o]), s, o),
    S + beta * (k.T @ v),
    code=[(chapter + "additive_step", S, k, v, {"beta": beta})],
    title="Linear attention descends minus the product of what is read and the value",
)

derivation.identity(
    "at-zero",
    S - beta * (k.T @ (k @ zeros(d_k, d_v) - v)),
    S + beta * (k.T @ v),
    uses=["step"],
    title="Linear attention takes the gradient of the squared error at the empty state",
)

derivation.refute(
    "not-squared",
    S + k.T @ v,
    S - gradient,
    at={S: [[1]], k: [[1]], v: [[1]]},
    code=[(chapter + "additive_step", S, k, v, {"beta": 1})],
    title="Linear attention is not gradient descent on the squared error, token by token",
)

derivation.identity(
    "difference",
    (S + beta * (k.T @ v)) - stepped,
    (beta * (k.T @ k)) @ S,
    uses=["step"],
    title="Linear attention's update less the delta rule's",
)

derivation.identity(
    "reflection",
    (eye(d_k) - (2 / length) * (k.T @ k)) @ (eye(d_k) - (2 / length) * (k.T @ k)),
    eye(d_k),
    given=[nonzero(length)],
    title="At twice that rate, the matrix is a reflection: its square is the identity",
)

derivation.identity(
    "exercise-two-tokens",
    (eye(d_k) - beta * (k.T @ k)) @ (alpha * (g.T @ u)) + beta * (k.T @ v),
    alpha * (g.T @ u) + beta * (k.T @ v) - (alpha * beta * product) * (k.T @ u),
    title="Two tokens by the delta rule",
)

derivation.identity(
    "exercise-two-keys",
    (eye(d_k) - beta * (k.T @ k)) @ (eye(d_k) - alpha * (g.T @ g)),
    eye(d_k) - alpha * (g.T @ g) - beta * (k.T @ k) + (alpha * beta * product) * (k.T @ g),
    title="Two steps as one matrix",
)

derivation.identity(
    "exercise-swap",
    eye(2) - array([[1], [-1]]) @ array([[1, -1]]),
    array([[0, 1], [1, 0]]),
    title="A step that swaps the two rows of a state",
)

if __name__ == "__main__":
    derivation.main()
