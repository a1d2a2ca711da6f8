"""Results that the PyTorch witness caches are computed again if anything that they depend on differs."""

import pytest
import torch

from derivations.kernel import diff, index, matrix, scalars, sizes, total, vector
from derivations.kernel.core.expr import Expr
from derivations.kernel.pytorch import evaluation as evaluating
from derivations.kernel.pytorch import evaluation_cache
from derivations.kernel.pytorch.error_bounds import BoundedValue
from derivations.kernel.pytorch.evaluation import evaluate
from derivations.kernel.pytorch.evaluation_cache import contains_leaf
from derivations.kernel.pytorch.float_formats import FORMATS, evaluate_in_format
from derivations.kernel.pytorch.sampling import DRAW_CACHE, draw_entries
from derivations.kernel.pytorch.trial import Trial

x, y = scalars("x y")
n, d = sizes("n d")
A, B, u = matrix("A", n, d), matrix("B", d, n), vector("u", d)
i, j, k, l = index("i", n), index("j", n), index("k", d), index("l", d)


def trial(*trees: Expr) -> Trial:
    t = Trial(list(trees), {"n": 2, "d": 3})
    for symbol, shape in ((x, ()), (y, ()), (A, (2, 3)), (B, (3, 2)), (u, (3,))):
        t.put(symbol, torch.randn(4, *shape, generator=torch.Generator().manual_seed(ord(symbol.data[0])), dtype=torch.float64))
    return t


def test_a_tree_that_stands_twice_is_evaluated_once(monkeypatch):
    asked = []
    rule = evaluating.RULES["matmul"]
    monkeypatch.setitem(evaluating.RULES, "matmul", lambda e, *rest: asked.append(e) or rule(e, *rest))
    one, other = A @ B, matrix("A", n, d) @ matrix("B", d, n)
    evaluate(one + other, trial(one))
    assert len(asked) == 1


def test_with_other_values_it_is_evaluated_anew():
    tree = x * y
    t = trial(tree)
    before = evaluate(tree, t)
    t.values["x"] = BoundedValue(t.values["x"].value + 1, t.values["x"].error)
    assert torch.allclose(evaluate(tree, t).value, before.value + t.values["y"].value)
    t.points(torch.tensor([1]))
    assert len(evaluate(tree, t).value) == 1


def test_at_other_sizes_or_told_to_be_exact_it_is_evaluated_anew():
    tree = x + n
    t = trial(tree)
    before = evaluate(tree, t)
    t.sizes["n"] = 7
    assert torch.allclose(evaluate(tree, t).value, t.values["x"].value + 7)
    t.sizes["n"], t.values["x"] = 2, BoundedValue(torch.ones_like(before.value), torch.zeros_like(before.error))
    assert evaluate(tree, t).error.all()
    t.exactly = True
    assert not evaluate(tree, t).error.any()


def test_one_tree_is_another_where_its_index_runs_along_another_axis():
    entry_ = A[i, k]
    tree = total(entry_, i) + total(entry_, k)
    t = trial(tree)
    a = t.values["A"].value.reshape(4, 1, 2, 3)
    assert torch.allclose(evaluate(tree, t).value.flatten(), (a.sum(2, keepdim=True) + a.sum(3, keepdim=True)).flatten())


def test_what_is_bounded_is_another_in_each_format():
    tree = x / 3
    t = trial(tree)
    assert len({float(evaluate_in_format(tree, t, f).error.max()) for f in FORMATS}) == len(FORMATS)


def test_a_copy_with_other_values_knows_nothing():
    tree = x * y
    t = trial(tree)
    evaluate(tree, t)
    other = t.but({**t.values, "x": t.values["y"]})
    assert torch.equal(evaluate(tree, other, other.axes, 2).value, t.values["y"].value ** 2)


def test_numbers_are_given_anew_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(evaluation_cache, "MAX_TREES", 3)
    tree = (x + y) * (x - y) + (x + y)
    t = trial(tree)
    v, w = t.values["x"].value, t.values["y"].value
    assert torch.allclose(evaluate(tree, t).value, v * v - w * w + v + w)


@pytest.mark.parametrize("which", ["an index of the variable alone", "indices of both", "numbers"])
def test_slopes_are_those_of_the_entry_that_is_meant(which):
    squares, length = total(A[i, k] * u[k] ** 2, k), total(total(A[i, k] * u[k], k) ** 2, i)
    tree = {
        "an index of the variable alone": diff(length, A[j, l]),
        "indices of both": diff(squares, A[i, l]),
        "numbers": diff(length, A[1, 1]),
    }[which]
    t = trial(tree)
    a, v = t.values["A"].value.reshape(4, 2, 3), t.values["u"].value.reshape(4, 3)
    slopes = 2 * torch.einsum("pij,pj,pk->pik", a, v, v)
    want = {
        "an index of the variable alone": slopes,
        "indices of both": (v**2)[:, None].expand(4, 2, 3),
        "numbers": slopes[:, 0, 0],
    }[which]
    assert torch.allclose(evaluate(tree, t).value.flatten(), want.flatten())


def test_whether_a_tree_has_a_symbol():
    assert contains_leaf(A @ u, u) and contains_leaf((A @ u)[i], u) and contains_leaf((A @ u)[i], i)
    assert not contains_leaf(A @ u, B) and not contains_leaf((A @ u)[i], k)


@pytest.mark.parametrize("before", range(8))
def test_whether_a_tree_has_a_symbol_where_numbers_are_given_anew(monkeypatch, before):
    """However many trees have one: those of a tree's parts are not given anew while the tree gets its own."""
    monkeypatch.setattr(evaluation_cache, "MAX_TREES", 3)
    evaluation_cache.NUMBERED.clear()
    evaluation_cache.NUMBER_OF.clear()
    x, y, *others = scalars(" ".join(["x", "y", *(f"z{k}" for k in range(before))]))
    for other in others:
        evaluation_cache.number_tree(other)
    tree, (same, another) = x * y + y, scalars("x w")
    for _ in range(2):
        assert contains_leaf(tree, same) and not contains_leaf(tree, another)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_drawn_again_is_the_same_and_so_is_what_follows(seed):
    asked = (2, 3), 16, False, False, False
    first, again, fresh = (torch.Generator().manual_seed(seed) for _ in range(3))
    wanted = [draw_entries(fresh, *asked), draw_entries(fresh, *asked), torch.randn(3, generator=fresh)]
    for random in (first, again):
        found = [DRAW_CACHE.entries(random, *asked), DRAW_CACHE.entries(random, *asked), torch.randn(3, generator=random)]
        assert all(map(torch.equal, found, wanted))
    assert not torch.equal(wanted[0], DRAW_CACHE.entries(torch.Generator().manual_seed(seed + 7), *asked))
