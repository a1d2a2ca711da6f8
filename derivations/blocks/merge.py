"""Softmax attention with keys in blocks: the state of a block, how two states merge, and why any order works."""

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
    code=[("snippets.blocks.merge.attention_about_reference", z, V, a)],
    title="Any reference cancels",
)

derivation.inequality(
    "at-least-one",
    1,
    first_sum(z[k]),
    because=total((1 - eye(n)[i, k]) ** 2 * exp(z[i] - z[k]), i),
    title="If the reference is one of the scores, the sum is at least one",
)

derivation.inequality(
    "none-above-one",
    exp(z[k] - largest(z)),
    1,
    because=1 - exp(z[k] - largest(z)),
    title="If the reference is the largest score, no exponential is above one",
)

derivation.inequality(
    "largest-at-least-one",
    1,
    first_sum(largest(z)),
    because=first_sum(largest(z)) - 1,
    uses=["at-least-one"],
    title="If the reference is the largest score, the sum is at least one",
)

derivation.identity(
    "move-sum",
    exp(a - c) * first_sum(a),
    first_sum(c),
    code=[("snippets.blocks.merge.change_reference", first_sum(a), a, c)],
    title="A new reference multiplies the sum by one factor",
)

derivation.identity(
    "move-values",
    exp(a - c) * first_mix(a),
    first_mix(c),
    code=[("snippets.blocks.merge.change_reference", first_mix(a), a, c)],
    title="A new reference multiplies the weighted sum of values by the same factor",
)

derivation.chain(
    "merge",
    (exp(a - c) * first_mix(a) + exp(b - c) * second_mix(b)) / (exp(a - c) * first_sum(a) + exp(b - c) * second_sum(b)),
    ((first_mix(c) + second_mix(c)) / (first_sum(c) + second_sum(c)), "move both references to $c$"),
    (both, "which cancels"),
    uses=["move-sum", "move-values", "cancels"],
    code=[("snippets.blocks.merge.over_two_blocks", z, V, y, U)],
    title="Two merged blocks give attention over the keys of both",
)

derivation.chain(
    "any-order",
    exp(r - t) * (exp(a - r) * f + exp(b - r) * g) + exp(c - t) * h,
    (exp(a - t) * f + exp(b - t) * g + exp(c - t) * h, "the reference $r$ cancels"),
    (exp(a - t) * f + exp(s - t) * (exp(b - s) * g + exp(c - s) * h), "the same sum, with the last two blocks merged first"),
    title="Three blocks: the first two or the last two may merge first",
)

log_z = derivation.define(
    "L_z",
    log(total(exp(z[i]), i)),
    title="The log-sum-exp of the first block, $L_z$",
    id="define-log-z",
    code=[("snippets.blocks.merge.log_sum", z)],
)
log_y = derivation.define(
    "L_y",
    log(total(exp(y[j]), j)),
    title="The log-sum-exp of the second block, $L_y$",
    id="define-log-y",
    code=[("snippets.blocks.merge.log_sum", y)],
)

derivation.identity(
    "log-sum",
    exp(a + log(first_sum(a))),
    exp(log_z),
    uses=["move-sum"],
    title="Any reference and its sum give the log-sum-exp",
)

derivation.inequality(
    "log-sum-above",
    largest(z),
    log(total(exp(z[i]), i)),
    because=log(first_sum(largest(z))),
    uses=["largest-at-least-one"],
    title="The log-sum-exp is at least the largest score",
)

derivation.inequality(
    "log-sum-below",
    log(total(exp(z[i]), i)),
    largest(z) + log(n),
    because=log(n) - log(first_sum(largest(z))),
    code=[("snippets.blocks.merge.log_sum", z)],
    uses=["none-above-one"],
    title="The log-sum-exp exceeds the largest score by at most the logarithm of the number of keys",
)

derivation.identity(
    "averages",
    both,
    (exp(log_z) * (softmax(z) @ V) + exp(log_y) * (softmax(y) @ U)) / (exp(log_z) + exp(log_y)),
    uses=["order/causal#window"],
    code=[("snippets.blocks.merge.merge_averages", softmax(z) @ V, log(total(exp(z[i]), i)), softmax(y) @ U, log(total(exp(y[j]), j)))],
    title="The output over both blocks is a weighted mean of their outputs",
)

derivation.refute(
    "equal-weights",
    both,
    half * (softmax(z) @ V + softmax(y) @ U),
    at={z: [0], V: [[1]], y: [log(2)], U: [[0]]},
    code=[("snippets.blocks.merge.over_two_blocks", z, V, y, U)],
    title="The plain mean of the two outputs is wrong",
)

derivation.refute(
    "not-moved",
    both,
    (first_mix(a) + second_mix(b)) / (first_sum(a) + second_sum(b)),
    at={z: [0], V: [[1]], a: 0, y: [log(2)], U: [[0]], b: log(2)},
    code=[("snippets.blocks.merge.over_two_blocks", z, V, y, U)],
    title="Sums with different references can't be added as they are",
)

derivation.identity(
    "one-more",
    (exp(a - c) * o + exp(x - c) * v) / (exp(a - c) * l + exp(x - c)),
    o / l + exp(x) / (exp(a) * l + exp(x)) * (v - o / l),
    given=[positive(l)],
    uses=["merge"],
    code=[("snippets.blocks.merge.add_one_key", o, l, a, v, x)],
    title="One more key moves the average towards its value",
)

if __name__ == "__main__":
    derivation.main()
