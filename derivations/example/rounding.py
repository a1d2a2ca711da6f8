"""What rounding the weights to one decimal place does to an output, and a bound on the error."""

from fractions import Fraction

from derivations.kernel import Derivation, array, index, matrix, scalars, sizes, softmax, total, vector

m = sizes("m")
p, r, v = vector("p", m), vector("r", m), vector("v", m)
z = vector("z", m)
U = matrix("U", m, 3)
c = scalars("c")
i, j = index("i", m), index("j", m)
half, tenth = Fraction(1, 2), Fraction(1, 10)

derivation = Derivation("Rounding the weights")

V = derivation.define("V", array([[1, 2, 3], [2, 8, 0], [2, 6, 3]]), title="The values of the example")
s = derivation.define("s", array([2, 4, 4]), title="The scores of the first token")

derivation.identity(
    "source-output",
    array([0, half, half]) @ V,
    array([2, 7, Fraction(3, 2)]),
    title="The first output with the source's rounded weights",
)

derivation.refute(
    "not-exact",
    softmax(z) @ U,
    r @ U,
    at={z: [2, 4, 4], r: [0, half, half], U: [[1, 2, 3], [2, 8, 0], [2, 6, 3]]},
    title="The source's weights do not give the exact output",
)

derivation.identity(
    "lost",
    softmax(s) @ V - array([0, half, half]) @ V,
    softmax(s)[1] * array([-1, -5, Fraction(3, 2)]),
    uses=["source-output"],
    title="The error that the source's weights cause",
)

derivation.refute(
    "not-nothing",
    softmax(z)[1],
    Fraction(1, 20),
    relation="<=",
    at={z: [2, 4, 4]},
    title="The weight that was rounded to zero exceeds a twentieth",
)

derivation.refute(
    "sum",
    total(r[j], j),
    1,
    at={r: [tenth, half, half]},
    title="Rounded weights need not sum to one",
)

derivation.refute(
    "scores-first",
    Fraction(9, 20),
    softmax(z)[1],
    relation="<=",
    at={z: [0, half]},
    title="The first weight is too small to be rounded to a half",
)

derivation.inequality(
    "bound",
    total((r[j] - p[j]) * v[j], j) ** 2,
    total((r[j] - p[j]) ** 2, j) * total(v[j] ** 2, j),
    because=total(((r[i] - p[i]) * v[j] - (r[j] - p[j]) * v[i]) ** 2, i, j) / 2,
    title="A bound on the squared error of an output",
)

derivation.identity(
    "shift",
    total((r[j] - p[j]) * (v[j] - c), j),
    total((r[j] - p[j]) * v[j], j) - c * (total(r[j], j) - total(p[j], j)),
    title="Subtracting a constant from all values changes the error only if the sums differ",
)

if __name__ == "__main__":
    derivation.main()
