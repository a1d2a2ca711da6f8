"""Positions added to the tokens: sines and cosines, their shifts, their dot products, and the longest wavelength."""

from derivations.kernel import Derivation, cos, exp, index, matrix, nonnegative, ones, scalars, sin, sizes, total, vector

n, d, h = sizes("n d h")  # h frequencies, each with a sine and a cosine
p, k, gamma, tau = scalars("p k gamma tau")  # a position, an offset; the logarithm of a base, a full circle
omega, nu = vector("omega", h), vector("nu", h)  # the frequencies; other frequencies for the cosines
X, P, W, Pi = matrix("X", n, d), matrix("P", n, d), matrix("W", d, d), matrix("Pi", n, n)
i = index("i", h)


def waves(name, position, of):
    """The two definitions for one position; `name` is their subscript."""
    code = [[(f"snippets.order.positions.waves[{k}]", position, omega)] for k in (0, 1)]
    return (
        derivation.define(f"C_{name}", cos(position * omega), code=code[0], title=f"Cosines of {of}, $C_{name}$"),
        derivation.define(f"S_{name}", sin(position * omega), code=code[1], title=f"Sines of {of}, $S_{name}$"),
    )


derivation = Derivation("Positions")

derivation.identity(
    "added",
    (X + P) @ W @ (X + P).T,
    X @ W @ X.T + X @ W @ P.T + P @ W @ X.T + P @ W @ P.T,
    code=[("snippets.simplify.bilinear.merged_scores", X + P, W)],
    title="Scores of tokens with added positions have four parts",
)

derivation.refute(
    "positions-break",
    Pi @ X + P,
    Pi @ (X + P),
    at={Pi: [[0, 1], [1, 0]], X: [[0], [0]], P: [[0], [1]]},
    title="Reordering before adding positions differs from reordering after",
)

c_p, s_p = waves("p", p, "a position")
c_k, s_k = waves("k", k, "an offset")
r = derivation.define("r", p + k, title="The position moved by the offset, $r$")
c_r, s_r = waves("r", r, "the position moved")

derivation.identity("circle", s_p[i] ** 2 + c_p[i] ** 2, 1, title="A sine and a cosine of one angle lie on a circle of radius one")

derivation.identity(
    "shift-sine",
    s_r[i],
    c_k[i] * s_p[i] + s_k[i] * c_p[i],
    title="A shift rotates sines and cosines: the new sines",
)

derivation.identity(
    "shift-cosine",
    c_r[i],
    c_k[i] * c_p[i] - s_k[i] * s_p[i],
    title="A shift rotates sines and cosines: the new cosines",
)

derivation.identity(
    "product",
    s_p @ s_r + c_p @ c_r,
    total(c_k[i], i),
    uses=["shift-sine", "shift-cosine", "circle"],
    code=[("snippets.order.positions.encoding_product", p, p + k, omega)],
    title="The dot product of two encodings depends only on their distance",
)

derivation.identity(
    "even",
    cos(-k * omega) @ ones(h),
    cos(k * omega) @ ones(h),
    uses=["product"],
    title="The dot product is the same for a distance and its negative",
)

derivation.identity(
    "quarter",
    s_r[i] * c_p[i] - c_r[i] * s_p[i],
    s_k[i],
    uses=["shift-sine", "shift-cosine", "circle"],
    title="With a quarter of a rotation in between: the sine of the offset",
)

derivation.refute(
    "not-by-distance",
    sin(p * omega[i]) * sin(p * omega[i]),
    sin(k * omega[i]) * sin(k * omega[i]),
    at={omega: [1], i: 1, p: 0, k: 1},
    title="The product of the sines alone depends on the position",
)

derivation.refute(
    "two-frequencies",
    sin(p * omega[i]) * sin(p * omega[i]) + cos(p * nu[i]) * cos(p * nu[i]),
    sin(k * omega[i]) * sin(k * omega[i]) + cos(k * nu[i]) * cos(k * nu[i]),
    at={omega: [1], nu: [2], i: 1, p: 0, k: 1},
    title="If a sine and its cosine have two frequencies, the dot product of an encoding with itself depends on the position",
)

derivation.identity(
    "longest",
    tau * exp(gamma * (h - 1) / h),
    tau * exp(gamma) / exp(gamma / h),
    code=[("snippets.order.positions.longest_wave", h, exp(gamma), tau)],
    title="The longest wavelength: the base times a full circle, divided by a root of the base",
)

derivation.inequality(
    "below",
    tau * exp(gamma * (h - 1) / h),
    tau * exp(gamma),
    because=tau * exp(gamma * (h - 1) / h) * (exp(gamma / h) - 1),
    given=[nonnegative(tau), nonnegative(exp(gamma / h) - 1)],
    uses=["longest"],
    title="If that root is at least one, the wavelength is at most the base times a full circle",
)

derivation.limit(
    "tends",
    tau * exp(gamma * (h - 1) / h),
    h,
    "oo",
    tau * exp(gamma),
    title="With many frequencies, it tends to the base times a full circle",
)

if __name__ == "__main__":
    derivation.main()
