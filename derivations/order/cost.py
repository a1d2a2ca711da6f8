"""What a layer of attention costs: operations, which do not depend on the number of heads, and memory, which does."""

from derivations.kernel import Derivation, nonnegative, sizes

n, m, p, d, d_k, h = sizes("n m p d d_k h")

counts = "snippets.order.cost."

derivation = Derivation("What attention costs")

projections = derivation.define(
    "c_p",
    8 * n * d**2,
    code=[(counts + "projection_operations", n, d)],
    title="Operations of the four projections, $c_p$",
)
pairs = derivation.define(
    "c_a",
    4 * n**2 * d,
    code=[(counts + "pair_operations", n, d)],
    title="Operations of scores and mixing, $c_a$",
)

derivation.chain(
    "forward",
    h * (3 * (2 * n * d * (d / h)) + 2 * (2 * n**2 * (d / h))) + 2 * n * d**2,
    (6 * n * d**2 + 4 * n**2 * d + 2 * n * d**2, "the number of heads cancels"),
    (projections + pairs, "add up the projections"),
    code=[(counts + "forward_operations", n, d)],
    title="Operations of a forward pass, for any number of heads",
)

derivation.identity(
    "backward",
    2 * n * p * m + 2 * m * n * p,
    2 * (2 * n * m * p),
    code=[(counts + "backward_of_product", n, m, p)],
    title="The backward pass of a product costs twice as much",
)

derivation.identity(
    "doubling",
    (8 * (2 * n) * d**2 + 4 * (2 * n) ** 2 * d) / (projections + pairs),
    2 + 2 * n / (n + 2 * d),
    uses=["forward"],
    code=[(counts + "doubling_ratio", n, d)],
    title="The cost of twice as many tokens, as a multiple",
)

derivation.inequality(
    "doubling-most",
    2 + 2 * n / (n + 2 * d),
    4,
    because=4 * d / (n + 2 * d),
    uses=["doubling"],
    title="Twice as many tokens cost at most four times as much",
)

derivation.limit(
    "doubling-long", 2 + 2 * n / (n + 2 * d), n, "oo", 4, uses=["doubling"], title="As the text gets longer, the ratio tends to four"
)
derivation.limit(
    "doubling-wide", 2 + 2 * n / (n + 2 * d), d, "oo", 2, uses=["doubling"], title="As the model gets wider, the ratio tends to two"
)

derivation.refute(
    "four-times",
    8 * (2 * n) * d**2 + 4 * (2 * n) ** 2 * d,
    4 * (8 * n * d**2 + 4 * n**2 * d),
    at={n: 1, d: 1},
    title="Twice as many tokens do not cost four times as much",
)

derivation.identity(
    "threshold",
    pairs - projections,
    4 * n * d * (n - 2 * d),
    code=[(counts + "excess_of_pairs", n, d)],
    title="Pairs minus projections: the sign is that of the last factor",
)

derivation.inequality(
    "pairs-dominate",
    8 * (2 * d + m) * d**2,
    4 * (2 * d + m) ** 2 * d,
    because=4 * (2 * d + m) * d * m,
    uses=["threshold"],
    title="Beyond $2d$ tokens, the pairs cost at least as much as the projections",
)

derivation.inequality(
    "projections-dominate",
    pairs,
    projections,
    because=4 * n * d * (2 * d - n),
    given=[nonnegative(2 * d - n)],
    title="Up to $2d$ tokens, the projections cost at least as much as the pairs",
)

derivation.chain(
    "weights",
    (h * n**2) / (n * (h * d_k)),
    (n / d_k, "cancel"),
    code=[(counts + "weights_per_output", n, d_k)],
    title="How many weights of all heads there are for each output number",
)

uncached = derivation.define(
    "c_u",
    4 * n * (n + 1) * d**2 + 2 * n * (n + 1) * (2 * n + 1) * d / 3,
    code=[(counts + "operations_without_cache", n, d)],
    title="Operations for generating $n$ tokens without a cache, $c_u$",
)

derivation.identity(
    "one-more",
    4 * (n + 1) * (n + 2) * d**2 + 2 * (n + 1) * (n + 2) * (2 * n + 3) * d / 3 - uncached,
    8 * (n + 1) * d**2 + 4 * (n + 1) ** 2 * d,
    uses=["forward"],
    code=[(counts + "forward_operations", n + 1, d)],
    title="Without a cache, one more token costs a pass over all tokens",
)

cached = derivation.define(
    "c_k",
    8 * n * d**2 + 2 * n * (n + 1) * d,
    code=[(counts + "operations_with_cache", n, d)],
    title="Operations for generating $n$ tokens with a cache, $c_k$",
)

derivation.identity(
    "one-more-cached",
    8 * (n + 1) * d**2 + 2 * (n + 1) * (n + 2) * d - cached,
    8 * d**2 + 4 * (n + 1) * d,
    code=[(counts + "step_operations", n + 1, d)],
    title="With a cache, one more token costs its projections and one row",
)

derivation.identity(
    "cached-against-whole",
    projections + pairs - cached,
    2 * n * (n - 1) * d,
    uses=["forward"],
    title="One pass over all tokens, minus generation with a cache",
)

if __name__ == "__main__":
    derivation.main()
