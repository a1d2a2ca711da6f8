"""How far computed attention can be from the exact one: from errors of scores, exponentials and sums to the output."""

from derivations.kernel import Derivation, absolute, exp, index, nonnegative, positive, scalars, sizes, softmax, sqrt, total, vector

n, m, d = sizes("n m d_k")
u, gamma, epsilon, tau, rho, a, beta, x, y, psi, r, s = scalars("u gamma epsilon tau rho a beta x y psi r s")
q, k, theta = vector("q", d), vector("k", d), vector("theta", d)
z, delta, c, p, v, phi = (vector(name, m) for name in ("z", "delta", "c", "p", "v", "phi"))
i, j, l = index("i", m), index("j", m), index("l", d)

derivation = Derivation("How far off may it be?")

derivation.inequality(
    "error-below",
    1 - (n + 1) * u,
    (1 - n * u) * (1 - u),
    because=n * u**2,
    title="One more rounding, downwards or in a denominator",
)

derivation.inequality(
    "below-is-closer",
    1 - 1 / rho,
    rho - 1,
    because=(rho - 1) ** 2 / rho,
    given=[positive(rho)],
    title="Dividing by a factor above one moves a number no further than multiplying by it",
)

derivation.inequality(
    "scores",
    total(q[l] * k[l] * (1 + theta[l]), l) / sqrt(d) - total(q[l] * k[l], l) / sqrt(d),
    gamma * total(absolute(q[l] * k[l]), l) / sqrt(d),
    because=total(
        (
            (absolute(q[l] * k[l]) - q[l] * k[l]) * ((gamma - absolute(theta[l])) + (absolute(theta[l]) + theta[l]))
            + (absolute(q[l] * k[l]) + q[l] * k[l]) * ((gamma - absolute(theta[l])) + (absolute(theta[l]) - theta[l]))
        )
        / 2,
        l,
    )
    / sqrt(d),
    given=[nonnegative(gamma - absolute(theta[l]))],
    uses=["associativity/rounding#error-grows", "error-below"],
    title="A bound on how much too large a score can be",
)

derivation.identity(
    "perturbed",
    softmax(z + delta)[i],
    softmax(z)[i] * exp(delta[i]) / total(softmax(z)[j] * exp(delta[j]), j),
    title="An error of a score is a factor of its weight",
)

derivation.inequality(
    "above",
    a,
    exp(2 * epsilon) * total(softmax(z)[j] * c[j], j),
    because=total(exp(z[j]) * (exp(epsilon) * (exp(epsilon) * c[j] - 1) + (exp(epsilon) - a)), j) / total(exp(z[j]), j),
    given=[nonnegative(exp(epsilon) - a), nonnegative(exp(epsilon) * c[j] - 1)],
    uses=["perturbed"],
    title="A weight grows by at most the square of the largest factor",
)

derivation.inequality(
    "below",
    total(softmax(z)[j] * c[j], j),
    exp(2 * epsilon) * a,
    because=total(exp(z[j]) * (exp(epsilon) * (exp(epsilon) * a - 1) + (exp(epsilon) - c[j])), j) / total(exp(z[j]), j),
    given=[nonnegative(exp(epsilon) - c[j]), nonnegative(exp(epsilon) * a - 1)],
    without={nonnegative(exp(epsilon) - c[j]): {epsilon: 0, a: 1, c: [2], z: [0]}},
    uses=["perturbed"],
    title="A weight shrinks by at most the square of the largest factor",
)

derivation.identity(
    "one-up",
    m * exp(epsilon) / (exp(epsilon) + (m - 1) * exp(-epsilon)),
    exp(2 * epsilon) * (m / (m - 1 + exp(2 * epsilon))),
    title="One score too large and all others too small",
)

derivation.inequality(
    "output-above",
    total(p[j] * v[j] * (1 + phi[j]), j) - total(p[j] * v[j], j),
    tau * total(p[j] * absolute(v[j]), j),
    because=total(
        p[j]
        * (
            (absolute(v[j]) - v[j]) * ((tau - absolute(phi[j])) + (absolute(phi[j]) + phi[j]))
            + (absolute(v[j]) + v[j]) * ((tau - absolute(phi[j])) + (absolute(phi[j]) - phi[j]))
        )
        / 2,
        j,
    ),
    given=[nonnegative(p[j]), nonnegative(tau - absolute(phi[j]))],
    uses=["above", "below", "below-is-closer"],
    title="A bound on how much too large an output can be",
)

derivation.inequality(
    "output-below",
    total(p[j] * v[j], j) - total(p[j] * v[j] * (1 + phi[j]), j),
    tau * total(p[j] * absolute(v[j]), j),
    because=total(
        p[j]
        * (
            (absolute(v[j]) + v[j]) * ((tau - absolute(phi[j])) + (absolute(phi[j]) + phi[j]))
            + (absolute(v[j]) - v[j]) * ((tau - absolute(phi[j])) + (absolute(phi[j]) - phi[j]))
        )
        / 2,
        j,
    ),
    given=[nonnegative(p[j]), nonnegative(tau - absolute(phi[j]))],
    uses=["above", "below", "below-is-closer"],
    title="A bound on how much too small an output can be",
)

last = ((u - psi) * ((absolute(x) + x) + (beta - (x - y))) + (u + psi) * ((absolute(x) - x) + (beta + (x - y)))) / 2

derivation.inequality(
    "last-rounding",
    y * (1 + psi) - x,
    beta + u * (absolute(x) + beta),
    because=(beta + (x - y)) + last,
    given=[nonnegative(beta + (x - y)), nonnegative(beta - (x - y)), nonnegative(u - psi), nonnegative(u + psi)],
    title="A bound on the error after one more rounding",
)

derivation.refute(
    "not-relative",
    absolute(r * (1 + tau) - s),
    (1 + tau) * absolute(r - s),
    at={tau: 1, r: 1, s: 1},
    relation="<=",
    title="The relative error of an output can exceed that of its terms",
)

if __name__ == "__main__":
    derivation.main()
