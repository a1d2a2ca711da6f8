"""Why floating-point products are not associative, how far apart two groupings can be, and when a division is exact."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    in_range,
    index,
    nonnegative,
    nonzero,
    representable,
    rounded,
    scalars,
    sizes,
    total,
    vector,
)

n = sizes("n")
a, b, c, u, x, y, gamma, theta, phi = scalars("a b c u x y gamma theta phi")
v, delta = vector("v", n), vector("delta", n)
k = index("k", n)
tiny = Fraction(1, 2**149)  # the smallest positive number of fp32

derivation = Derivation("What rounding does to a product")


def left_first(a, b, c):
    return rounded(rounded(a * b) * c)


def right_first(a, b, c):
    return rounded(a * rounded(b * c))


def product_in(format_):
    return rounded(x, format_) * rounded(y, format_)


derivation.refute(
    "underflow",
    left_first(a, b, c),
    right_first(a, b, c),
    at={a: Fraction(1, 2**75), b: Fraction(1, 2**75), c: 2**75},
    title="A product that one grouping rounds to zero",
)

derivation.refute(
    "last-digit",
    left_first(a, b, c),
    right_first(a, b, c),
    at={a: 4097, b: 4097, c: 3},
    title="Two groupings of a product can differ in the last digit",
)

derivation.refute(
    "sums",
    rounded(rounded(a + b) + c),
    rounded(a + rounded(b + c)),
    at={a: 1, b: Fraction(1, 2**24), c: Fraction(1, 2**24)},
    title="Two groupings of a sum can differ",
)

derivation.inequality(
    "unit-roundoff",
    absolute(rounded(x) - x),
    absolute(x) / 2**24,
    because=absolute(x) / 2**24 - absolute(rounded(x) - x),
    given=[in_range()],
    without={in_range(): {x: tiny / 2}},
    title="One rounding changes a number by at most the unit roundoff times its absolute value",
)

derivation.inequality(
    "monotone",
    rounded(y),
    rounded(x),
    because=rounded(x) - rounded(y),
    given=[nonnegative(x - y), in_range()],
    without={in_range(): {x: 2**128, y: 0}},
    title="Rounding keeps the order of two numbers",
)

gamma_n = derivation.define(
    "gamma_n",
    n * u / (1 - n * u),
    given=[nonzero(1 - n * u)],
    title="The bound on the relative error of $n$ roundings, $\\gamma_n$",
)

derivation.identity(
    "one-more-than-gamma",
    1 + gamma_n,
    1 / (1 - n * u),
    given=[nonzero(1 - n * u)],
    title=r"One plus $\gamma_n$ is one over $1 - n u$",
)

derivation.inequality(
    "error-grows",
    (1 - (n + 1) * u) * (1 + u),
    1 - n * u,
    because=(n + 1) * u**2,
    title="One more rounding, upwards",
)

derivation.inequality(
    "error-of-a-sum",
    total(v[k] * delta[k], k),
    gamma * total(absolute(v[k]), k),
    because=total(((absolute(v[k]) - v[k]) * (gamma + delta[k]) + (absolute(v[k]) + v[k]) * (gamma - delta[k])) / 2, k),
    given=[nonnegative(gamma - delta[k]), nonnegative(gamma + delta[k])],
    title="A bound on the error of a sum whose terms have bounded relative errors",
)

derivation.inequality(
    "two-groupings",
    (x * (1 + theta) - x * (1 + phi)) ** 2,
    (2 * gamma * x) ** 2,
    because=x**2 * ((gamma - theta) + (gamma + phi)) * ((gamma + theta) + (gamma - phi)),
    given=[nonnegative(gamma - theta), nonnegative(gamma + theta), nonnegative(gamma - phi), nonnegative(gamma + phi)],
    uses=["error-grows"],
    title="Two roundings of one term differ by at most twice the bound",
)

derivation.chain(
    "halving",
    rounded(a * rounded(b / 2)),
    (rounded(a * (b / 2)), "half of a floating-point number is a floating-point number"),
    (rounded(a * b) / 2, "halving changes the exponent only, so it commutes with rounding"),
    (rounded(rounded(a * b) / 2), "half of a floating-point number is a floating-point number, again"),
    given=[representable(b), in_range()],
    without={representable(b): {a: 3, b: 1 + Fraction(1, 2**24)}, in_range(): {a: 2, b: 3 * tiny}},
    title="Within the range of exponents, dividing by two commutes with rounding",
)

derivation.identity(
    "exact-products",
    rounded(product_in("bf16")),
    product_in("bf16"),
    given=[in_range()],
    without={in_range(): {x: Fraction(1, 2**80), y: Fraction(1, 2**80)}},
    title="A product of two bf16 numbers is a number of single precision",
)

derivation.identity(
    "exact-products-fp16",
    rounded(product_in("fp16")),
    product_in("fp16"),
    given=[in_range()],
    without={in_range(): {x: 2**16, y: 1}},
    title="A product of two fp16 numbers is a number of single precision",
)

derivation.refute(
    "rounded-twice",
    rounded(rounded(x), "bf16"),
    rounded(x, "bf16"),
    at={x: 257 + Fraction(1, 2**20)},
    title="Rounding to single precision first can change a number of bf16",
)

derivation.refute(
    "thirds",
    rounded(rounded(a * b) / 3),
    rounded(a * rounded(b / 3)),
    at={a: 5, b: 1},
    title="Dividing by three does not commute with rounding",
)

derivation.refute(
    "halving-underflows",
    rounded(rounded(a * b) / 2),
    rounded(a * rounded(b / 2)),
    at={a: 2, b: tiny},
    title="Below the smallest normal number, dividing by two can be inexact",
)

if __name__ == "__main__":
    derivation.main()
