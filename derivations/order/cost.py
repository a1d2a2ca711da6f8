"""What a layer of attention costs: operations, in which the heads do not occur, and memory, in which they do."""

from derivations.kernel import Derivation, nonnegative, sizes

n, m, p, d, d_k, h = sizes("n m p d d_k h")

counts = "snippets.order.cost."

derivation = Derivation("What attention costs")

projections = derivation.define(
    "c_p",
    8 * n * d**2,
    code=[(counts + "projection_operations", n, d)],
    title="Operations in the four projections",
)
pairs = derivation.define(
    "c_a",
    4 * n**2 * d,
    code=[(counts + "pair_operations", n, d)],
    title="Operations in scores and mixing",
)

derivation.chain(
    "forward",
    h * (3 * (2 * n * d * (d / h)) + 2 * (2 * n**2 * (d / h))) + 2 * n * d**2,
    (6 * n * d**2 + 4 * n**2 * d + 2 * n * d**2, "the number of heads cancels"),
    (projections + pairs, "add up the projections"),
    code=[(counts + "forward_operations", n, d)],
    title="Forward, whatever the number of heads",
)

derivation.identity(
    "backward",
    2 * n * p * m + 2 * m * n * p,
    2 * (2 * n * m * p),
    code=[(counts + "backward_of_product", n, m, p)],
    title="Each product costs twice as much on the way back",
)

derivation.identity(
    "doubling",
    (8 * (2 * n) * d**2 + 4 * (2 * n) ** 2 * d) / (projections + pairs),
    2 + 2 * n / (n + 2 * d),
    uses=["forward"],
    code=[(counts + "doubling_ratio", n, d)],
    title="Twice the words",
)

derivation.inequality(
    "doubling-most",
    2 + 2 * n / (n + 2 * d),
    4,
    because=4 * d / (n + 2 * d),
    uses=["doubling"],
    title="At most four times",
)

derivation.limit("doubling-long", 2 + 2 * n / (n + 2 * d), n, "oo", 4, uses=["doubling"], title="Long texts: four times")
derivation.limit("doubling-wide", 2 + 2 * n / (n + 2 * d), d, "oo", 2, uses=["doubling"], title="Wide models: twice")

derivation.refute(
    "four-times",
    8 * (2 * n) * d**2 + 4 * (2 * n) ** 2 * d,
    4 * (8 * n * d**2 + 4 * n**2 * d),
    at={n: 1, d: 1},
    title="Twice the words do not cost four times as much",
)

derivation.identity(
    "threshold",
    pairs - projections,
    4 * n * d * (n - 2 * d),
    code=[(counts + "excess_of_pairs", n, d)],
    title="Which of the two is larger depends on the sign of the last factor",
)

derivation.inequality(
    "pairs-dominate",
    8 * (2 * d + m) * d**2,
    4 * (2 * d + m) ** 2 * d,
    because=4 * (2 * d + m) * d * m,
    uses=["threshold"],
    title="With $m$ tokens more than $2d$, the pairs cost more",
)

derivation.inequality(
    "projections-dominate",
    pairs,
    projections,
    because=4 * n * d * (2 * d - n),
    given=[nonnegative(2 * d - n)],
    title="Up to $2d$ tokens, the projections cost at least as much",
)

derivation.chain(
    "weights",
    (h * n**2) / (n * (h * d_k)),
    (n / d_k, "cancel"),
    code=[(counts + "weights_per_output", n, d_k)],
    title="Weights of all heads, to one number of their output",
)

uncached = derivation.define(
    "c_u",
    4 * n * (n + 1) * d**2 + 2 * n * (n + 1) * (2 * n + 1) * d / 3,
    code=[(counts + "operations_without_cache", n, d)],
    title="Operations for $n$ tokens one by one, everything computed anew for each",
)

derivation.identity(
    "one-more",
    4 * (n + 1) * (n + 2) * d**2 + 2 * (n + 1) * (n + 2) * (2 * n + 3) * d / 3 - uncached,
    8 * (n + 1) * d**2 + 4 * (n + 1) ** 2 * d,
    uses=["forward"],
    code=[(counts + "forward_operations", n + 1, d)],
    title="One token more costs a forward pass over all",
)

cached = derivation.define(
    "c_k",
    8 * n * d**2 + 2 * n * (n + 1) * d,
    code=[(counts + "operations_with_cache", n, d)],
    title="A text of $n$ tokens, one at a time, with keys and values kept: $c_k$",
)

derivation.identity(
    "one-more-cached",
    8 * (n + 1) * d**2 + 2 * (n + 1) * (n + 2) * d - cached,
    8 * d**2 + 4 * (n + 1) * d,
    code=[(counts + "step_operations", n + 1, d)],
    title="One token more costs its own projections, and a row of scores and of mixing",
)

derivation.identity(
    "cached-against-whole",
    projections + pairs - cached,
    2 * n * (n - 1) * d,
    uses=["forward"],
    title="How much more one pass over all tokens costs",
)

if __name__ == "__main__":
    derivation.main()
