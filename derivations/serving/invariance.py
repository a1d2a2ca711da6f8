"""Batch invariance: a sum in another number of parts has other bits and the same bound, and when that changes a token."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    in_range,
    index,
    nonnegative,
    representable,
    rounded,
    scalars,
    sizes,
    sqrt,
    total,
    vector,
)

n, m, p, w, B = sizes("n m p w B")  # terms; terms of a part, parts; workers, sequences of a batch
v, theta, phi = vector("v", n), vector("theta", n), vector("phi", n)  # terms of a sum, their relative errors in two splits
k = index("k", n)
a, b, c, d, x, y, r, s, beta, gamma = scalars("a b c d x y r s beta gamma")

derivation = Derivation("Batch invariance")


def in_one_part(*terms):
    """The sum of the terms from the first to the last, rounded to fp32 at each step."""
    result = terms[0]
    for term in terms[1:]:
        result = rounded(result + term)
    return result


def in_two_parts(*terms):
    half = len(terms) // 2
    return rounded(in_one_part(*terms[:half]) + in_one_part(*terms[half:]))


derivation.inequality(
    "same-bound",
    total(v[k] * (1 + theta[k]), k) - total(v[k] * (1 + phi[k]), k),
    2 * gamma * total(absolute(v[k]), k),
    because=total(
        (
            (absolute(v[k]) - v[k]) * ((gamma - absolute(theta[k])) + (absolute(theta[k]) + theta[k]))
            + (absolute(v[k]) + v[k]) * ((gamma - absolute(theta[k])) + (absolute(theta[k]) - theta[k]))
            + (absolute(v[k]) - v[k]) * ((gamma - absolute(phi[k])) + (absolute(phi[k]) - phi[k]))
            + (absolute(v[k]) + v[k]) * ((gamma - absolute(phi[k])) + (absolute(phi[k]) + phi[k]))
        )
        / 2,
        k,
    ),
    given=[nonnegative(gamma - absolute(theta[k])), nonnegative(gamma - absolute(phi[k]))],
    uses=["associativity/rounding#error-of-a-sum"],
    title="Two ways to split a sum differ by at most twice the error bound",
)

derivation.refute(
    "two-parts",
    in_one_part(a, b, c, d),
    in_two_parts(a, b, c, d),
    at={a: 2**24, b: 1, c: 1, d: -(2**24)},
    title="In fp32, four numbers in one part and in two parts can have different sums",
)

derivation.refute(
    "argmax",
    (y - in_one_part(a, b, b, c)) * (in_two_parts(a, b, b, c) - y),
    0,
    at={a: 2**24, b: 1, c: -(2**24), y: Fraction(1, 2)},
    relation="<=",
    title="One logit can be below another with one part and above it with two",
)

derivation.refute(
    "in-bf16",
    rounded(in_one_part(a, b, b, b), "bf16"),
    rounded(in_two_parts(a, b, b, b), "bf16"),
    at={a: 1 + Fraction(1, 2**8), b: Fraction(1, 2**24)},
    title="Rounding the sums to bf16 need not remove their difference",
)

derivation.inequality(
    "no-worse",
    (m - 1) + (p - 1),
    m * p - 1,
    because=(m - 1) * (p - 1),
    title="The most roundings of any term in $p$ parts of $m$ terms are at most those in one part",
)

derivation.inequality(
    "fewest",
    2 * sqrt(n) - 2,
    (n / p - 1) + (p - 1),
    because=(sqrt(n / p) - sqrt(p)) ** 2,
    uses=["no-worse"],
    title="The most additions that a term passes through, in $p$ parts of $n/p$ terms: a lower bound",
)

derivation.inequality(
    "safe-gap",
    x + r,
    y + s,
    because=(y - x - 2 * beta) + (beta - r) + (beta + s),
    given=[nonnegative(y - x - 2 * beta), nonnegative(beta - r), nonnegative(beta + s)],
    without={nonnegative(beta + s): {x: 0, y: 2, beta: 1, r: 0, s: -3}},
    title="Two logits that differ by at least twice the error bound do not change places",
)

derivation.inequality(
    "computed-gap",
    2 * beta,
    y - x,
    because=((y + s) - (x + r) - 4 * beta) + (beta - s) + (beta + r),
    given=[nonnegative((y + s) - (x + r) - 4 * beta), nonnegative(beta - s), nonnegative(beta + r)],
    uses=["safe-gap"],
    title="If computed logits differ by at least four times the bound, the exact ones differ by at least twice the bound",
)

derivation.chain(
    "part-size",
    n / (w / B),
    (B * n / w, "a part takes what the workers of one sequence share"),
    title="Terms of a part if $w$ workers are distributed over $B$ sequences of $n$ terms",
)

derivation.identity(
    "zeros",
    rounded(x + 0),
    x,
    given=[representable(x)],
    without={representable(x): {x: Fraction(1, 3)}},
    title="Adding zero changes no number",
)

derivation.identity(
    "swapped",
    rounded(x + y),
    rounded(y + x),
    given=[in_range()],
    title="Two numbers have the same rounded sum in both orders",
)

if __name__ == "__main__":
    derivation.main()
