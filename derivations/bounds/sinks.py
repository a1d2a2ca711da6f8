"""Attention sinks: a key that gets weight and has no value is a gate on the output."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, index, log, nonnegative, ones, scalars, sizes, softmax, total, vector

n, m = sizes("n m")
z, v, y = vector("z", n), vector("v", n), vector("y", m)
b, u, g, c, x = scalars("b u g c x")
i, j, l = index("i", n), index("j", n), index("l", m)

derivation = Derivation("Attention sinks")
mass = total(exp(z[j]), j)
values = total(exp(z[j]) * v[j], j)

r = derivation.define("r", mass / (exp(b) + mass), title="The total weight of the other keys, $r$")

derivation.chain(
    "mixture",
    (exp(b) * u + values) / (exp(b) + mass),
    (exp(b) / (exp(b) + mass) * u + mass / (exp(b) + mass) * (values / mass), "split; multiply and divide by the sum over the keys"),
    ((1 - r) * u + r * (softmax(z) @ v), "the weight of the sink and that of the keys sum to one"),
    title="The output with a sink is a mixture",
)

derivation.identity(
    "shrinks",
    (exp(b) * 0 + values) / (exp(b) + mass),
    r * (softmax(z) @ v),
    uses=["mixture"],
    title="A sink with the value zero multiplies the output by $r$",
)

derivation.identity(
    "gate",
    r,
    1 / (1 + exp(-(log(mass) - b))),
    code=[("snippets.bounds.sinks.sink_gate", log(mass), b)],
    title="The total weight of the other keys is a sigmoid",
)

derivation.inequality(
    "quiet",
    r,
    n * exp(-g),
    because=total(exp(-g) - exp(z[j] - b), j) + mass**2 / (exp(b) * (exp(b) + mass)),
    given=[nonnegative(b - g - z[j])],
    uses=["gate"],
    title="If all scores are far below the sink, the keys get little weight",
)

derivation.limit(
    "outvoted",
    n * exp(x) / (exp(b) + n * exp(x)),
    n,
    "oo",
    1,
    uses=["gate"],
    title="As equal keys are added, the sink's weight tends to zero",
)

derivation.identity(
    "no-whisper",
    softmax(z - c * ones(n)) @ v,
    softmax(z) @ v,
    uses=["simplify/softmax#shift"],
    title="Without a sink, lowering all scores changes nothing",
)

derivation.refute(
    "low-scores",
    softmax(z - c * ones(n)) @ v,
    Fraction(1, 100),
    relation="<=",
    at={z: [0, 0], v: [1, 1], c: 1000},
    title="Without a sink, low scores do not make the output small",
)

everything = mass + total(exp(y[l]), l)

derivation.chain(
    "dropped",
    exp(z[i]) / mass,
    (exp(z[i]) / everything / (mass / everything), "divide both by the sum over all keys"),
    (exp(z[i]) / everything / total(exp(z[j]) / everything, j), "the denominator is the total weight of the keys that stay"),
    title="Dropping keys divides each remaining weight by the remaining keys' total weight",
)

derivation.identity(
    "dropped-sink",
    softmax(z) @ v,
    ((exp(b) * u + values) / (exp(b) + mass) - (1 - r) * u) / r,
    uses=["mixture", "dropped"],
    title="The output after the sink is dropped",
)

derivation.refute(
    "not-idle",
    values / (exp(b) + mass),
    values / mass,
    at={z: [0], v: [1], b: 0},
    title="A key with the value zero changes the output",
)

derivation.identity(
    "exercise-nine-tenths", x / (1 - Fraction(9, 10)), 10 * x, uses=["dropped"], title="A sink with nine tenths of the weight is dropped"
)

derivation.identity("exercise-gradient", diff(r * x, b), -(1 - r) * r * x, title="The derivative with respect to the sink's score")

if __name__ == "__main__":
    derivation.main()
