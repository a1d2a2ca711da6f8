"""One decoder for published models: Llama's ramp, a factor on rotated features, what top-p moves, and a count of parameters."""

from derivations.kernel import Derivation, index, nonzero, positive, scalars, sizes, total, vector

N, L, d, d_f, h, h_kv, d_k, d_R, k = sizes("N L d d_f h h_kv d_k d_R k")
w, n, a, b = scalars("w n a b")  # a frequency, the trained length, and the two ends of the ramp, in rotations
c, t = scalars("c t")  # the angle of a full circle; a factor
q, r = vector("q", d_R), vector("r", d_R)  # rotated features of a query and of a key
p = vector("p", k)  # the probabilities of the tokens that are kept
i, j = index("i", k), index("j", k)

derivation = Derivation("Llama, Mistral, Gemma and DeepSeek in one decoder")

wavelength, rotations = c / w, w * n / c

derivation.identity(
    "same-ramp",
    (n / wavelength - a) / (b - a),
    (rotations - a) / (b - a),
    given=[nonzero(w), nonzero(c), nonzero(b - a)],
    title="Llama 3's ramp over wavelengths is YaRN's ramp over rotations",
)

derivation.identity(
    "squared",
    (t * q) @ (t * r),
    t**2 * (q @ r),
    code=[("snippets.together.decoder.score_with_factor", q, r, {"factor": t})],
    title="A factor on rotated queries and keys is squared in their score",
)

kept = total(p[j], j)

derivation.identity(
    "moved",
    total(p[i] / kept - p[i], i),
    1 - kept,
    given=[positive(kept)],
    code=[("snippets.together.sampling.moved_probability", p)],
    title="Kept tokens gain together what the dropped tokens lose",
)

derivation.define(
    "c_P",
    N * d + L * (2 * d * (h * d_k) + 2 * d * (h_kv * d_k) + 3 * d * d_f + 2 * d) + d,
    code=[("snippets.together.decoder.decoder_parameters", N, L, d, d_f, h, h_kv, d_k)],
    title="Parameters of a tied decoder with gates and without biases, $c_P$",
)
