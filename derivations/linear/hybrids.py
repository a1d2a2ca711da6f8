"""Stacks of linear and full layers: bytes of caches and states together, when they pay, and the delta rule with a gate for each channel."""

from fractions import Fraction

from derivations.kernel import Derivation, each, eye, index, matrix, nonzero, positive, scalars, sizes, total

n, m, r, b, h, g, d = sizes("n m r b h g d")  # b: bytes of a token in the cache of a full layer
z = sizes("z")  # bytes of a state
d_k, d_v = sizes("d_k d_v")
S = matrix("S", d_k, d_v)
k, v, a = matrix("k", 1, d_k), matrix("v", 1, d_v), matrix("a", 1, d_k)  # a: a gate for each channel
alpha, beta, t = scalars("alpha beta t")
p, s, o = index("p", 1), index("s", d_k), index("o", d_v)

chapter = "snippets.linear.hybrids."
length = total(k[1, s] ** 2, s)

derivation = Derivation("Hybrids of linear and full layers")

full = derivation.define(
    "B_f",
    m * (r + 1) * n * b,
    code=[(chapter + "full_bytes", n, m, r, b)],
    title="Bytes of a stack whose layers all have full attention",
)
hybrid = derivation.define(
    "B_h",
    m * (n * b + r * z),
    code=[(chapter + "hybrid_bytes", n, m, r, b, z)],
    title="Bytes of a stack with one full layer after every $r$ linear ones",
)

derivation.identity(
    "ratio",
    hybrid / full,
    1 / (r + 1) + r / (r + 1) * (z / (n * b)),
    uses=["define-b-f", "define-b-h"],
    title="Bytes of a hybrid, as a share of those with full attention everywhere",
)

derivation.limit(
    "long",
    hybrid / full,
    n,
    "oo",
    1 / (r + 1),
    uses=["ratio"],
    title="For long texts, a hybrid's share of bytes tends to the share of its full layers",
)

derivation.inequality(
    "floor",
    full,
    (r + 1) * hybrid,
    because=(r + 1) * m * r * z,
    uses=["ratio"],
    title="A hybrid's share of bytes is never below the share of its full layers",
)

derivation.identity(
    "saved",
    full - hybrid,
    m * r * (n * b - z),
    uses=["define-b-f", "define-b-h"],
    title="What a hybrid saves: in each linear layer, a cache less a state",
)

derivation.refute(
    "quarter",
    hybrid,
    full / 4,
    at={m: 1, r: 3, n: 2, b: 1, z: 4},
    relation="<=",
    uses=["ratio"],
    title="With two tokens, three linear layers to one full layer need more than a quarter of the bytes",
)

derivation.refute(
    "fewer",
    hybrid,
    full,
    at={m: 1, r: 3, n: 2, b: 1, z: 4},
    relation="<=",
    uses=["saved"],
    title="A hybrid may need more bytes than full attention everywhere",
)

derivation.identity(
    "worth",
    (h * d * d) / (g * (d + d)),
    h * d / (2 * g),
    code=[(chapter + "state_in_tokens", h, g, {"width": d})],
    title="A state is as large as the cache of this many tokens",
)

derivation.identity(
    "exercise-times",
    m * (t * (r * z) + r * z) / (m * (r + 1) * (t * (r * z))),
    (1 + 1 / t) / (r + 1),
    given=[positive(t)],
    uses=["ratio"],
    title="A hybrid's share of bytes, if its caches are $t$ times as large as its states",
)

decayed = each(a[1, s] * S[s, o], s, o)
channels = decayed + beta * (k.T @ (v - k @ decayed))

derivation.identity(
    "channels",
    channels,
    (eye(d_k) - beta * (k.T @ k)) @ decayed + beta * (k.T @ v),
    uses=["linear/gates#gated-delta"],
    code=[(chapter + "channel_delta_step", S, k, v, a, {"beta": beta})],
    title="Kimi Delta Attention: each channel decays by its own gate, then the delta rule",
)

derivation.identity(
    "diagonal",
    (eye(d_k) - beta * (k.T @ k)) @ decayed,
    decayed - beta * (k.T @ (each(k[p, s] * a[p, s], p, s) @ S)),
    uses=["channels"],
    title="Its matrix is diagonal, less a column times a row",
)

derivation.identity(
    "one-gate",
    each(alpha * S[s, o], s, o) + beta * (k.T @ (v - k @ each(alpha * S[s, o], s, o))),
    alpha * S + beta * (k.T @ (v - k @ (alpha * S))),
    uses=["channels", "linear/gates#gated-delta"],
    title="With equal gates it is gated DeltaNet",
)

derivation.identity(
    "still-exact",
    k @ (decayed + (1 / length) * (k.T @ (v - k @ decayed))),
    v,
    given=[nonzero(length)],
    uses=["channels", "linear/gates#still-exact"],
    title="At the right rate, the newest value is stored exactly, whatever the gates",
)

derivation.refute(
    "order",
    decayed + beta * (k.T @ (v - k @ S)),
    channels,
    at={S: [[1]], k: [[1]], v: [[0]], a: [[Fraction(1, 2)]], beta: 1},
    uses=["channels"],
    title="Reading before the decay gives another step",
)

if __name__ == "__main__":
    derivation.main()
