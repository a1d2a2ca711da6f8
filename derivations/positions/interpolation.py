"""Longer texts than in training: dividing positions, or changing the base, and the effect of each on the frequencies."""

from fractions import Fraction

from derivations.kernel import Derivation, cos, index, nonzero, positive, scalars, sin, sizes, vector

g, h = sizes("g h")  # h pairs of features; from the fastest to the slowest there are g steps, one less than h
p, r, s, t, b, B, L, w, x = scalars("p r s t b B L w x")  # p and r: positions; s: the factor; b: the base; L: the trained length
omega = vector("omega", h)
q_1, q_2, k_1, k_2 = (vector(name, h) for name in ("q_1", "q_2", "k_1", "k_2"))
i = index("i", h)

derivation = Derivation("Position interpolation and NTK-aware scaling")


def turned(first, second, angle):
    cosine, sine = cos(angle), sin(angle)
    return first * cosine - second * sine, first * sine + second * cosine


A = derivation.define("A", q_1 * k_1 + q_2 * k_2, title="The score of each pair without rotation, $A$")
C = derivation.define("C", q_2 * k_1 - q_1 * k_2, title="The score of each pair after a quarter of a rotation, $C$")


def score(distance, frequencies=omega):
    return A @ cos(distance * frequencies) + C @ sin(distance * frequencies)


derivation.chain(
    "same-score",
    score((s * r) / s - (s * p) / s),
    (score(s * r - s * p, omega / s), "dividing positions equals dividing frequencies"),
    (score(r - p), "the factor cancels in each angle"),
    given=[nonzero(s)],
    code=[("snippets.order.rotary.rotated_score", q_1, q_2, k_1, k_2, (s * p) / s, (s * r) / s, omega)],
    title="Under PI, the score at $s p$ and $s r$ is the score at $p$ and $r$ without PI",
)

step = turned(k_1[i], k_2[i], x)

derivation.identity(
    "chord",
    (step[0] - k_1[i]) ** 2 + (step[1] - k_2[i]) ** 2,
    4 * sin(x / 2) ** 2 * (k_1[i] ** 2 + k_2[i] ** 2),
    title="The squared distance by which a rotation moves a pair",
)

derivation.limit(
    "resolution",
    s**2 * (4 * sin(w / s / 2) ** 2),
    s,
    "oo",
    w**2,
    uses=["chord"],
    title="For large $s$, squared distances approach $w^2$ over the square of $s$",
)


def frequency(base, pair=i):
    return base ** (-(pair - 1) / h)


derivation.identity(
    "solved",
    (b ** (g / h) * s) ** (h / g),
    b * s ** (h / g),
    given=[positive(b), positive(s)],
    title="The base that divides the slowest frequency by $s$",
)

derivation.identity(
    "by-width",
    h / (h - 1),
    (2 * h) / (2 * h - 2),
    given=[nonzero(h - 1)],
    title="The exponent, by the number of pairs and by the width of a head",
)

derivation.define(
    "b_s",
    b * s ** ((2 * h) / (2 * h - 2)),
    given=[positive(s), nonzero(2 * h - 2)],
    code=[("snippets.positions.interpolation.ntk_base", b, s, {"d_k": 2 * h})],
    title="The base of NTK-aware scaling, $b_s$, for heads of $2h$ features",
)

new_base = b * s ** (h / g)

derivation.identity(
    "every",
    frequency(new_base),
    frequency(b) / s ** ((i - 1) / g),
    given=[positive(b), positive(s)],
    uses=["solved"],
    title="NTK-aware scaling divides each frequency by its own power of $s$",
)

derivation.refute(
    "alike",
    frequency(new_base),
    frequency(b) / s,
    at={b: 9, s: 4, h: 2, g: 1, i: 1},
    uses=["every"],
    title="NTK-aware scaling does not divide every frequency by $s$",
)

derivation.identity(
    "reach",
    frequency(new_base) * (s * L),
    s ** (1 - (i - 1) / g) * (frequency(b) * L),
    given=[positive(b), positive(s)],
    uses=["every"],
    title="The largest angle in a text $s$ times as long, against that in training",
)

derivation.refute(
    "in-range",
    frequency(new_base) * (s * L),
    frequency(b) * L,
    at={b: 8, s: 4, L: 1, h: 3, g: 2, i: 2},
    relation="<=",
    uses=["reach"],
    title="At factor four, the middle of three pairs goes twice as far",
)

derivation.identity(
    "exercise-four",
    (b * 4**2) ** Fraction(-1, 2),
    b ** Fraction(-1, 2) / 4,
    given=[positive(b)],
    title="Two pairs, a factor of four: sixteen times the base",
)

derivation.identity(
    "exercise-twice",
    b * s ** (h / g) * t ** (h / g),
    b * (s * t) ** (h / g),
    given=[positive(s), positive(t)],
    title="Scaling by $s$ and then by $t$ is scaling by the product",
)

derivation.identity(
    "exercise-factor",
    b * ((B / b) ** (g / h)) ** (h / g),
    B,
    given=[positive(b), positive(B)],
    title="The factor that a given base corresponds to",
)

if __name__ == "__main__":
    derivation.main()
