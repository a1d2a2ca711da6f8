"""What a cache costs: bytes to store, and bytes to read, with few operations for each byte in decoding."""

from derivations.kernel import Derivation, sizes

n, d, d_k, h, h_kv = sizes("n d d_k h h_kv")
L, B, g, N = sizes("L B g N")  # layers, sequences of a batch, bytes of a number, weights of a model
p, r, s = sizes("p r s")  # tokens that all sequences share, tokens of their own, new tokens at once

memory = "snippets.inference.memory."

derivation = Derivation("What the KV cache costs")

derivation.define(
    "b_t",
    2 * L * h_kv * d_k * g,
    code=[(memory + "bytes_per_token", L, h_kv, d_k, g)],
    title="Bytes of a cache for each token",
)

derivation.chain(
    "whole-width",
    2 * L * h * (d / h) * g,
    (2 * L * d * g, "the number of heads cancels"),
    title="Bytes for each token, with separate keys and values for each query head",
)

derivation.refute(
    "own-width",
    2 * L * h_kv * d_k * g,
    2 * L * h_kv * (d / h) * g,
    at={L: 1, h_kv: 1, h: 2, d: 2, d_k: 2, g: 1},
    title="The size of a cache with a head's own width differs from the size with $d/h$",
)

derivation.identity(
    "six-widths",
    12 * d**2 * L * g - B * n * (2 * L * d * g),
    2 * L * d * g * (6 * d - B * n),
    uses=["heads/parameters#count", "whole-width"],
    code=[(memory + "weights_less_cache", B * n, d, L, g)],
    title="Weights less cache: equal at six times as many tokens as the width",
)

intensity = derivation.define(
    "rho_a",
    B * h * (4 * n * d_k) / (B * h_kv * (2 * n * d_k) * g),
    code=[(memory + "attention_intensity", B, n, h, h_kv, d_k, g)],
    title="Operations of attention in a decoding step, over bytes of cache read",
)

derivation.identity(
    "intensity",
    intensity,
    2 * h / (h_kv * g),
    title="The intensity of attention in decoding",
)

derivation.identity(
    "weights-intensity",
    B * (2 * N) / (N * g),
    2 * B / g,
    code=[(memory + "weights_intensity", B, N, g)],
    title="The intensity of the weights grows with the batch",
)

derivation.refute(
    "batch",
    (2 * B) * h * (4 * n * d_k) / ((2 * B) * h_kv * (2 * n * d_k) * g),
    2 * (B * h * (4 * n * d_k) / (B * h_kv * (2 * n * d_k) * g)),
    at={B: 1, n: 1, h: 1, h_kv: 1, d_k: 1, g: 2},
    uses=["intensity"],
    title="Twice the batch does not double the intensity of attention",
)

step = derivation.define(
    "rho_s",
    (2 * B * N + 4 * B * n * L * h * d_k) / ((N + 2 * B * n * L * h_kv * d_k) * g),
    code=[(memory + "step_intensity", B, n, N, L, h, h_kv, d_k, g)],
    title="Operations of a whole step, over bytes of weights and caches",
)
most = (N + 2 * n * L * h * d_k) / (n * L * h_kv * d_k * g)

derivation.inequality(
    "bounded",
    step,
    most,
    because=(N + 2 * n * L * h * d_k) * N / (n * L * h_kv * d_k * g * (N + 2 * B * n * L * h_kv * d_k)),
    title="The intensity of a step has a bound that does not depend on the batch",
)

derivation.limit("batch-limit", step, B, "oo", most, uses=["bounded"], title="A large batch comes close to the bound")

derivation.identity(
    "two-parts",
    most,
    N / (n * L * h_kv * d_k * g) + 2 * h / (h_kv * g),
    uses=["intensity"],
    title="The bound is a part that falls with the context, plus attention's intensity",
)

derivation.chain(
    "prefill",
    (4 * n**2 * d_k) / (4 * n * d_k * g),
    (n / g, "cancel"),
    code=[(memory + "prefill_intensity", n, d_k, g)],
    title="Attention in a prefill of $n$ tokens: its intensity grows with $n$",
)

derivation.identity(
    "several",
    s * h * (4 * n * d_k) / (h_kv * (2 * n * d_k) * g),
    s * (2 * h / (h_kv * g)),
    uses=["intensity"],
    title="The intensity with $s$ new tokens at once",
)

shared = B * (p + r) * h * (4 * d_k) / ((p + B * r) * h_kv * (2 * d_k) * g)

derivation.identity(
    "shared-prefix",
    shared,
    (2 * h / (h_kv * g)) * (B * (p + r) / (p + B * r)),
    uses=["intensity"],
    code=[(memory + "shared_intensity", B, p, r, h, h_kv, d_k, g)],
    title="The intensity with a prefix that the whole batch shares",
)

derivation.limit(
    "shared-limit",
    (2 * h / (h_kv * g)) * (B * (p + r) / (p + B * r)),
    B,
    "oo",
    (2 * h / (h_kv * g)) * ((p + r) / r),
    uses=["shared-prefix"],
    title="The intensity with a shared prefix, for many sequences",
)

derivation.chain(
    "half-the-bytes",
    2 * h / (h_kv * (g / 2)),
    (2 * (2 * h / (h_kv * g)), "half the bytes, twice the ratio"),
    uses=["intensity"],
    title="The intensity with half the bytes a number",
)

if __name__ == "__main__":
    derivation.main()
