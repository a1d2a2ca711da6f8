"""Multi-head latent attention: keys and values from one cached row, absorbed matrices, and why RoPE prevents absorbing."""

from fractions import Fraction

from derivations.kernel import Derivation, cos, index, matrix, scalars, sin, sizes, softmax, sqrt, vector

n, m, d, d_k, d_v, h, h_kv = sizes("n m d d_k d_v h h_kv")
d_c, d_R, w = sizes("d_c d_R w")  # width of a latent row, of a rotary key; of all kept keys and values of GQA
p, r, g, B = sizes(
    "p r g B"
)  # tokens before the new one; how much wider a head is than one feature, and a latent row than a head; bytes of a number
X, Z = matrix("X", n, d), matrix("Z", m, d)
W_Q, W_D = matrix("W_Q", d, d_k), matrix("W_D", d, d_c)
W_K, W_V, W_O = matrix("W_K", d_c, d_k), matrix("W_V", d_c, d_v), matrix("W_O", d_v, d)  # up to keys, up to values, and the output
C, P = matrix("C", m, d_c), matrix("P", n, m)
W, E = matrix("W", d, w), matrix("E", w, d_k)  # what GQA keeps of a token; picks one head of it
Y, T = matrix("Y", n, d_R), matrix("T", m, d_R)  # rotated queries of a head, and the rotated key that all heads share
R, G = matrix("R", d_k, d_k), matrix("G", d_k, d_k)  # rotations of a query and of a key
u, f, y, z = vector("u", d), vector("f", d), vector("y", d_c), vector("z", d_c)  # one pair of features: of queries, and of keys
s, t = scalars("s t")  # the angles of a query and of a key
a, b = index("a", d), index("b", d_c)

latent = "snippets.inference.latent."

derivation = Derivation("MLA: multi-head latent attention")

derivation.chain(
    "keys",
    (X @ W_Q) @ (C @ W_K).T,
    ((X @ W_Q) @ (W_K.T @ C.T), "a transpose reverses a product"),
    ((X @ (W_Q @ W_K.T)) @ C.T, "regroup"),
    uses=["simplify/bilinear#merged"],
    title="The matrix of the keys moves into the queries",
)

derivation.chain(
    "values",
    (P @ (C @ W_V)) @ W_O,
    ((P @ C) @ (W_V @ W_O), "regroup"),
    uses=["simplify/bilinear#output-merged"],
    title="The matrix of the values moves into the output",
)

derivation.identity(
    "absorbed",
    softmax((X @ W_Q) @ ((Z @ W_D) @ W_K).T / sqrt(d_k)) @ ((Z @ W_D) @ W_V) @ W_O,
    softmax((X @ (W_Q @ W_K.T)) @ (Z @ W_D).T / sqrt(d_k)) @ (Z @ W_D) @ (W_V @ W_O),
    uses=["keys", "values"],
    code=[
        (latent + "latent_head", X, Z, W_Q, W_D, W_K, W_V, W_O),
        (latent + "absorbed_head", X, Z, W_Q, W_D, W_K, W_V, W_O),
    ],
    title="Absorbed: every head attends to the latent rows themselves",
)

derivation.refute(
    "scale",
    softmax((X @ (W_Q @ W_K.T)) @ C.T / sqrt(d_c)),
    softmax((X @ W_Q) @ (C @ W_K).T / sqrt(d_k)),
    at={X: [[1]], W_Q: [[1]], W_K: [[1], [0], [0], [0]], C: [[2, 0, 0, 0], [0, 0, 0, 0]]},
    uses=["keys"],
    title="The scale is not the root of the latent width",
)

derivation.chain(
    "input-cache",
    (2 * h * (d / h)) / d,
    (2 * d / d, "the number of heads cancels"),
    (2, "cancel"),
    uses=["absorbed"],
    title="Keys and values of MHA take twice as much as the input of the layer",
)

derivation.identity(
    "grouped-input",
    2 * h_kv * (d / h) - d,
    d * (2 * h_kv - h) / h,
    code=[(latent + "saved_by_input", d, h, h_kv)],
    title="What caching the input saves with $h_{kv}$ heads of keys and values",
)

plain = derivation.define(
    "c_e",
    4 * m * h * d_c * d_k + 4 * n * m * h * d_k,
    code=[(latent + "expanded_operations", n, m, h, d_k, d_c)],
    title="Operations if keys and values are made from all $m$ latent rows",
)
short = derivation.define(
    "c_a",
    4 * n * h * d_k * d_c + 4 * n * m * h * d_c,
    code=[(latent + "absorbed_operations", n, m, h, d_k, d_c)],
    title="Operations of the absorbed form",
)

derivation.chain(
    "intensity",
    m * (2 * h * (d_c + d_R) + 2 * h * d_c) / (m * (d_c + d_R) * B),
    (2 * h * (2 * d_c + d_R) / ((d_c + d_R) * B), "the number of tokens cancels"),
    uses=["absorbed", "inference/memory#intensity"],
    code=[(latent + "absorbed_intensity", m, h, d_c, d_R, B)],
    title="Operations per byte of the cache, in absorbed decoding with $B$ bytes a number",
)

derivation.identity(
    "which",
    plain - short,
    4 * h * ((m - n) * d_c * d_k - n * m * (d_c - d_k)),
    title="The difference between the two forms",
)

derivation.identity(
    "prefill",
    4 * n * h * d_k * (d_k + g) + 4 * n**2 * h * (d_k + g) - (4 * n * h * (d_k + g) * d_k + 4 * n**2 * h * d_k),
    4 * n**2 * h * g,
    uses=["which"],
    title="In a prefill, the absorbed form takes more, if latent rows are wider than heads by $g$",
)

derivation.inequality(
    "decode",
    4 * h * (r + 1) * d_c + 4 * (p + 1) * h * d_c,
    4 * (p + 1) * h * d_c * (r + 1) + 4 * (p + 1) * h * (r + 1),
    because=4 * h * ((p - 1) * d_c * r + d_c * (r - 1) + (r + 1) * (p + 1)),
    uses=["which"],
    title="In decoding after $p$ tokens, the absorbed form takes no more operations",
)

derivation.chain(
    "between",
    ((X @ W_Q) @ R) @ ((C @ W_K) @ G).T,
    (((X @ W_Q) @ R) @ (G.T @ (C @ W_K).T), "a transpose reverses a product"),
    (X @ (W_Q @ (R @ G.T) @ W_K.T) @ C.T, "regroup: both rotations are between the projections"),
    uses=["keys"],
    title="With RoPE, a rotation is between the two matrices",
)


def turned(first, second, angle):
    """A pair of features, rotated by an angle."""
    return first * cos(angle) - second * sin(angle), first * sin(angle) + second * cos(angle)


query, key = turned(u[a], f[a], s), turned(y[b], z[b], t)
derivation.identity(
    "two-matrices",
    query[0] * key[0] + query[1] * key[1],
    cos(s - t) * (u[a] * y[b] + f[a] * z[b]) + sin(s - t) * (u[a] * z[b] - f[a] * y[b]),
    uses=["order/rotary#by-distance"],
    title="For one pair of features: two matrices, mixed according to the distance",
)

derivation.refute(
    "one-matrix",
    W_Q @ (R @ G.T) @ W_K.T,
    W_Q @ W_K.T,
    at={W_Q: [[1, 0], [0, 1]], W_K: [[1, 0], [0, 1]], R: [[0, 1], [-1, 0]], G: [[1, 0], [0, 1]]},
    uses=["between"],
    title="One absorbed matrix does not work for all distances",
)

derivation.identity(
    "decoupled",
    (X @ W_Q) @ (C @ W_K).T + Y @ T.T,
    (X @ (W_Q @ W_K.T)) @ C.T + Y @ T.T,
    uses=["keys"],
    code=[(latent + "decoupled_scores", X @ W_Q, C @ W_K, Y, T), (latent + "decoupled_scores", X @ (W_Q @ W_K.T), C, Y, T)],
    title="With a separate rotated key, the other features can still be absorbed",
)

derivation.identity(
    "groups",
    (4 * d_k + d_k / 2) / (2 * d_k),
    Fraction(9, 4),
    title="The cache of DeepSeek-V2, in heads of keys and values",
)

derivation.chain(
    "every-gqa",
    (X @ W_Q) @ ((Z @ W) @ E).T,
    ((X @ (W_Q @ E.T)) @ (Z @ W).T, "absorb the matrix that picks"),
    uses=["keys", "inference/groups#repeat"],
    title="GQA is MLA with a matrix that picks columns",
)

if __name__ == "__main__":
    derivation.main()
