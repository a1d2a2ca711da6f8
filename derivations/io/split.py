"""Split keys: each part computes its answer and a log-sum, and a softmax of the log-sums merges the answers."""

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
    (total(f[i], i) / total(l[s], s), "cancel: each answer was divided by this sum"),
    given=[positive(l[i])],
    uses=["blocks/merge#averages"],
    code=[(counts + "merge_numbers", said, heard)],
    title="A softmax of the log-sums merges the answers of $p$ parts exactly",
)

derivation.identity(
    "log-of-logs",
    log(total(exp(log_sums[i]), i)),
    log(total(exp(Z[s, k]), s, k)),
    uses=["merged"],
    title="The log-sum of the log-sums is the log-sum of all scores",
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
        "the exponential of the merged log-sum cancels the denominator of the first merge",
    ),
    ((exp(a) * x + exp(bc) * of_bc) / (exp(a) + exp(bc)), "the same with the last two first"),
    uses=["order-of-logs"],
    title="With three parts, the first two or the last two may merge first",
)

derivation.identity(
    "equal-parts",
    softmax(c * ones(p)) @ o,
    total(o[i], i) / p,
    uses=["merged"],
    title="If all log-sums are equal, the plain mean is right",
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
    title="Weighting the answers by numbers of keys is wrong",
)

derivation.chain(
    "sent",
    (p * (d_v + 1)) / (p * m * (d_k + d_v)),
    (1 / m * ((d_v + 1) / (d_k + d_v)), "the number of parts cancels"),
    code=[(counts + "sent_to_held", m, d_k, d_v)],
    title="Numbers sent, relative to numbers held, with $m$ keys in a part",
)

derivation.inequality(
    "sent-most",
    1 / m * ((d_v + 1) / (d_k + d_v)),
    1 / m,
    because=1 / m * ((d_k - 1) / (d_k + d_v)),
    uses=["sent"],
    title="At most one number is sent for $m$ that are held",
)

derivation.inequality(
    "bounded",
    softmax(log_sums) @ answers,
    y,
    because=total(softmax(log_sums)[i] * (y - answers[i]), i),
    given=[nonnegative(y - answers[i])],
    title="The merged answer is at most the largest answer",
)

derivation.inequality(
    "best-parts",
    2 * sqrt(n),
    n / p + p,
    because=(sqrt(n / p) - sqrt(p)) ** 2,
    title="A worker for each part, then merging in sequence: a lower bound",
)

derivation.inequality(
    "more-parts",
    n * p * (p + m) / (p + m) + (p + m),
    n * p * (p + m) / p + p,
    because=m * (n - 1),
    uses=["best-parts"],
    title="$np(p + m)$ keys in $p + m$ parts take no more steps than in $p$ parts",
)

if __name__ == "__main__":
    derivation.main()
