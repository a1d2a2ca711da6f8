"""Logit soft-capping: which properties of a score c tanh(s / c) keeps, and which it does not."""

from derivations.kernel import (
    Derivation,
    absolute,
    diff,
    each,
    exp,
    eye,
    index,
    log,
    nonnegative,
    nonzero,
    ones,
    positive,
    scalars,
    sizes,
    softmax,
    tanh,
    total,
    vector,
)

n, m = sizes("n m")
z = vector("z", n)
s, t, c, x = scalars("s t c x")
i, j = index("i", n), index("j", n)


def cap(score, at=c):
    """A score, soft-capped."""
    return at * tanh(score / at)


def capped(scores, at=c):
    """A vector of scores, each soft-capped."""
    return each(cap(scores[j], at), j)


def clipped(score):
    """A score between -c and c unchanged, and the nearer limit for any other."""
    return (absolute(score + c) - absolute(score - c)) / 2


derivation = Derivation("Soft-capping")

a = derivation.define(
    "a",
    cap(s),
    given=[nonzero(c)],
    code=[("snippets.bounds.softcap.soft_cap", s, {"cap": c})],
    title="The capped score $a$",
)

derivation.inequality(
    "bounded",
    a**2,
    c**2,
    because=c**2 * 4 / (exp(s / c) + exp(-s / c)) ** 2,
    given=[nonzero(c)],
    title="No capped score exceeds the cap in absolute value",
)

derivation.chain(
    "slope",
    diff(a, s),
    (1 - tanh(s / c) ** 2, "the chain rule: the two factors of the cap cancel"),
    (4 / (exp(s / c) + exp(-s / c)) ** 2, "write the hyperbolic tangent with exponentials"),
    given=[nonzero(c)],
    title="The derivative of a capped score",
)

derivation.inequality(
    "at-most-one",
    diff(a, s),
    1,
    because=tanh(s / c) ** 2,
    given=[nonzero(c)],
    uses=["slope"],
    title="The derivative of a capped score is at most one",
)

derivation.inequality(
    "order",
    cap(s),
    cap(t),
    because=2 * c * exp(2 * s / c) * (exp(2 * (t - s) / c) - 1) / ((exp(2 * t / c) + 1) * (exp(2 * s / c) + 1)),
    given=[positive(c), nonnegative(t - s)],
    title="A larger score stays at least as large",
)

derivation.limit("wide", cap(s, 1 / x), x, 0, s, title="As the cap grows, the capped score tends to the score")

derivation.identity(
    "clip-flat",
    diff(clipped(s), s),
    0,
    given=[positive(c), positive(s - c)],
    title="Beyond its limit, the derivative of a clip is zero",
)

derivation.refute(
    "clip-gradient",
    4 / (exp(s / c) + exp(-s / c)) ** 2,
    0,
    at={s: 2, c: 1},
    uses=["slope", "clip-flat"],
    title="Beyond the cap, the derivative of a soft cap is not zero",
)

derivation.refute(
    "shift",
    softmax(capped(z + s * ones(n))),
    softmax(capped(z)),
    at={z: [1, 0], s: 1, c: 1},
    title="A constant added to all scores no longer drops out",
)

derivation.limit(
    "ceiling",
    exp(c * tanh(x)) / (exp(c * tanh(x)) + m * exp(c * tanh(-x))),
    x,
    "oo",
    1 / (1 + m * exp(-(2 * c))),
    uses=["bounded", "bounds/qknorm#most"],
    title="One score grows and all others fall without bound: the weight's limit",
)

derivation.limit("mask-leaks", c * tanh(s - x), x, "oo", -c, title="A masked score that is then capped tends to minus the cap")

derivation.limit(
    "masked-weight",
    exp(c * tanh(s - x)) / (exp(c * tanh(s - x)) + total(exp(cap(z[j])), j)),
    x,
    "oo",
    exp(-c) / (exp(-c) + total(exp(cap(z[j])), j)),
    given=[nonzero(c)],
    uses=["mask-leaks"],
    title="A key that is masked before the cap keeps some weight",
)

derivation.identity(
    "jacobian",
    diff(softmax(capped(z))[i], z[j]),
    softmax(capped(z))[i] * (eye(n)[i, j] - softmax(capped(z))[j]) * (1 - tanh(z[j] / c) ** 2),
    given=[nonzero(c)],
    uses=["slope", "scaling/saturation#jacobian"],
    title="The derivative through cap and softmax",
)

derivation.identity("exercise-half", cap(c * log(3) / 2), c / 2, given=[nonzero(c)], title="The score that becomes half the cap")

derivation.refute(
    "exercise-twice",
    cap(cap(s)),
    cap(s),
    at={s: 1, c: 1},
    title="Capping twice differs from capping once",
)

if __name__ == "__main__":
    derivation.main()
