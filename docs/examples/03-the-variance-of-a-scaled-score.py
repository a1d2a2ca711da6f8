# True: the variance of a scaled score

from derivations.kernel import Derivation, Var, independent, mean, random, sizes, sqrt, variance

d = sizes("d")
q, k = random("q", d), random("k", d)
derivation = Derivation("A scaled score")
derivation.identity(
    "scaled",
    Var((q @ k) / sqrt(d)),
    1,
    given=[independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)],
    title="The variance of a scaled score",
)
