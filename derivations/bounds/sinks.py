"""Attention sinks: a key that takes weight and brings nothing is a gate on the output."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, index, log, nonnegative, ones, scalars, sizes, softmax, total, vector

n, m = sizes("n m")
z, v, y = vector("z", n), vector("v", n), vector("y", m)
b, u, g, c, x = scalars("b u g c x")
i, j, l = index("i", n), index("j", n), index("l", m)

derivation = Derivation("Attention sinks")
mass = total(exp(z[j]), j)
values = total(exp(z[j]) * v[j], j)

r = derivation.define("r", mass / (exp(b) + mass), title="What the sink leaves to the keys, $r$")

derivation.chain(
    "mixture",
    (exp(b) * u + values) / (exp(b) + mass),
    (exp(b) / (exp(b) + mass) * u + mass / (exp(b) + mass) * (values / mass), "split; multiply and divide by the sum over the keys"),
    ((1 - r) * u + r * (softmax(z) @ v), "the sink and the keys share a weight of one"),
    title="A sink mixes its value into the output",
)

derivation.identity(
    "shrinks",
    (exp(b) * 0 + values) / (exp(b) + mass),
    r * (softmax(z) @ v),
    uses=["mixture"],
    title="Without a value it shrinks the output",
)

derivation.identity(
    "gate",
    r,
    1 / (1 + exp(-(log(mass) - b))),
    code=[("snippets.bounds.sinks.sink_gate", log(mass), b)],
    title="A sink is a gate",
)

derivation.inequality(
    "quiet",
    r,
    n * exp(-g),
    because=total(exp(-g) - exp(z[j] - b), j) + mass**2 / (exp(b) * (exp(b) + mass)),
    given=[nonnegative(b - g - z[j])],
    uses=["gate"],
    title="When all scores are far below the sink, almost nothing comes out",
)

derivation.limit(
    "outvoted",
    n * exp(x) / (exp(b) + n * exp(x)),
    n,
    "oo",
    1,
    uses=["gate"],
    title="Enough keys outvote any sink",
)

derivation.identity(
    "no-whisper",
    softmax(z - c * ones(n)) @ v,
    softmax(z) @ v,
    uses=["simplify/softmax#shift"],
    title="Without a sink, low scores say as much as high ones",
)

derivation.refute(
    "low-scores",
    softmax(z - c * ones(n)) @ v,
    Fraction(1, 100),
    relation="<=",
    at={z: [0, 0], v: [1, 1], c: 1000},
    title="Low scores are no silence",
)

everything = mass + total(exp(y[l]), l)

derivation.chain(
    "dropped",
    exp(z[i]) / mass,
    (exp(z[i]) / everything / (mass / everything), "divide both by the sum over all keys"),
    (exp(z[i]) / everything / total(exp(z[j]) / everything, j), "what all the keys that stay had between them"),
    title="Dropping keys divides each weight that stays by the share that stays",
)

derivation.identity(
    "dropped-sink",
    softmax(z) @ v,
    ((exp(b) * u + values) / (exp(b) + mass) - (1 - r) * u) / r,
    uses=["mixture", "dropped"],
    title="The output after the sink has left the cache",
)

derivation.refute(
    "not-idle",
    values / (exp(b) + mass),
    values / mass,
    at={z: [0], v: [1], b: 0},
    title="A key whose value is zero is not idle",
)

derivation.identity(
    "exercise-nine-tenths", x / (1 - Fraction(9, 10)), 10 * x, uses=["dropped"], title="A sink with nine tenths of the weight"
)

derivation.identity("exercise-gradient", diff(r * x, b), -(1 - r) * r * x, title="How a sink's score learns")

if __name__ == "__main__":
    derivation.main()
