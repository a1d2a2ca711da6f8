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
    title="A projection taken out of the stacked matrix",
)

O, E = symbol("O", "real", (h, n, d_v)), symbol("E", "real", (h, d_v, w))  # the outputs of all heads; selectors of their columns
W_O = matrix("W_O", w, d)
i, t, f, r, s = index("i", h), index("t", n), index("f", d_v), index("r", w), index("s", d)

derivation.chain(
    "concat",
    total(total(total(O[i, t, f] * E[i, f, r], f), i) * W_O[r, s], r),
    (total(total(total(O[i, t, f] * E[i, f, r], f) * W_O[r, s], r), i), "multiply each head's columns by $W_O$, and add up"),
    (total(total(O[i, t, f] * total(E[i, f, r] * W_O[r, s], r), f), i), "regroup: the inner sum is the head's block of rows of $W_O$"),
    uses=["heads/split#all-heads-add"],
    title="Concatenated heads times $W_O$: a sum over heads, each times its block",
)

derivation.chain(
    "renamed",
    (X @ W_K) @ (Z @ W_Q).T,
    (X @ (W_K @ W_Q.T) @ Z.T, "a transpose reverses a product; regroup"),
    (X @ (W_Q @ W_K.T).T @ Z.T, "the same rule, for the product in the middle"),
    uses=["simplify/bilinear#merged"],
    code=[("snippets.attention.formula.scores", X @ W_K, Z @ W_Q, {"scale": 1})],
    title="Swapped projections transpose the product of the two matrices",
)

derivation.refute(
    "by-name",
    (X @ W_K) @ (X @ W_Q).T,
    (X @ W_Q) @ (X @ W_K).T,
    at={X: [[1, 0], [0, 1]], W_Q: [[1], [0]], W_K: [[0], [1]]},
    title="Loading weights into swapped names changes the scores",
)

derivation.chain(
    "wrong-scale",
    Q @ K.T / sqrt(h * d_k),
    ((Q @ K.T / sqrt(d_k)) / sqrt(h), "take the number of heads out of the root"),
    (((1 / sqrt(h)) * Q) @ K.T / sqrt(d_k), "a scalar moves through a product"),
    uses=["associativity/products#scalar"],
    title="Scaling by the whole width divides scores by another root",
)

derivation.identity(
    "wrong-variance",
    Var(q @ k / sqrt(h * d_k)),
    1 / h,
    given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
    uses=["scaling/variance#scaled"],
    title="Scaled by the whole width, scores have variance one over the number of heads",
)

x, y, z = vector("x", d), vector("y", d), vector("z", d)
W_S, W_B = symbol("A", "real", (h, d, d)), symbol("B", "real", (h, d, d))  # each head's two merged matrices
g, j, a, b, c = index("g", h), index("j", m), index("a", d), index("b", d), index("c", d)
T = derivation.define("T", each(total(x[a] * W_S[g, a, b], a), g, b), title="The query, mapped by each head's merged matrix, $T$")


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
    title="Swapping two tokens of the context does not change the output",
)

if __name__ == "__main__":
    derivation.main()
