"""Split keys: each part answers for itself, with the logarithm of its sum, and a softmax of these logarithms merges the answers."""

from derivations.kernel import (
    Derivation,
    each,
    exp,
    index,
    log,
    matrix,
    nonnegative,
    ones,
    positive,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)

p, m, n, d_k, d_v = sizes("p m n d_k d_v")  # parts; keys in a part; keys; widths
Z, U = matrix("Z", p, m), matrix("U", p, m)  # scores of one query, a row for each part; one feature of the values
f, l, o = vector("f", p), vector("l", p), vector("o", p)  # of each part: a sum of values, a sum of exponentials, an answer
u, v = vector("u", 2), vector("v", 2)  # two keys
i, r, s = index("i", p), index("r", p), index("s", p)
j, k = index("j", m), index("k", m)
a, b, c, x, y, z = scalars("a b c x y z")

counts = "snippets.io.split."

derivation = Derivation("Split keys, merge answers")

log_sums = each(log(total(exp(Z[r, j]), j)), r)
answers = each(total(exp(Z[r, j]) * U[r, j], j) / total(exp(Z[r, k]), k), r)
whole = total(exp(Z[i, j]) * U[i, j], i, j) / total(exp(Z[s, k]), s, k)

said, heard = each(f[r] / l[r], r), each(log(l[r]), r)
derivation.chain(
    "merged",
    softmax(heard) @ said,
    (total(l[i] * (f[i] / l[i]), i) / total(l[s], s), "the exponential of a log-sum is the sum"),
    (total(f[i], i) / total(l[s], s), "which each answer was divided by"),
    given=[positive(l[i])],
    uses=["blocks/merge#averages"],
    code=[(counts + "combine", said, heard)],
    title="The answers of $p$ parts, under a softmax of their log-sums, are the answer of the whole",
)

derivation.identity(
    "log-of-logs",
    log(total(exp(log_sums[i]), i)),
    log(total(exp(Z[s, k]), s, k)),
    uses=["merged"],
    title="The log-sum of the log-sums is the log-sum of all",
)

derivation.identity(
    "order-of-logs",
    log(exp(log(exp(a) + exp(b))) + exp(c)),
    log(exp(a) + exp(log(exp(b) + exp(c)))),
    uses=["log-of-logs"],
    title="Log-sums merge in any order",
)

ab = log(exp(a) + exp(b))
bc = log(exp(b) + exp(c))
of_ab = (exp(a) * x + exp(b) * y) / (exp(a) + exp(b))
of_bc = (exp(b) * y + exp(c) * z) / (exp(b) + exp(c))
derivation.chain(
    "any-order",
    (exp(ab) * of_ab + exp(c) * z) / (exp(ab) + exp(c)),
    (
        (exp(a) * x + exp(b) * y + exp(c) * z) / (exp(a) + exp(b) + exp(c)),
        "the log-sum gives back the weight that the first merge divided by",
    ),
    ((exp(a) * x + exp(bc) * of_bc) / (exp(a) + exp(bc)), "the same, the last two first"),
    uses=["order-of-logs"],
    title="Of three parts, either pair may merge first",
)

derivation.identity(
    "equal-parts",
    softmax(c * ones(p)) @ o,
    total(o[i], i) / p,
    uses=["merged"],
    title="Where all parts have one log-sum, the plain mean is right",
)

derivation.refute(
    "plain-mean",
    total(answers[i], i) / p,
    whole,
    at={Z: [[0], [log(3)]], U: [[1], [0]]},
    title="The plain mean of the answers is wrong",
)

derivation.refute(
    "by-length",
    (2 * (softmax(u) @ v) + x) / 3,
    (exp(u[1]) * v[1] + exp(u[2]) * v[2] + exp(a) * x) / (exp(u[1]) + exp(u[2]) + exp(a)),
    at={u: [0, 0], v: [1, 1], a: log(2), x: 0},
    title="To weigh the answers by how many keys they have is wrong, too",
)

derivation.chain(
    "sent",
    (p * (d_v + 1)) / (p * m * (d_k + d_v)),
    (1 / m * ((d_v + 1) / (d_k + d_v)), "the number of parts cancels"),
    code=[(counts + "sent_to_held", m, d_k, d_v)],
    title="Numbers that travel, against numbers that stay, with $m$ keys in a part",
)

derivation.inequality(
    "sent-most",
    1 / m * ((d_v + 1) / (d_k + d_v)),
    1 / m,
    because=1 / m * ((d_k - 1) / (d_k + d_v)),
    uses=["sent"],
    title="At most one in $m$",
)

derivation.inequality(
    "bounded",
    softmax(log_sums) @ answers,
    y,
    because=total(softmax(log_sums)[i] * (y - answers[i]), i),
    given=[nonnegative(y - answers[i])],
    title="The whole is never outside of what its parts say",
)

derivation.inequality(
    "best-parts",
    2 * sqrt(n),
    n / p + p,
    because=(sqrt(n / p) - sqrt(p)) ** 2,
    title="With one step for each key of a part and one for each merge, no number of parts needs fewer steps",
)

if __name__ == "__main__":
    derivation.main()
