"""FlashAttention: what moves between slow and fast memory, with tiles and without, and what is computed."""

from derivations.kernel import Derivation, exp, index, scalars, sizes, total, vector

u, t = sizes("u t")  # half the width of a head; by how much a tile is longer
n, d, b, p, q, r, s = sizes("n d b p q r s")  # tokens; width; tokens in a tile; tiles; of keys: tiles, tokens in one; fast memory
z, y = vector("z", n), vector("y", r)  # scores of a query so far, and those of the next tile
i, j, k, l = index("i", n), index("j", r), index("k", p), index("l", p)
o = index("o", q)
a, c, x, a_1, a_2, a_3 = scalars("a c x a_1 a_2 a_3")

counts = "snippets.io.flash."

derivation = Derivation("FlashAttention")

derivation.chain(
    "running",
    exp(a - c) * total(exp(z[i] - a), i) + total(exp(y[j] - c), j),
    (total(exp(z[i] - c), i) + total(exp(y[j] - c), j), "the factor moves the old sum to the new reference"),
    (exp(-c) * (total(exp(z[i]), i) + total(exp(y[j]), j)), "one factor of all"),
    uses=["blocks/merge#move-sum"],
    title="The running sum, after one more tile, is the sum over all keys so far",
)

derivation.identity(
    "telescopes",
    exp(a_2 - a_3) * (exp(a_1 - a_2) * x),
    exp(a_1 - a_3) * x,
    uses=["running"],
    title="Two corrections make one, so no trace is left of the references on the way",
)

plain = 4 * n**2 + 4 * n * d
derivation.chain(
    "plain",
    (2 * n * d + n**2) + (n**2 + n**2) + (n**2 + n * d + n * d),
    (plain, "add up"),
    code=[(counts + "plain_moved", n, d)],
    title="Moved by three kernels: products, softmax, products",
)

tokens = p * b
tiled = 2 * tokens * d + 2 * p * tokens * d
derivation.chain(
    "tiled",
    total(b * d + total(2 * b * d, l) + b * d, k),
    (tiled, "queries and outputs once, keys and values once for each tile of queries"),
    code=[(counts + "tiled_moved", tokens, d, b)],
    title="Moved by one kernel, for $p$ tiles of $b$ tokens",
)

derivation.identity(
    "difference",
    (4 * tokens**2 + 4 * tokens * d) - tiled,
    2 * p * b * (p * (2 * b - d) + d),
    uses=["plain", "tiled"],
    title="What tiles save in moves",
)

long = p * (u + t)  # tokens, in tiles of more than half the width
derivation.inequality(
    "saves",
    2 * long * (2 * u) + 2 * p * long * (2 * u),
    4 * long**2 + 4 * long * (2 * u),
    because=4 * long * (p * t + u),
    uses=["difference"],
    title="Tiles of $u + t$ tokens, for a head $2u$ wide, never move more",
)

derivation.refute(
    "always-saves",
    tiled,
    4 * tokens**2 + 4 * tokens * d,
    at={p: 8, b: 1, d: 8},
    relation="<=",
    title="Shorter tiles may move more than no tiles",
)

ratio = 2 * (p * b + d) / (d * (1 + p))
derivation.identity(
    "ratio",
    (4 * tokens**2 + 4 * tokens * d) / tiled,
    ratio,
    uses=["difference"],
    code=[(counts + "moved_ratio", tokens, d, b)],
    title="How many times less is moved",
)

derivation.limit("ratio-long", ratio, p, "oo", 2 * b / d, uses=["ratio"], title="In a long text: twice the tile, over the width of a head")

derivation.refute(
    "linear",
    2 * (2 * p * b) * d + 2 * (2 * p) * (2 * p * b) * d,
    2 * tiled,
    at={p: 1, b: 1, d: 1},
    uses=["tiled"],
    title="Twice the tokens do not move twice as much",
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
    title="Multiplications, against those of plain attention",
)

derivation.identity(
    "fast-memory",
    2 * n * d + 2 * (n / (s / (4 * d))) * n * d,
    2 * n * d + 8 * n**2 * d**2 / s,
    uses=["tiled"],
    title="Four tiles fill a fast memory of $s$ numbers: moved",
)

derivation.identity(
    "key-tiles",
    total(b * d + total(2 * r * d, o) + b * d, k),
    2 * p * b * d + 2 * p * (q * r) * d,
    uses=["tiled"],
    title="Moved with $p$ tiles of $b$ queries and $q$ tiles of $r$ keys",
)

derivation.identity(
    "causal",
    total(b * d + k * (2 * b * d) + b * d, k),
    p * b * d * (p + 3),
    uses=["tiled"],
    code=[(counts + "causal_moved", tokens, d, b)],
    title="Moved under a causal mask",
)

if __name__ == "__main__":
    derivation.main()
