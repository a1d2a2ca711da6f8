"""Llama 3's scaled RoPE and LongRoPE: which frequencies change, by how much, and a factor on the scores."""

from fractions import Fraction

from derivations.kernel import Derivation, absolute, exp, log, nonnegative, nonzero, positive, scalars, sizes, sqrt

r, a, b = scalars("r a b")  # rotations of a pair within the trained length, and the two borders
m = sizes("m")  # other keys
w, z, s, u, v, g = scalars(
    "w z s u v g"
)  # w: a frequency; z: a divided one; s: the factor; u: a place of the blend; v and g: the logarithms of s and of the trained length
p, t, c, f = scalars("p t c f")  # positions of a query and of a key, a shift of both, and a pair's factor

LLAMA = "snippets.positions.scaled.llama3_frequency"

derivation = Derivation("LongRoPE and Llama 3's scaling")


def ramp(start, end):
    """YaRN's ramp, by absolute values."""
    return (1 + (absolute(r - start) - absolute(r - end)) / (end - start)) / 2


def mixed(share):
    """The frequency divided by s and the frequency itself, with a share of the second."""
    return (1 - share) * (w / s) + share * w


place = (r - a) / (b - a)

derivation.identity(
    "same-blend",
    mixed(place),
    mixed(ramp(a, b)),
    given=[nonnegative(r - a), nonnegative(b - r), nonzero(b - a), nonzero(s)],
    without={nonnegative(b - r): {a: 0, b: 1, r: 2, s: 2, w: 1}},
    code=[(LLAMA, w, r, {"s": s, "low": a, "high": b}), ("snippets.positions.scaled.yarn_frequency", w, r, {"s": s, "start": a, "end": b})],
    title="With the same borders, Llama 3 and YaRN have the same blend",
)

derivation.identity(
    "at-low",
    mixed((a - a) / (b - a)),
    w / s,
    given=[positive(b - a), nonzero(s)],
    code=[(LLAMA, w, a, {"s": s, "low": a, "high": b})],
    title="At the lower border the blend is the divided frequency",
)

derivation.identity(
    "at-high",
    mixed((b - a) / (b - a)),
    w,
    given=[positive(b - a), nonzero(s)],
    code=[(LLAMA, w, b, {"s": s, "low": a, "high": b})],
    title="At the upper border the blend is the frequency itself",
)

derivation.refute(
    "same-published",
    mixed(ramp(1, 32)),
    mixed(ramp(1, 4)),
    at={r: 4, w: 31, s: 8},
    uses=["same-blend"],
    code=[
        ("snippets.positions.scaled.yarn_frequency", w, r, {"s": s, "start": 1, "end": 32}),
        (LLAMA, w, r, {"s": s, "low": 1, "high": 4}),
    ],
    title="With the published borders, the frequencies differ",
)

derivation.inequality(
    "more-divided",
    (r - 1) / 31,
    (r - 1) / 3,
    because=(r - 1) * (Fraction(1, 3) - Fraction(1, 31)),
    given=[nonnegative(r - 1)],
    uses=["same-blend"],
    title="From one rotation on, Llama 3's ramp is at least as high as YaRN's, with the published borders",
)

divisor = s / (1 + u * (s - 1))

derivation.identity(
    "divisor",
    mixed(u),
    w / divisor,
    given=[nonzero(s), nonzero(1 + u * (s - 1))],
    uses=["positions/yarn#factor"],
    title="The number that a blended frequency is divided by",
)

blend = (1 - u) * z + u * (s * z)

derivation.inequality(
    "at-least-divided",
    z,
    blend,
    because=u * z * (s - 1),
    given=[nonnegative(s - 1), nonnegative(u), nonnegative(z)],
    title="A blend of $z$ and $s z$ is at least $z$",
)

derivation.inequality(
    "at-most-kept",
    blend,
    s * z,
    because=(1 - u) * z * (s - 1),
    given=[nonnegative(s - 1), nonnegative(1 - u), nonnegative(z)],
    title="A blend of $z$ and $s z$ is at most $s z$",
)

new = log(s * exp(g))  # the logarithm of the new length

derivation.identity(
    "score-factor",
    sqrt(1 + v / g) ** 2,
    log(exp(v) * exp(g)) / g,
    given=[nonnegative(v), positive(g)],
    title="LongRoPE multiplies scores by the logarithm of the new length over that of the trained length",
)

derivation.chain(
    "lead",
    exp(g * (new / g)) / (exp(g * (new / g)) + s * m),
    (s * exp(g) / (s * exp(g) + s * m), "the logarithm and the exponential cancel"),
    (exp(g) / (exp(g) + m), "and so does $s$"),
    given=[positive(s), nonzero(g)],
    uses=["score-factor", "positions/yarn#leader"],
    code=[("snippets.positions.yarn.weight_of_lead", g * (new / g), s * m), ("snippets.positions.yarn.weight_of_lead", g, m)],
    title="With this factor, a lead of $g$ keeps its weight",
)

derivation.refute(
    "distance-only",
    (t / f - p) * w,
    ((t + c) / f - (p + c)) * w,
    at={p: 0, t: 2, c: 1, f: 2, w: 1},
    title="If the first positions keep their angles, the distance to them is not enough",
)

derivation.identity(
    "exercise-third",
    (1 - Fraction(1, 3)) * (w / 8) + Fraction(1, 3) * w,
    w / Fraction(12, 5),
    uses=["divisor"],
    title="A pair with two rotations in Llama 3.1",
)

derivation.identity(
    "exercise-square",
    log(exp(g) * exp(g)) / g,
    2,
    given=[nonzero(g)],
    uses=["score-factor"],
    title="If the length is squared, LongRoPE doubles the scores",
)

if __name__ == "__main__":
    derivation.main()
