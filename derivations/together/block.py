"""A block of a published model: its parameters part by part, and what its norms bound."""

from derivations.kernel import Derivation, cos, index, matrix, nonnegative, norm, positive, scalars, sin, sizes, sqrt, total, vector

L, d, d_f, h, h_kv, d_k, b, m = sizes("L d d_f h h_kv d_k b m")  # b norms of the model's width in each block; m keys
x, y, g, s, v = (
    vector("x", d),
    vector("y", d),
    vector("g", d),
    vector("s", d),
    vector("v", d),
)  # a token, a write before its norm, its gains; two writes
W_u = matrix("W_u", d, d_f)
p, V = vector("p", m), matrix("V", m, d)  # the weights of one query, and the values
q, k = vector("q", d_k), vector("k", d_k)
u_1, u_2, c, t, theta, a_1, a_2 = scalars("u_1 u_2 c t theta a_1 a_2")  # a pair of features, a bound, a factor, an angle, two gains
i, j, r = index("i", d), index("j", d), index("r", d_f)

block = "snippets.together.block."

derivation = Derivation("A block of today, and its parameters")

P_b = derivation.define(
    "P_b",
    2 * d * ((h + h_kv) * d_k) + 3 * d * d_f + b * d,
    code=[(block + "modern_block_parameters", d, d_f, h, h_kv, d_k, b)],
    title="Parameters of a block with $b$ norms, $P_b$",
)

derivation.define(
    "P_L",
    L * P_b + d,
    code=[(block + "stack_parameters", L, d, d_f, h, h_kv, d_k, b)],
    title="Parameters of $L$ blocks and the last norm, $P_L$",
)

derivation.identity(
    "sharing",
    (2 * d * ((h + h) * d_k) + 3 * d * d_f + b * d) - (2 * d * ((h + h_kv) * d_k) + 3 * d * d_f + b * d),
    2 * d * ((h - h_kv) * d_k),
    title="Parameters that shared heads of keys and values save in a block",
)

derivation.inequality(
    "write-bounded",
    total((g[i] * (y[i] / sqrt((y @ y) / d))) ** 2, i),
    c**2 * d,
    because=total((c**2 - g[i] ** 2) * y[i] ** 2, i) * d / (y @ y),
    given=[nonnegative(c**2 - g[i] ** 2), positive(y @ y)],
    title="After a norm with gains of size at most $c$, the squared length of a write is at most $c^2$ times the width",
)

derivation.identity(
    "rescaled-write",
    (t * y)[i] / sqrt(((t * y) @ (t * y)) / d),
    y[i] / sqrt((y @ y) / d),
    given=[positive(t), positive(y @ y)],
    title="A positive factor on the last matrix of a part cancels in the norm after it",
)

derivation.inequality(
    "stream-bounded",
    norm(x + s + v),
    norm(x) + norm(s) + norm(v),
    because=(norm(x) + norm(s) - norm(x + s)) + (norm(x + s) + norm(v) - norm(x + s + v)),
    title="A block lengthens the stream by at most the lengths of its two writes",
)

derivation.identity(
    "same-read",
    total(((t * x)[i] / sqrt(((t * x) @ (t * x)) / d)) * W_u[i, r], i),
    total((x[i] / sqrt((x @ x) / d)) * W_u[i, r], i),
    given=[positive(t), positive(x @ x)],
    title="A pre-norm part computes the same from a stream of another size",
)

derivation.refute(
    "no-bound",
    (q @ k) / sqrt(d_k),
    sqrt(d_k),
    relation="<=",
    at={q: [2], k: [2]},
    title="Without QK-norm, scores can exceed the bound",
)

derivation.refute(
    "no-write-bound",
    y @ y,
    d,
    relation="<=",
    at={y: [2]},
    uses=["write-bounded"],
    title="Without a norm after it, a write can exceed the bound",
)

derivation.refute(
    "gains-then-rotate",
    cos(theta) * (a_1 * u_1) - sin(theta) * (a_2 * u_2),
    a_1 * (cos(theta) * u_1 - sin(theta) * u_2),
    at={theta: 1, a_1: 1, a_2: 2, u_1: 0, u_2: 1},
    title="Gains before RoPE are not gains after it",
)

derivation.refute(
    "gain-behind",
    g[i] * y[i] / sqrt(total((g[j] * y[j]) ** 2, j) / d),
    g[i] * (y[i] / sqrt((y @ y) / d)),
    at={g: [2], y: [1], i: 1},
    title="A gain can't move from behind a norm to the matrix before it",
)

derivation.identity(
    "larger-values",
    (p @ (t * V))[i],
    t * (p @ V)[i],
    uses=["rescaled-write"],
    title="A common factor of all values is a factor of attention's output",
)

if __name__ == "__main__":
    derivation.main()
