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
    (total(exp(scores[j]) * V[j, f], j) / (1 + total(exp(scores[j]), j)), "a key of zero has the score zero"),
    title="An extra zero key and value",
)

derivation.chain(
    "shrunk",
    exp(z[i]) / (1 + sum_exp),
    (exp(z[i]) / sum_exp * (sum_exp / (1 + sum_exp)), "multiply and divide by the old sum"),
    (softmax(z)[i] * (sum_exp / (1 + sum_exp)), "the first factor is softmax"),
    code=[("snippets.heads.nothing.softmax_plus_one", z)],
    title="Every weight shrinks by one factor",
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
    title="A learned score in place of the one",
)

derivation.limit(
    "nothing",
    exp(x) / (exp(c) + s),
    c,
    "oo",
    0,
    uses=["sink"],
    title="Low scores: it attends to nothing",
)

derivation.limit(
    "something",
    exp(x) / (exp(-c) + s),
    c,
    "oo",
    exp(x) / s,
    given=[positive(s)],
    uses=["sink"],
    title="High scores: it is softmax",
)

derivation.refute(
    "shift",
    exp(z + c * ones(m)) / (1 + total(exp(z[j] + c), j)),
    exp(z) / (1 + sum_exp),
    at={z: [0], c: 1},
    code=[("snippets.heads.nothing.softmax_plus_one", z + c * ones(m)), ("snippets.heads.nothing.softmax_plus_one", z)],
    title="A shift no longer drops out",
)

if __name__ == "__main__":
    derivation.main()
