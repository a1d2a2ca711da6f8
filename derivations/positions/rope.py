"""RoPE in practice: what a score depends on, two layouts of one checkpoint, and features that are not rotated."""

from fractions import Fraction

from derivations.kernel import Derivation, array, cos, index, matrix, product_is, scalars, sin, sizes, softmax, total, vector, zero_or_one

n, m, d_k, h = sizes("n m d_k h")  # h pairs of features
p, r, c, theta, phi = scalars("p r c theta phi")  # p and r: the positions of a query and of a key
omega, alpha, beta, rho, kappa, eta = (vector(name, h) for name in ("omega", "alpha", "beta", "rho", "kappa", "eta"))
q_1, q_2, k_1, k_2 = (vector(name, h) for name in ("q_1", "q_2", "k_1", "k_2"))
f, z = vector("f", m), vector("z", m)
Q, K = matrix("Q", n, d_k), matrix("K", m, d_k)
R, T, Pi = (matrix(name, d_k, d_k) for name in ("R", "T", "Pi"))  # R rotates a query, T a key
g = vector("g", h)  # which pairs are rotated
i, j, l = index("i", h), index("j", m), index("l", m)

derivation = Derivation("RoPE in practice")


def turned(first, second, position, frequency=omega[i]):
    """Both numbers of pair i, rotated by a position."""
    cosine, sine = cos(position * frequency), sin(position * frequency)
    return first * cosine - second * sine, first * sine + second * cosine


def pairs(query, key):
    """The contribution of pair i to a score."""
    return query[0] * key[0] + query[1] * key[1]


def wave(lengths, angles, distance):
    """The score of the query with a key of these lengths and angles, as a sum of waves."""
    return total(rho[i] * lengths[i] * cos(distance * omega[i] + (angles[i] - alpha[i])), i)


def halves(name, first, second, position, of):
    """The two halves of a vector rotated by a position, as definitions."""
    cosines, sines = cos(position * omega), sin(position * omega)
    code = [(f"snippets.order.rotary.rotate_pairs[{half}]", first, second, position, omega) for half in (0, 1)]
    return (
        derivation.define(f"{name}_1", first * cosines - second * sines, code=code[:1], title=f"{of}, first half, ${name}_1$"),
        derivation.define(f"{name}_2", first * sines + second * cosines, code=code[1:], title=f"{of}, second half, ${name}_2$"),
    )


BY_DISTANCE = "snippets.positions.rope.score_by_distance"

before, after = alpha + p * omega, beta + r * omega

derivation.identity(
    "angles",
    rho[i] * cos(alpha[i]) * cos(p * omega[i]) - rho[i] * sin(alpha[i]) * sin(p * omega[i]),
    rho[i] * cos(alpha[i] + p * omega[i]),
    title="A rotation adds to the angle: the first coordinate",
)

x = derivation.define("x", before, title="The angles of the rotated query, $x$")
y = derivation.define("y", after, title="The angles of the rotated key, $y$")

derivation.identity(
    "clock",
    total(rho[i] * kappa[i] * (cos(x[i]) * cos(y[i]) + sin(x[i]) * sin(y[i])), i),
    wave(kappa, beta, r - p),
    uses=["angles"],
    code=[
        ("snippets.order.rotary.rotated_score", rho * cos(alpha), rho * sin(alpha), kappa * cos(beta), kappa * sin(beta), p, r, omega),
        (BY_DISTANCE, rho, alpha, kappa, beta, r - p, omega),
    ],
    title="A score is a sum of waves in the distance; content sets amplitudes and phases",
)

derivation.refute(
    "distance-only",
    wave(kappa, beta, r - p),
    wave(eta, beta, r - p),
    at={rho: [1], kappa: [1], eta: [2], alpha: [0], beta: [0], p: 0, r: 0, omega: [1]},
    uses=["clock"],
    code=[(BY_DISTANCE, rho, alpha, kappa, beta, r - p, omega), (BY_DISTANCE, rho, alpha, eta, beta, r - p, omega)],
    title="Two keys at the same distance can have different scores",
)

back = alpha - c * omega  # the angles of the key whose best distance is c
own = total(rho[i] ** 2 * cos((r - p - c) * omega[i]), i)

derivation.identity(
    "aimed",
    wave(rho, back, r - p),
    own,
    uses=["clock"],
    code=[(BY_DISTANCE, rho, alpha, rho, back, r - p, omega)],
    title="The score of a query with itself, rotated back by $c$",
)

derivation.inequality(
    "peak",
    own,
    rho @ rho,
    because=total(rho[i] ** 2 * (2 * sin((r - p - c) * omega[i] / 2) ** 2), i),
    uses=["aimed"],
    title="The score of this key is highest at the distance $c$",
)

derivation.refute(
    "own-content",
    wave(rho, back, 0),
    wave(kappa, beta - c * omega, c),
    at={rho: [1], kappa: [0], alpha: [0], beta: [0], c: -1, omega: [1]},
    relation="<=",
    uses=["clock", "aimed"],
    title="A token's own key can score higher than the previous token's key",
)

derivation.refute(
    "decays",
    wave(kappa, beta, r - p),
    total(rho[i] * kappa[i] * cos(beta[i] - alpha[i]), i),
    at={rho: [1], kappa: [1], alpha: [0], beta: [1], p: 1, r: 0, omega: [1]},
    relation="<=",
    uses=["clock"],
    code=[(BY_DISTANCE, rho, alpha, kappa, beta, r - p, omega)],
    title="A key one position back can score higher than at distance zero",
)

derivation.identity(
    "reordered",
    Q @ Pi @ (Pi.T @ R @ Pi),
    Q @ R @ Pi,
    given=[product_is(Pi, Pi.T, 1)],
    title="Reordered features under the reordered rotation are the rotated features, reordered",
)

derivation.chain(
    "permuted",
    (Q @ Pi @ (Pi.T @ R @ Pi)) @ (K @ Pi @ (Pi.T @ T @ Pi)).T,
    ((Q @ R @ Pi) @ (K @ T @ Pi).T, "each is rotated as before, and reordered"),
    ((Q @ R) @ (K @ T).T, "a common reordering of features does not change a dot product"),
    given=[product_is(Pi, Pi.T, 1)],
    uses=["reordered"],
    title="Reordering queries, keys and rotations changes no score",
)

ct, st, cf, sf = cos(theta), sin(theta), cos(phi), sin(phi)
HALVES = array([[ct, 0, st, 0], [0, cf, 0, sf], [-st, 0, ct, 0], [0, -sf, 0, cf]])
SIDES = array([[ct, st, 0, 0], [-st, ct, 0, 0], [0, 0, cf, sf], [0, 0, -sf, cf]])
SWAP = array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])

derivation.identity(
    "layouts",
    SWAP.T @ HALVES @ SWAP,
    SIDES,
    title="The two layouts for four features differ by a permutation",
)

v, w = vector("v", 4), vector("w", 4)

derivation.refute(
    "mixed",
    (v @ SIDES) @ w,
    (v @ HALVES) @ w,
    at={v: [1, 0, 0, 0], w: [0, 1, 0, 0], theta: 1, phi: Fraction(1, 100)},
    title="One checkpoint has different scores in the other layout",
)

a_1, a_2 = halves("a", q_1, q_2, p, "The query, rotated")
b_1, b_2 = halves("b", k_1, k_2, r, "The key, rotated")
A = derivation.define("A", q_1 * k_1 + q_2 * k_2, title="The score of each pair without rotation, $A$")
B = derivation.define("B", q_2 * k_1 - q_1 * k_2, title="The score of each pair after a quarter of a rotation, $B$")

derivation.identity(
    "by-distance",
    a_1 @ b_1 + a_2 @ b_2,
    A @ cos((r - p) * omega) + B @ sin((r - p) * omega),
    title="The score by distance",
)

derivation.identity(
    "partial",
    A @ cos((r - p) * (g * omega)) + B @ sin((r - p) * (g * omega)),
    total(g[i] * (A[i] * cos((r - p) * omega[i]) + B[i] * sin((r - p) * omega[i])), i) + total((1 - g[i]) * A[i], i),
    given=[zero_or_one(g)],
    uses=["by-distance"],
    title="Partial RoPE: the score is a rotated part plus a plain part",
)

derivation.identity(
    "exercise-quarter",
    pairs(turned(1, 0, p, 1), turned(0, 1, r, 1)),
    sin(p - r),
    title="The score of a key that is a quarter of a circle ahead",
)

u_1, u_2 = halves("u", b_1, b_2, c, "The cached key, rotated once more by $c$")

derivation.identity(
    "exercise-cached",
    u_1,
    k_1 * cos((r + c) * omega) - k_2 * sin((r + c) * omega),
    title="A key rotated by $r$ and then by $c$ is rotated by the sum: first half",
)

derivation.identity(
    "exercise-cached-second",
    u_2,
    k_1 * sin((r + c) * omega) + k_2 * cos((r + c) * omega),
    title="A key rotated by $r$ and then by $c$ is rotated by the sum: second half",
)

derivation.identity(
    "exercise-and",
    softmax(f + z)[j],
    softmax(f)[j] * softmax(z)[j] / total(softmax(f)[l] * softmax(z)[l], l),
    title="The weights of a sum of scores: products of weights, divided by their sum",
)

if __name__ == "__main__":
    derivation.main()
