"""SwiGLU: a gate times a value, what it can be near zero and far from it, its symmetries, and its slopes."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, each, exp, index, matrix, nonzero, scalars, sizes, total, vector

d, d_f, w = sizes("d d_f w")
x, g = vector("x", d), vector("g", d)  # a token, and the gradient that arrives at the output
W_g, W_u, W_d = matrix("W_g", d, d_f), matrix("W_u", d, d_f), matrix("W_d", d_f, d)
c = vector("c", d_f)
r, a, b = index("r", d_f), index("a", d), index("b", d)
s, u, t, z, k = scalars("s u t z k")

derivation = Derivation("SwiGLU")


def silu(at):
    return at / (1 + exp(-at))


def slope(at):
    return 1 / (1 + exp(-at)) * (1 + at / (1 + exp(at)))


gate, up = (x @ W_g)[r], (x @ W_u)[r]
hidden = silu(gate) * up

derivation.define(
    "y",
    each(total(hidden * W_d[r, a], r), a),
    code=[("snippets.layers.swiglu.layer", x, W_g, W_u, W_d)],
    title="The layer $y$: a gate times a value, and back to the width of the model",
)

out = total(hidden * W_d[r, a], r)
derivation.identity(
    "gradient",
    diff(out, x[b]),
    total((slope(gate) * up * W_g[b, r] + silu(gate) * W_u[b, r]) * W_d[r, a], r),
    uses=["together/gpt#gate-slope"],
    code=[("snippets.layers.swiglu.gradients", x, W_g, W_u, W_d)],
    title="Its slope: through the gate, and through the value",
)

derivation.identity(
    "rescale",
    total(silu(gate) * (up * c[r]) * (W_d[r, a] / c[r]), r),
    out,
    given=[nonzero(c[r])],
    title="Any factor may go from down to up, another one for each hidden unit",
)

loss = total(total(hidden * W_d[r, a], r) * g[a], a)
derivation.identity(
    "conserved",
    total(W_u[b, r] * diff(loss, W_u[b, r]), b),
    total(W_d[r, a] * diff(loss, W_d[r, a]), a),
    uses=["rescale"],
    code=[("snippets.layers.swiglu.pull_on_up", x, W_g, W_u, W_d, g), ("snippets.layers.swiglu.pull_on_down", x, W_g, W_u, W_d, g)],
    title="Every loss pulls as hard at a unit's column up as at its row down",
)

derivation.refute(
    "gate-rescaled",
    silu(2 * s) / 2,
    silu(s),
    at={s: 1},
    title="No factor goes through the gate",
)

derivation.limit(
    "soft",
    silu(t * s) / t,
    t,
    0,
    s / 2,
    title="Squeezed towards zero, the gate is a straight line: half of what comes in",
)

derivation.limit(
    "quadratic",
    silu(t * s) * (t * u) / t**2,
    t,
    0,
    s * u / 2,
    uses=["soft"],
    title="Near zero the layer is a product of two linear maps, and has no linear part",
)

derivation.limit("sharp", silu(t) / t, t, "oo", 1, title="Stretched, the gate passes all of a positive number")
derivation.limit(
    "sharp-negative", silu(-t) / t, t, "oo", 0, title="A gate that is stretched without end passes nothing of a negative number"
)

derivation.identity(
    "beta",
    s / (1 + exp(-(k * s))),
    silu(k * s) / k,
    given=[nonzero(k)],
    title="Swish with a steepness is SiLU, stretched before and squeezed behind",
)

derivation.refute(
    "gelu",
    s / (1 + exp(-(k * s))),
    silu(s),
    at={s: 1, k: Fraction(851, 500)},
    title="The sigmoid form of GELU is another function than SiLU",
)

derivation.identity(
    "count",
    3 * d * w - 2 * d * (4 * d),
    3 * d * (w - 8 * d / 3),
    uses=["together/gpt#same-size"],
    code=[("snippets.layers.swiglu.more_numbers", d, w)],
    title="What a gated layer of width $w$ has more than a plain one four times as wide",
)

if __name__ == "__main__":
    derivation.main()
