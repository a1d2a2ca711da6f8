"""The worked example, completed: weights and outputs in closed form."""

from derivations.kernel import Derivation, array, exp, softmax

derivation = Derivation("The worked example in closed form")

queries, keys, values = (
    ("snippets.example.integers.project_tokens", ("snippets.example.integers.tokens",), (f"snippets.example.integers.projections[{k}]",))
    for k in range(3)
)
S = derivation.define(
    "S",
    array([[2, 4, 4], [4, 16, 12], [4, 12, 10]]),
    code=[("snippets.attention.formula.scores", queries, keys, {"scale": 1})],
    title="The scores $S$",
)
V = derivation.define("V", array([[1, 2, 3], [2, 8, 0], [2, 6, 3]]), code=[values], title="The values $V$")

derivation.chain(
    "first-weight",
    softmax(S)[1, 1],
    (exp(2) / (exp(2) + exp(4) + exp(4)), "write softmax out"),
    (1 / (1 + 2 * exp(2)), "divide numerator and denominator by $e^2$"),
    title="The first token's weight on itself",
)

denominators = 1 + 2 * exp(2), 1 + exp(12) + exp(8), 1 + exp(8) + exp(6)
first, second, third = denominators

derivation.identity(
    "weights",
    softmax(S),
    array(
        [
            [1 / first, exp(2) / first, exp(2) / first],
            [1 / second, exp(12) / second, exp(8) / second],
            [1 / third, exp(8) / third, exp(6) / third],
        ]
    ),
    uses=["first-weight"],
    code=[("snippets.example.closed.closed_weights",)],
    title="All weights",
)

derivation.identity(
    "outputs",
    softmax(S) @ V,
    array(
        [
            [(1 + 4 * exp(2)) / first, (2 + 14 * exp(2)) / first, (3 + 3 * exp(2)) / first],
            [(1 + 2 * exp(12) + 2 * exp(8)) / second, (2 + 8 * exp(12) + 6 * exp(8)) / second, (3 + 3 * exp(8)) / second],
            [(1 + 2 * exp(8) + 2 * exp(6)) / third, (2 + 8 * exp(8) + 6 * exp(6)) / third, (3 + 3 * exp(6)) / third],
        ]
    ),
    uses=["weights"],
    code=[("snippets.example.closed.closed_outputs",)],
    title="The three outputs",
)

p = derivation.define("p", 1 / first, title="The first token's weight on itself, $p$")

derivation.identity(
    "own-share",
    softmax(array([2, 4, 4])) @ V,
    array([2 - p, 7 - 5 * p, (3 + 3 * p) / 2]),
    uses=["outputs"],
    title="The first output as a function of the first weight",
)

if __name__ == "__main__":
    derivation.main()
