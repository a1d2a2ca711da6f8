"""A small GPT: why its cache is right, keys that are rotated once, its gate, and a head tied to the embedding."""

from derivations.kernel import (
    Derivation,
    cos,
    diff,
    exp,
    eye,
    index,
    matrix,
    nonnegative,
    scalars,
    sin,
    sizes,
    tanh,
    total,
    vector,
)

m, t, d, d_k, d_v, d_f, h, N = sizes("m t d d_k d_v d_f h N")  # h frequencies, each for a pair of features
x, s = scalars("x s")
A, B = matrix("A", m, d_k), matrix("B", m, d_v)  # the keys that an old query sees, and their values
p, z, w = vector("p", d_k), vector("z", d_k), vector("w", d_v)  # that query; key and value of a token that comes later
omega = vector("omega", h)
q_1, q_2, K_1, K_2 = vector("q_1", h), vector("q_2", h), matrix("K_1", t, h), matrix("K_2", t, h)  # halves of a new query, and of old keys
y = vector("y", t)  # the positions of the old keys; s is that of the new query
c, W_g, W_u = vector("c", d), matrix("W_g", d, d_f), matrix("W_u", d, d_f)  # a token, and two projections
T, W, u = matrix("T", N, d), matrix("W", d, d), vector("u", N)  # a table of N tokens
i, j, l, f, r, a = index("i", h), index("j", t), index("l", m), index("f", d_v), index("r", d_f), index("a", d)
b, g = index("b", N), index("g", N)

derivation = Derivation("All of it together")


def old_row(keep, feature):
    """A feature of an old query's output after one more token, whose exponential is multiplied by a keep factor."""
    old, new = exp((A @ p)[l]), keep * exp(z @ p)
    return (total(old * B[l, feature], l) + new * w[feature]) / (total(old, l) + new)


def alone(feature):
    """The same from the old tokens alone."""
    old = exp((A @ p)[l])
    return total(old * B[l, feature], l) / total(old, l)


derivation.identity(
    "old-rows",
    old_row(0, f),
    alone(f),
    uses=["order/causal#vanishes"],
    code=[("snippets.together.pieces.old_row", p, A, B, z, w)],
    title="A masked new token does not change an earlier row of attention",
)

derivation.refute(
    "both-ways",
    old_row(1, 1),
    alone(1),
    at={p: [0], A: [[0]], B: [[1]], z: [0], w: [0]},
    code=[("snippets.together.pieces.old_row[0]", p, A, B, z, w, {"masked": False})],
    title="Without a mask, a new token changes earlier rows",
)


def turned(first, second, position):
    """Both halves of a pair of features, rotated by a position."""
    angle = position * omega[i]
    return first * cos(angle) - second * sin(angle), first * sin(angle) + second * cos(angle)


def kept(position, key):
    """The new token's score with an old key; query and key are each rotated by their own position."""
    query, old = turned(q_1[i], q_2[i], position), turned(K_1[key, i], K_2[key, i], y[key])
    return total(query[0] * old[0] + query[1] * old[1], i)


def by_distance(key):
    """The same with the query as it is, and the key rotated by its distance."""
    old = turned(K_1[key, i], K_2[key, i], y[key] - s)
    return total(q_1[i] * old[0] + q_2[i] * old[1], i)


derivation.identity(
    "turned-once",
    kept(s, j),
    by_distance(j),
    uses=["order/rotary#relative"],
    code=[
        ("snippets.together.pieces.scores_from_cache", q_1, q_2, K_1, K_2, s, y, omega),
        ("snippets.together.pieces.scores_by_distance", q_1, q_2, K_1, K_2, s, y, omega),
    ],
    title="A key rotated once by its own position gives the score by distance",
)

derivation.refute(
    "from-zero",
    kept(0, 1),
    by_distance(1),
    at={q_1: [1], q_2: [0], K_1: [[1]], K_2: [[0]], omega: [1], s: 1, y: [0]},
    uses=["turned-once"],
    title="Counting the new token's position from zero gives a wrong score",
)

gate = derivation.define(
    "o", x / (1 + exp(-x)), code=[("snippets.together.gpt.silu", x)], title="The gate $o$: a number times its own sigmoid"
)

derivation.identity(
    "both-signs",
    x / (1 + exp(-x)) - (-x) / (1 + exp(x)),
    x,
    title="The gate of a number minus the gate of its negative is the number",
)

derivation.inequality(
    "at-most",
    x / (1 + exp(-x)),
    x,
    because=x / (1 + exp(x)),
    given=[nonnegative(x)],
    title="The gate never increases a nonnegative number",
)

sigmoid = 1 / (1 + exp(-x))
derivation.identity(
    "gate-slope",
    diff(gate, x),
    sigmoid * (1 + x * (1 - sigmoid)),
    title="The derivative of the gate",
)

derivation.identity(
    "sigmoid",
    x / (1 + exp(-x)),
    x * (1 + tanh(x / 2)) / 2,
    title="The gate by a hyperbolic tangent",
)

first, second = (c @ W_g)[r], (c @ W_u)[r]
derivation.identity(
    "swiglu",
    first / (1 + exp(-first)) * second,
    first * (1 + tanh(first / 2)) / 2 * second,
    uses=["sigmoid"],
    code=[("snippets.together.gpt.swiglu", c, W_g, W_u)],
    title="SwiGLU: one projection gates another",
)

derivation.identity(
    "same-size",
    3 * d * (8 * d / 3),
    2 * d * (4 * d),
    title="Three matrices at eight thirds of the width, two at four times the width",
)

logits = u @ T @ W @ T.T
derivation.identity(
    "tied",
    diff(logits[g], T[b, a]),
    eye(N)[b, g] * (u @ T @ W)[a] + u[b] * (T @ W.T)[g, a],
    code=[("snippets.together.pieces.tied_gradients", u, T, W)],
    title="The gradient of a tied table has two terms",
)

derivation.identity(
    "mirror",
    (T @ T.T)[b, g],
    (T @ T.T)[g, b],
    uses=["tied"],
    title="Without blocks, the logits of a tied model are symmetric",
)

if __name__ == "__main__":
    derivation.main()
