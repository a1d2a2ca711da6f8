"""The multi-head layer as a module, and what two slips of naming and scale do."""

from derivations.kernel import (
    Derivation,
    Var,
    each,
    exp,
    independent,
    index,
    matrix,
    mean,
    product_is,
    random,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.core.expr import symbol

n, m, d, d_k, d_v, h, w = sizes("n m d d_k d_v h w")
X, Z = matrix("X", n, d), matrix("Z", m, d)
W_Q, W_K = matrix("W_Q", d, d_k), matrix("W_K", d, d_k)
W_V = matrix("W_V", d, d_v)
Q, K = matrix("Q", n, d_k), matrix("K", m, d_k)
q, k = random("q", d_k), random("k", d_k)

derivation = Derivation("The multi-head layer")

derivation.define(
    "H",
    softmax((X @ W_Q) @ (Z @ W_K).T / sqrt(d_k)) @ (Z @ W_V),
    code=[("snippets.heads.module.one_head", X, Z, W_Q, W_K, W_V)],
    title="One head, $H$",
)

B_1, B_2 = matrix("B_1", d_k, d), matrix("B_2", d_k, d)  # the transposes of two projections, as PyTorch stores them
E_1, E_2 = matrix("E_1", d_k, w), matrix("E_2", d_k, w)  # selectors: which of all the rows are whose
derivation.identity(
    "stacked",
    X @ (E_1.T @ B_1 + E_2.T @ B_2).T @ E_1.T,
    X @ B_1.T,
    given=[product_is(E_1, E_1.T, 1), product_is(E_2, E_1.T, 0)],
    uses=["heads/split#combine-split"],
    title="Projections stacked in one matrix",
)

derivation.chain(
    "renamed",
    (X @ W_K) @ (Z @ W_Q).T,
    (X @ (W_K @ W_Q.T) @ Z.T, "a transpose reverses a product; regroup"),
    (X @ (W_Q @ W_K.T).T @ Z.T, "again"),
    uses=["simplify/bilinear#merged"],
    code=[("snippets.attention.formula.scores", X @ W_K, Z @ W_Q, {"scale": 1})],
    title="Queries from the layer named key: the product of the two matrices is transposed",
)

derivation.refute(
    "by-name",
    (X @ W_K) @ (X @ W_Q).T,
    (X @ W_Q) @ (X @ W_K).T,
    at={X: [[1, 0], [0, 1]], W_Q: [[1], [0]], W_K: [[0], [1]]},
    title="Weights loaded by name do not survive it",
)

derivation.chain(
    "wrong-scale",
    Q @ K.T / sqrt(h * d_k),
    ((Q @ K.T / sqrt(d_k)) / sqrt(h), "take the number of heads out of the root"),
    (((1 / sqrt(h)) * Q) @ K.T / sqrt(d_k), "a scalar moves through a product"),
    uses=["associativity/products#scalar"],
    title="The scale of the whole width is too small by the root of the number of heads",
)

derivation.identity(
    "wrong-variance",
    Var(q @ k / sqrt(h * d_k)),
    1 / h,
    given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
    uses=["scaling/variance#scaled"],
    title="Its scores have variance one over the number of heads",
)

x, y, z = vector("x", d), vector("y", d), vector("z", d)
W_S, W_B = symbol("A", "real", (h, d, d)), symbol("B", "real", (h, d, d))  # each head's two merged matrices
g, j, a, b, c = index("g", h), index("j", m), index("a", d), index("b", d), index("c", d)
T = derivation.define("T", each(total(x[a] * W_S[g, a, b], a), g, b), title="A query as each head compares it with keys, $T$")


def weight(key):
    """What a key counts for in head g, before the weights are normalised, for a query x."""
    return exp(total(T[g, b] * key(b), b))


def brought(key):
    return total(key(a) * W_B[g, a, c], a)


def output(first, second):
    """Feature c of the output for x, whose context is two tokens and then m others."""
    tokens = [lambda b: first[b], lambda b: second[b]]

    def others(b):
        return Z[j, b]

    one, other = tokens
    above = weight(one) * brought(one) + weight(other) * brought(other) + total(weight(others) * brought(others), j)
    below = weight(one) + weight(other) + total(weight(others), j)
    return total(above / below, g)


derivation.identity(
    "no-order",
    output(y, z),
    output(z, y),
    title="No number of heads recovers the order of the words",
)

if __name__ == "__main__":
    derivation.main()
