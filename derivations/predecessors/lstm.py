"""The gates of an LSTM and the shortcuts of a residual network, and their effect on gradients."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, eye, index, matrix, nonnegative, scalars, sizes, tanh, total, vector

d, r, T = sizes("d r T")
f, i, g, c, x = (vector(name, d) for name in "figcx")
A, B, M, N = matrix("A", d, r), matrix("B", r, d), matrix("M", d, d), matrix("N", d, d)
k, l, a = index("k", d), index("l", d), index("a", r)
z, y, h, o, p, q = scalars("z y h o p q")
b_f, b_g, u_f, u_g, e_i = scalars("b_f b_g u_f u_g e_i")

derivation = Derivation("Gates and shortcuts")


def gate(at):
    return 1 / (1 + exp(-at))


def slope(at):
    return 4 * exp(2 * at) * (1 / (1 + exp(2 * at))) ** 2


derivation.identity(
    "cell",
    diff((f * c + i * g)[k], c[l]),
    f[k] * eye(d)[k, l],
    title="Along the cell, the derivative is the forget gate",
)

sigma = derivation.define("sigma", gate(z), code=[("snippets.predecessors.lstm.gate", z)], title="A gate")

derivation.inequality(
    "never-grows",
    p * sigma,
    p,
    because=p * exp(-z) / (1 + exp(-z)),
    given=[nonnegative(p)],
    title="One more gate does not make a product of gates larger",
)

derivation.limit("closed", 1 / (1 + exp(z)), z, "oo", 0, title="A closing gate goes to zero")

derivation.limit("open", sigma, z, "oo", 1, title="An opening gate tends to one")

derivation.inequality(
    "held",
    1 + (T + 1) * exp(-z),
    ((1 + T * exp(-z)) + q) / sigma,
    because=q * (1 + exp(-z)) + T * exp(-z) ** 2,
    given=[nonnegative(q)],
    uses=["predecessors/rnn#growth"],
    title="One over the powers of a gate stays above a line: the induction step",
)

derivation.identity(
    "opening",
    (T + 2) / (2 * (T + 1)) * (1 - 1 / (T + 2) ** 2),
    (T + 3) / (2 * (T + 2)),
    title="Gates that open: the product after one more gate",
)

derivation.limit(
    "opening-half",
    (T + 2) / (2 * (T + 1)),
    T,
    "oo",
    Fraction(1, 2),
    uses=["opening"],
    title="The product of these gates tends to one half",
)

forget = derivation.define("phi", gate(b_f + u_f * h), title="The forget gate $φ$, computed from the last output")
candidate = derivation.define("psi", tanh(b_g + u_g * h), title="The candidate $ψ$, computed from the last output")
by_gate = derivation.define("a_f", u_f * forget * (1 - forget) * y, title="The way in by the forget gate, $a_f$")
by_candidate = derivation.define("a_g", u_g * e_i * (1 - candidate**2), title="The way in by the candidate, $a_g$")
way_out = derivation.define("a_o", o * (1 - tanh(y) ** 2), title="The way out, $a_o$")

derivation.identity(
    "by-gate",
    diff(forget * y, h),
    by_gate,
    title="The derivative of forget gate times cell, by the last output",
)

derivation.identity(
    "by-candidate",
    diff(e_i * candidate, h),
    by_candidate,
    uses=["predecessors/rnn#slope"],
    title="The derivative of input gate times candidate, by the last output",
)

derivation.identity(
    "output",
    diff(o * tanh(y), y),
    way_out,
    uses=["predecessors/rnn#slope"],
    title="The derivative of the last output by the old cell",
)

derivation.refute(
    "can-grow",
    forget + (by_gate + by_candidate) * way_out,
    1,
    at={b_f: 0, u_f: 0, h: 0, y: 0, u_g: 4, b_g: 0, e_i: Fraction(1, 2), o: 1},
    relation="<=",
    uses=["by-gate", "by-candidate", "output"],
    title="Over all paths, the derivative of an LSTM's cell can exceed one",
)

derivation.identity(
    "residual",
    diff(x[l] + total(tanh((x @ A)[a]) * B[a, l], a), x[k]),
    eye(d)[k, l] + total(A[k, a] * slope((x @ A)[a]) * B[a, l], a),
    uses=["predecessors/rnn#slope"],
    title="A residual block: the identity plus the derivative of what is added",
)

derivation.identity(
    "paths",
    (eye(d) + M) @ (eye(d) + N),
    eye(d) + M + N + M @ N,
    title="Two residual blocks: four paths, one of which goes around both",
)

derivation.refute(
    "can-vanish",
    eye(d) + M,
    eye(d),
    at={M: [[-1]]},
    title="With the added term, the derivative need not be the identity",
)

if __name__ == "__main__":
    derivation.main()
