"""Dropped keys: the error is their weight times the difference of two means, and the largest weights aren't always the best to keep."""

from derivations.kernel import (
    Derivation,
    absolute,
    exp,
    index,
    log,
    nonnegative,
    nonzero,
    scalars,
    sizes,
    softmax,
    total,
    vector,
    zero_or_one,
)

n, m = sizes("n m")  # keys; keys below the top
z, v, c = vector("z", n), vector("v", n), vector("c", n)  # scores; one feature of the values; is the key kept?
j, l = index("j", n), index("l", n)
a, g, u, lo, hi = scalars("a g u a_0 b_0")
y, t = vector("y", 3), vector("t", 3)  # three keys

counts = "snippets.sparse.patterns."

derivation = Derivation("What sparsity loses")

p = derivation.define("p", softmax(z), title="The weights $p$")
kept = total(c[l] * p[l], l)
dropped = derivation.define("w", total((1 - c[l]) * p[l], l), title="The dropped weight $w$")
output = total(p[l] * v[l], l)
kept_mean = derivation.define("mu_1", total(c[l] * p[l] * v[l], l) / kept, given=[nonzero(kept)], title="The kept mean $μ_1$")
dropped_mean = derivation.define(
    "mu_0", total((1 - c[l]) * p[l] * v[l], l) / dropped, given=[nonzero(dropped)], title="The dropped mean $μ_0$"
)

a_mask = zero_or_one(c)

derivation.identity(
    "error",
    output - kept_mean,
    dropped * (dropped_mean - kept_mean),
    given=[nonzero(kept), nonzero(dropped)],
    uses=["order/causal#window"],
    code=[(counts + "dropping_error", z, v, c)],
    title="The error is the dropped weight, times the difference of the two means, for one feature",
)

derivation.inequality(
    "bound",
    output - kept_mean,
    dropped * (hi - lo),
    because=total((1 - c[l]) * p[l] * (hi - v[l]), l) + dropped * total(c[l] * p[l] * (v[l] - lo), l) / kept,
    given=[nonzero(kept), a_mask, nonnegative(v[l] - lo), nonnegative(hi - v[l])],
    uses=["error"],
    title="The error is at most the dropped weight, times the range of the values",
)

derivation.identity(
    "not-renormalised",
    output - total(c[l] * p[l] * v[l], l),
    dropped * dropped_mean,
    given=[nonzero(dropped)],
    title="Without renormalisation, the error is the dropped weight times the dropped mean",
)

derivation.identity(
    "common-part",
    total(p[l] * (v[l] + u), l) - total(c[l] * p[l] * (v[l] + u), l) / kept,
    output - kept_mean,
    given=[nonzero(kept)],
    title="With renormalisation, a number added to all values doesn't change the error",
)

derivation.identity(
    "other-way",
    output - dropped_mean,
    kept * (kept_mean - dropped_mean),
    given=[nonzero(kept), nonzero(dropped)],
    uses=["error"],
    title="The output divides the line between both means in proportion to the weights",
)

derivation.identity(
    "tail",
    m * exp(-g) / (1 + m * exp(-g)),
    1 / (1 + exp(g - log(m))),
    code=[(counts + "tail_weight", g, {"m": m})],
    title="The weight of $m$ keys that are all $g$ below one other key",
)

derivation.limit(
    "tail-long",
    m * exp(-g) / (1 + m * exp(-g)),
    m,
    "oo",
    1,
    uses=["tail"],
    title="For a fixed gap, the others get all the weight as their number grows",
)

derivation.inequality(
    "tail-bound",
    total(exp(z[l] - a), l) / (1 + total(exp(z[l] - a), l)),
    n * exp(-g),
    because=total(exp(-g) - exp(z[l] - a), l) + total(exp(z[l] - a), l) ** 2 / (1 + total(exp(z[l] - a), l)),
    given=[nonnegative(a - g - z[l])],
    uses=["tail"],
    title="A bound for any scores that are at least $g$ below the top",
)

derivation.refute(
    "small-scores",
    1 / (1 + exp(g - log(m))),
    exp(-g),
    at={g: log(4), m: 8},
    title="A bound for one key is not a bound for all other keys together",
)

derivation.refute(
    "best-keys",
    absolute(softmax(y) @ t - t[1]),
    absolute(softmax(y) @ t - t[2]),
    at={y: [log(4), log(3), log(3)], t: [5, 2, 0]},
    relation="<=",
    title="The key with the largest weight is not always the best one to keep",
)

if __name__ == "__main__":
    derivation.main()
