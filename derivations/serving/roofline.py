"""The roofline of attention: when reading takes longer than computing, in prefill and decoding, with shared heads and with latent rows."""

from derivations.kernel import Derivation, index, nonzero, positive, scalars, sizes, total

n, s, c = sizes("n s c")  # keys, new tokens, and tokens in the cache before them
h, h_kv, d_k = sizes("h h_kv d_k")  # heads, heads of keys and values, their width
k = index("k", s)
d_c, d_R, g = sizes("d_c d_R g")  # widths of a latent row's two parts, bytes of a number
w, q, p, b = scalars("w q p b")  # operations, bytes, and how many of each a machine does in a second
u, R = scalars("u R")  # queries for each key, and the number that a machine needs

roofline = "snippets.serving.roofline."

derivation = Derivation("The roofline of attention")

intensity = derivation.define(
    "rho_n",
    s * h * (4 * n * d_k) / ((2 * n * h_kv * d_k + 2 * s * h * d_k) * g),
    code=[(roofline + "intensity_with_queries", s, n, h, h_kv, d_k, g)],
    title="Operations of attention for $s$ new tokens, over bytes read and written",
)

derivation.identity(
    "both-ways",
    intensity,
    2 / (g * (1 / (s * h / h_kv) + 1 / n)),
    title="The intensity of attention, from queries per key and keys per query",
)

derivation.inequality(
    "queries-bound",
    intensity,
    2 * (s * h / h_kv) / g,
    because=2 * s**2 * h**2 / (g * h_kv * (n * h_kv + s * h)),
    uses=["both-ways"],
    title="The intensity is at most what the queries for each key allow",
)

derivation.inequality(
    "keys-bound",
    intensity,
    2 * n / g,
    because=2 * n**2 * h_kv / (g * (n * h_kv + s * h)),
    uses=["both-ways"],
    title="The intensity is at most what the keys for each query allow",
)

derivation.limit(
    "decoding",
    s * h * (4 * n * d_k) / ((2 * n * h_kv * d_k + 2 * s * h * d_k) * g),
    n,
    "oo",
    s * (2 * h / (h_kv * g)),
    uses=["inference/memory#intensity", "queries-bound"],
    title="With a long cache, $s$ new tokens have $s$ times the intensity of one",
)

derivation.chain(
    "prefill",
    n * h * (4 * n * d_k) / ((2 * n * h_kv * d_k + 2 * n * h * d_k) * g),
    (2 * n * h / ((h_kv + h) * g), "cancel the width and a length"),
    uses=["both-ways"],
    title="The intensity of a prefill, with shared heads of keys and values",
)

derivation.identity(
    "ridge",
    (w / p) / (q / b),
    (w / q) / (p / b),
    given=[nonzero(q), nonzero(p), nonzero(b)],
    title="The time for computing over the time for reading is the intensity over the ridge point",
)

derivation.identity(
    "crossing",
    2 * u * n / (g * (u + n)) - 2 * R / g,
    2 * (u * (n - R) - R * n) / (g * (u + n)),
    given=[positive(u)],
    uses=["both-ways"],
    title="How far the intensity is above the ridge point, or below it",
)

latent = derivation.define(
    "rho_l",
    s * h * n * (2 * (d_c + d_R) + 2 * d_c) / ((n * (d_c + d_R) + s * h * (2 * d_c + d_R)) * g),
    code=[(roofline + "latent_intensity", s, n, h, d_c, d_R, g)],
    title="Operations of absorbed MLA for $s$ new tokens, over bytes read and written",
)

derivation.identity(
    "latent-both-ways",
    latent,
    2 / (g * (1 / (s * h * (2 * d_c + d_R) / (d_c + d_R)) + 1 / n)),
    uses=["both-ways"],
    title="The intensity of MLA has the same form",
)

derivation.refute(
    "always-memory-bound",
    h * n * (2 * (d_c + d_R) + 2 * d_c) / ((n * (d_c + d_R) + h * (2 * d_c + d_R)) * g),
    R,
    at={h: 128, d_c: 512, d_R: 64, g: 2, n: 440, R: 156},
    relation="<=",
    uses=["latent-both-ways", "ridge"],
    title="The intensity of decoding is not always below the ridge point",
)

derivation.identity(
    "one-byte",
    2 / ((g / 2) * (1 / (s * h / h_kv) + 1 / n)),
    2 * (2 / (g * (1 / (s * h / h_kv) + 1 / n))),
    uses=["both-ways"],
    title="Half the bytes for all numbers, twice the intensity",
)

derivation.identity(
    "kept-pairs",
    total(c + k, k) / (s * (c + s)),
    (c + (s + 1) / 2) / (c + s),
    code=[(roofline + "kept_pairs", s, c)],
    title="The share of pairs that a causal mask keeps, after $c$ tokens in a cache",
)

derivation.identity(
    "causal-prefill",
    4 * d_k * h * (n * (n + 1) / 2) / ((2 * n * h_kv * d_k + 2 * n * h * d_k) * g),
    (n + 1) * h / ((h_kv + h) * g),
    uses=["prefill", "kept-pairs"],
    title="The intensity of a prefill that skips what the causal mask hides",
)

if __name__ == "__main__":
    derivation.main()
