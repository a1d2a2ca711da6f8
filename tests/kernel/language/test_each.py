"""Tensors defined entry by entry: each witness keeps their index apart from others, and claims that confuse two indices are rejected."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from sympy import Idx, IndexedBase
from sympy import symbols as sympy_symbols

from derivations.kernel import (
    Derivation,
    E,
    Var,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    gaussian,
    has_moment,
    independent,
    index,
    inverse,
    invertible,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    norm,
    ones,
    positive,
    random,
    rank,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
    zeros,
)
from derivations.kernel.attack import random_trees
from derivations.kernel.attack.claim_mutants import make_mutants
from derivations.kernel.attack.equivalent_rewrites import make_controls
from derivations.kernel.attack.fuzz_claim import fuzz_one
from derivations.kernel.attack.judge import judge
from derivations.kernel.attack.rebuild_trees import substitute_index
from derivations.kernel.attack.rewrite_rules import list_rewrites
from derivations.kernel.coq.algebraic_structures import NotForCoq
from derivations.kernel.coq.notation import Notation
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import Expr, free_indices, walk
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import exact_evaluation, flint_numbers, tree_to_normal_form
from derivations.kernel.exact.witness import exact
from derivations.kernel.printing.latex import latex
from derivations.kernel.printing.plain_text import plain
from derivations.kernel.printing.script_text import script
from derivations.kernel.pytorch import evaluation
from derivations.kernel.pytorch.witness import witness as pytorch
from derivations.kernel.sympy import tree_to_sympy
from derivations.kernel.sympy.witness import witness as sympy
from tests.kernel.common import has_code

n, m = sizes("n m")
x = scalars("x")
z, v, b, t = vector("z", n), vector("v", n), vector("b", m), vector("t", 3)
A, S = matrix("A", n, m), matrix("S", n, n)
q, k, w = random("q", n), random("k", n), random("w")
i, j, l, r, s = index("i", n), index("j", n), index("l", n), index("r", m), index("s", 3)
one = 1 + 0 * x

TRUE = {
    "softmax": (softmax(z), each(exp(z[i]) / total(exp(z[l]), l), i), []),
    "an entry": (each(z[i] ** 2, i)[j], z[j] ** 2, []),
    "an entry at a number": (each(z[i] ** 2 * v[j], i)[1], z[1] ** 2 * v[j], []),
    "an entry at the same index outside": (each(z[i] * v[j], i)[i], z[i] * v[j], []),
    "an entry at what stands open inside": (each(z[i] * v[j], i)[j], z[j] * v[j], []),
    "what does not depend on the index": (each(z[j], i) @ v, z[j] * total(v[l], l), []),
    "a matrix": (each(z[i] * b[r], i, r) @ b, (b @ b) * z, []),
    "a matrix, its indices turned": (each(z[i] * b[r], i, r).T, each(z[i] * b[r], r, i), []),
    "the entries of a matrix": (each(A[i, r], i, r), A + zeros(n, m), []),
    "a diagonal": (each(each(S[i, l], l)[i], i), each(S[j, j], j), []),
    "a sum inside over the same index": (each(total(z[i], i) * z[i], i), total(z[l], l) * z, []),
    "a sum around over the same index": (total(each(z[i] ** 2, i)[i], i), z @ z, []),
    "one within another, over the same index": (each(each(z[i], i), i), each(z[l], j, l) * one, []),
    "one within another, at the outer index": (each(each(z[l] * v[i], l)[i], i), z * v, []),
    "vectors as rows": (each(z, r), each(z[i], r, i) * one, []),
    "matrices side by side": (each(A, j)[j, i, r], A[i, r] * one, []),
    "a fixed size": (each(t[s] ** 2, s), array([t[1] ** 2, t[2] ** 2, t[3] ** 2]), []),
    "an index as a number": (each(i * z[i], i) @ ones(n), total(l * z[l], l), []),
    "a delta": (each(eye(n)[i, j] * v[i], i), v[j] * each(eye(n)[j, i], i), []),
    "a length": (norm(each(x * z[i], i)), absolute(x) * norm(z), []),
    "softmax of one number": (softmax(each(z[j], i))[l], one / n, []),
    "a gradient": (each(diff(total(exp(z[l]), l), z[i]), i), exp(z) * one, []),
    "a slope by an entry at the same index": (diff(each(z[i] ** 2, i) @ v, z[i]), 2 * z[i] * v[i], []),
    "a slope of an entry": (diff(each(z[i] ** 2, i)[j], z[l]), 2 * z[j] * eye(n)[j, l], []),
    "a slope of what is the same at each entry": (diff(each(z[j] ** 2, i)[l], z[l]), 2 * z[j] * eye(n)[j, l], []),
    "moduli away from their corners": (diff(each(absolute(z[i]), i) @ v, z[j]), z[j] / absolute(z[j]) * v[j], [nonzero(z[i])]),
    "rows of moduli": (diff(each(absolute(z), r)[1, l], z[j]), z[j] / absolute(z[j]) * eye(n)[j, l], [nonzero(z[i])]),
    "a Jacobian": (each(diff(softmax(z)[i], z[j]), i, j) @ v, softmax(z) * (v - (softmax(z) @ v) * ones(n)), []),
    "a mean": (E(each(q[i] * k[i], i) @ v), 0 * x, [independent(q, k), mean(q, 0), has_moment(k, 1)]),
    "a variance": (Var(total(each(q[i] * v[i], i)[l], l)), v @ v, [independent(q), variance(q, 1)]),
    "a variance of copies": (Var(each(q[1], i) @ ones(n)), n**2 * one, [variance(q, 1)]),
    "a variance at each entry": (each(Var(q[i]) * z[i], i), 3 * z, [variance(q, 3)]),
    "in an assumption": (exp(log(each(z[i], i)[j])), z[j], [positive(each(z[i], i)[j])]),
    "in an assumption, of one entry": (z[1] * x / z[1], x, [nonzero(each(z[i], i)[1])]),
    "an inverse": (each(inverse(S)[i, l], i, l) @ S, eye(n) * one, [invertible(S)]),
}


@pytest.mark.parametrize("left, right, given", TRUE.values(), ids=TRUE)
def test_what_holds_is_accepted_by_three_witnesses(left, right, given, checked):
    ((verdict, by_sympy),) = checked(lambda D: D.identity("claim", left, right, given=given)).values()
    assert (verdict.verdict, by_sympy[0]) == ("proved", "proved")
    assert pytorch(only(left, right, given))[0] == "agrees"


def test_the_mean_of_an_exponential_is_one_of_each_entry(proved):
    """Of which SymPy knows nothing at an open index."""
    left, right, given = E(exp(each(w * i, i)[l])), exp(l**2 / 2), [mean(w, 0), variance(w, 1), gaussian(w)]
    assert proved(lambda D: D.identity("claim", left, right, given=given)).scope == "every shape"
    assert pytorch(only(left, right, given))[0] == "agrees"
    for wrong in (exp(l**2), exp(n**2 / 2)):
        for witness in (exact, pytorch):
            with pytest.raises(Rejected):
                witness(only(left, wrong, given))


def only(left, right, given=()):
    derivation = Derivation("test")
    derivation.identity("claim", left, right, given=list(given))
    return derivation.claims[0]


FALSE = {
    "an open index taken for the bound one": (each(z[j], i), z, []),
    "an open index summed": (each(z[j], i) @ v, z @ v, []),
    "the bound index left as it is": (each(z[i] * v[j], i)[j], z[i] * v[i], []),
    "the place where the open index stands": (each(z[i] * v[j], i)[j], z[j] * v[i], []),
    "an outer index that reaches in": (each(z[i] * v[j], i)[i], z[j] * v[i], []),
    "a matrix for its transpose": (each(S[i, l], l, i), S, []),
    "rows for columns": (each(z[i], j, i), each(z[i], i, j), []),
    "the inner index for the outer one": (each(each(z[i], i), i), each(z[i], i, j), []),
    "a row for a diagonal": (each(each(S[i, l], l)[i], i), each(S[i, j], i), []),
    "a sum whose index is the outer one": (each(total(z[i], i) * z[i], i), each(total(z[i] * z[i], i), i), []),
    "a sum that an index inside escapes": (total(each(z[i], i)[i], i), n * z[j], []),
    "an entry that a sum catches": (total(each(z[i] * v[l], i)[j], l), total(z[l] * v[l], l), []),
    "two factors exchanged": (each(z[i] * v[l], i, l), each(v[i] * z[l], i, l), []),
    "a delta at the wrong place": (each(eye(n)[i, j] * v[i], i), each(eye(n)[i, j], i) * v[1], []),
    "a fixed size, turned": (each(t[s], s), array([t[1], t[3], t[2]]), []),
    "an index that counts from 0": (each(i * z[i], i) @ ones(n), total((l - 1) * z[l], l), []),
    "a length of copies": (norm(each(z[j], i)), norm(z), []),
    "softmax of copies": (softmax(each(z[j], i)), softmax(z), []),
    "what vanishes at small sizes": (each(z[i] * (n - 1) * (n - 2) * (n - 3) * (n - 4), i), zeros(n) * one, []),
    "a gradient at one place": (each(diff(z @ z, z[i]), i), each(2 * z[j], i), []),
    "a slope that reaches every entry": (diff(each(z[i] ** 2, i) @ v, z[i]), 2 * z[i] * total(v[l], l), []),
    "a slope of an entry by another": (diff(each(z[i], i)[j], z[i]), one, []),
    "a slope of copies": (diff(each(z[j], i) @ v, z[j]), v[j], []),
    "a slope that misses its own index": (each(diff(each(z[i] ** 2, i)[j], z[i]), i), 2 * each(z[i], i), []),
    "a mean of a product": (E(each(q[i] * k[i], i)[1]), 0 * x, [mean(q, 0), has_moment(k, 1)]),
    "a variance of copies": (Var(each(q[1], i) @ ones(n)), n * one, [independent(q), variance(q, 1)]),
    "a mean of a square": (E(each(q[i], i)[j] * each(q[i], i)[l]), 0 * x, [independent(q), mean(q, 0), has_moment(q, 2)]),
    "a square of copies": (E(each(q[j], i) @ each(q[i], i)), 0 * x, [independent(q), mean(q, 0), variance(q, 1)]),
    "an assumption of another entry": (absolute(z[j]), z[j], [positive(each(z[i], i)[1])]),
    "an assumption of another vector": (absolute(z[i]), z[i], [positive(each(v[i], i)[i])]),
    "a modulus by an assumption about another": (absolute(z[i]), z[i], [nonnegative(each(z[1], i)[i])]),
    "moduli at their corners": (diff(each(absolute(z[i]), i) @ v, z[j]), z[j] / absolute(z[j]) * v[j], []),
    "rows of moduli at their corners": (diff(each(absolute(z), r)[1, l], z[j]), z[j] / absolute(z[j]) * eye(n)[j, l], []),
    "a root at its corner": (diff(each(sqrt(z[i] ** 2), i)[j], z[j]), one, [nonnegative(z[i])]),
}


@pytest.mark.parametrize("left, right, given", FALSE.values(), ids=FALSE)
def test_what_is_false_is_rejected_by_each_of_three_witnesses(left, right, given, rejection, sympy_rejection):
    def state(D):
        D.identity("claim", left, right, given=given)

    assert rejection(state).code in ("false-claim", "not-proved", "assumption-missing")
    assert sympy_rejection(state).code == "sympy-disagrees"
    with pytest.raises(Rejected):
        pytorch(only(left, right, given))


def test_the_judge_tells_true_claims_from_false_ones():
    """The judge evaluates claims itself. It does not check whether assumptions are needed."""
    assert [judge(only(*claim))[0] for claim in TRUE.values()] == ["true"] * len(TRUE)
    assert [judge(only(*claim))[0] for claim in FALSE.values()] == ["false"] * len(FALSE)


# A witness that takes one index for another is found out by the claims above ------------------------------------------------------


def accepted(witness, claims):
    """Which of the claims a witness accepts; one that breaks accepts nothing."""
    found = []
    for name, stated in claims.items():
        try:
            found += [name] * (witness(only(*stated)) is not None)
        except (Rejected, KeyError, IndexError, RuntimeError, TypeError):
            continue
    return found


def outer_first(e, at, names, facts):
    """A wrong rule for `each`: an index that is bound outside is not bound again."""
    return tree_to_normal_form.normalize_entry(e.args[0], at[1:], {Expr("index", (), (), e.data): at[0], **names}, facts)


def last_place(e, at, names, facts):
    """A wrong rule for `each`: the index is bound to the position on the last axis instead of the first."""
    return tree_to_normal_form.normalize_entry(e.args[0], at[:-1], {**names, Expr("index", (), (), e.data): at[-1]}, facts)


def left_bound(e, at, names, facts):
    """A wrong rule for `each`: indices that are bound outside get the position inside."""
    return tree_to_normal_form.normalize_entry(e.args[0], at[1:], names | {key: at[0] for key in names}, facts)


@pytest.mark.parametrize("fault", [outer_first, last_place, left_bound])
def test_an_exact_witness_that_lets_an_index_be_caught_is_found_out(fault, monkeypatch):
    monkeypatch.setitem(tree_to_normal_form.RULES, "each", fault)
    assert accepted(exact, TRUE) != list(TRUE)
    assert accepted(exact, FALSE) or fault is left_bound


def first_of_two(t, e):
    """The parts listed in the wrong order of axes."""
    text = true_text(t, e)
    return tree_to_sympy.Text(f"{text.text}.T") if len(e.shape) == 2 else text


def stale(t, e):
    """Each entry at the first place of the index."""
    name, size = e.data
    return tree_to_sympy.Text(true_text(t, e).text.replace(f"range({t.size(size)})", f"[0] * {t.size(size)}"))


true_text = tree_to_sympy.RULES["each"]


@pytest.mark.parametrize("fault", [first_of_two, stale])
def test_a_sympy_witness_that_mistakes_an_index_is_found_out(fault, monkeypatch):
    monkeypatch.setitem(tree_to_sympy.RULES, "each", fault)
    assert accepted(sympy, TRUE) != list(TRUE)
    assert accepted(sympy, FALSE)


def outer_axis(e, t, axes, deep):
    """An index that has an axis outside keeps it."""
    body = evaluation.evaluate(e.args[0], t, {e.data: deep, **axes}, deep + 1)
    return evaluation.bounded_operations.move_to_tensor_axis(body, deep, t.size(e.data[1]), t.leading)


def behind(e, t, axes, deep):
    """The new axis is the last one."""
    x = true_each(e, t, axes, deep)
    return evaluation.BoundedValue(*(y.movedim(t.leading, -1) for y in x))


true_each = evaluation.RULES["each"]


@pytest.mark.parametrize("fault", [outer_axis, behind])
def test_a_pytorch_witness_that_mistakes_an_axis_is_found_out(fault, monkeypatch):
    monkeypatch.setitem(evaluation.RULES, "each", fault)
    assert accepted(pytorch, TRUE) != list(TRUE)


def test_a_search_that_mistakes_a_place_is_found_out(monkeypatch):
    """It decides what a message shows, and that an assumption is needed."""
    assert "at v = [0, 1], z = [1, 0], j = 1: left = 1, right = 0" in shown(*FALSE["an entry that a sum catches"][:2])
    monkeypatch.setitem(exact_evaluation.RULES, "each", lambda e, env, places: dict.fromkeys(places, flint_numbers.to_fmpq(0)))
    assert "at v = [0, 1], z = [1, 0], j = 1: left = 1, right = 0" not in shown(*FALSE["an entry that a sum catches"][:2])


def shown(left, right):
    with pytest.raises(Rejected) as caught:
        exact(only(left, right))
    return caught.value.message


# What cannot be said, how it is printed, and what is made of it ------------------------------------------------------------------

MESSAGES = {
    "nothing bound": (lambda: each(z[i]), "not-an-index"),
    "a number bound": (lambda: each(z[i], 2), "not-an-index"),
    "a vector bound": (lambda: each(z[i], z), "not-an-index"),
    "one index twice": (lambda: each(z[i], i, i), "repeated-index"),
    "a sum over one index twice": (lambda: total(z[i], i, i), "repeated-index"),
    "a text": (lambda: each("z", i), "not-an-expression"),
    "a float": (lambda: each(0.5 * z[i], i), "not-an-expression"),
    "an index of another size within": (lambda: each(A[r, i], i, r), "index-of-another-size"),
    "a place of another size": (lambda: each(z[i], i)[r], "index-of-another-size"),
    "a place that may not exist": (lambda: each(z[i], i)[2], "index-out-of-range"),
    "a place beyond": (lambda: each(t[s], s)[4], "index-out-of-range"),
    "too few places": (lambda: each(z[i] * b[r], i, r)[i], "wrong-number-of-indices"),
    "sizes that differ": (lambda: each(z[i], i) + each(b[r], r), "mismatched-shapes"),
    "a product of sizes that differ": (lambda: each(z[i], i) @ b, "mismatched-shapes"),
    "a power": (lambda: each(z[i], i) ** 2, "wrong-shape"),
    "an exponent": (lambda: x ** each(z[i], i), "wrong-shape"),
    "a slope of a vector": (lambda: diff(each(z[i], i), z[j]), "wrong-shape"),
    "a slope by what is listed": (lambda: diff(z @ z, each(z[i], i)[j]), "invalid-derivative-variable"),
    "many matrices assumed to be invertible": (lambda: invertible(each(S[i, j] * z[l], i, j)), "open-index"),
    "a vector assumed to be invertible": (lambda: invertible(each(z[i], i)), "wrong-shape"),
    "a vector assumed to be positive": (lambda: positive(each(z[i], i)), "wrong-shape"),
    "a name that is its word": (lambda: scalars("each"), "reserved-name"),
}


@pytest.mark.parametrize("make, code", MESSAGES.values(), ids=MESSAGES)
def test_what_cannot_be_meant_is_refused(make, code):
    with pytest.raises(KernelError, check=has_code(code)):
        make()


PRINTS = {
    r"(z_{i}^{2})_{i = 1}^{n}": (each(z[i] ** 2, i), "each(z[i]^2, i = 1..n)", "each(z[i]**2, i)"),
    r"(z_{i} b_{r})_{i = 1, r = 1}^{n, m}": (each(z[i] * b[r], i, r), "each(z[i]*b[r], i = 1..n, r = 1..m)", "each(z[i]*b[r], i, r)"),
    r"((z_{i})_{i = 1}^{n})_{j}": (each(z[i], i)[j], "each(z[i], i = 1..n)[j]", "each(z[i], i)[j]"),
    r"((z_{i})_{i = 1}^{n})_{i = 1}^{n}": (each(each(z[i], i), i), "each(each(z[i], i = 1..n), i = 1..n)", "each(each(z[i], i), i)"),
    r"(\sum_{i = 1}^{n} z_{i})_{i = 1}^{n}": (each(total(z[i], i), i), "each(sum(z[i], i = 1..n), i = 1..n)", "each(total(z[i], i), i)"),
    r"\left\lVert (x z_{i})_{i = 1}^{n} \right\rVert": (norm(each(x * z[i], i)), "norm(each(x*z[i], i = 1..n))", "norm(each(x*z[i], i))"),
    r"(S_{i j})_{i = 1, j = 1}^{n, n} v": (each(S[i, j], i, j) @ v, "each(S[i, j], i = 1..n, j = 1..n) @ v", "each(S[i, j], i, j) @ v"),
}


@pytest.mark.parametrize("shown_as", PRINTS)
def test_it_is_printed_as_it_is(shown_as):
    tree, as_text, as_script = PRINTS[shown_as]
    assert (latex(tree).replace(r"\left(", "(").replace(r"\right)", ")"), plain(tree), script(tree)) == (shown_as, as_text, as_script)


def test_its_index_is_bound_and_others_stay_open():
    assert free_indices(each(z[i] * v[j], i)) == {j}
    assert free_indices(each(z[i] * v[j], i)[i]) == {i, j}
    assert each(z[i], i).shape == (n,) and each(z[i] * b[r], i, r).shape == (n, m) and each(A, j).shape == (n, n, m)
    assert each(z[i] * b[r], i, r) == each(each(z[i] * b[r], r), i)


def test_sympys_indices_are_bound_as_well():
    size = sympy_symbols("n", integer=True, positive=True)
    vector_, place = IndexedBase("z", shape=(size,), real=True), Idx("i", (1, size))
    assert each(vector_[place] ** 2, place) == each(z[i] ** 2, i)
    assert total(vector_[place], place) == total(z[i], i)
    with pytest.raises(KernelError, check=has_code("repeated-index")):
        each(vector_[place], place, i)


def test_a_definition_may_be_given_entry_by_entry_and_holds_no_open_index(proved, rejection):
    def used(D):
        weights = D.define("p", each(exp(z[i]) / total(exp(z[l]), l), i))
        D.claims.clear()
        D.identity("claim", total(weights[i], i), 1)

    assert proved(used).scope == "every shape"

    def opened(D):
        D.define("p", each(z[j], i), id="claim")

    assert rejection(opened).code == "open-index"


def test_an_entry_of_a_definition_is_taken_outside_of_it(rejection, sympy_rejection):
    """Within p its index is its own, whatever index it is taken at."""

    def state(D):
        p = D.define("p", each(z[i] * z[1], i))
        D.claims.clear()
        D.identity("claim", total(p[i] * v[i], i), total(z[i] * z[i] * v[i], i))

    assert rejection(state).code == "false-claim"
    assert sympy_rejection(state).code == "sympy-disagrees"


def test_it_stands_in_inequalities_limits_and_refutations(proved, rejection, sympy_rejection):
    squares = each(z[i] ** 2, i)
    assert proved(lambda D: D.inequality("claim", 0, squares @ each(exp(v[i]), i), because=total(z[i] ** 2 * exp(v[i]), i)))
    assert rejection(lambda D: D.inequality("claim", 0, squares @ v, because=total(z[i] ** 2 * v[i], i))).code == "false-claim"
    assert proved(lambda D: D.limit("claim", each(z[i] + v[i] / x, i)[j], x, "oo", z[j]))
    assert rejection(lambda D: D.limit("claim", each(z[i] + v[i] / x, i)[j], x, "oo", v[j])).code == "wrong-limit"
    at = {z: [1, 2], v: [1, 1], j: 2}
    assert proved(lambda D: D.refute("claim", each(z[j], i) @ v, z @ v, at=at)).verdict == "refuted"
    equal = {z: [2, 2], v: [1, 1], j: 2}
    assert rejection(lambda D: D.refute("claim", each(z[j], i) @ v, z @ v, at=equal)).code == "no-counterexample"
    assert sympy_rejection(lambda D: D.refute("claim", each(z[j], i) @ v, z @ v, at=equal)).code == "sympy-disagrees"
    bound = {z: [1, 2], v: [1, 1], i: 2}
    assert rejection(lambda D: D.refute("claim", each(z[i], i) @ v, z @ z, at=bound)).code == "unused-value"


@pytest.mark.parametrize("moves", [each(z[i] + x / n, i) @ v, total(z[i] + x / n, i)])
def test_a_limit_in_its_size_is_rejected(moves, rejection):
    says = "a limit in n, which is the size of a sum or a tensor here"
    assert rejection(lambda D: D.limit("claim", moves, n, "oo", x)).code == "unknown-limit"
    derivation = Derivation("test")
    derivation.limit("claim", moves, n, "oo", x)
    assert pytorch(derivation.claims[0]) == ("not applicable", "", says)


def test_a_rank_one_matrix_and_hessians(proved, rejection):
    first = index("f", 1)
    factors = (each(z[i], i, first), each(v[j], first, j))
    assert proved(lambda D: D.inequality("claim", rank(each(z[i] * v[j], i, j)), 1, because=factors))
    assert rejection(lambda D: D.inequality("claim", rank(each(z[i] * v[j] + z[j], i, j)), 1, because=factors)).code == "false-claim"
    hessian = each(diff(diff(z @ (S @ z), z[i]), z[j]), i, j)
    assert proved(lambda D: D.identity("claim", hessian, S + S.T))
    assert rejection(lambda D: D.identity("claim", hessian, 2 * S)).code == "not-proved"


def test_the_place_of_a_refutation_does_not_reach_what_is_bound(proved):
    """i is open on one side and bound on the other."""
    at = {z: [1, 2], v: [3, 5], i: 1}
    assert proved(lambda D: D.refute("claim", each(z[i], i) @ v, z[i] * total(v[l], l), at=at)).verdict == "refuted"
    derivation = Derivation("test")
    derivation.refute("claim", each(z[i], i) @ v, z[i] * total(v[l], l), at=at)
    assert (sympy(derivation.claims[0])[0], pytorch(derivation.claims[0])[0]) == ("refuted", "agrees")


def test_a_law_between_vectors_that_is_false_shows_its_counterexample(rejection):
    error = rejection(lambda D: D.identity("claim", each(E(q[i]) * z[i], i), 2 * z, given=[mean(q, 3)]))
    assert error.code == "false-claim" and "n = 1, z = [1]" in error.message and "left = [3], right = [2]" in error.message


def test_coq_states_columns_and_matrices_and_says_what_it_cannot():
    assert Notation().show(each(z[i] * v[j], i)) == "(\\col_(i < n) (z i ord0 * v j ord0) : 'M[R]_(n, 1))"
    assert Notation().show(each(z[i] * b[r], i, r)) == "(\\matrix_(i < n, r < m) (z i ord0 * b r ord0) : 'M[R]_(n, m))"
    assert Notation().show(each(z, r)) == "(\\matrix_(r < m, column < n) (z column ord0) : 'M[R]_(m, n))"
    twice = Notation().show(each(each(z[i], i), i))
    assert twice == "(\\matrix_(i < n, column < n) ((\\col_(i < n) (z i ord0) : 'M[R]_(n, 1)) column ord0) : 'M[R]_(n, n))"
    with pytest.raises(NotForCoq, match="more than two axes"):
        Notation().show(each(A, j))


# Under attack ---------------------------------------------------------------------------------------------------------------------


def test_random_trees_hold_it_and_an_index_bound_within_one_of_its_own_name():
    made = [random_trees.Grower(Random(seed), frozenset(("tensors", "each", "sum")), (i,)).scalar(3) for seed in range(200)]
    found = [node for tree in made for node in walk(tree) if node.op == "each"]
    assert len(found) > 50
    assert any(
        node.op == "entry" and node.args[0].op == "each" and node.args[1].data == node.args[0].data for e in made for node in walk(e)
    )


def test_random_claims_of_vectors_entry_by_entry_pass_the_gate():
    outcomes = [fuzz_one(1, number, family="entry by entry", shares={"exact": 1, "sympy": 4, "torch": 4}) for number in range(60)]
    assert [o.faults for o in outcomes if o.faults] == []
    truths = [o.truth for o in outcomes]
    assert truths.count("true") > 15 and truths.count("false") > 15


LAWFUL = [
    each(z[i] + v[j], i),
    each(-z[i], i),
    each(v[j] * z[i], i),
    each(z[i] * v[i], i),
    each(v[j], i),
    each(z[i], i),
    each(S[i, j], i, j),
    each(each(z[i], i), i),
    each(total(z[i] * v[l], i) * z[i], i)[l],
    each(z[i] * v[j], i)[i],
    each(z[i] * each(v[i], i)[j], i)[j],
    each(z, r)[r, i],
    softmax(z),
    S @ z,
]


@pytest.mark.parametrize("tree", LAWFUL, ids=plain)
def test_what_laws_make_of_it_is_equal_to_it(tree):
    made = [new for new in list_rewrites(tree) if new != tree]
    assert made
    for new in made:
        assert judge(only(tree, new))[0] == "true", plain(new)


def test_an_index_is_not_put_where_another_would_catch_it():
    assert substitute_index(each(z[i] * v[j], i), j, l) == each(z[i] * v[l], i)
    assert substitute_index(each(z[i], i) * v[i], i, j) == each(z[i], i) * v[j]
    with pytest.raises(KernelError, check=has_code("index-taken")):
        substitute_index(each(z[i] * v[j], i), j, i)
    assert substitute_index(each(z[i], i), j, i) == each(z[i], i)


def test_a_slip_binds_another_index_and_leaves_one_as_it_is():
    said = {plain(m.mutated.start) for m in make_mutants(only(each(z[i] * v[j], i)[j], z[j] * v[j])) if m.operator == "binding confused"}
    assert said == {"each(z[i]*v[j], j = 1..n)[j]", "z[i]*v[j]"}


@pytest.mark.parametrize(
    "name", ["an entry at what stands open inside", "a sum inside over the same index", "a matrix, its indices turned"]
)
def test_its_mutants_are_refused_and_its_controls_are_not(name):
    claim = only(*TRUE[name])
    false = [m.mutated for m in make_mutants(claim) if judge(m.mutated)[0] == "false"]
    assert len(false) > 5
    for witness in (exact, sympy, pytorch):
        for mutant in false:
            with pytest.raises(Rejected):
                witness(mutant)
        for _, control in make_controls(claim):
            witness(control)


@pytest.mark.parametrize(
    "left, right, missing",
    [
        (each(1 / z[l], l)[1], 1 / z[1], nonzero(z[1])),
        (each(sqrt(z[l]) ** 2, l)[1], z[1], nonnegative(z[1])),
        ((each(log(z[i]) * v[l], i, l) @ v)[1], log(z[1]) * (v @ v), positive(z[1])),
        (total(each(v[l] / z[i], i, l)[1, l], l), total(v[l], l) / z[1], nonzero(z[1])),
    ],
)
def test_a_tensor_has_a_value_where_each_of_its_entries_has_one(left, right, missing):
    """Which entry is picked changes nothing of that."""
    with pytest.raises(Rejected, check=has_code("assumption-missing")):
        exact(only(left, right, given=[missing]))
    every = replace(missing, args=(z[i],))
    assert exact(only(left, right, given=[every])).verdict == "proved"


# Two levels of places


@pytest.mark.parametrize("name", ["a quotient", "a logarithm"])
def test_what_is_stated_of_a_diagonal_is_not_stated_of_a_row(name, rejection):
    """A vector has a value where all of its entries have one, and the outer place is none of the inner ones."""
    size, number = sizes("n"), scalars("x")
    row, column, square = index("i", size), index("l", size), matrix("B", size, size)

    def far(a, b):
        return 2**40 * absolute(number - Fraction(3, 7)) + square[a, b] ** 2

    left, right, asked = {
        "a quotient": (each(far(row, column) / far(row, column), column), ones(size), nonzero),
        "a logarithm": (each(log(far(row, column)), column), each(log(far(row, row)), row), positive),
    }[name]
    error = rejection(lambda D: D.identity("claim", each(left[row], row), right, given=[asked(far(row, row))]))
    assert error.code == "assumption-missing" and "B[j, k]^2 + " in error.message
