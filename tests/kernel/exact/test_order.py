"""Comparisons of positions: sums up to an index, windows and masks, decided at every shape."""

from itertools import product
from random import Random

import pytest

from derivations.kernel import (
    Derivation,
    cos,
    diff,
    each,
    exp,
    eye,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    ones,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    where,
)
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import Expr, lift
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import guarded_polynomials, linear_forms, position_polynomials
from derivations.kernel.exact.atom_payloads import Unsupported
from derivations.kernel.exact.order_decision import require_equal_in_every_order
from derivations.kernel.exact.order_terms import Term, are_written_alike
from tests.kernel.common import has_code

n, m, d, w = sizes("n m d w")
x, z, S, V, X = vector("x", n), vector("z", n), matrix("S", n, n), matrix("V", n, d), matrix("X", n, d)
g, c = scalars("g c")
i, j, l, r, k = index("i", n), index("j", n), index("l", n), index("r", n), index("k", m)
a, b = index("a", d), index("b", d)
mask = each(where(1, j <= i), i, j)


def attention(scores, values):
    """Feature a of output i of causal attention."""
    return total(exp(scores[i, j]) * values[j, a], j, where=j <= i) / total(exp(scores[i, j]), j, where=j <= i)


def weight(i, j):
    return where(exp(S[i, j]) / total(exp(S[i, l]), l, where=l <= i), j <= i)


output = attention(S, V)
from_tokens = attention(X @ X.T / sqrt(d), X)
TRUE = {
    "pairs": (total(1, i, j, where=j <= i), n * (n + 1) / 2, []),
    "pairs in a window": (total(1, i, j, where=[j <= i, i - j < w]), n * w - w * (w - 1) / 2, [nonnegative(n - w)]),
    "before and after": (total(x[j], j, where=j <= i) + total(x[j], j, where=j > i), total(x[j], j), []),
    "one more term": (total(x[j], j, where=j <= i), total(x[j], j, where=j < i) + x[i], []),
    "a window is a difference": (
        total(x[j], j, where=[j <= i, i - j < w]),
        total(x[j], j, where=j <= i) - total(x[j], j, where=j <= i - w),
        [],
    ),
    "sums swapped": (total(total(S[i, j], j, where=j <= i), i), total(total(S[i, j], i, where=i >= j), j), []),
    "a mask times a vector": (mask @ x, each(total(x[j], j, where=j <= i), i), []),
    "a mask squared": ((mask @ mask)[i, j], where(i - j + 1, j <= i), []),
    "an empty sum": (total(x[j], j, where=j < 1), 0, []),
    "an axis of three": (total(1, index("s", 3), where=index("s", 3) < 3), 2, []),
    "weights add up to one": (total(weight(i, j), j), 1, []),
    "scores shifted": (attention(each(S[i, j] - x[i], i, j), V), output, []),
    "slope by a value": (diff(output, V[l, b]), weight(i, l) * eye(d)[a, b], []),
    "slope by a score": (diff(output, S[i, l]), weight(i, l) * (V[l, a] - output), []),
    "no slope by a later value": (diff(output, V[l, b]) * where(1, i < l), 0, []),
    "no slope by a later token": (diff(from_tokens, X[l, b]) * where(1, i < l), 0, []),
    "a later score elsewhere": (where(diff(output, S[r, l]), i < l), 0, []),
    "a geometric sum": ((1 - g) * total(g ** (j - 1), j, where=j <= i), 1 - g**i, []),
    "decay by one step": (total(g ** (i - j) * x[j], j, where=j <= i), x[i] + g * total(g ** (i - j - 1) * x[j], j, where=j < i), []),
    "decay to the right": (total(g ** (j - i) * x[j], j, where=j >= i), total(g ** (j - i) * x[j], j, where=i - 1 < j), []),
    "exp of a case": (exp(where(x[i], i <= j)), where(exp(x[i]), i <= j) + where(1, j < i), []),
    "cos of a case": (cos(where(x[i], i <= j)), where(cos(x[i]), i <= j) + where(1, j < i) * cos(0 * x[i]), []),
    "one term by a delta": (total(eye(n)[i, l] * exp(S[i, l]), l, where=l <= i), exp(S[i, i]), []),
    "a divisor that is 0 elsewhere": (
        where(total(exp(x[j]), j, where=j < i) / total(exp(x[j]), j, where=j < i), i > 1),
        where(1, i > 1),
        [],
    ),
    "divided by a symbol": (total(c * x[j], j, where=j <= i) / c, total(x[j], j, where=j <= i), [nonzero(c)]),
    "softmax beside a condition": (total(softmax(z)[j], j) * where(1, i <= j), where(1, i <= j), []),
    "two sizes": (total(1, i, k, where=[i <= k, k <= i]), total(1, k, i, where=[i <= k, k < i + 1]), []),
}
FALSE = {
    "pairs without the diagonal": (total(1, i, j, where=j < i), n * (n + 1) / 2, []),
    "pairs in a window that may be too wide": (total(1, i, j, where=[j <= i, i - j < w]), n * w - w * (w - 1) / 2, []),
    "one term twice": (total(x[j], j, where=j <= i) + total(x[j], j, where=j >= i), total(x[j], j), []),
    "one term too few": (total(x[j], j, where=j <= i), total(x[j], j, where=j < i), []),
    "a window too wide": (total(x[j], j, where=[j <= i, i - j <= w]), total(x[j], j, where=j <= i) - total(x[j], j, where=j <= i - w), []),
    "the wrong triangle": (total(total(S[i, j], j, where=j <= i), i), total(total(S[i, j], i, where=i <= j), j), []),
    "a mask transposed": (mask.T @ x, each(total(x[j], j, where=j <= i), i), []),
    "weights without the token itself": (total(where(weight(i, j), j < i), j), 1, []),
    "a slope by the token itself": (diff(output, V[l, b]) * where(1, i <= l), 0, []),
    "a slope by an earlier token": (diff(from_tokens, X[l, b]) * where(1, l < i), 0, []),
    "a slope without its mask": (diff(output, V[l, b]), exp(S[i, l]) / total(exp(S[i, j]), j, where=j <= i) * eye(d)[a, b], []),
    "scores shifted by what differs": (attention(each(S[i, j] - x[j], i, j), V), output, []),
    "nothing to divide by": (total(exp(x[j]), j, where=j < i) / total(exp(x[j]), j, where=j < i), 1, []),
    "nothing to divide by on both sides": (1 / total(exp(x[j]), j, where=j < i), 2 / (2 * total(exp(x[j]), j, where=j < i)), []),
    "cleared where it is 0": (
        where(z[i] * (1 / total(exp(x[j]), j, where=j < i)), i > 1) + total(exp(x[j]), j, where=j < 1) * z[i] + where(z[i], i <= 1),
        where(z[i] * (1 / total(exp(x[j]), j, where=j < i)), i > 1),
        [],
    ),
    "a geometric sum off by one": ((1 - g) * total(g**j, j, where=j <= i), 1 - g**i, []),
    "a power that is not defined": (total(g ** (i - j) * x[j], j, where=j <= n), total(x[j] * g ** (i - j), j, where=j >= 1), []),
    "only from four positions on": (total(1, i, j, l, where=[i < j, j < l]) * (n - 3), 0, []),
    "exponentials of other arguments": (total(exp(2 * x[j]), j, where=j <= i), total(exp(x[j]), j, where=j <= i), []),
    "divisors that differ": (
        1 / total(exp(x[j]), j, where=j <= i) + 0 * total(x[j], j, where=j < i),
        1 / total(exp(x[j]), j, where=i <= j) + 0 * x[i],
        [],
    ),
    "exp of a case that is 0": (exp(where(x[i], i <= j)), where(exp(x[i]), i <= j), []),
    "divided by a symbol that may be 0": (total(c * x[j], j, where=j <= i) / c, total(x[j], j, where=j <= i), []),
}


def make(left, right, given):
    derivation = Derivation("Order")
    derivation.identity("claim", left, right, given=given)
    return derivation.claims[0]


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_true_claims_are_proved_at_every_shape(claim):
    said = WITNESSES["exact"](make(*claim))
    assert said.verdict == "proved" and said.scope.startswith("every") and "order of the positions" in said.note
    assert WITNESSES["torch"](make(*claim)).verdict == "agrees"


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_false_claims_are_refuted_at_a_point(claim):
    with pytest.raises(Rejected, check=has_code("false-claim")) as rejection:
        WITNESSES["exact"](make(*claim))
    assert ": left = " in rejection.value.message
    with pytest.raises(Rejected):
        WITNESSES["torch"](make(*claim))


@pytest.mark.parametrize("name", ["pairs", "a window is a difference", "slope by a value", "a divisor that is 0 elsewhere"])
def test_sympy_proves_them_at_some_sizes(name):
    assert WITNESSES["sympy"](make(*TRUE[name])).verdict == "proved"


@pytest.mark.parametrize("name", ["pairs without the diagonal", "one term twice", "a window too wide", "only from four positions on"])
def test_sympy_rejects_the_false_ones(name):
    with pytest.raises(Rejected):
        WITNESSES["sympy"](make(*FALSE[name]))


@pytest.mark.parametrize("before", [d, m], ids=["d", "m"])
def test_sympy_tries_windows_of_every_width_beside_other_sizes(before):
    """The derivative is not zero where the window is wider than `before`."""
    window, scores = [j <= i, i - j < w], (X @ X.T)
    output = total(exp(scores[i, j]) * x[j], j, where=window) / total(exp(scores[i, j]), j, where=window)
    assert WITNESSES["sympy"](make(diff(output, x[l]) * where(1, l <= i - w), 0, [])).verdict == "proved"
    with pytest.raises(Rejected):
        WITNESSES["sympy"](make(diff(output, x[l]) * where(1, l <= i - before), 0, []))


def test_sums_are_written_alike_up_to_the_names_of_bound_indices():
    one, other = (
        Term((name,), frozenset([(0, ((name, 1),))]), frozenset(), (((), 1),), ((("entry", "z"), ((0, ((name, 1),)),)),)) for name in "uv"
    )
    doubled = Term(other.bound, other.least, other.equal, (((), 2),), other.atoms)
    assert are_written_alike([one], [other]) and are_written_alike([one, doubled], [doubled, other])
    assert not are_written_alike([one], [doubled]) and not are_written_alike([one], [one, other])


def test_an_inequality_may_leave_out_terms():
    first, later = (total(exp(z[j]), j, where=c) for c in (j <= i, i < j))
    derivation = Derivation("Order")
    derivation.inequality("prefix", first, total(exp(z[j]), j), because=later)
    others = total(weight(i, j), j, where=j < r) + total(weight(i, j), j, where=j > r)
    derivation.inequality("weight", weight(i, r), 1, because=others)
    for claim in derivation.claims:
        assert WITNESSES["exact"](claim).verdict == "proved"
    derivation.inequality("wrong", total(exp(z[j]), j), first, because=later)
    derivation.inequality("unclear", total(z[j], j, where=j <= i), total(z[j], j), because=total(z[j], j, where=i < j))
    for claim, code in zip(derivation.claims[2:], ("false-claim", "false-claim")):
        with pytest.raises(Rejected, check=has_code(code)):
            WITNESSES["exact"](claim)


NOT_DECIDED = {
    "a logarithm": (total(log(1 + x[j] * x[j]), j, where=j <= i), total(log(x[j] * x[j] + 1), j, where=j <= i), "log"),
    "something random": (total(random("q", n)[j], j, where=j <= i), total(random("q", n)[j], j, where=j < i + 1), "random"),
    "a factor of an index": (total(1, j, where=2 * j <= i), total(1, j, where=j + j < i + 1) + 0 * x[i], "quotient"),
    "weights of all rows": (total(softmax(S)[i, j], i, j) + total(1, j, where=j < 1), n, "coefficient"),
    "too high a power": (total(x[j], j, where=j <= i) ** 7, total(x[j], j, where=j < i + 1) ** 7, "power"),
}


@pytest.mark.parametrize("left, right, why", NOT_DECIDED.values(), ids=NOT_DECIDED)
def test_what_is_not_decided_is_not_accepted_and_says_why(left, right, why):
    with pytest.raises(Unsupported, match=why):
        require_equal_in_every_order(lift(left), lift(right), ())


# The language ------------------------------------------------------------------------------------------------------------------------


def test_a_condition_is_written_in_four_ways():
    assert total(x[j], j, where=j <= i) == total(x[j], j, where=i >= j) == total(x[j], j, where=[j <= i])
    assert total(x[j], j, where=j < i) == total(x[j], j, where=i > j) and where(1, j >= 2) == where(1, j >= 2)


MISUSES = {
    "a chain": (lambda: total(x[j], j, where=1 < j <= i), "order-operator"),
    "an if": (lambda: 1 if j <= i else 2, "order-operator"),
    "entries": (lambda: total(x[j], j, where=x[j] <= x[i]), "order-operator"),
    "a half": (lambda: where(1, j <= i / 2), "order-operator"),
    "a product of indices": (lambda: where(1, i * j <= n), "order-operator"),
    "a truth value": (lambda: total(x[j], j, where=True), "not-a-condition"),
    "an expression": (lambda: where(1, x[j]), "not-a-condition"),
    "no condition": (lambda: where(x[j]), "not-a-condition"),
    "a condition as a side": (lambda: Derivation("t").identity("t", j <= i, 1), "not-an-expression"),
    "a vector": (lambda: where(x, j <= i), "wrong-shape"),
}


@pytest.mark.parametrize("write, code", MISUSES.values(), ids=MISUSES)
def test_a_misuse_is_refused(write, code):
    with pytest.raises((KernelError, TypeError)) as rejection:
        write()
    assert isinstance(rejection.value, TypeError) or rejection.value.code == code


def test_a_limit_and_a_law_with_a_condition_are_refused():
    derivation = Derivation("Order")
    derivation.limit("limit", total(1, j, where=j <= 1) / c, c, "oo", 0)
    with pytest.raises(Rejected):
        WITNESSES["exact"](derivation.claims[0])
    assert WITNESSES["sympy"](derivation.claims[0]).verdict == "not applicable"


# The parts of the decision, compared with brute force ------------------------------------------------------------------------------


def test_sums_between_bounds_are_those_of_the_terms():
    generator = Random(0)
    for _ in range(40):
        p = {(("v", generator.randint(1, 4)), ("y", 1)): generator.randint(-3, 3) or 1, (): generator.randint(1, 4)}
        first, last = linear_forms.make_form(generator.randint(-3, 3), {"y": 1}), linear_forms.make_form(generator.randint(-2, 5), {"y": 2})
        found = position_polynomials.sum_between(p, "v", first, last)
        for y in range(5):
            low, high = (linear_forms.form_value(f, {"y": y}) for f in (first, last))
            if high >= low - 1:
                terms = (position_polynomials.polynomial_value(p, {"v": v, "y": y}) for v in range(low, high + 1))
                assert position_polynomials.polynomial_value(found, {"y": y}) == sum(terms)


def random_condition(generator, names):
    return linear_forms.make_form(generator.randint(-3, 3), {v: generator.choice((-2, -1, 0, 1, 1)) for v in names})


def holds(conditions, env):
    return all(linear_forms.form_value(f, env) >= 0 for f in conditions)


def test_unsatisfiable_conditions_have_no_point():
    generator, names = Random(1), ("u", "v", "y")
    empty = 0
    for _ in range(400):
        conditions = [random_condition(generator, names) for _ in range(5)]
        if not linear_forms.is_satisfiable(conditions):
            empty += 1
            assert not any(holds(conditions, dict(zip(names, at))) for at in product(range(-4, 5), repeat=3))
    assert empty > 20


def test_a_sum_over_conditions_is_that_of_its_points():
    """Sums over two bound variables between bounds that depend on two others, at every point of a box."""
    generator = Random(2)
    compared = 0
    for _ in range(60):
        box = [f for v in ("u", "v") for f in (linear_forms.make_form(0, {v: 1}), linear_forms.make_form(4, {v: -1}))]
        conditions = [
            linear_forms.make_form(generator.randint(-2, 2), {v: generator.choice((-1, 1)), x: generator.choice((-1, 0, 1))})
            for v, x in (("u", "y"), ("v", generator.choice("yz")))
        ]
        polynomial = {(("u", 1), ("y", 1)): 1, (("v", 2),): generator.choice((1, -2)), (): 3}
        g = guarded_polynomials.Guarded((), [*box, *conditions], polynomial)
        parts = guarded_polynomials.sum_out(g, ("u", "v"), [], guarded_polynomials.Steps())
        for y, z_ in product(range(-2, 4), repeat=2):
            env = {"y": y, "z": z_}
            points = ({**env, "u": u, "v": v} for u, v in product(range(5), repeat=2))
            terms = [position_polynomials.polynomial_value(polynomial, p) for p in points if holds(conditions, p)]
            found = [position_polynomials.polynomial_value(p.polynomial, env) for p in parts if holds(p.conditions, env)]
            assert sum(found) == sum(terms)
            compared += 1
    assert compared == 60 * 36


def test_every_operator_has_a_rule_or_is_refused():
    """A node without a rule is refused by name, never passed over."""
    strange = Expr("rank", (S,))
    with pytest.raises(Unsupported, match="rank"):
        require_equal_in_every_order(where(strange, i <= j), where(strange, i < j + 1), ())
    with pytest.raises(Unsupported, match="log"):
        require_equal_in_every_order(where(ones(n) @ each(log(x[i]), i), i <= j), lift(0), ())
