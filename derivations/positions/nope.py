"""No positional encoding: what a causal mask alone says about positions and about order."""

from fractions import Fraction

from derivations.kernel import Derivation, each, exp, eye, index, nonzero, rounded, scalars, sizes, total, vector

n, m = sizes("n m")  # tokens; tokens between the start and a position
x, s, y = vector("x", n), vector("s", n), vector("y", 3)  # tokens, scores, three tokens
i, j, l = index("i", n), index("j", n), index("l", m)
a, b, c, r, v = scalars("a b c r v")

nope = "snippets.positions.nope."

derivation = Derivation("No positional encoding")

# A mark on the first token

derivation.identity(
    "signal",
    each(total(exp(c) * eye(n)[j, 1], j, where=j <= i) / total(exp(c), j, where=j <= i), i),
    each(1 / i, i),
    code=[(nope + "start_signal", n)],
    uses=["order/causal#define-outputs", "order/causal#marker"],
    title="If all scores are equal, a mark on the first token becomes one over the position",
)

derivation.chain(
    "lead",
    exp(a) / (exp(a) + total(exp(b), l)),
    (exp(a) / (exp(a) + m * exp(b)), "all $m$ terms are equal"),
    (1 / (1 + m * exp(b - a)), "divide by the first exponential"),
    uses=["signal"],
    title="If the first token has another score, its weight still falls with each token",
)

derivation.identity(
    "recovered",
    exp(a - b) * (1 / (1 / (1 + m * exp(b - a))) - 1),
    m,
    uses=["lead"],
    title="The number of tokens after the first, from the weight of the first",
)

derivation.identity(
    "equal-tokens",
    total(exp(s[j]) * v, j, where=j <= i) / total(exp(s[j]), j, where=j <= i),
    v,
    uses=["order/causal#so-far"],
    title="If all tokens have the same value, the output has it too, at every position",
)

# How far the signal reaches

derivation.identity(
    "step",
    1 / m - 1 / (m + 1),
    1 / (m * (m + 1)),
    uses=["signal"],
    title="The signal falls from one position to the next",
)

derivation.limit(
    "step-rate",
    m**2 * (1 / m - 1 / (m + 1)),
    m,
    "oo",
    1,
    uses=["step"],
    title="The step falls with the square of the position",
)

derivation.identity(
    "error",
    1 / (1 / m * (1 + r)) - m,
    -(m * (r / (1 + r))),
    given=[nonzero(1 + r)],
    uses=["signal"],
    title="A relative error of the signal is multiplied by the position",
)

derivation.identity(
    "same-in-bf16",
    rounded(Fraction(1, 190), "bf16"),
    rounded(Fraction(1, 191), "bf16"),
    title="In bf16, the signals of positions 190 and 191 are the same number",
)

# Order

derivation.identity(
    "two-layers",
    total(total(x[j], j, where=j <= i) / i, i) / n,
    total(x[j] * (total(1 / i, i, where=j <= i) / n), j),
    uses=["order/causal#so-far"],
    title="After two layers with equal scores, a token's weight depends on its position",
)


def after_two_layers(first, second, third):
    """The last output of two causal layers with equal scores."""
    return (first + (first + second) / 2 + (first + second + third) / 3) / 3


derivation.refute(
    "no-order",
    after_two_layers(y[1], y[2], y[3]),
    after_two_layers(y[2], y[1], y[3]),
    at={y: [1, 0, 0]},
    uses=["two-layers"],
    title="Two causal layers distinguish two orders of the same tokens",
)

if __name__ == "__main__":
    derivation.main()
