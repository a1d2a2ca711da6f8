"""SwiGLU: a gate times a value. Its limits, its symmetry, its derivatives, and its width."""

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
    code=[("snippets.layers.swiglu.swiglu_layer", x, W_g, W_u, W_d)],
    title="The layer $y$: a gate times a value, projected back to the model's width",
)

out = total(hidden * W_d[r, a], r)
derivation.identity(
    "gradient",
    diff(out, x[b]),
    total((slope(gate) * up * W_g[b, r] + silu(gate) * W_u[b, r]) * W_d[r, a], r),
    uses=["together/gpt#gate-slope"],
    code=[("snippets.layers.swiglu.swiglu_jacobian", x, W_g, W_u, W_d)],
    title="The derivative: one term through the gate, one through the value",
)

derivation.identity(
    "rescale",
    total(silu(gate) * (up * c[r]) * (W_d[r, a] / c[r]), r),
    out,
    given=[nonzero(c[r])],
    title="For each hidden unit, a factor may move from the row of $W_d$ to the value",
)

loss = total(total(hidden * W_d[r, a], r) * g[a], a)
derivation.identity(
    "conserved",
    total(W_u[b, r] * diff(loss, W_u[b, r]), b),
    total(W_d[r, a] * diff(loss, W_d[r, a]), a),
    uses=["rescale"],
    code=[
        ("snippets.layers.swiglu.up_gradient_products", x, W_g, W_u, W_d, g),
        ("snippets.layers.swiglu.down_gradient_products", x, W_g, W_u, W_d, g),
    ],
    title="A unit's column of $W_u$ and its row of $W_d$ have equal dot products with their gradients",
)

derivation.refute(
    "gate-rescaled",
    silu(2 * s) / 2,
    silu(s),
    at={s: 1},
    title="SiLU of twice a number is not twice its SiLU",
)

derivation.limit(
    "soft",
    silu(t * s) / t,
    t,
    0,
    s / 2,
    title="Near zero, SiLU is half of its input",
)

derivation.limit(
    "quadratic",
    silu(t * s) * (t * u) / t**2,
    t,
    0,
    s * u / 2,
    uses=["soft"],
    title="Near zero, a hidden unit is half the product of its gate and its value",
)

derivation.limit("sharp", silu(t) / t, t, "oo", 1, title="For large positive inputs, SiLU passes everything")
derivation.limit("sharp-negative", silu(-t) / t, t, "oo", 0, title="For large negative inputs, SiLU passes nothing")

derivation.identity(
    "beta",
    s / (1 + exp(-(k * s))),
    silu(k * s) / k,
    given=[nonzero(k)],
    title="Swish with steepness $k$ is SiLU of $k$ times the input, over $k$",
)

derivation.refute(
    "gelu",
    s / (1 + exp(-(k * s))),
    silu(s),
    at={s: 1, k: Fraction(851, 500)},
    title="The sigmoid form of GELU differs from SiLU",
)

derivation.identity(
    "count",
    3 * d * w - 2 * d * (4 * d),
    3 * d * (w - 8 * d / 3),
    uses=["together/gpt#same-size"],
    code=[("snippets.layers.swiglu.extra_parameters", d, w)],
    title="Weights of a gated layer of width $w$, minus those of a plain layer of width $4d$",
)

if __name__ == "__main__":
    derivation.main()
