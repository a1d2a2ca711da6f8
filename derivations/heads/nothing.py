"""Softmax plus one: an extra key of zero whose value is zero, so that a query may attend to nothing."""

from derivations.kernel import Derivation, exp, index, matrix, ones, positive, scalars, sizes, softmax, total, vector, zeros

m, d_k, d_v = sizes("m d_k d_v")
q, z = vector("q", d_k), vector("z", m)
K, V = matrix("K", m, d_k), matrix("V", m, d_v)
i, j, f = index("i", m), index("j", m), index("f", d_v)
c, x, s = scalars("c x s")

derivation = Derivation("Attending to nothing")
sum_exp = total(exp(z[j]), j)
scores = K @ q

derivation.chain(
    "zero-key",
    (total(exp(scores[j]) * V[j, f], j) + exp(q @ zeros(d_k)) * 0) / (total(exp(scores[j]), j) + exp(q @ zeros(d_k))),
    (total(exp(scores[j]) * V[j, f], j) / (1 + total(exp(scores[j]), j)), "a key of zeros has the score zero"),
    title="An extra key and value of zeros adds one to the denominator",
)

derivation.chain(
    "shrunk",
    exp(z[i]) / (1 + sum_exp),
    (exp(z[i]) / sum_exp * (sum_exp / (1 + sum_exp)), "multiply and divide by the old sum"),
    (softmax(z)[i] * (sum_exp / (1 + sum_exp)), "the first factor is softmax"),
    code=[("snippets.heads.nothing.softmax_plus_one", z)],
    title="All weights shrink by the same factor",
)

derivation.inequality(
    "at-most-one",
    total(exp(z[i]) / (1 + sum_exp), i),
    1,
    because=1 / (1 + sum_exp),
    title="The weights sum to at most one",
)

derivation.identity(
    "sink",
    exp(z[i]) / (exp(c) + sum_exp),
    exp(z[i] - c) / (1 + total(exp(z[j] - c), j)),
    code=[("snippets.heads.nothing.softmax_with_sink", z, c), ("snippets.heads.nothing.softmax_plus_one", z - c * ones(m))],
    title="A learned score is a shift of all other scores",
)

derivation.limit(
    "nothing",
    exp(x) / (exp(c) + s),
    c,
    "oo",
    0,
    uses=["sink"],
    title="As the extra key's score grows, the other weights tend to zero",
)

derivation.limit(
    "something",
    exp(x) / (exp(-c) + s),
    c,
    "oo",
    exp(x) / s,
    given=[positive(s)],
    uses=["sink"],
    title="As the extra key's score falls, the weights tend to softmax",
)

derivation.refute(
    "shift",
    exp(z + c * ones(m)) / (1 + total(exp(z[j] + c), j)),
    exp(z) / (1 + sum_exp),
    at={z: [0], c: 1},
    code=[("snippets.heads.nothing.softmax_plus_one", z + c * ones(m)), ("snippets.heads.nothing.softmax_plus_one", z)],
    title="A constant added to all scores no longer drops out",
)

if __name__ == "__main__":
    derivation.main()
