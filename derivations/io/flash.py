"""FlashAttention: what moves between slow and fast memory, with tiles and without, and what is computed."""

from derivations.kernel import Derivation, exp, index, scalars, sizes, total, vector

n, d, b, p, q, r, s = sizes("n d b p q r s")  # tokens; width; tokens in a tile; tiles; of keys: tiles, tokens in one; fast memory
t, v, w = sizes("t v w")  # the side of a square tile; such tiles across the width; the root of a fast memory's size
z, y = vector("z", n), vector("y", r)  # scores of a query so far, and those of the next tile
i, j, k, l = index("i", n), index("j", r), index("k", p), index("l", p)
o, g = index("o", q), index("g", v)
a, c, x, a_1, a_2, a_3 = scalars("a c x a_1 a_2 a_3")

counts = "snippets.io.flash."

derivation = Derivation("FlashAttention")

derivation.chain(
    "running",
    exp(a - c) * total(exp(z[i] - a), i) + total(exp(y[j] - c), j),
    (total(exp(z[i] - c), i) + total(exp(y[j] - c), j), "the factor moves the old sum to the new reference"),
    (exp(-c) * (total(exp(z[i]), i) + total(exp(y[j]), j)), "take out the common factor"),
    uses=["blocks/merge#move-sum"],
    title="After one more tile, the running sum is the sum over all keys so far",
)

derivation.identity(
    "telescopes",
    exp(a_2 - a_3) * (exp(a_1 - a_2) * x),
    exp(a_1 - a_3) * x,
    uses=["running"],
    title="Two corrections in a row equal one, so earlier references cancel",
)

tokens = p * b
plain = 4 * tokens**2 + 2 * tokens * d + 2 * p * tokens * d
derivation.chain(
    "plain",
    total(b * d + total(b * d + b * b, l), k) + (tokens**2 + tokens**2) + total(total(b * b + b * d, l) + b * d, k),
    (plain, "add up"),
    code=[(counts + "plain_moved", tokens, d, b)],
    title="Numbers moved by three kernels, with $p$ tiles of $b$ tokens",
)

tiled = 2 * tokens * d + 2 * p * tokens * d
derivation.chain(
    "tiled",
    total(b * d + total(2 * b * d, l) + b * d, k),
    (tiled, "queries and outputs once, keys and values once for each tile of queries"),
    code=[(counts + "tiled_moved", tokens, d, b)],
    title="Numbers moved by FlashAttention, with the same tiles",
)

derivation.identity(
    "difference",
    plain - tiled,
    4 * tokens**2,
    uses=["plain", "tiled"],
    title="With the same tiles, FlashAttention saves four numbers per pair of tokens",
)

derivation.inequality(
    "saves",
    tiled,
    plain,
    because=4 * tokens**2,
    uses=["difference"],
    title="With the same tiles, FlashAttention never moves more",
)

ratio = 1 + 2 * p * b / (d * (1 + p))
derivation.identity(
    "ratio",
    plain / tiled,
    ratio,
    uses=["difference"],
    code=[(counts + "moved_ratio", tokens, d, b)],
    title="How many times as much plain attention moves",
)

derivation.limit(
    "ratio-long",
    ratio,
    p,
    "oo",
    1 + 2 * b / d,
    uses=["ratio"],
    title="The ratio for a long text: one, plus twice the tile over the width",
)

derivation.chain(
    "one-tile",
    (2 * n * d + n**2) + (n**2 + n**2) + (n**2 + n * d + n * d),
    (4 * n**2 + 4 * n * d, "add up"),
    uses=["plain"],
    code=[(counts + "plain_moved", n, d, n)],
    title="Plain attention, if one tile holds all tokens",
)

side = p * t  # tokens, in square tiles
derivation.chain(
    "squares",
    total(total(2 * total(t * t, g) + t * t, l), k) + 2 * side**2 + total(total(2 * total(t * t, l) + t * t, g), k),
    (3 * side**2 + 4 * p * side * (v * t) + side * (v * t), "add up: tiles of scores, then tiles of outputs"),
    (3 * side**2 + 4 * side**2 * (v * t) / t + side * (v * t), "the number of tiles is the number of tokens over the side"),
    code=[(counts + "squares_moved", side, v * t, t)],
    title="Plain attention whose tiles are squares of side $t$",
)

derivation.identity(
    "fast-memory",
    2 * n * d + 2 * (n / (s / (4 * d))) * n * d,
    2 * n * d + 8 * n**2 * d**2 / s,
    uses=["tiled"],
    title="FlashAttention, if four tiles fill a fast memory of $s$ numbers",
)

small = v * w  # the width of a head, not below the root of the fast memory
derivation.inequality(
    "small-memory",
    3 * n**2 + 4 * n**2 * small / w + n * small,
    2 * n * small + 8 * n**2 * small**2 / w**2,
    because=n**2 * ((v - 1) * (8 * v + 4) + 1) + n * v * w,
    uses=["squares", "fast-memory"],
    title="If $w^2$ numbers fit, square tiles at width $vw$ move no more",
)

derivation.refute(
    "always-saves",
    2 * n * d + 8 * n**2 * d**2 / w**2,
    3 * n**2 + 4 * n**2 * d / w + n * d,
    at={n: 4, d: 4, w: 2},
    relation="<=",
    uses=["small-memory"],
    title="FlashAttention does not always move least",
)

derivation.refute(
    "linear",
    2 * (2 * p * b) * d + 2 * (2 * p) * (2 * p * b) * d,
    2 * tiled,
    at={p: 1, b: 1, d: 1},
    uses=["tiled"],
    title="FlashAttention does not move twice as much for twice the tokens",
)

derivation.refute(
    "fewer-operations",
    p**2 * (2 * b**2 * d + b * (d + 1)),
    2 * tokens**2 * d,
    at={p: 1, b: 1, d: 1},
    relation="<=",
    title="FlashAttention does not save multiplications",
)

derivation.identity(
    "more-operations",
    (p**2 * (2 * b**2 * d + b * (d + 1))) / (2 * tokens**2 * d),
    1 + (d + 1) / (2 * b * d),
    code=[(counts + "multiplications_ratio", d, b)],
    title="Multiplications, relative to plain attention",
)

derivation.identity(
    "key-tiles",
    total(b * d + total(2 * r * d, o) + b * d, k),
    2 * p * b * d + 2 * p * (q * r) * d,
    uses=["tiled"],
    title="Numbers moved with $p$ tiles of $b$ queries and $q$ tiles of $r$ keys",
)

derivation.identity(
    "causal",
    total(b * d + k * (2 * b * d) + b * d, k),
    p * b * d * (p + 3),
    uses=["tiled"],
    code=[(counts + "causal_moved", tokens, d, b)],
    title="Numbers moved under a causal mask, if hidden tiles are skipped",
)

if __name__ == "__main__":
    derivation.main()
