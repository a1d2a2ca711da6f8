"""Softmax attention over keys that come in blocks: what is kept of a block, how two blocks merge, and why any order will do."""

from fractions import Fraction

from derivations.kernel import Derivation, exp, eye, index, largest, log, matrix, ones, positive, scalars, sizes, softmax, total, vector

n, p, d_v = sizes("n p d_v")
z, V = vector("z", n), matrix("V", n, d_v)  # one block: the scores of a query with its keys, and values
y, U = vector("y", p), matrix("U", p, d_v)  # another block
i, j, k = index("i", n), index("j", p), index("k", n)
a, b, c, r, s, t, x, l = scalars("a b c r s t x l")
f, g, h, o, v = (vector(name, d_v) for name in ["f", "g", "h", "o", "v"])
half = Fraction(1, 2)

derivation = Derivation("Block by block")


def first_sum(reference):
    return total(exp(z[i] - reference), i)


def second_sum(reference):
    return total(exp(y[j] - reference), j)


def first_mix(reference):
    return exp(z - reference * ones(n)) @ V


def second_mix(reference):
    return exp(y - reference * ones(p)) @ U


both = derivation.define(
    "w",
    (exp(z) @ V + exp(y) @ U) / (total(exp(z[i]), i) + total(exp(y[j]), j)),
    code=[("snippets.blocks.merge.over_all", z, V, y, U), ("snippets.blocks.merge.over_two_blocks", z, V, y, U)],
    title="Attention $w$ over the keys of two blocks",
)

derivation.identity(
    "cancels",
    first_mix(a) / first_sum(a),
    softmax(z) @ V,
    uses=["simplify/softmax#shift"],
    code=[("snippets.blocks.merge.about", z, V, a)],
    title="The reference cancels",
)

derivation.inequality(
    "at-least-one",
    1,
    first_sum(z[k]),
    because=total((1 - eye(n)[i, k]) ** 2 * exp(z[i] - z[k]), i),
    title="With a score of the block for reference, the sum is at least one",
)

derivation.inequality(
    "none-above-one",
    exp(z[k] - largest(z)),
    1,
    because=1 - exp(z[k] - largest(z)),
    title="With the largest score for reference, no exponential is above one",
)

derivation.inequality(
    "largest-at-least-one",
    1,
    first_sum(largest(z)),
    because=first_sum(largest(z)) - 1,
    uses=["at-least-one"],
    title="With the largest score for reference, the sum is at least one",
)

derivation.identity(
    "move-sum",
    exp(a - c) * first_sum(a),
    first_sum(c),
    code=[("snippets.blocks.merge.move", first_sum(a), a, c)],
    title="To move the reference, multiply the sum",
)

derivation.identity(
    "move-values",
    exp(a - c) * first_mix(a),
    first_mix(c),
    code=[("snippets.blocks.merge.move", first_mix(a), a, c)],
    title="To move the reference, multiply the sum of values by the same factor",
)

derivation.chain(
    "merge",
    (exp(a - c) * first_mix(a) + exp(b - c) * second_mix(b)) / (exp(a - c) * first_sum(a) + exp(b - c) * second_sum(b)),
    ((first_mix(c) + second_mix(c)) / (first_sum(c) + second_sum(c)), "move both references to $c$"),
    (both, "which cancels"),
    uses=["move-sum", "move-values", "cancels"],
    code=[("snippets.blocks.merge.over_two_blocks", z, V, y, U)],
    title="Two blocks, merged, give attention over the keys of both",
)

derivation.chain(
    "any-order",
    exp(r - t) * (exp(a - r) * f + exp(b - r) * g) + exp(c - t) * h,
    (exp(a - t) * f + exp(b - t) * g + exp(c - t) * h, "the reference in between cancels"),
    (exp(a - t) * f + exp(s - t) * (exp(b - s) * g + exp(c - s) * h), "the same, the last two first"),
    title="Three blocks: either pair may merge first",
)

log_z = derivation.define(
    "L_z", log(total(exp(z[i]), i)), title="The logarithm of the first sum", id="define-log-z", code=[("snippets.blocks.merge.log_sum", z)]
)
log_y = derivation.define(
    "L_y", log(total(exp(y[j]), j)), title="The logarithm of the second sum", id="define-log-y", code=[("snippets.blocks.merge.log_sum", y)]
)

derivation.identity(
    "log-sum",
    exp(a + log(first_sum(a))),
    exp(log_z),
    uses=["move-sum"],
    title="The reference and the sum, in one number",
)

derivation.inequality(
    "log-sum-above",
    largest(z),
    log(total(exp(z[i]), i)),
    because=log(first_sum(largest(z))),
    uses=["largest-at-least-one"],
    title="The logarithm of the sum is no less than the largest score",
)

derivation.inequality(
    "log-sum-below",
    log(total(exp(z[i]), i)),
    largest(z) + log(n),
    because=log(n) - log(first_sum(largest(z))),
    code=[("snippets.blocks.merge.log_sum", z)],
    uses=["none-above-one"],
    title="The log-sum is above the largest score by the logarithm of the number of keys at most",
)

derivation.identity(
    "averages",
    both,
    (exp(log_z) * (softmax(z) @ V) + exp(log_y) * (softmax(y) @ U)) / (exp(log_z) + exp(log_y)),
    uses=["order/causal#window"],
    code=[("snippets.blocks.merge.merge_averages", softmax(z) @ V, log(total(exp(z[i]), i)), softmax(y) @ U, log(total(exp(y[j]), j)))],
    title="An average of averages",
)

derivation.refute(
    "equal-weights",
    both,
    half * (softmax(z) @ V + softmax(y) @ U),
    at={z: [0], V: [[1]], y: [log(2)], U: [[0]]},
    code=[("snippets.blocks.merge.over_two_blocks", z, V, y, U)],
    title="The plain mean of the averages is wrong",
)

derivation.refute(
    "not-moved",
    both,
    (first_mix(a) + second_mix(b)) / (first_sum(a) + second_sum(b)),
    at={z: [0], V: [[1]], a: 0, y: [log(2)], U: [[0]], b: log(2)},
    code=[("snippets.blocks.merge.over_two_blocks", z, V, y, U)],
    title="Sums with different references do not add",
)

derivation.identity(
    "one-more",
    (exp(a - c) * o + exp(x - c) * v) / (exp(a - c) * l + exp(x - c)),
    o / l + exp(x) / (exp(a) * l + exp(x)) * (v - o / l),
    given=[positive(l)],
    uses=["merge"],
    code=[("snippets.blocks.merge.one_more", o, l, a, v, x)],
    title="One more key: the average moves towards its value",
)

if __name__ == "__main__":
    derivation.main()
