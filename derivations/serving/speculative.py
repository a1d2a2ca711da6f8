"""Speculative decoding: what is drawn has the target's distribution, and how many tokens a step yields."""

from fractions import Fraction

from derivations.kernel import Derivation, absolute, index, log, nonnegative, nonzero, positive, scalars, sizes, softmax, total, vector

n, m = sizes("n m")  # tokens of the vocabulary, tokens of a step if all guesses are accepted
z, w = vector("z", n), vector("w", n)  # logits of the target and of the draft
i, j = index("i", n), index("j", n)
k = index("k", m)
a, c = scalars("a c")  # how often a guess is accepted, and the cost of a guess in steps of the target

speculative = "snippets.serving.speculative."
p, q = softmax(z), softmax(w)

derivation = Derivation("Speculative decoding")


def overlap(token):
    """The smaller of both probabilities: how often the token is guessed and accepted."""
    return (p[token] + q[token] - absolute(p[token] - q[token])) / 2


rejected = total(absolute(p[j] - q[j]), j) / 2

derivation.identity(
    "accepted",
    total(overlap(j), j),
    1 - total(absolute(p[j] - q[j]), j) / 2,
    code=[(speculative + "acceptance_rate", p, q)],
    title="How often a guess is accepted: one, less the distance of the two distributions",
)

derivation.identity(
    "same-distribution",
    overlap(i) + rejected * ((p[i] - overlap(i)) / rejected),
    p[i],
    given=[nonzero(rejected), nonnegative(n - 2)],
    without={nonzero(rejected): {z: [0, 0], w: [0, 0]}},
    uses=["accepted"],
    title="What is drawn has the target's distribution",
)

derivation.refute(
    "second-draw",
    overlap(1) + rejected * p[1],
    p[1],
    at={z: [0, 0], w: [0, log(3)]},
    uses=["same-distribution"],
    title="A second draw from the target itself gives another distribution",
)

derivation.identity(
    "leftovers",
    total(p[j] - overlap(j), j),
    total(q[j] - overlap(j), j),
    uses=["accepted"],
    title="What the draft lacks is as much as what it has too much of",
)

derivation.identity(
    "tokens",
    (1 - a) * total(a ** (k - 1), k),
    1 - a**m,
    title="Tokens of a step, times how often a guess is rejected",
)

expected = derivation.define(
    "t_m",
    (1 - a**m) / (1 - a),
    given=[nonzero(1 - a)],
    code=[(speculative + "expected_tokens", a, m)],
    title="Expected tokens of a step with $m - 1$ guesses",
)

derivation.inequality(
    "at-most",
    (1 - a**m) / (1 - a),
    1 / (1 - a),
    because=a**m / (1 - a),
    given=[nonnegative(a), positive(1 - a)],
    without={nonnegative(a): {a: -1, m: 1}},
    uses=["tokens"],
    title="However many guesses, a step yields no more than this",
)

derivation.refute(
    "more-is-faster",
    (1 - Fraction(1, 2) ** 3) / (1 - Fraction(1, 2)) / (1 + 2 * c),
    (1 - Fraction(1, 2) ** 5) / (1 - Fraction(1, 2)) / (1 + 4 * c),
    at={c: Fraction(1, 5)},
    relation="<=",
    uses=["tokens"],
    title="Four guesses are not always faster than two",
)

derivation.identity(
    "one-token",
    1 - ((1 - p[1]) + (total(p[j], j) - p[1])) / 2,
    p[1],
    uses=["accepted"],
    title="How often the target accepts a draft that always guesses the same token",
)

derivation.chain(
    "two-guesses",
    (1 - a**3) / (1 - a),
    (1 + a + a**2, "divide"),
    given=[nonzero(1 - a)],
    uses=["tokens"],
    title="Expected tokens of a step with two guesses",
)

if __name__ == "__main__":
    derivation.main()
