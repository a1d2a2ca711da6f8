"""Gated attention: a sigmoid on the output makes it small without a sink, leaves the weights as they are, and is no temperature."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    diff,
    each,
    exp,
    eye,
    index,
    log,
    matrix,
    nonnegative,
    ones,
    rank,
    scalars,
    sizes,
    softmax,
    total,
    vector,
)

n, m, d, d_v = sizes("n m d d_v")
z, v = vector("z", m), vector("v", m)  # scores, and one feature of the values
u = vector("u", d_v)  # the output of a head
g, G, L, O = vector("g", d_v), *(matrix(name, n, d_v) for name in "GLO")  # gates of a token, gates of all tokens, logits, outputs
W_O, A = matrix("W_O", d_v, d), matrix("A", d_v, d_v)  # an output projection, and a square one
b, c, t, x, a, h = scalars("b c t x a h")
i, j, k, l = index("i", n), index("j", m), index("k", d_v), index("l", d_v)

gated = "snippets.bounds.gated."
derivation = Derivation("Gated attention")


def sigmoid(logit):
    return 1 / (1 + exp(-logit))


derivation.define(
    "Y",
    each(sigmoid(L[i, k]) * O[i, k], i, k),
    code=[(gated + "gate_output", O, L)],
    title="The gated output $Y$",
)

derivation.inequality(
    "small",
    sigmoid(b) * (softmax(z) @ v),
    exp(b) * c,
    because=total(
        softmax(z)[j]
        * (
            exp(b) / (1 + exp(b)) * ((c - absolute(v[j])) + (absolute(v[j]) - v[j]))
            + exp(b) ** 2 / (1 + exp(b)) * ((c - absolute(v[j])) + absolute(v[j]))
        ),
        j,
    ),
    given=[nonnegative(c - absolute(v[j]))],
    uses=["softmax/distribution#hull"],
    title="Whatever the scores, a low logit makes the output small",
)

derivation.identity(
    "equal-values",
    softmax(t * z) @ (c * ones(m)),
    c,
    uses=["simplify/softmax#sums-to-one"],
    title="If all values are equal, no temperature changes the output",
)

derivation.refute(
    "temperature",
    softmax(t * z) @ v,
    sigmoid(b) * (softmax(z) @ v),
    at={z: [0, 0], v: [1, 1], t: 2, b: 0},
    uses=["equal-values"],
    title="A gate is not a temperature",
)

derivation.identity(
    "as-a-sink",
    total(exp(z[j]) * v[j], j) / (exp(log(total(exp(z[j]), j)) - b) + total(exp(z[j]), j)),
    sigmoid(b) * (softmax(z) @ v),
    uses=["bounds/sinks#gate"],
    title="For one query, the gate does what a sink does with the score log-sum-exp minus $b$",
)

derivation.identity(
    "blind",
    diff(sigmoid(b) * (softmax(z) @ v), z[j]),
    sigmoid(b) * (softmax(z)[j] * (v[j] - softmax(z) @ v)),
    uses=["softmax/jacobian#backward"],
    title="The gate multiplies the gradient of the scores",
)

derivation.identity(
    "logit-slope",
    diff(sigmoid(b) * x, b),
    sigmoid(b) * (1 - sigmoid(b)) * x,
    title="The derivative of a gated output with respect to the logit",
)

derivation.identity(
    "one-gate",
    (a * u) @ W_O,
    a * (u @ W_O),
    title="One gate for a head can act before or after the output projection",
)

derivation.identity(
    "per-feature",
    (u * g) @ W_O,
    u @ (each(eye(d_v)[k, l] * g[k], k, l) @ W_O),
    title="A gate for each feature multiplies the rows of the output projection",
)

derivation.refute(
    "after",
    (u * g) @ A,
    (u @ A) * g,
    at={u: [1, 1], g: [1, 0], A: [[0, 1], [0, 0]]},
    title="The same gates after the output projection do something else",
)

derivation.refute(
    "linear",
    sigmoid(2 * x) * (2 * x),
    2 * (sigmoid(x) * x),
    at={x: 1},
    uses=["simplify/bilinear#output-merged"],
    title="With a gate, twice the token is not twice the output",
)

derivation.inequality(
    "rank",
    rank((O * G) @ W_O),
    d_v,
    because=(O * G, W_O),
    uses=["simplify/bilinear#output-rank"],
    title="Whatever the gates, the rank of what a head writes is at most its width",
)

derivation.identity(
    "exercise-parameters",
    d * d / (4 * d * d),
    Fraction(1, 4),
    title="The parameters of a gate for each feature, over those of the four projections",
)

derivation.identity(
    "exercise-heads",
    d * h / (4 * d * d),
    h / (4 * d),
    title="The parameters of a gate for each head, over those of the four projections",
)

if __name__ == "__main__":
    derivation.main()
