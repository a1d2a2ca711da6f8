"""Quantised keys and values: the error of a score, of a weight and of an output, and what a rotation and a shift of the keys change."""

from fractions import Fraction

from derivations.kernel import (
    Derivation,
    absolute,
    diff,
    each,
    in_range,
    index,
    largest,
    log,
    matrix,
    nonnegative,
    nonzero,
    ones,
    product_is,
    rounded,
    scalars,
    sizes,
    softmax,
    total,
    vector,
)

n, m, d = sizes("n m d_k")
q, k, delta, s, c = (vector(name, d) for name in ("q", "k", "delta", "s", "c"))  # a query, a key, its error, steps, a shift of all keys
Q, K, R = matrix("Q", n, d), matrix("K", m, d), matrix("R", d, d)
z, v, f = vector("z", m), vector("v", m), vector("f", m)  # scores, one feature of the values, errors
a, b, g, x, t, r = scalars("a b g x t r")
i, j, l, o = index("i", m), index("j", m), index("l", d), index("o", d)

quantized = "snippets.serving.quantized."
derivation = Derivation("Quantised keys and values")


def below(size, bound, error):
    """Twice the factor by which a term stays below its bound, visibly not negative."""
    return (absolute(size) - size) * ((bound - absolute(error)) + (absolute(error) + error)) + (absolute(size) + size) * (
        (bound - absolute(error)) + (absolute(error) - error)
    )


derivation.inequality(
    "score-error",
    q @ (k + delta) - q @ k,
    total(absolute(q[l]) * s[l], l) / 2,
    because=total(below(q[l], s[l] / 2, delta[l]) / 2, l),
    given=[nonnegative(s[l] / 2 - absolute(delta[l]))],
    title="The error of a score is at most half the sum of the steps, weighted by the query's absolute values",
)

derivation.identity(
    "same-steps",
    largest(each(K[i, l] + c[l], i)) + largest(each(-(K[i, l] + c[l]), i)),
    largest(each(K[i, l], i)) + largest(each(-K[i, l], i)),
    title="A number that is added to a whole channel does not change the channel's range",
)

derivation.identity(
    "shared-key-error",
    softmax((K + each(c[l], i, l)) @ q),
    softmax(K @ q),
    uses=["simplify/softmax#shift"],
    title="An error that all keys share changes no weight",
)

derivation.identity(
    "shared-value-error",
    softmax(z) @ (v + a * ones(m)),
    softmax(z) @ v + a,
    uses=["simplify/softmax#sums-to-one"],
    title="An error that all values share is the output's error",
)

derivation.inequality(
    "value-error",
    softmax(z) @ (v + f) - softmax(z) @ v,
    t / 2,
    because=total(softmax(z)[j] * ((t / 2 - absolute(f[j])) + (absolute(f[j]) - f[j])), j),
    given=[nonnegative(t / 2 - absolute(f[j]))],
    title="The error of the output is at most half the largest step of the values",
)

derivation.refute(
    "alike",
    softmax(z + f) @ v,
    softmax(z) @ (v + f),
    relation="<=",
    at={z: [0, 0], v: [0, 8], f: [0, log(3)]},
    uses=["value-error"],
    title="An error of a score can move the output further than the same error of a value",
)

derivation.identity(
    "value-slope",
    diff(softmax(z) @ v, v[j]),
    softmax(z)[j],
    title="The derivative of the output with respect to a value",
)

derivation.identity(
    "score-slope",
    diff(softmax(z) @ v, z[j]),
    softmax(z)[j] * (v[j] - softmax(z) @ v),
    code=[("snippets.softmax.jacobian.through_softmax", softmax(z), v)],
    uses=["softmax/jacobian#backward"],
    title="The derivative of the output with respect to a score",
)

derivation.identity(
    "rotation",
    (Q @ R) @ (K @ R).T,
    Q @ K.T,
    given=[product_is(R, R.T, 1)],
    code=[(quantized + "rotated_products", Q, K, R)],
    title="Rotating queries and keys changes no score",
)

derivation.inequality(
    "spread",
    total(k[l] * R[l, o], l),
    r * total(absolute(k[l]), l),
    because=total(below(k[l], r, R[l, o]) / 2, l),
    given=[nonnegative(r - absolute(R[l, o]))],
    title="A bound on the features of a rotated key",
)

derivation.refute(
    "always-smaller",
    largest(k @ R),
    largest(k),
    relation="<=",
    at={k: [3, 4], R: [[Fraction(3, 5), Fraction(4, 5)], [Fraction(4, 5), -Fraction(3, 5)]]},
    uses=["spread"],
    title="A rotation can make the largest feature larger",
)

derivation.inequality(
    "fp8",
    absolute(rounded(x, "e4m3") - x),
    absolute(x) / 16,
    because=absolute(x) / 16 - absolute(rounded(x, "e4m3") - x),
    given=[in_range()],
    without={in_range(): {x: Fraction(1, 2**10)}},
    uses=["associativity/rounding#unit-roundoff"],
    title="FP8 (E4M3) changes a number by at most a sixteenth of its absolute value",
)

derivation.refute(
    "small-survives",
    rounded(x * (448 / t), "e4m3") * (t / 448),
    x,
    at={x: 1, t: 2**19},
    uses=["fp8"],
    title="If one scale serves all numbers, a small one can become zero",
)

derivation.define(
    "b_g",
    b + 32 / g,
    given=[nonzero(g)],
    code=[(quantized + "stored_bits", b, g)],
    title="Bits of a number with $b$ bits, if $g$ numbers share a smallest number and a step of 16 bits each",
)

derivation.identity(
    "exercise-smaller-groups",
    (b + 32 / (g / 2)) - (b + 32 / g),
    32 / g,
    given=[nonzero(g)],
    title="What groups of half the size cost",
)

derivation.identity(
    "exercise-one-bit",
    (t / (2 * x - 1)) / (t / (x - 1)),
    (x - 1) / (2 * x - 1),
    given=[nonzero(t), nonzero(x - 1), nonzero(2 * x - 1)],
    uses=["score-error"],
    title="With one bit more, a step is about half as long",
)

if __name__ == "__main__":
    derivation.main()
