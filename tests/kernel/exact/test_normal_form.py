"""The normal form against exact evaluation: terms that it calls equal are equal everywhere, and rearranged terms are recognised."""

from fractions import Fraction
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from derivations.kernel import (
    Derivation,
    I,
    absolute,
    array,
    diff,
    exp,
    eye,
    index,
    inverse,
    invertible,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    ones,
    paren,
    positive,
    product_is,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
    zeros,
)
from derivations.kernel.core.expr import Expr, lift
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import certainly_differ, to_fmpq
from derivations.kernel.exact.index_renaming import canonical_term, sort_factors
from derivations.kernel.exact.polynomials import rename_indices
from derivations.kernel.exact.proofs import find_difference
from derivations.kernel.exact.tree_to_normal_form import normalize

varied = settings(derandomize=True, deadline=None, database=None, max_examples=120, suppress_health_check=list(HealthCheck))

n, m = sizes("n m")
A, B, C = matrix("A", n, m), matrix("B", m, n), matrix("C", n, n)
F, G = matrix("F", n, m), matrix("G", n, n)
u, v = vector("u", n), vector("v", m)
a, b, c = scalars("a b c")
i, j, k, l = index("i", n), index("j", n), index("k", m), index("l", m)
LEAVES = {(n, m): [A, F], (m, n): [B], (n, n): [C, G], (m, m): [], (): [a, b, c]}


def same(left, right, given=()):
    """Does the normal form call them equal, with nothing left unstated?"""
    facts = collect_facts(given)
    return not find_difference(left, right, facts) and not facts.unstated


def environment(sizes_, random):
    """Random rational values for every symbol of this module."""
    env = dict(sizes_)
    for s in (A, B, C, F, G, u, v, a, b, c):
        places = product(*(range(sizes_[size.data[0]]) for size in s.shape))
        env[s.data[0]] = {p: to_fmpq(Fraction(random.randint(-9, 9), random.randint(1, 4))) for p in places}
    return env


VALUES = [environment({"n": rows, "m": columns}, Random(rows)) for rows, columns in ((2, 3), (3, 1), (2, 2))]


def agree(left, right):
    """Are they equal at random values?"""
    for env in VALUES:
        one, other = evaluate(left, env), evaluate(right, env)
        if any(certainly_differ(one[p], other[p]) for p in one):
            return False
    return True


# Random expressions ---------------------------------------------------------------------------------------------------------


@st.composite
def expressions(draw, shape=None, depth=3):
    """An expression of the given shape: products, transposes, sums, scalar factors, nested sums, softmax, definitions."""
    if shape is None:
        shape = draw(st.sampled_from([(n, m), (n, n), (m, m), ()]))
    grow = depth > 0
    choices = ["leaf"] * bool(LEAVES[shape])
    if grow and shape:
        choices += ["sum", "transpose", "product", "product", "scaled", "paren", "defined"]
    if grow and not shape:
        choices += ["sum", "times", "entry", "dot", "double", "paren", "defined"]
    if not choices:
        choices = ["short product"]
    kind, smaller = draw(st.sampled_from(choices)), depth - 1
    sub = lambda s: draw(expressions(s, smaller))
    if kind == "leaf":
        return draw(st.sampled_from(LEAVES[shape]))
    if kind == "short product":
        return B @ draw(st.sampled_from([A, F]))
    if kind == "sum":
        return sub(shape) + sub(shape)
    if kind == "times":
        return sub(()) * sub(())
    if kind == "transpose":
        return sub(shape[::-1]).T
    if kind == "product":
        inner = draw(st.sampled_from([n, m]))
        return sub((shape[0], inner)) @ sub((inner, shape[1]))
    if kind == "scaled":
        return sub(()) * sub(shape)
    if kind == "paren":
        return paren(sub(shape))
    if kind == "defined":
        body = sub(shape)
        return Expr("defined", (body,), body.shape, ("p", "defined"))
    if kind == "entry":
        return sub((n, n))[draw(st.sampled_from([1])), draw(st.sampled_from([1]))]
    if kind == "dot":
        return total(sub((n, m))[i, k] * sub((m, n))[k, i], i, k)
    return total(u[i] * total(sub((n, n))[i, j] * u[j], j), i)


def rewrites(e):
    """Other ways to write the root of e, each right by a law of algebra."""
    x, y = (e.args + (None, None))[:2]
    if e.op == "add":
        yield y + x
        if x.op == "add":
            yield x.args[0] + (x.args[1] + y)
        if e.shape:
            yield (x.T + y.T).T
    if e.op == "mul":
        yield y * x if not y.shape else x * y
        if y.op == "add":
            yield x * y.args[0] + x * y.args[1]
        if y.op == "matmul":
            yield (x * y.args[0]) @ y.args[1]
            yield y.args[0] @ (x * y.args[1])
    if e.op == "matmul":
        yield (y.T @ x.T).T
        if x.op == "matmul":
            yield x.args[0] @ (x.args[1] @ y)
        if y.op == "matmul":
            yield (x @ y.args[0]) @ y.args[1]
        if x.op == "add":
            yield x.args[0] @ y + x.args[1] @ y
        yield x @ eye(y.shape[0]) @ y
    if e.op == "transpose":
        if x.op == "transpose":
            yield x.args[0]
        if x.op == "matmul":
            yield x.args[1].T @ x.args[0].T
    if e.op == "sum":
        renamed = index(f"{e.data[0]}x", e.data[1])
        yield Expr("sum", (put(x, Expr("index", (), (), e.data), renamed),), (), renamed.data)
        if x.op == "sum":
            yield Expr("sum", (Expr("sum", x.args, (), e.data),), (), x.data)
    if e.op in ("paren", "defined"):
        yield x
    yield 2 * e - e
    yield e + 0 * e


def put(e, old, new):
    """e with an index variable replaced where it is free."""
    if e == old:
        return new
    if e.op == "sum" and e.data == old.data:
        return e
    return Expr(e.op, tuple(put(x, old, new) for x in e.args), e.shape, e.data)


@st.composite
def rearranged(draw, e):
    """e written otherwise, in several places."""
    e = Expr(e.op, tuple(draw(rearranged(x)) if x.op not in ("index", "const") else x for x in e.args), e.shape, e.data)
    ways = list(rewrites(e))
    return draw(st.sampled_from(ways)) if draw(st.booleans()) else e


def corruptions(e):
    """e with one thing wrong at its root: a sign, an order, a transpose, another symbol, a factor."""
    x, y = (e.args + (None, None))[:2]
    if e.op == "add":
        yield x - y
    if e.op == "matmul" and x.shape == y.shape:
        yield y @ x
    if e.op == "transpose" and e.shape == x.shape:
        yield x
    if e.op == "symbol" and e in (symbols_ := LEAVES.get(e.shape, [])):
        yield symbols_[symbols_.index(e) - 1]
    if e.op not in ("index", "const"):
        yield 2 * e


@st.composite
def corrupted(draw, e):
    """e with one thing wrong somewhere."""
    inside = [q for q, x in enumerate(e.args) if x.op not in ("index", "const")]
    if inside and draw(st.integers(0, 3)):
        q = draw(st.sampled_from(inside))
        args = tuple(draw(corrupted(x)) if q == p else x for p, x in enumerate(e.args))
        return Expr(e.op, args, e.shape, e.data)
    return draw(st.sampled_from(list(corruptions(e))))


@varied
@given(st.data())
def test_a_rearrangement_is_recognised(data):
    e = data.draw(expressions())
    other = data.draw(rearranged(e))
    assert agree(e, other), "the test's own rewriting is wrong"
    assert same(e, other)


@varied
@given(st.data())
def test_a_corruption_is_never_called_equal(data):
    e = data.draw(expressions())
    other = data.draw(corrupted(e))
    assert same(e, other) == agree(e, other)


@varied
@given(expressions(shape=(n, n)), expressions(shape=(n, n)))
def test_two_expressions_are_equal_exactly_where_their_values_are(e, other):
    assert same(e, other) == agree(e, other)


@settings(varied, max_examples=40)
@given(st.data())
def test_softmax_of_a_rearrangement_is_recognised_and_of_a_corruption_is_not(data):
    e = data.draw(expressions(shape=(n, m), depth=2))
    assert same(softmax(e), softmax(data.draw(rearranged(e)) + data.draw(st.integers(-2, 2)) * ones(n, m)))
    wrong = data.draw(corrupted(e))
    assert same(softmax(e), softmax(wrong)) <= agree(softmax(e), softmax(wrong))


@settings(varied, max_examples=60)
@given(st.data())
def test_a_quotient_of_exponentials_is_equal_exactly_where_its_values_are(data):
    small = expressions(shape=(), depth=1)
    top, bottom = data.draw(small), data.draw(small)
    e = exp(top) / (exp(bottom) + 1)
    assert same(e, exp(data.draw(rearranged(top))) / (1 + exp(data.draw(rearranged(bottom)))))
    assert same(e, exp(top - bottom) / (1 + exp(-bottom)))
    wrong = exp(data.draw(corrupted(top))) / (exp(bottom) + 1)
    assert same(e, wrong) <= agree(e, wrong)


# Summation indices ------------------------------------------------------------------------------------------------------------

EQUAL = {
    "a dummy renamed": (total(u[i] ** 2, i), total(u[j] ** 2, j)),
    "two sums swapped": (total(total(C[i, j] * A[i, k] * B[k, j], i), j, k), total(total(C[i, j] * A[i, k] * B[k, j], k, j), i)),
    "a product of sums with one dummy": (total(u[i], i) * total(u[i], i), total(total(u[i] * u[j], j), i)),
    "a power of a sum": (total(u[i], i) ** 3, total(u[i] * u[j] * total(u[i], i), i, j)),
    "an inner sum that shadows": (total(u[i] * total(u[i], i), i), total(u[i], i) ** 2),
    "a free index beside a bound one": ((C @ C)[i, j], total(C[i, index("x", n)] * C[index("x", n), j], index("x", n))),
    "a free index that a product would capture": (u[i] * total(u[i], i), u[i] * total(u[j], j)),
    "a trace that cycles": (total((A @ B)[i, i], i), total((B @ A)[k, k], k)),
    "a trace of a transpose": (total((C @ G)[i, i], i), total((C.T @ G.T)[i, i], i)),
    "a sum of ones": (total(1, i, k), n * m),
    "a sum of indices twice": (total(i * u[i], i) + total(u[i] * i, i), 2 * total(i * u[i], i)),
    "a graph with symmetries": (
        total(C[i, j] * C[j, index("x", n)] * C[index("x", n), i], i, j, index("x", n)),
        total((C @ C @ C)[i, i], i),
    ),
    "a long power of a sum": (((u @ u) ** 3) ** 3, (u @ u) ** 9),
    "a long power of a double sum": (total(A[i, k] ** 2, i, k) ** 6, total(A[j, l] ** 2, j, l) ** 2 * total(A[i, k] ** 2, i, k) ** 4),
    "a long power within a sum": (
        total(total(A[i, k], k) ** 8 * u[i], i),
        total(total(A[j, l], l) ** 5 * total(A[j, k], k) ** 3 * u[j], j),
    ),
    "a long power of a row of a product": (
        total(((C @ G) @ u)[i] ** 8, i),
        total((C @ (G @ u))[j] ** 2 * ((C @ G) @ u)[j] ** 6, j),
    ),
    "a long cycle": (
        total((C @ C @ C @ C @ C @ C @ C @ C)[i, i], i),
        total((C @ C @ C @ (C @ C @ C @ C @ C))[j, j], j),
    ),
    "a function of two indices, as often each way": (
        total(exp(C[i, j] * C[j, i]) * u[i] * G[i, j], i, j),
        total(exp(C[i, j] * C[j, i]) * u[j] * G[j, i], i, j),
    ),
    "a power of a trace": (total((C @ G @ C)[i, i], i) ** 4, total((C @ C @ G)[j, j], j) ** 3 * total((G @ C @ C)[i, i], i)),
    "a function of two indices, swapped": (total(exp(C[i, j] * C[j, i]) * u[i], i, j), total(exp(C[i, j] * C[j, i]) * u[j], i, j)),
    "a function of two indices, renamed": (total(exp(C[i, j] * G[j, i] * u[i]), i, j), total(exp(G[i, j] * u[j] * C[j, i]), i, j)),
    "entries of a vector of known size": (
        total(vector("w", 3)[index("t", 3)], index("t", 3)),
        vector("w", 3)[1] + vector("w", 3)[2] + vector("w", 3)[3],
    ),
}
DIFFERENT = {
    "a sum of squares and a square of a sum": (total(u[i] ** 2, i), total(u[i], i) ** 2),
    "a shared index and two": (total(u[i] * C[i, i], i), total(u[i] * C[j, j], i, j)),
    "a free index and a bound one": (u[i] * total(u[j], j), total(u[i] ** 2, i) + 0 * u[i]),
    "two free indices": (C[i, j], C[j, i]),
    "a cycle and its reverse with a tail": (total(C[i, j] * u[j], j), total(C[j, i] * u[j], j)),
    "traces of other words": (total((C @ G @ C @ G)[i, i], i), total((C @ C @ G @ G)[i, i], i)),
    "long powers of two sums": ((u @ u) ** 9, (u @ u) ** 8 * total(u[i], i) ** 2),
    "long powers of two double sums": (total(A[i, k] ** 2, i, k) ** 6, total(A[i, k] ** 2, i, k) ** 5 * total(A[i, k] ** 4, i, k)),
    "factors that two parts of a term exchange": (
        total(u[i] * C[i, j], i, j) * total(C[i, j] * u[j] ** 2, i, j),
        total(u[i] ** 2 * C[i, j], i, j) * total(C[i, j] * u[j], i, j),
    ),
    "two sizes": (total(1, i), total(1, k)),
    "a diagonal": (total(C[i, i], i), total(C[i, j], i, j)),
    "an entry and its neighbour": (vector("w", 3)[1], vector("w", 3)[2]),
}


@pytest.mark.parametrize("left, right", EQUAL.values(), ids=EQUAL)
def test_equal_sums_are_equal(left, right):
    assert same(left, right)


@pytest.mark.parametrize("left, right", DIFFERENT.values(), ids=DIFFERENT)
def test_different_sums_are_different(left, right):
    assert not same(left, right)


def test_a_definition_keeps_its_own_dummies():
    derivation = Derivation("test")
    square = derivation.define("s", total(u[i] ** 2, i))
    row = derivation.define("r", C @ u)
    assert same(total(u[i] * square, i), total(u[i], i) * total(u[j] ** 2, j))
    assert same(total(row[i] * row[i], i), total(total(C[i, j] * u[j], j) * total(C[i, j] * u[j], j), i))
    assert not same(total(u[i] * square, i), total(u[i] ** 3, i))


@pytest.mark.parametrize("power", [-1, Fraction(1, 2), Fraction(-1, 2)])
def test_a_dummy_inside_a_root_or_a_quotient_is_not_captured(power):
    norm = (1 + total(u[i] ** 2, i)) ** power
    assert same(total(u[i] * norm, i), total(u[j], j) * (1 + total(u[index("x", n)] ** 2, index("x", n))) ** power)
    assert not same(total(u[i] * norm, i), total(u[i] * (1 + n * u[i] ** 2) ** power, i))
    assert same(norm * norm, (1 + total(u[j] ** 2, j)) ** (2 * power))


def test_a_dummy_inside_an_exponential_is_not_captured():
    assert same(total(exp(u[i] * total(u[i], i)), i), total(exp(u[j] * total(u[i], i)), j))
    assert not same(total(exp(u[i] * total(u[i], i)), i), total(exp(u[i] ** 2), i))


# Deltas, inverses, constants ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "left, right, equal_",
    [
        (C @ eye(n), C, True),
        (total(eye(n)[i, j] * u[j], j), u[i], True),
        (total(eye(n)[i, i], i), n, True),
        (eye(n)[i, j] * u[i], eye(n)[i, j] * u[j], True),
        (eye(n)[i, j] ** 2, eye(n)[i, j], True),
        (eye(n)[i, i], lift(1), True),
        (eye(n)[i, j], eye(n)[j, i], True),
        (eye(n)[i, j], lift(1), False),
        (eye(n), ones(n, n), False),
        (C + zeros(n, n), C, True),
        (ones(n, m) @ ones(m, n), m * ones(n, n), True),
        (eye(2) @ matrix("H", 2, 2), matrix("H", 2, 2), True),
        (eye(3)[1, 2], lift(0), True),
        (eye(3)[2, 2], lift(1), True),
    ],
    ids=str.split("identity chosen trace moved squared diagonal symmetric off ones zero counted sized corner centre"),
)
def test_deltas(left, right, equal_):
    assert same(left, right) == equal_


given_inverses = (invertible(C), invertible(G))


@pytest.mark.parametrize(
    "left, right, equal_",
    [
        (C @ inverse(C), eye(n), True),
        (inverse(C) @ C, eye(n), True),
        (inverse(C @ G), inverse(G) @ inverse(C), True),
        (inverse(C.T), inverse(C).T, True),
        (inverse(2 * C), inverse(C) / 2, True),
        (inverse(C) @ (C + G) @ inverse(G), inverse(G) + inverse(C), True),
        (inverse(C @ G), inverse(C) @ inverse(G), False),
        (C @ inverse(C).T, eye(n), False),
        (inverse(C), C, False),
    ],
    ids=str.split("right left reversed transposed scaled sum order transpose itself"),
)
def test_inverses(left, right, equal_):
    assert same(left, right, given_inverses) == equal_


@pytest.mark.parametrize(
    "left, right, equal_",
    [
        (A @ B, eye(n), True),
        (G @ (A @ B), G, True),
        (B @ A, eye(m), False),
        (B.T @ A.T, eye(n), True),
        (A @ B @ A, A, True),
    ],
    ids=str.split("itself inside reversed transposed both"),
)
def test_a_product_that_is_stated(left, right, equal_):
    assert same(left, right, (product_is(A, B, 1),)) == equal_


@pytest.mark.parametrize(
    "stated, left, right, equal_",
    [
        ((C.T, G, 1), C.T @ G @ A, A, True),
        ((C, G.T, 1), C @ G.T @ A, A, True),
        ((C.T, G.T, 1), C.T @ G.T @ A, A, True),
        ((C.T, G.T, 1), G @ C @ A, A, True),
        ((C.T, C, 1), C.T @ C @ A, A, True),
        ((C.T, C, 1), C @ C.T @ A, A, False),
        ((C.T, G, 1), C @ G @ A, A, False),
        ((C, G.T, 1), C @ G @ A, A, False),
        ((C.T, G, 0), C.T @ G @ A, zeros(n, m), True),
        ((C, G, 0), C.T @ G @ A, zeros(n, m), False),
        ((C, G, 2), C @ G @ A, 2 * A, True),
    ],
    ids=str.split("left right both reversed own turned untransposed untransposed-right zero not-zero twice"),
)
def test_a_product_of_transposes_that_is_stated(stated, left, right, equal_):
    assert same(left, right, (product_is(*stated),)) == equal_


@pytest.mark.parametrize(
    "assumption", [positive(1 / b), mean(random("x"), a / b), variance(random("x"), a / b)], ids=["sign", "mean", "variance"]
)
def test_what_an_assumption_itself_needs_is_to_be_stated(assumption):
    assert len(collect_facts((assumption,)).unstated) == 1 and not collect_facts((nonzero(b), assumption)).unstated


@pytest.mark.parametrize(
    "left, right, given_, equal_",
    [
        (sqrt(a) ** 2, a, (nonnegative(a),), True),
        (sqrt(a * b), sqrt(a) * sqrt(b), (nonnegative(a), nonnegative(b)), True),
        (sqrt(a**2), a, (), False),
        (sqrt(a**2), a, (positive(a),), True),
        (sqrt(lift(8)), 2 * sqrt(lift(2)), (), True),
        (sqrt(lift(2)) * sqrt(lift(3)), sqrt(lift(6)), (), True),
        (sqrt(lift(2)), lift(Fraction(141421356, 10**8)), (), False),
        (1 / (a - b) + 1 / (b - a), 0 * a, (nonzero(a - b),), True),
        (1 / a + 1 / b, (a + b) / (a * b), (nonzero(a), nonzero(b)), True),
        (1 / a + 1 / b, 2 / (a + b), (positive(a), positive(b)), False),
        (n ** Fraction(1, 2) * n ** Fraction(1, 2), n, (), True),
        (log(a * b), log(a) + log(b), (positive(a), positive(b)), True),
        (exp(log(a)), a, (positive(a),), True),
        (exp(a) ** 2, exp(2 * a), (), True),
        (exp(a * b), exp(a) * exp(b), (), False),
        (absolute(a), a, (), False),
        (absolute(a), a, (nonnegative(a),), True),
    ],
    ids=lambda x: None,
)
def test_roots_quotients_and_logarithms(left, right, given_, equal_):
    assert same(left, right, given_) == equal_


def test_a_term_has_one_form_under_all_names_of_its_indices():
    generator, found = Random(0), {}
    for _ in range(600):
        count = generator.randint(2, 5)
        bound = tuple((k, generator.choice("nnm")) for k in range(count))
        heads = [("entry", "v", 1), ("entry", "S", 2), ("entry", "S", 2), ("delta", 2)]  # a delta has two indices that can be swapped
        drawn = {(("entry", "v"), (("b", k),)): 1 for k in range(count) if generator.random() < 0.5}
        for *head, rank in generator.choices(heads, k=generator.randint(2, 5)):
            drawn[tuple(head), tuple(generator.choice([("f", "a"), *(("b", k) for k in range(count))]) for _ in range(rank))] = 1
        factors = tuple(drawn.items())
        forms = set()
        for order in permutations(range(count)):
            renamed = sort_factors(rename_indices(factors, {("b", k): ("b", order[k]) for k in range(count)}))
            forms.add((tuple(sorted((order[k], size) for k, size in bound)), frozenset(renamed)))
        answers = {canonical_term(sizes, tuple(renamed)) for sizes, renamed in forms}
        assert len(answers) == 1
        assert found.setdefault(min(map(repr, ((s, sorted(f)) for s, f in forms))), answers) == answers
        ((sizes, renamed),) = answers
        assert (tuple(enumerate(sizes)), frozenset(renamed)) in forms


KEPT = {  # each with the factor that a delta, met later, once threw away
    "roots": ((sqrt(2) * C) @ (sqrt(2) * eye(n)), 2 * C, C),
    "halves": ((C / sqrt(2)) @ (eye(n) / sqrt(2)), C / 2, C),
    "imaginary": ((I * C) @ (I * eye(n)), -C, C),
    "absolute": ((absolute(a) * C) @ (absolute(a) * eye(n)), a**2 * C, C),
    "sums": (total(C[i, j] * total(v[l], l) * (total(v[l], l) * eye(n)[i, j]), j), C[i, i] * total(v[l], l) ** 2, C[i, i]),
    "numbers": (total((sqrt(2) * j) * (sqrt(2) * eye(n)[1, j]), j), 2, 1),
}


@pytest.mark.parametrize("left, right, lost", KEPT.values(), ids=KEPT)
def test_what_a_term_gave_up_before_it_met_a_delta_is_not_lost(left, right, lost):
    assert same(left, lift(right))
    assert not same(left, lift(lost))


def test_what_was_read_at_a_point_is_read_again_where_it_moves():
    """Each entry of a tensor is to have a value: read once at a point, and once more near it, where less is known."""
    x, y = scalars("x y")
    v, facts = array([sqrt(x), y]), collect_facts((nonnegative(x),))
    normalize(v[2] + v[2], facts)
    assert not facts.unstated
    normalize(v[2] + diff(v[2], x), facts)
    assert [one.partition(" (")[0] for one in facts.unstated] == ["x is positive"]
