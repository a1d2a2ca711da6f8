"""YaRN: which pairs are interpolated, by how much on the ramp, and a temperature in queries and keys."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    cos,
    exp,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    positive,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)

n, m, d_k, h = sizes("n m d_k h")
r, a, b = scalars("r a b")  # rotations of a pair within the trained length, and the two ends of the ramp
w, s, u, t, c, g, L = scalars("w s u t c g L")  # w: a frequency; u: a place on the ramp; t: a temperature; g: a lead
p, x = scalars("p x")  # positions of a query and of a key
Q, K = matrix("Q", n, d_k), matrix("K", m, d_k)
y, z = vector("y", d_k), vector("z", d_k)  # features of a query and of a key that are not rotated
omega, q_1, q_2, k_1, k_2 = (vector(name, h) for name in ("omega", "q_1", "q_2", "k_1", "k_2"))
i = index("i", h)

derivation = Derivation("YaRN")

ramp = (1 + (absolute(r - a) - absolute(r - b)) / (b - a)) / 2
gamma = derivation.define(
    "gamma", ramp, given=[positive(b - a)], code=[("snippets.positions.yarn.ramp", r, {"start": a, "end": b})], title="The ramp $\\gamma$"
)


def blended(share):
    """The frequency of YaRN."""
    return (1 - share) * (w / s) + share * w


derivation.identity(
    "slow",
    blended(gamma),
    w / s,
    given=[nonnegative(a - r), positive(b - a), nonzero(s)],
    title="Before the ramp, YaRN divides a pair's frequency by $s$, like PI",
)

derivation.identity(
    "fast",
    blended(gamma),
    w,
    given=[nonnegative(r - b), positive(b - a), nonzero(s)],
    title="Beyond the ramp, YaRN leaves a pair's frequency as it was",
)

derivation.identity(
    "on-ramp",
    ramp,
    (r - a) / (b - a),
    given=[nonnegative(r - a), nonnegative(b - r), nonzero(b - a)],
    title="On the ramp $\\gamma$ is a straight line",
)

factor = s / (1 + u * (s - 1))

derivation.identity(
    "factor",
    blended(u),
    w / factor,
    given=[nonzero(s), nonzero(1 + u * (s - 1))],
    title="The factor by which a frequency at the place $u$ of the ramp is divided",
)

derivation.limit(
    "tends",
    factor,
    s,
    "oo",
    1 / u,
    given=[positive(u)],
    uses=["factor"],
    title="For long texts, the factor tends to one over $u$",
)

derivation.inequality(
    "bounded",
    u * w,
    blended(u),
    because=(1 - u) * (w / s),
    given=[nonnegative(1 - u), nonnegative(w), positive(s)],
    title="A pair on the ramp keeps at least the share $u$ of its frequency",
)

derivation.refute(
    "half",
    factor,
    (1 + s) / 2,
    at={u: Fraction(1, 2), s: 3},
    uses=["factor"],
    title="Half-way up the ramp, the factor is not the mean of one and $s$",
)

derivation.chain(
    "temperature",
    softmax((Q / sqrt(t)) @ (K / sqrt(t)).T / sqrt(d_k)),
    (softmax(Q @ K.T / (sqrt(t) * sqrt(t)) / sqrt(d_k)), "both scalars come out of the product"),
    (softmax(Q @ K.T / sqrt(d_k) / t), "the square of the root is the temperature"),
    given=[positive(t)],
    code=[
        ("snippets.positions.yarn.weights_at_temperature", Q, K, {"temperature": t}),
    ],
    title="Queries and keys divided by the root of $t$ give softmax at temperature $t$",
)


def turned(first, second, position, by=1):
    """Both numbers of pair i, rotated with cosines and sines that are multiplied by a number."""
    cosine, sine = by * cos(position * omega[i]), by * sin(position * omega[i])
    return first * cosine - second * sine, first * sine + second * cosine


def score(by=1):
    one, other = turned(q_1[i], q_2[i], p, by), turned(k_1[i], k_2[i], x, by)
    return total(one[0] * other[0] + one[1] * other[1], i)


A = derivation.define("A", q_1 * k_1 + q_2 * k_2, title="The score of each pair without rotation, $A$")
C = derivation.define("C", q_2 * k_1 - q_1 * k_2, title="The score of each pair after a quarter of a rotation, $C$")

derivation.identity(
    "tables",
    score(c),
    c**2 * total(A[i] * cos((x - p) * omega[i]) + C[i] * sin((x - p) * omega[i]), i),
    title="Cosines and sines multiplied by $c$ multiply scores by its square",
)

derivation.refute(
    "partial-tables",
    score(c) + y @ z,
    c**2 * (score() + y @ z),
    at={q_1: [1], q_2: [0], k_1: [1], k_2: [0], omega: [1], p: 0, x: 0, c: 2, y: [1], z: [1]},
    uses=["tables"],
    title="With features that are not rotated, the table does not scale the whole score",
)

mu = log(s) / 10 + 1

derivation.refute(
    "squared",
    (mu * Q) @ (mu * K).T,
    mu * (Q @ K.T),
    at={s: exp(10), Q: [[1]], K: [[1]]},
    uses=["tables"],
    title="Multiplying queries and keys by the factor multiplies scores by its square",
)

derivation.chain(
    "leader",
    exp(g * (1 + log(s) / g)) / (exp(g * (1 + log(s) / g)) + s * m),
    (s * exp(g) / (s * exp(g) + s * m), "the logarithm comes out of the exponential as a factor"),
    (exp(g) / (exp(g) + m), "which cancels"),
    given=[positive(s), nonzero(g)],
    code=[("snippets.positions.yarn.weight_of_lead", g * (1 + log(s) / g), s * m), ("snippets.positions.yarn.weight_of_lead", g, m)],
    title="The factor on scores that keeps a leader's weight among $s$ times as many",
)

derivation.identity(
    "exercise-half-way",
    (1 - Fraction(1, 2)) * (w / 4) + Fraction(1, 2) * w,
    w / Fraction(8, 5),
    title="Half-way up the ramp, for a text four times as long",
)

derivation.identity(
    "exercise-reach",
    blended(u) * (s * L),
    (1 + u * (s - 1)) * (w * L),
    given=[nonzero(s)],
    uses=["factor"],
    title="The angle at the end of the long text, compared with training",
)

derivation.inequality(
    "exercise-five",
    1 + log(s) / 5,
    mu**2,
    because=(log(s) / 10) ** 2,
    given=[positive(s)],
    uses=["leader"],
    title="The fitted factor on scores is at least the one for a lead of five",
)

if __name__ == "__main__":
    derivation.main()
