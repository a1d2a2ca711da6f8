"""Ulysses, all-gather and ring: the bytes that each device sends, and where they are equal."""

from derivations.kernel import Derivation, each, exp, index, nonnegative, positive, scalars, sizes, total
from derivations.kernel.core.expr import symbol

p, c, d, h, h_kv, g, n = sizes("p c d h h_kv g n")  # devices; tokens on each; width of a head; heads; bytes of a number; tokens of the text
B, r_h = scalars("B r_h")  # bytes of the keys of a device's tokens; query heads that share keys and values
F, W = scalars("F W")  # operations and bytes in a second

Q, K, V = (symbol(name, "real", (p, p, c, d)) for name in "QKV")  # by device, head, token of the device, and feature
a, r, b = index("a", p), index("r", p), index("b", p)
i, j, f, k = index("i", c), index("j", c), index("f", d), index("k", d)

ulysses_code = "snippets.io.ulysses."

derivation = Derivation("Ulysses, all-gather or a ring")

weight = exp(total(Q[a, b, i, f] * K[r, b, j, f], f))
derivation.define(
    "O",
    each(total(weight * V[r, b, j, k], r, j) / total(weight, r, j), a, b, i, k),
    code=[(ulysses_code + "attention_with_exchange", Q, K, V, {"scale": 1})],
    title="The output on device $a$ for head $b$ and its token $i$: keys and values of all devices count",
)

ring = 2 * (p - 1) * c * d * h_kv * g
ulysses = 2 * c * d * (h + h_kv) * g * (p - 1) / p

derivation.chain(
    "slack",
    ring - ulysses,
    (2 * c * d * g * (p - 1) * (p * h_kv - (h + h_kv)) / p, "factor out what both contain"),
    code=[(ulysses_code + "ring_less_ulysses", p, c, d, h, h_kv, g)],
    title="Bytes that a device sends in a ring, less those that it sends with Ulysses",
)

derivation.inequality(
    "fewer",
    2 * B * (r_h + 1) * (p - 1) / p,
    2 * B * (p - 1),
    because=2 * B * (p - 1) * (p - (r_h + 1)) / p,
    given=[nonnegative(B), nonnegative(p - (r_h + 1))],
    uses=["slack"],
    title="With enough devices, which divide the heads of keys and values, Ulysses sends no more than a ring",
)

derivation.chain(
    "equal-heads",
    2 * (p - 1) * c * d * h * g / (2 * c * d * (h + h) * g * (p - 1) / p),
    (p / 2, "cancel"),
    given=[positive(p - 1)],
    uses=["slack"],
    title="If each query head has its own keys and values: bytes of a ring, over those of Ulysses",
)

derivation.refute(
    "ring-best",
    ring,
    ulysses,
    relation="<=",
    at={p: 4, c: 1, d: 1, h: 4, h_kv: 4, g: 1},
    uses=["equal-heads"],
    title="A ring does not always send the fewest bytes",
)

derivation.identity(
    "gathered",
    2 * (p * c) * d * h_kv * g - 2 * c * d * h_kv * g,
    ring,
    code=[(ulysses_code + "gather_bytes", p, c, d, h_kv, g), (ulysses_code + "ring_bytes", p, c, d, h_kv, g)],
    title="Gathering all keys and values takes the same bytes as a ring",
)

derivation.identity(
    "most-devices",
    2 * (h_kv - 1) * c * d * h_kv * g - 2 * c * d * (h + h_kv) * g * (h_kv - 1) / h_kv,
    2 * c * d * g * (h_kv - 1) * (h_kv * (h_kv - 1) - h) / h_kv,
    uses=["slack"],
    title="The difference with as many devices as heads of keys and values",
)

derivation.limit(
    "ring-limit",
    2 * (p - 1) * (n / p) * d * h_kv * g,
    p,
    "oo",
    2 * n * d * h_kv * g,
    title="Bytes that a device sends in a ring for a text of $n$ tokens, with many devices",
)

derivation.inequality(
    "bounded",
    ulysses,
    2 * c * d * (h + h_kv) * g,
    because=2 * c * d * (h + h_kv) * g / p,
    title="With $c$ tokens on each device, Ulysses sends at most this, while the devices divide the heads of keys and values",
)

computing, sending = 4 * c**2 * d * h / F, 2 * c * d * h_kv * g / W
derivation.chain(
    "time",
    (p - 1) * sending + computing - (p * computing + ulysses / W),
    (
        2 * c * d * (p - 1) * (g * (p * h_kv - (h + h_kv)) / (p * W) - 2 * c * h / F),
        "the ring sends more bytes, and Ulysses does not compute meanwhile",
    ),
    given=[positive(F), positive(W)],
    uses=["slack", "io/ring#slack"],
    title="Seconds of a ring whose sending takes longer than computing, less seconds of Ulysses",
)

derivation.chain(
    "copies",
    ring - 2 * c * d * (h / p + 1) * g * (p - 1),
    (2 * c * d * g * (p - 1) * (h_kv - 1 - h / p), "factor out what both contain"),
    uses=["slack"],
    title="The difference if heads of keys and values are copied, so that each device gets one",
)

derivation.identity(
    "memory",
    2 * (p * c) * d * h_kv * g / (2 * (2 * c * d * h_kv * g)),
    p / 2,
    title="Keys and values that a device holds after an all-gather, over those that it holds in a ring",
)

if __name__ == "__main__":
    derivation.main()
