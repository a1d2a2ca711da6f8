"""Vision transformers: class token, mean pooling, other resolutions, and interpolated positions."""

from fractions import Fraction

from derivations.kernel import Derivation, exp, index, log, matrix, norm, ones, scalars, sizes, softmax, total, vector

n, d, d_v, c = sizes("n d d_v c")
z, V, v = vector("z", n), matrix("V", n, d_v), vector("v", d_v)  # the scores of the class token with patches; values; its own value
x, s, t, a, b, e, f = scalars("x s t a b q f")
S = matrix("S", n, n)
i, j, r = index("i", n), index("j", n), index("r", d_v)
u, w, k = vector("u", d), vector("w", d), vector("k", d)

derivation = Derivation("Vision transformers")

patches = total(exp(z[i]), i)
derivation.identity(
    "class-token",
    (exp(x) * v + exp(z) @ V) / (exp(x) + patches),
    softmax(z) @ V + exp(x) / (exp(x) + patches) * (v - softmax(z) @ V),
    uses=["blocks/merge#one-more"],
    code=[("snippets.layers.vision.class_output", x, v, z, V)],
    title="The class token's output: the patches' mean, moved towards its own value",
)

derivation.identity(
    "copies",
    (exp(x) * v + c * (exp(z) @ V)) / (exp(x) + c * patches),
    (exp(x - log(c)) * v + exp(z) @ V) / (exp(x - log(c)) + patches),
    uses=["class-token"],
    title="If every patch occurs $c$ times, the class token's own score is in effect lower by the logarithm of $c$",
)

derivation.refute(
    "resolution",
    (exp(x) * v + c * (exp(z) @ V)) / (exp(x) + c * patches),
    (exp(x) * v + exp(z) @ V) / (exp(x) + patches),
    at={x: 0, v: [1], z: [0], V: [[0]], c: 4},
    title="Four copies of each patch change the class token's output",
)

derivation.identity(
    "pooled",
    ((1 / n) * (ones(n) @ (softmax(S) @ V)))[r],
    total((total(softmax(S)[i, j], i) / n) * V[j, r], j),
    code=[("snippets.layers.vision.mean_pool", S, V)],
    title="Mean pooling weights each patch by the attention it gets on average",
)

derivation.refute(
    "alike",
    (1 / n) * (ones(n) @ (softmax(S) @ V)),
    (1 / n) * (ones(n) @ V),
    at={S: [[0, log(3)], [0, log(3)]], V: [[0], [1]]},
    title="The mean of the outputs is not the mean of the values",
)

derivation.identity(
    "linear",
    (1 - s) * ((1 - t) * (a + b * i + e * j + f * i * j) + t * (a + b * i + e * (j + 1) + f * i * (j + 1)))
    + s * ((1 - t) * (a + b * (i + 1) + e * j + f * (i + 1) * j) + t * (a + b * (i + 1) + e * (j + 1) + f * (i + 1) * (j + 1))),
    a + b * (i + s) + e * (j + t) + f * (i + s) * (j + t),
    title="A table that is linear along rows and columns is interpolated exactly",
)

derivation.identity(
    "shrinks",
    norm((1 - t) * u + t * w) ** 2,
    (1 - t) * norm(u) ** 2 + t * norm(w) ** 2 - t * (1 - t) * norm(u - w) ** 2,
    code=[("snippets.layers.vision.squared_length", u, w, {"t": t})],
    title="The squared length of a row between two rows",
)

derivation.inequality(
    "at-most-the-mean",
    norm(u / 2 + w / 2) ** 2,
    (norm(u) ** 2 + norm(w) ** 2) / 2,
    because=norm(u - w) ** 2 / 4,
    uses=["shrinks"],
    title="Halfway, the squared length is at most the mean of both squared lengths",
)

derivation.refute(
    "not-shorter",
    norm(u / 2 + w / 2),
    norm(u),
    relation="<=",
    at={u: [1], w: [3]},
    title="A row halfway between two rows may be longer than one of them",
)

N = sizes("N")
derivation.identity(
    "doubled",
    (12 * (4 * N) * d**2 + 2 * (4 * N) ** 2 * d) / (12 * N * d**2 + 2 * N**2 * d),
    4 * (6 * d + 4 * N) / (6 * d + N),
    code=[("snippets.layers.vision.times_the_cost", N, d)],
    title="Twice the side: the factor for all multiplications",
)

derivation.identity(
    "position-score",
    k @ ((1 - t) * u + t * w),
    (1 - t) * (k @ u) + t * (k @ w),
    title="The score with a row in between lies between the scores",
)

derivation.identity(
    "halfway",
    norm(u / 2 + w / 2) ** 2,
    norm(u) ** 2 / 4 + norm(w) ** 2 / 4 + (u @ w) / 2,
    title="Halfway: a quarter of both squared lengths, plus half of the dot product",
)

derivation.limit(
    "in-the-end",
    4 * (6 * d + 4 * N) / (6 * d + N),
    N,
    "oo",
    16,
    uses=["doubled"],
    title="The factor tends to 16 as the number of patches grows",
)

derivation.refute(
    "sixteen",
    (12 * (4 * N) * d**2 + 2 * (4 * N) ** 2 * d) / (12 * N * d**2 + 2 * N**2 * d),
    16,
    at={N: 196, d: 768},
    title="At 196 patches and width 768, the factor is not 16",
)

derivation.refute(
    "moved",
    Fraction(3, 4) * u + Fraction(1, 4) * w,
    u,
    at={u: [0], w: [1]},
    title="Half a pixel off, an inner row is not an old row",
)

if __name__ == "__main__":
    derivation.main()
