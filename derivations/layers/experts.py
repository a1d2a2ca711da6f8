"""Mixture of experts: softmax before or after the choice, the load-balancing loss, sigmoid gates, and numbers of weights."""

from fractions import Fraction

from derivations.kernel import Derivation, diff, exp, index, matrix, nonzero, ones, scalars, sizes, softmax, total, vector

k, m, n, N = sizes("k m n N")  # experts chosen and not chosen, tokens, all experts
z, y = vector("z", k), vector("y", m)  # the logits of those
i, l, j = index("i", k), index("l", k), index("j", m)
Z, D, p = matrix("Z", n, N), matrix("D", n, N), matrix("p", n, N)  # logits, where tokens go, probabilities
c, f, P = vector("c", N), vector("f", N), vector("P", N)
r, s, t, u, g = index("r", N), index("s", n), index("t", n), index("u", N), index("g", N)
w, o, x, S = scalars("w o x S")  # a logit and an output; weights of an expert, and of all that is shared

derivation = Derivation("Mixture of experts")

every = total(exp(z[l]), l) + total(exp(y[j]), j)
a = derivation.define("a", exp(z) / every, title="The chosen experts' shares in the softmax over all, $a$")

derivation.identity(
    "same-gate",
    a[i] / total(a[l], l),
    softmax(z)[i],
    uses=["order/causal#window"],
    code=[("snippets.layers.experts.softmax_then_choose", z, y), ("snippets.layers.experts.choose_then_softmax", z, y)],
    title="Softmax, choose and divide, or choose and then softmax: the same gate",
)

derivation.refute(
    "not-renormalised",
    a[i],
    softmax(z)[i],
    at={z: [0], y: [0], i: 1},
    title="Softmax first, without the division, is a different gate",
)


def sigmoid(at):
    return 1 / (1 + exp(-at))


derivation.refute(
    "sigmoid-gate",
    sigmoid(z[i]) / total(sigmoid(z[l]), l),
    softmax(z)[i],
    at={z: [1, 0], i: 1},
    title="Sigmoids divided by their sum are not the softmax gate",
)

rho = derivation.define("rho", exp(w) / (exp(w) + total(exp(y[j]), j)), title="The share of one chosen expert, $\\rho$")

derivation.identity(
    "one-expert",
    diff(rho / rho * o, w),
    0,
    title="With one expert and a divided gate, the router gets no gradient",
)

derivation.identity(
    "one-expert-kept",
    diff(rho * o, w),
    rho * (1 - rho) * o,
    title="With one expert and an undivided gate, the router gets a gradient",
)

derivation.identity(
    "unchosen",
    diff(a[i] / total(a[l], l), y[j]),
    0,
    uses=["same-gate"],
    title="An unchosen expert's logit gets no gradient through the divided gate",
)


def balance(load, mass):
    return N * total(load[r] * mass[r], r)


share = balance(f, P)
derivation.define("B", share, code=[("snippets.layers.experts.balance_loss", f, P)], title="The load-balancing loss $B$")

derivation.identity(
    "covariance",
    share - total(f[r], r) * total(P[r], r),
    N * total((f[r] - total(f[u], u) / N) * (P[r] - total(P[g], g) / N), r),
    code=[("snippets.layers.experts.scaled_load_covariance", f, P)],
    title="The loss, minus the product of both sums, is a covariance times $N^2$",
)

derivation.inequality(
    "equal-one",
    total(f[r], r) ** 2,
    balance(f, f),
    because=N * total((f[r] - total(f[u], u) / N) ** 2, r),
    uses=["covariance"],
    title="If load and probability agree, the loss is at least the square of their sum",
)

derivation.identity(
    "collapsed",
    balance((1 / total(c[u], u)) * c, (1 / N) * ones(N)),
    1,
    given=[nonzero(total(c[u], u))],
    uses=["covariance"],
    title="With even probabilities the loss is one, wherever the tokens go",
)

tenth = Fraction(1, 10)
derivation.refute(
    "least-is-one",
    1,
    N * total(total(D[t, r], t) / n * (total(p[s, r], s) / n), r),
    relation="<=",
    at={D: [[1, 0], [1, 0], [0, 1]], p: [[6 * tenth, 4 * tenth], [6 * tenth, 4 * tenth], [tenth, 9 * tenth]]},
    title="The loss can be below one",
)

derivation.identity(
    "push",
    diff(N * total(f[r] * total(softmax(Z)[t, r], t) / n, r), Z[s, g]),
    N / n * softmax(Z)[s, g] * (f[g] - total(softmax(Z)[s, u] * f[u], u)),
    code=[("snippets.layers.experts.balance_gradients", Z, f)],
    title="The gradient of the loss: positive for experts busier than the token's own mean load",
)

derivation.identity(
    "times",
    N * (S + x) - (S + N * x),
    (N - 1) * S,
    title="$N$ whole models, minus one model with $N$ experts",
)

derivation.refute(
    "eight-times-seven",
    S + N * x,
    N * (S + x),
    at={N: 8, S: 1, x: 6},
    uses=["times"],
    title="A model with eight experts is not as large as eight models",
)

if __name__ == "__main__":
    derivation.main()
