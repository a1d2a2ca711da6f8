"""Vision transformers: class token, mean pooling, other resolutions, and what interpolating a table of positions does."""

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
    title="The class token's output: a mean of the patches, and a share of itself",
)

derivation.identity(
    "copies",
    (exp(x) * v + c * (exp(z) @ V)) / (exp(x) + c * patches),
    (exp(x - log(c)) * v + exp(z) @ V) / (exp(x - log(c)) + patches),
    uses=["class-token"],
    title="Every patch c times: as if the class token's own score were lower by the log of c",
)

derivation.refute(
    "resolution",
    (exp(x) * v + c * (exp(z) @ V)) / (exp(x) + c * patches),
    (exp(x) * v + exp(z) @ V) / (exp(x) + patches),
    at={x: 0, v: [1], z: [0], V: [[0]], c: 4},
    title="An image with each patch four times gives another output",
)

derivation.identity(
    "pooled",
    ((1 / n) * (ones(n) @ (softmax(S) @ V)))[r],
    total((total(softmax(S)[i, j], i) / n) * V[j, r], j),
    code=[("snippets.layers.vision.mean_pool", S, V)],
    title="Mean pooling weighs each patch by the attention that it gets on average",
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
    title="A table that is linear along rows and along columns is interpolated exactly",
)

derivation.identity(
    "shrinks",
    norm((1 - t) * u + t * w) ** 2,
    (1 - t) * norm(u) ** 2 + t * norm(w) ** 2 - t * (1 - t) * norm(u - w) ** 2,
    code=[("snippets.layers.vision.squared_length", u, w, {"t": t})],
    title="A row between two rows is shorter than they are",
)

N = sizes("N")
derivation.identity(
    "doubled",
    (12 * (4 * N) * d**2 + 2 * (4 * N) ** 2 * d) / (12 * N * d**2 + 2 * N**2 * d),
    4 * (6 * d + 4 * N) / (6 * d + N),
    code=[("snippets.layers.vision.times_the_cost", N, d)],
    title="Twice the side: what all multiplications grow by",
)

derivation.identity(
    "position-score",
    k @ ((1 - t) * u + t * w),
    (1 - t) * (k @ u) + t * (k @ w),
    title="A score with a row in between lies between the scores",
)

derivation.identity(
    "halfway",
    norm(u / 2 + w / 2) ** 2,
    norm(u) ** 2 / 4 + norm(w) ** 2 / 4 + (u @ w) / 2,
    title="Halfway: a quarter of both squared lengths, and half of the dot product",
)

derivation.limit(
    "in-the-end",
    4 * (6 * d + 4 * N) / (6 * d + N),
    N,
    "oo",
    16,
    uses=["doubled"],
    title="Sixteenfold only where patches are many",
)

derivation.refute(
    "sixteen",
    (12 * (4 * N) * d**2 + 2 * (4 * N) ** 2 * d) / (12 * N * d**2 + 2 * N**2 * d),
    16,
    at={N: 196, d: 768},
    title="Sixteen times the scores are not sixteen times the work",
)

derivation.refute(
    "moved",
    Fraction(3, 4) * u + Fraction(1, 4) * w,
    u,
    at={u: [0], w: [1]},
    title="Half a pixel off: a table twice as large keeps none of its inner rows",
)

if __name__ == "__main__":
    derivation.main()
