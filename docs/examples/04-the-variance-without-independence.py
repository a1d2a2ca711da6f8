# False: the variance without independence

from derivations.kernel import Derivation, Var, gaussian, independent, mean, random, sizes, variance

d = sizes("d")
q = random("q", d)
derivation = Derivation("A vector with itself")
derivation.identity(
    "itself",
    Var(q @ q),
    d,
    given=[independent(q), gaussian(q), mean(q, 0), variance(q, 1)],
    title="The variance of a vector's product with itself",
)
