"""Ring attention: when sending is hidden, the pairs of each device under a causal mask, and an even assignment."""

from derivations.kernel import Derivation, index, nonnegative, positive, scalars, sizes, total

p, b, c, d, h, h_kv, n = sizes("p b c d h h_kv n")  # devices; tokens in a chunk, on a device; width of a head; heads; tokens
F, W, g = scalars("F W g")  # operations and bytes in a second, bytes of a number
r = index("r", p)
t, s = index("t", c), index("s", b)

counts = "snippets.io.ring."

derivation = Derivation("Ring attention")

compute, send = 4 * c**2 * d * h / F, 2 * c * d * h_kv * g / W
derivation.identity(
    "slack",
    compute - send,
    2 * c * d * (2 * c * h * W - g * h_kv * F) / (F * W),
    given=[positive(F), positive(W)],
    title="Seconds of computing in a step, less seconds of sending",
)

derivation.inequality(
    "hidden",
    send,
    compute,
    because=2 * c * d * (2 * c * h * W - g * h_kv * F) / (F * W),
    given=[positive(F), positive(W), nonnegative(2 * c * h * W - g * h_kv * F)],
    uses=["slack"],
    title="If each device holds enough tokens, sending takes no longer than computing",
)

derivation.identity(
    "own",
    total((r - 1) * c + t, t),
    (r - 1) * c**2 + c * (c + 1) / 2,
    uses=["order/causal#pairs"],
    title="Pairs of device $r$ under a causal mask, if it holds piece $r$ of the text",
)

derivation.chain(
    "last",
    total((p - 1) * c + t, t),
    ((p - 1) * c**2 + c * (c + 1) / 2, "the last device sees all pieces before its own"),
    (p * c**2 - c * (c - 1) / 2, "regroup: the whole row of pieces, less what is above the diagonal"),
    uses=["own"],
    code=[(counts + "pairs_waited_for", p, c)],
    title="Pairs of the last device, which the others wait for",
)

derivation.refute(
    "twice-as-fast",
    p * c**2 - c * (c - 1) / 2,
    p * c**2 / 2,
    at={p: 4, c: 2},
    uses=["last"],
    title="A causal mask does not make the plain ring twice as fast",
)

derivation.limit(
    "no-faster",
    p * c**2 / (p * c**2 - c * (c - 1) / 2),
    p,
    "oo",
    1,
    uses=["last"],
    title="With many devices, a causal mask makes the plain ring no faster",
)

zigzag = b * (2 * p * b + 1)
derivation.chain(
    "zigzag",
    total((r - 1) * b + s, s) + total((2 * p - r) * b + s, s),
    (total((2 * p - 1) * b + 2 * s, s), "add both sums: $r$ cancels"),
    (zigzag, "add up"),
    uses=["own"],
    title="Pairs of device $r$ with chunk $r$ from the start and chunk $r$ from the end",
)

derivation.identity(
    "none-idle",
    p * zigzag,
    (2 * p * b) * (2 * p * b + 1) / 2,
    uses=["zigzag", "order/causal#pairs"],
    code=[(counts + "zigzag_pairs", p, b)],
    title="Together, the devices compute exactly the pairs of the causal mask",
)

derivation.chain(
    "speedup",
    p * (2 * b) ** 2 / zigzag,
    (2 * (2 * p * b) / (2 * p * b + 1), "reduce; the text has $2pb$ tokens"),
    uses=["none-idle"],
    title="How many times faster a causal mask makes the zigzag ring",
)

derivation.limit("speedup-long", 2 * n / (n + 1), n, "oo", 2, uses=["speedup"], title="For a long text: twice as fast")

derivation.identity(
    "striped",
    total(r + (t - 1) * p, t),
    c * r + p * c * (c - 1) / 2,
    title="Pairs of device $r$ with every $p$-th token",
)

derivation.inequality(
    "hidden-causal",
    send,
    compute / 2,
    because=2 * c * d * (c * h * W - g * h_kv * F) / (F * W),
    given=[positive(F), positive(W), nonnegative(c * h * W - g * h_kv * F)],
    uses=["hidden"],
    title="With half the pairs in a step, twice as many tokens suffice",
)

if __name__ == "__main__":
    derivation.main()
