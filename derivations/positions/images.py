"""RoPE on two or more axes: what a score depends on, and attention over text and image tokens in one sequence."""

from derivations.kernel import (
    Derivation,
    cos,
    each,
    exp,
    index,
    matrix,
    ones,
    scalars,
    sin,
    sizes,
    softmax,
    total,
    vector,
    zero_or_one,
)

a, h, n, m, d, d_k, d_v = sizes("a h n m d d_k d_v")  # a axes, h pairs of features
W = matrix("W", h, a)  # the frequency of each pair on each axis
x, y, c = vector("x", a), vector("y", a), vector("c", a)  # positions of a query and of a key, and a displacement of both
p, r = scalars("p r")  # the positions of a query and of a key in a text
s, t, u, v = scalars("s t u v")  # displacements in rows and in columns
omega, g = vector("omega", h), vector("g", h)  # g: which pairs rotate by the row
q_1, q_2, k_1, k_2 = (vector(name, h) for name in ("q_1", "q_2", "k_1", "k_2"))
f, z = vector("f", n), vector("z", m)  # scores of a query with text keys and with image keys, or by row and by column
V, U = matrix("V", n, d_v), matrix("U", m, d_v)
X, B, w = matrix("X", n, d), matrix("B", d, d_k), vector("w", n)
i, j, k, l = index("i", n), index("j", m), index("k", h), index("l", d_k)
i_1, j_1 = index("i_1", n), index("j_1", m)

GRID = "snippets.positions.images.grid_score"
JOINT = "snippets.positions.images.joint_output"

derivation = Derivation("RoPE on two or more axes")


def turned(first, second, angle):
    """Both numbers of each pair, rotated by an angle for each pair."""
    return first * cos(angle) - second * sin(angle), first * sin(angle) + second * cos(angle)


def rotated(query, key):
    """The score of a query and a key at these positions."""
    one, other = turned(q_1, q_2, W @ query), turned(k_1, k_2, W @ key)
    return one[0] @ other[0] + one[1] @ other[1]


A = derivation.define("A", q_1 * k_1 + q_2 * k_2, title="The score of each pair without rotation, $A$")
C = derivation.define("C", q_2 * k_1 - q_1 * k_2, title="The score of each pair after a quarter of a rotation, $C$")


def displaced(by):
    """The score at a displacement."""
    return A @ cos(W @ by) + C @ sin(W @ by)


derivation.identity(
    "displacement",
    rotated(x, y),
    displaced(y - x),
    code=[(GRID, q_1, q_2, k_1, k_2, x, y, W)],
    title="A score depends on the displacement on each axis, and on nothing else about positions",
)

derivation.identity(
    "translation",
    W @ ((y + c) - (x + c)),
    W @ (y - x),
    code=[("snippets.positions.images.grid_angles", (y + c) - (x + c), W)],
    title="Moving both patches together changes no angle between them",
)


def on_grid(rows, columns):
    """The score at a displacement on two axes, if each pair rotates by one of them."""
    angle = each((g[k] * rows + (1 - g[k]) * columns) * omega[k], k)
    return A @ cos(angle) + C @ sin(angle)


derivation.refute(
    "turned",
    on_grid(s, t),
    on_grid(t, -s),
    at={q_1: [1], q_2: [0], k_1: [1], k_2: [0], g: [1], omega: [1], s: 1, t: 0},
    uses=["displacement"],
    title="A quarter turn of the image can change a score",
)

derivation.identity(
    "rectangle",
    on_grid(s, t) + on_grid(u, v),
    on_grid(s, v) + on_grid(u, t),
    given=[zero_or_one(g)],
    uses=["displacement"],
    title="If all keys have the same features, both diagonals of a rectangle have the same sum of scores",
)

derivation.identity(
    "product",
    each(exp(f[i] + z[j]) / total(exp(f[i_1] + z[j_1]), i_1, j_1), i, j),
    each(softmax(f)[i] * softmax(z)[j], i, j),
    code=[("snippets.positions.images.grid_weights", f, z)],
    title="If scores are sums over both axes, weights are products",
)

derivation.identity(
    "text",
    rotated(p * ones(a), r * ones(a)),
    A @ cos((r - p) * (W @ ones(a))) + C @ sin((r - p) * (W @ ones(a))),
    uses=["displacement"],
    code=[("snippets.order.rotary.rotated_score", q_1, q_2, k_1, k_2, p, r, W @ ones(a))],
    title="With equal positions on all axes, this is RoPE on one axis",
)

share = derivation.define(
    "b",
    total(exp(f[i]), i) / (total(exp(f[i]), i) + total(exp(z[j]), j)),
    code=[("snippets.positions.images.text_share", f, z)],
    title="The weight of all text keys together, $b$",
)

derivation.identity(
    "joint",
    (exp(f) @ V + exp(z) @ U) / (total(exp(f[i]), i) + total(exp(z[j]), j)),
    share * (softmax(f) @ V) + (1 - share) * (softmax(z) @ U),
    uses=["blocks/merge#merge"],
    code=[("snippets.positions.images.joint_output", f, V, z, U)],
    title="Joint attention mixes attention to the text and attention to the image",
)

derivation.identity(
    "one-projection",
    each(w[i] * (X @ B)[i, l] + (1 - w[i]) * (X @ B)[i, l], i, l),
    X @ B,
    code=[("snippets.positions.images.project_by_kind", X, w, B, B)],
    title="With one projection for both kinds of tokens, these are the queries of self-attention",
)

derivation.identity(
    "exercise-half-turn",
    displaced(c) - displaced(-c),
    2 * (C @ sin(W @ c)),
    title="What half a turn of the image changes",
)

derivation.identity(
    "exercise-equal-scores",
    total(exp(p), i) / (total(exp(p), i) + total(exp(p), j)),
    n / (n + m),
    title="The weight of the text if all scores are equal",
)

if __name__ == "__main__":
    derivation.main()
