"""RoPE in practice: what a score depends on, two layouts of one checkpoint, and features that are not turned."""

from fractions import Fraction

from derivations.kernel import Derivation, array, cos, index, matrix, product_is, scalars, sin, sizes, softmax, total, vector, zero_or_one

n, m, d_k, h = sizes("n m d_k h")  # h pairs of features
p, r, c, theta, phi = scalars("p r c theta phi")  # p and r: the positions of a query and of a key
omega, alpha, beta, rho, kappa = (vector(name, h) for name in ("omega", "alpha", "beta", "rho", "kappa"))
q_1, q_2, k_1, k_2, u_1, u_2 = (vector(name, h) for name in ("q_1", "q_2", "k_1", "k_2", "u_1", "u_2"))
x, y = vector("x", m), vector("y", m)
Q, K = matrix("Q", n, d_k), matrix("K", m, d_k)
R, T, Pi = (matrix(name, d_k, d_k) for name in ("R", "T", "Pi"))  # R turns a query, T a key
g = vector("g", h)  # which pairs are turned
i, j, l = index("i", h), index("j", m), index("l", m)

derivation = Derivation("RoPE in practice")


def turned(first, second, position, frequency=omega[i]):
    """Both numbers of pair i, turned by a position."""
    cosine, sine = cos(position * frequency), sin(position * frequency)
    return first * cosine - second * sine, first * sine + second * cosine


def pairs(query, key):
    """What pair i adds to a score."""
    return query[0] * key[0] + query[1] * key[1]


def score(key_1, key_2, query_at, key_at):
    return total(pairs(turned(q_1[i], q_2[i], query_at), turned(key_1, key_2, key_at)), i)


CALL = "snippets.order.rotary.turned_score"

derivation.chain(
    "clock",
    total(
        pairs(
            turned(rho[i] * cos(alpha[i]), rho[i] * sin(alpha[i]), p),
            turned(kappa[i] * cos(beta[i]), kappa[i] * sin(beta[i]), r),
        ),
        i,
    ),
    (
        total(
            pairs(
                (rho[i] * cos(alpha[i] + p * omega[i]), rho[i] * sin(alpha[i] + p * omega[i])),
                (kappa[i] * cos(beta[i] + r * omega[i]), kappa[i] * sin(beta[i] + r * omega[i])),
            ),
            i,
        ),
        "to turn a pair is to add to its angle",
    ),
    (total(rho[i] * kappa[i] * cos((r - p) * omega[i] + (beta[i] - alpha[i])), i), "two arrows have the cosine of the angle between them"),
    code=[
        (CALL, rho * cos(alpha), rho * sin(alpha), kappa * cos(beta), kappa * sin(beta), p, r, omega),
        ("snippets.positions.rope.score_by_distance", rho, alpha, kappa, beta, r - p, omega),
    ],
    title="Content sets how strong and where each wave starts, positions set only how far it has run",
)

derivation.refute(
    "distance-only",
    score(k_1[i], k_2[i], p, r),
    score(u_1[i], u_2[i], p, r),
    at={q_1: [1], q_2: [0], k_1: [1], k_2: [0], u_1: [-1], u_2: [0], p: 0, r: 1, omega: [1]},
    code=[(CALL, q_1, q_2, k_1, k_2, p, r, omega), (CALL, q_1, q_2, u_1, u_2, p, r, omega)],
    title="Not so: two keys at one distance, two scores",
)

aimed = turned(q_1[i], q_2[i], -c)  # the key whose best distance is c

derivation.identity(
    "aimed",
    score(*aimed, p, p + c),
    q_1 @ q_1 + q_2 @ q_2,
    uses=["clock"],
    title="A key that is the query turned back by $c$ scores fully at distance $c$",
)

derivation.inequality(
    "peak",
    score(*aimed, p, r),
    score(*aimed, p, p + c),
    because=total((q_1[i] ** 2 + q_2[i] ** 2) * (2 * sin((r - p - c) * omega[i] / 2) ** 2), i),
    uses=["aimed"],
    title="And nowhere more than there: a score can have its peak at any distance",
)

derivation.refute(
    "decays",
    score(k_1[i], k_2[i], p, r),
    score(k_1[i], k_2[i], p, p),
    at={q_1: [1], q_2: [0], k_1: [0], k_2: [1], p: 1, r: 0, omega: [1]},
    relation="<=",
    code=[(CALL, q_1, q_2, k_1, k_2, p, r, omega), (CALL, q_1, q_2, k_1, k_2, p, p, omega)],
    title="Not so: a key one place back may score more than the same key at no distance",
)

derivation.identity(
    "reordered",
    Q @ Pi @ (Pi.T @ R @ Pi),
    Q @ R @ Pi,
    given=[product_is(Pi, Pi.T, 1)],
    title="Reordered features under the reordered turn are the turned features, reordered",
)

derivation.chain(
    "permuted",
    (Q @ Pi @ (Pi.T @ R @ Pi)) @ (K @ Pi @ (Pi.T @ T @ Pi)).T,
    ((Q @ R @ Pi) @ (K @ T @ Pi).T, "each is turned as before, and reordered"),
    ((Q @ R) @ (K @ T).T, "a dot product does not see an order that both share"),
    given=[product_is(Pi, Pi.T, 1)],
    uses=["reordered"],
    title="Reorder queries, keys and the turn, and no score changes",
)

ct, st, cf, sf = cos(theta), sin(theta), cos(phi), sin(phi)
HALVES = array([[ct, 0, st, 0], [0, cf, 0, sf], [-st, 0, ct, 0], [0, -sf, 0, cf]])
SIDES = array([[ct, st, 0, 0], [-st, ct, 0, 0], [0, 0, cf, sf], [0, 0, -sf, cf]])
SWAP = array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])

derivation.identity(
    "layouts",
    SWAP.T @ HALVES @ SWAP,
    SIDES,
    title="The two layouts, for four features",
)

v, w = vector("v", 4), vector("w", 4)

derivation.refute(
    "mixed",
    (v @ SIDES) @ w,
    (v @ HALVES) @ w,
    at={v: [1, 0, 0, 0], w: [0, 1, 0, 0], theta: 1, phi: Fraction(1, 100)},
    title="One checkpoint under the other layout is another model",
)

derivation.identity(
    "partial",
    total(pairs(turned(q_1[i], q_2[i], p, g[i] * omega[i]), turned(k_1[i], k_2[i], r, g[i] * omega[i])), i),
    total(g[i] * pairs(turned(q_1[i], q_2[i], p), turned(k_1[i], k_2[i], r)), i)
    + total((1 - g[i]) * (q_1[i] * k_1[i] + q_2[i] * k_2[i]), i),
    given=[zero_or_one(g)],
    title="Partial RoPE: the score is a turned part plus a plain part",
)

derivation.identity(
    "exercise-quarter",
    pairs(turned(1, 0, p, 1), turned(0, 1, r, 1)),
    sin(p - r),
    title="A key a quarter of a turn ahead of its query, as both were made",
)

derivation.identity(
    "exercise-cached",
    score(*turned(*turned(k_1[i], k_2[i], r), c), p, 0),
    score(k_1[i], k_2[i], p, r + c),
    title="A key turned by $r$ and then by $c$ stands at the sum of the two",
)

derivation.identity(
    "exercise-and",
    softmax(x + y)[j],
    softmax(x)[j] * softmax(y)[j] / total(softmax(x)[l] * softmax(y)[l], l),
    title="Partial RoPE: the weights of a turned head times those of a plain one, divided by their sum",
)

if __name__ == "__main__":
    derivation.main()
