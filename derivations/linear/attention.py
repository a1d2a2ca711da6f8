"""Linear attention as a memory: a state that equals a masked product at every length, what it costs, and when it reads back exactly."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    E,
    eye,
    independent,
    index,
    matrix,
    mean,
    nonzero,
    product_is,
    random,
    rank,
    sizes,
    total,
    variance,
    vector,
)

n, r, d_v = sizes("n r d_v")
F, G, V = matrix("F", n, r), matrix("G", n, r), matrix("V", n, d_v)  # features of queries, features of keys, values
D = matrix("D", n, n)  # which earlier tokens a query sees
q, z, c = vector("q", r), vector("z", n), vector("c", d_v)
g, v, u = matrix("g", 1, r), matrix("v", 1, d_v), matrix("u", 1, d_v)  # one key and two values
K = random("K", n, r)
i, j, l, s, o = index("i", n), index("j", n), index("l", n), index("s", r), index("o", d_v)

chapter = "snippets.linear.attention."
read_back = (chapter + "read_state", G, (chapter + "write_state", G, V))

derivation = Derivation("Linear attention")

derivation.identity(
    "masked",
    total((D[i, j] + eye(n)[i, j]) * (F @ G.T)[i, j] * V[j, o], j),
    total(F[i, s] * (total(D[i, j] * G[j, s] * V[j, o], j) + G[i, s] * V[i, o]), s),
    title="Masked attention without softmax is a recurrence",
)

derivation.chain(
    "mean",
    total((F @ G.T)[i, j] / total((F @ G.T)[i, l], l) * c[o], j),
    (c[o] * (total((F @ G.T)[i, j], j) / total((F @ G.T)[i, l], l)), "take out what does not depend on the key"),
    (c[o], "the two sums are equal"),
    given=[nonzero(total((F @ G.T)[i, l], l))],
    title="With the normaliser, a value that all keys share is read exactly",
)

derivation.define("N_c", n * (r + d_v), code=[(chapter + "cache_numbers", n, r, d_v)], title="Numbers in a KV cache")
derivation.define("N_s", r * d_v, code=[(chapter + "state_numbers", r, d_v)], title="Numbers in a state")

derivation.identity(
    "outgrows",
    n * (r + d_v) - r * d_v,
    (r + d_v) * (n - r * d_v / (r + d_v)),
    uses=["define-n-c", "define-n-s"],
    title="The cache less the state, in numbers",
)

derivation.inequality("rank", rank(F @ G.T), r, because=(F, G.T), title="Scores from $r$ features have at most rank $r$")

derivation.identity(
    "exact",
    G @ (G.T @ V),
    V,
    given=[product_is(G, G.T, 1)],
    code=[read_back],
    title="Orthonormal keys read back every value exactly",
)

derivation.identity(
    "interference",
    (G @ (G.T @ V))[i, o] - V[i, o],
    (total(G[i, s] ** 2, s) - 1) * V[i, o] + total((1 - eye(n)[i, j]) * (G @ G.T)[i, j] * V[j, o], j),
    title="The error of what a key reads",
)

derivation.identity(
    "noise",
    E((q @ (K.T @ z)) ** 2),
    (q @ q) * (z @ z) / r,
    given=[independent(K), mean(K, 0), variance(K, 1 / r)],
    title="With random keys, each stored value adds to the noise",
)

derivation.refute(
    "any-value",
    G @ (G.T @ V),
    V,
    at={G: [[1, 0], [0, 1], [Fraction(3, 5), Fraction(4, 5)]], V: [[5], [0], [0]]},
    title="Three keys of length one in two dimensions can misread their values",
    code=[read_back],
)

derivation.identity(
    "exercise-twice",
    g @ (g.T @ v + g.T @ u),
    total(g[1, s] ** 2, s) * (v + u),
    title="One key with two values reads their sum, times its squared length",
)

derivation.chain(
    "exercise-seen",
    (q - G.T @ (G @ q)) @ (q - G.T @ (G @ q)),
    (q @ q - 2 * ((G @ q) @ (G @ q)) + ((G @ G.T) @ (G @ q)) @ (G @ q), "multiply out"),
    (q @ q - (G @ q) @ (G @ q), "the keys are orthonormal"),
    given=[product_is(G, G.T, 1)],
    title="The squared length of the part of a query that orthonormal keys do not see",
)

if __name__ == "__main__":
    derivation.main()
