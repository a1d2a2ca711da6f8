"""How much rounded inputs can change scores, weights and outputs: the error bars of a printed example."""

from derivations.kernel import Derivation, absolute, exp, index, nonnegative, scalars, sizes, softmax, total, vector

d, n = sizes("d n")
x, y, e, f = vector("x", d), vector("y", d), vector("u", d), vector("w", d)
z, s = vector("z", n), vector("s", n)
p, q, v, r = vector("p", n), vector("q", n), vector("v", n), vector("r", n)
h, tau, delta, t, c = scalars("h tau delta t c")
a, i, j = index("a", d), index("i", n), index("j", n)

derivation = Derivation("A worked case, and its error bars")


bound = derivation.define(
    "b",
    h * total(absolute(x[a]) + absolute(y[a]), a) + d * h**2,
    code=[("snippets.attention.worked.score_bound", x, y, {"half": h})],
    title="A bound on the error of a score, $b$",
)

small = [nonnegative(h - e[a]), nonnegative(h + e[a]), nonnegative(h - f[a]), nonnegative(h + f[a])]


def within(change, slack, entry):
    """slack |entry| - entry change, as a sum of products that are not negative while |change| is at most slack."""
    return ((absolute(entry) - entry) * (slack + change) + (absolute(entry) + entry) * (slack - change)) / 2


derivation.inequality(
    "score",
    total(x[a] * y[a], a) - total((x[a] + e[a]) * (y[a] + f[a]), a),
    bound,
    because=total(within(-f[a], h, x[a]) + within(-e[a], h, y[a]) + ((h - e[a]) * (h - f[a]) + (h + e[a]) * (h + f[a])) / 2, a),
    given=small,
    without={
        small[0]: {x: [0], y: [-1], e: [5], f: [0], h: 1},
        small[1]: {x: [0], y: [1], e: [-5], f: [0], h: 1},
        small[2]: {x: [-1], y: [0], e: [0], f: [5], h: 1},
        small[3]: {x: [1], y: [0], e: [0], f: [-5], h: 1},
    },
    title="A score falls by at most $b$",
)

over = total(exp(z[j]), j) * total(exp(z[j] + s[j]), j)

derivation.inequality(
    "weight-upper",
    softmax(z + s)[i],
    exp(2 * delta) * softmax(z)[i],
    because=exp(z[i]) * total(exp(z[j]) * (exp(2 * delta) * (exp(s[j]) - exp(-delta)) + (exp(delta) - exp(s[i]))), j) / over,
    given=[nonnegative(exp(delta) - exp(s[i])), nonnegative(exp(s[j]) - exp(-delta))],
    title="If scores move by at most $\\delta$, a weight rises by at most this factor",
)

derivation.inequality(
    "weight-lower",
    softmax(z)[i],
    exp(2 * delta) * softmax(z - s)[i],
    because=exp(z[i])
    * total(exp(z[j] - s[i] - s[j]) * (exp(2 * delta) * (exp(s[j]) - exp(-delta)) + (exp(delta) - exp(s[i]))), j)
    / (total(exp(z[j]), j) * total(exp(z[j] - s[j]), j)),
    given=[nonnegative(exp(delta) - exp(s[i])), nonnegative(exp(s[j]) - exp(-delta))],
    title="A weight falls by at most the same factor",
)

derivation.inequality(
    "weights-move",
    total(p[j] * v[j], j) - total(p[j] * (1 + q[j]) * v[j], j),
    tau * total(absolute(p[j] * v[j]), j),
    because=total(within(-q[j], tau, p[j] * v[j]), j),
    given=[nonnegative(tau - q[j]), nonnegative(tau + q[j])],
    title="An output falls by at most this if its weights change",
)

derivation.inequality(
    "values-move-up",
    total(p[j] * (v[j] + r[j]), j) - total(p[j] * v[j], j),
    h * total(p[j], j),
    because=total(p[j] * (h - r[j]), j),
    given=[nonnegative(p[j]), nonnegative(h - r[j])],
    title="An output rises by at most this if its values change",
)

derivation.inequality(
    "values-move-down",
    total(p[j] * v[j], j) - total(p[j] * (v[j] + r[j]), j),
    h * total(p[j], j),
    because=total(p[j] * (h + r[j]), j),
    given=[nonnegative(p[j]), nonnegative(h + r[j])],
    title="An output falls by at most this if its values change",
)

derivation.inequality(
    "one-wins",
    1 / (1 + n * exp(-c)),
    exp(t) / (exp(t) + total(exp(z[j]), j)),
    because=total(exp(t - c) - exp(z[j]), j) / ((exp(t) + total(exp(z[j]), j)) * (1 + n * exp(-c))),
    given=[nonnegative(exp(t - c) - exp(z[j]))],
    code=[("snippets.attention.worked.least_weight", c, {"others": n})],
    title="A lower bound on the weight of a key that leads all others",
)

if __name__ == "__main__":
    derivation.main()
