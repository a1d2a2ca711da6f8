"""RoPE: why only the distance counts, two layouts, no steady decay, and biases by distance."""

from derivations.kernel import Derivation, cos, exp, index, matrix, nonnegative, product_is, scalars, sin, sizes, total, vector

n, m, d_k, d_v, h = sizes("n m d_k d_v h")  # h frequencies, each for a pair of features
s, t, p, w, x, c = scalars("s t p w x c")  # s and t: the positions of a query and of a key
omega = vector("omega", h)
q_1, q_2, k_1, k_2 = vector("q_1", h), vector("q_2", h), vector("k_1", h), vector("k_2", h)  # halves of a query, and of a key
Q, K, Pi = matrix("Q", n, d_k), matrix("K", m, d_k), matrix("Pi", d_k, d_k)
V, z = matrix("V", m, d_v), vector("z", m)
y, g, o, u, v = vector("y", d_k), vector("g", d_k), vector("o", d_k), vector("u", d_v), vector("v", d_v)
i, j, a, f = index("i", h), index("j", m), index("a", d_k), index("f", d_v)


derivation = Derivation("Rotated by position")


def turned(name, first, second, position, of):
    """The two halves of a vector rotated by a position, as definitions."""
    turn = "snippets.order.rotary.rotate_pairs"
    cosines, sines = cos(position * omega), sin(position * omega)
    return (
        derivation.define(
            f"{name}_1",
            first * cosines - second * sines,
            code=[(f"{turn}[0]", first, second, position, omega)],
            title=f"{of}, first half, ${name}_1$",
        ),
        derivation.define(
            f"{name}_2",
            first * sines + second * cosines,
            code=[(f"{turn}[1]", first, second, position, omega)],
            title=f"{of}, second half, ${name}_2$",
        ),
    )


a_1, a_2 = turned("a", q_1, q_2, s, "The query, rotated by its position")
b_1, b_2 = turned("b", k_1, k_2, t, "The key, rotated by its position")
r = derivation.define("r", t - s, title="The distance of the key from the query, $r$")
c_1, c_2 = turned("c", k_1, k_2, r, "The key, rotated by the distance")

derivation.identity(
    "relative",
    a_1 @ b_1 + a_2 @ b_2,
    q_1 @ c_1 + q_2 @ c_2,
    code=[("snippets.order.rotary.rotated_score", q_1, q_2, k_1, k_2, s, t, omega)],
    title="The score depends on the positions only through their signed distance",
)

C = derivation.define("C", cos(r * omega), title="Cosines of the distance, $C$")
S = derivation.define("S", sin(r * omega), title="Sines of the distance, $S$")

derivation.identity(
    "by-distance",
    a_1 @ b_1 + a_2 @ b_2,
    total((q_1[i] * k_1[i] + q_2[i] * k_2[i]) * C[i] + (q_2[i] * k_1[i] - q_1[i] * k_2[i]) * S[i], i),
    uses=["relative"],
    title="The contribution of each frequency to a score",
)

derivation.identity(
    "length",
    a_1 @ a_1 + a_2 @ a_2,
    q_1 @ q_1 + q_2 @ q_2,
    title="A rotation changes no length",
)

derivation.identity(
    "layouts",
    (Q @ Pi) @ (K @ Pi).T,
    Q @ K.T,
    given=[product_is(Pi, Pi.T, 1)],
    title="Reordering the features of queries and keys together changes no score",
)

derivation.identity(
    "twice",
    cos(w * (2 * p)),
    2 * cos(w * p) ** 2 - 1,
    title="The cosine at twice a distance",
)

derivation.inequality(
    "rises",
    x,
    2 * x**2 - 1,
    because=(-2 * x - 1) * ((-2 * x - 1) + 3) / 2,
    given=[nonnegative(-2 * x - 1)],
    uses=["twice"],
    title="A cosine of at most minus a half is no lower at twice the distance",
)

derivation.refute(
    "decays",
    2 * x**2 - 1,
    x,
    at={x: -1},
    relation="<=",
    uses=["twice"],
    title="A score need not decrease when the distance doubles",
)


def output(first, second):
    """Feature f of a query's output from two keys with the same bias, and further keys with biases of their own."""
    near = [(exp(y @ key + c), value[f]) for key, value in (first, second)]
    far = exp(total(y[a] * K[j, a], a) + z[j])
    return (near[0][0] * near[0][1] + near[1][0] * near[1][1] + total(far * V[j, f], j)) / (near[0][0] + near[1][0] + total(far, j))


derivation.identity(
    "same-bias",
    output((g, u), (o, v)),
    output((o, v), (g, u)),
    uses=["order/permutation#any-query"],
    title="Two keys with the same bias can be exchanged, with their values",
)

if __name__ == "__main__":
    derivation.main()
