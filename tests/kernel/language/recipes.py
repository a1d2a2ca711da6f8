"""Common patterns in the claim language. The page "The claim language" shows these sections; test_recipes.py checks each claim."""

# --8<-- [start:script]
from derivations.kernel import Derivation, matrix, sizes

n, d, d_k = sizes("n d d_k")
X = matrix("X", n, d)
W_Q, W_K = matrix("W_Q", d, d_k), matrix("W_K", d, d_k)

derivation = Derivation("Scores")

derivation.chain(
    "merged",
    (X @ W_Q) @ (X @ W_K).T,
    ((X @ W_Q) @ (W_K.T @ X.T), "a transpose reverses a product"),
    (X @ (W_Q @ W_K.T) @ X.T, "regroup"),
    title="One matrix in place of two",
)

if __name__ == "__main__":
    derivation.main()
# --8<-- [end:script]

# --8<-- [start:delta]
from derivations.kernel import eye, index, softmax, total, vector

m = sizes("m")
z, i, l = vector("z", m), index("i", m), index("l", m)
delta = eye(m)[i, l]

derivation.identity("one-term", total(delta * z[l], l), z[i])
derivation.identity("all-but-one", total((1 - delta) * z[l], l), total(z[l], l) - z[i])
# --8<-- [end:delta]

# --8<-- [start:delta-squared]
derivation.inequality(
    "at-most-one",
    softmax(z)[i],
    1,
    because=total((1 - delta) ** 2 * softmax(z)[l], l),
)
# --8<-- [end:delta-squared]

# --8<-- [start:squares]
q, k, a = vector("q", d), vector("k", d), index("a", d)

derivation.inequality(
    "means",
    2 * (q @ k),
    q @ q + k @ k,
    because=total((q[a] - k[a]) ** 2, a),
)
# --8<-- [end:squares]

# --8<-- [start:entropy]
from derivations.kernel import log

minus_entropy = total(softmax(z)[i] * log(softmax(z)[i]), i)

derivation.inequality("entropy", -minus_entropy, log(m), because=log(m) + minus_entropy)
# --8<-- [end:entropy]

# --8<-- [start:division]
from derivations.kernel import nonnegative

h = sizes("h")

derivation.inequality(
    "heads",
    2 * n / h,
    n,
    because=n * (h - 2) / h,
    given=[nonnegative(h - 2)],
)
# --8<-- [end:division]

# --8<-- [start:quotient]
from derivations.kernel import nonzero, scalars

x, y, c = scalars("x y c")

derivation.identity("split", (x + y) / c, x / c + y / c, given=[nonzero(c)])
derivation.identity("one-by-one", x / (c * y), x / c / y, given=[nonzero(c), nonzero(y)])
# --8<-- [end:quotient]

# --8<-- [start:every-index]
g = vector("g", m)

derivation.identity("back", total(z[l] * g[l] / g[l], l), total(z[l], l), given=[nonzero(g[l])])
# --8<-- [end:every-index]

# --8<-- [start:needed]
from derivations.kernel import sqrt

derivation.identity("root", sqrt(x**2), x, given=[nonnegative(x)])
# --8<-- [end:needed]

# --8<-- [start:without]
from fractions import Fraction

from derivations.kernel import representable, rounded

derivation.identity(
    "kept",
    rounded(x),
    x,
    given=[representable(x)],
    without={representable(x): {x: Fraction(1, 3)}},
)
# --8<-- [end:without]

# --8<-- [start:functions]
from derivations.kernel import cos, exp, norm, sin, tanh

f = index("f", d)

derivation.identity("angles", cos(x - y), cos(x) * cos(y) + sin(x) * sin(y))
derivation.identity("squash", 1 - tanh(x) ** 2, 4 / (exp(x) + exp(-x)) ** 2)
derivation.identity("cosine-rule", norm(q - k) ** 2, norm(q) ** 2 + norm(k) ** 2 - 2 * (q @ k))
derivation.inequality(
    "cauchy-schwarz",
    (q @ k) ** 2,
    norm(q) ** 2 * norm(k) ** 2,
    because=total((q[a] * k[f] - q[f] * k[a]) ** 2, a, f) / 2,
)
# --8<-- [end:functions]

# --8<-- [start:each]
from derivations.kernel import each

outer = each(z[i] * q[a], i, a)

derivation.identity("written-out", softmax(z), each(exp(z[i]) / total(exp(z[l]), l), i))
derivation.identity("outer-product", outer @ k, (q @ k) * z)
derivation.identity("length", norm(each(a * q[a], a)) ** 2, total(a**2 * q[a] ** 2, a))
# --8<-- [end:each]

# --8<-- [start:order]
a_0, b_0 = scalars("a_0 b_0")
scores = [nonnegative(z[l] - a_0), nonnegative(b_0 - z[l])]  # every score lies between the two

derivation.inequality("rises", exp(x), exp(y), because=exp(y) - exp(x), given=[nonnegative(y - x)])
derivation.inequality(
    "most",
    softmax(z)[i],
    exp(b_0 - a_0) / m,
    because=softmax(z)[i] * total(exp((b_0 - z[i]) + (z[l] - a_0)) - 1, l) / m,
    given=scores,
)
derivation.inequality(
    "least",
    exp(a_0 - b_0) / m,
    softmax(z)[i],
    because=softmax(z)[i] * total(1 - exp(-((z[i] - a_0) + (b_0 - z[l]))), l) / m,
    given=scores,
)
# --8<-- [end:order]

# --8<-- [start:largest]
from derivations.kernel import largest, log, ones

below = z[l] - largest(z)

derivation.identity("moves-along", largest(c * z + x * ones(m)), c * largest(z) + x, given=[nonnegative(c)])
derivation.identity("largest-weight", softmax(z)[i] / largest(softmax(z)), exp(z[i] - largest(z)))
derivation.inequality("no-larger", z[i], largest(z), because=largest(z) - z[i])
derivation.inequality("is-one-of-them", 1, total(exp(below), l), because=total(exp(below), l) - 1)
derivation.inequality("all-of-them", total(exp(below), l), m, because=total(1 - exp(below), l))
derivation.inequality("log-sum", largest(z), log(total(exp(z[l]), l)), because=log(total(exp(below), l)))
derivation.inequality("first-leads", largest(z), z[1], because=z[1] - largest(z), given=[nonnegative(z[1] - z[l])])
# --8<-- [end:largest]

# --8<-- [start:mask]
from derivations.kernel import vector, zero_or_one

g = vector("g", m)
kept = total(g[l] * exp(z[l]), l)

derivation.identity("filled", exp(z[i] - c * (1 - g[i])), g[i] * exp(z[i]) + (1 - g[i]) * exp(z[i] - c), given=[zero_or_one(g)])
derivation.limit(
    "minus-infinity",
    softmax(z - c * (ones(m) - g))[i],
    c,
    "oo",
    g[i] * exp(z[i]) / kept,
    given=[zero_or_one(g), nonzero(kept)],
)
# --8<-- [end:mask]

# --8<-- [start:order-of-positions]
from derivations.kernel import diff, where

j, S = index("j", m), matrix("S", m, m)
weighted = total(exp(S[i, j]) * z[j], j, where=j <= i) / total(exp(S[i, j]), j, where=j <= i)

derivation.identity("causal-pairs", total(1, i, j, where=j <= i), m * (m + 1) / 2)
derivation.identity("later-value", diff(weighted, z[l]) * where(1, i < l), 0)
derivation.identity(
    "window-of-three",
    total(z[j], j, where=[i - 3 < j, j <= i]),
    total(z[j], j, where=j <= i) - total(z[j], j, where=j <= i - 3),
)
derivation.identity(
    "next-entry",
    total(z[j], j, where=[i < j, j < i + 2]),
    total(z[j], j, where=i < j) - total(z[j], j, where=i + 1 < j),
)
# --8<-- [end:order-of-positions]

# --8<-- [start:powers]
derivation.identity("gauss", total(l, l), m * (m + 1) / 2)
derivation.identity("distances", total((i - l) ** 2, i, l), m**2 * (m**2 - 1) / 6)
# --8<-- [end:powers]

# --8<-- [start:geometric]
from derivations.kernel import exp, nonzero

t = scalars("t")

derivation.identity("geometric-sum", total(t ** (i - 1), i), (1 - t**m) / (1 - t), given=[nonzero(1 - t)])
derivation.identity("decaying-weights", (1 - t) * total(t ** (m - i), i), 1 - t**m)
derivation.identity("telescoping", total(1 / (i * (i + 1)), i), 1 - 1 / (m + 1))
# --8<-- [end:geometric]

# --8<-- [start:log]
from derivations.kernel import log, positive


def log_sum_exp(scores):
    return log(total(exp(scores), l))


derivation.identity("shifted", log_sum_exp(z[l] + c), log_sum_exp(z[l]) + c)
derivation.identity("average", log(total(exp(z[l]), l) / m), log_sum_exp(z[l]) - log(m))
derivation.identity("product", log(x * (x + y)), log(x) + log(x + y), given=[positive(x), positive(x + y)])
# --8<-- [end:log]

# --8<-- [start:limit]
derivation.limit("saturated", 1 / (1 + exp(-x)), x, "oo", 1)
derivation.limit("long", 2 + 2 * n / (n + 2 * d), n, "oo", 4)
# --8<-- [end:limit]

# --8<-- [start:rate]
from derivations.kernel import absolute

t = scalars("t")

derivation.limit("sharp", exp(x / t) / (exp(x / t) + total(exp(z[l] / t), l)), t, 0, 1, given=[positive(x - z[l])])
derivation.limit("even", softmax(z / t)[i], t, "oo", 1 / m)
derivation.limit("geometric", (1 - x**n) / (1 - x), n, "oo", 1 / (1 - x), given=[positive(1 - absolute(x))])
derivation.limit("same-order", (n**2 + n * log(n)) / (n**2 + 1), n, "oo", 1)
# --8<-- [end:rate]

# --8<-- [start:limit-of-sum]
b = index("b", n)

derivation.identity("sum", total(x + 1, b) / (n + d), n * (x + 1) / (n + d))
derivation.limit("mean", n * (x + 1) / (n + d), n, "oo", x + 1, uses=["sum"])
# --8<-- [end:limit-of-sum]

# --8<-- [start:gradient]
from derivations.kernel import diff

A, p = matrix("A", m, m), softmax(z)
j = index("j", m)

derivation.identity("quadratic", diff(z @ (A @ z), z[i]), (A @ z)[i] + (A.T @ z)[i])
derivation.identity("jacobian", diff(p[j], z[i]), p[j] * (eye(m)[i, j] - p[i]))
# --8<-- [end:gradient]

# --8<-- [start:slope-of-root]
derivation.identity("slope", diff(sqrt(x**2), x) * sqrt(x**2), x, given=[nonzero(x)])
# --8<-- [end:slope-of-root]

# --8<-- [start:inverse]
from derivations.kernel import inverse, invertible, positive

targets = vector("o", n)
ridge = inverse(X.T @ X + y * eye(d)) @ (X.T @ targets)

derivation.identity("resolvent", inverse(eye(m) + A) @ A, A @ inverse(eye(m) + A), given=[invertible(eye(m) + A)])
derivation.identity("push-through", ridge, X.T @ (inverse(X @ X.T + y * eye(n)) @ targets), given=[positive(y)])
# --8<-- [end:inverse]

# --8<-- [start:law]
from derivations.kernel import Var, independent, mean, random, variance

u, v = random("u", d), random("v", d)

derivation.identity(
    "width",
    Var(u @ v),
    d,
    given=[independent(u, v), mean(u, 0), mean(v, 0), variance(u, 1), variance(v, 1)],
)
# --8<-- [end:law]

# --8<-- [start:jensen]
from derivations.kernel import E, has_moment

r = random("r")

derivation.inequality("jensen", E(r) ** 2, E(r**2), because=Var(r), given=[has_moment(r, 2)])
# --8<-- [end:jensen]

# --8<-- [start:cauchy-schwarz]
w = random("w")

derivation.inequality(
    "product-of-means",
    E(r * w) ** 2,
    E(r**2) * E(w**2),
    because=E(r**2) * E(w**2) - E(r * w) ** 2,
    given=[has_moment(r, 2), has_moment(w, 2)],
)
# --8<-- [end:cauchy-schwarz]

# --8<-- [start:coin]
kappa, rho = random("kappa"), scalars("rho")

derivation.identity("dropout", Var(kappa / (1 - rho)), rho / (1 - rho), given=[zero_or_one(kappa), mean(kappa, 1 - rho), nonzero(1 - rho)])
derivation.identity("tossed", E(exp(c * kappa)), 1 - E(kappa) + E(kappa) * exp(c), given=[zero_or_one(kappa)])
# --8<-- [end:coin]

# --8<-- [start:mean-weight]
eta = random("eta", m)

derivation.identity("mean-weight", E(softmax(eta)[l]), 1 / m, given=[independent(eta)])
# --8<-- [end:mean-weight]

# --8<-- [start:refute]
derivation.refute("linear", softmax(2 * z), 2 * softmax(z), at={z: [0, 0]})
# --8<-- [end:refute]

# --8<-- [start:define]
sigma = derivation.define("s", 1 / (1 + exp(-x)), title="The logistic function")

derivation.identity("mirrored", 1 - sigma, 1 / (1 + exp(x)))
# --8<-- [end:define]

# --8<-- [start:code]
derivation.identity(
    "swap",
    (X @ W_K) @ (X @ W_Q).T,
    ((X @ W_Q) @ (X @ W_K).T).T,
    code=[("snippets.simplify.bilinear.split_scores", X, W_K, W_Q, {"scale": 1})],
)
# --8<-- [end:code]

# --8<-- [start:rank]
from derivations.kernel import rank

derivation.inequality("low-rank", rank(W_Q @ W_K.T), d_k, because=(W_Q, W_K.T))
# --8<-- [end:rank]

# --8<-- [start:in-sympy]
from sympy import Eq, Le, MatMul, MatrixSymbol, Transpose, evaluate, symbols

rows, columns = symbols("n_r n_c", integer=True, positive=True)  # sizes
alpha, beta = symbols("alpha beta", real=True)
F, G = MatrixSymbol("F", rows, columns), MatrixSymbol("G", columns, rows)

with evaluate(False):  # SymPy keeps what is written
    derivation.identity("product-transposed", Eq(Transpose(MatMul(F, G)), MatMul(G.T, F.T)))
    derivation.inequality("two-means", Le(2 * alpha * beta, alpha**2 + beta**2), because=(alpha - beta) ** 2)
# --8<-- [end:in-sympy]
