"""Verdicts on a claim's code: code that differs only at size 1, the conditions of a proof, and scopes that may not be stated."""

from __future__ import annotations

import sys

import pytest

from derivations.kernel import (
    each,
    exp,
    index,
    log,
    matrix,
    nonnegative,
    nonzero,
    positive,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    where,
    zero_or_one,
)
from derivations.kernel.core.expr import free_indices, show, symbol
from derivations.kernel.traced import witness
from derivations.kernel.traced.call_arguments import substitute
from derivations.kernel.traced.witness import check_call, with_plain_indices

n, m = sizes("n m")
x, y, z = vector("x", n), vector("y", n), vector("z", n)
A, B, P, S = matrix("A", n, m), matrix("B", n, n), matrix("P", 2, 2), matrix("S", n, n)
i, j = index("i", n), index("j", n)
a, c = scalars("a c")
X = x + 0 * x


@pytest.fixture
def said(computing):
    def ask(body, arguments, want, given=()):
        return check_call(computing(body, arguments, want, given), 0)

    return ask


@pytest.mark.parametrize(
    "body",
    ["n, m = x.shape\nif n == 1 and m == 1:\n    return 0 * x\nreturn x", "for _ in range(x.shape[0]):\n    pass\nif x.shape[1] == 1:\n    return 2 * x\nreturn x"],
)  # fmt: skip
def test_what_is_asked_where_a_size_is_1_is_read_too(said, body):
    found = said(body, [A], A + 0 * A)
    assert found.state == "different" and "m = 1" in found.reason


@pytest.mark.parametrize(
    "body, want, shown",
    [
        ("return x.sum() * x", total(z[j], j) * z, "each(sum(z[j], j = 1..n)*z[i], i = 1..n)"),
        ("return x.max() * x", None, ""),
        ("return x[:1] * 2", None, ""),
    ],
)
def test_what_is_computed_is_stored_as_one_expression_with_letters_for_indices(computing, body, want, shown):
    claim = computing(body, [z], total(z[j], j) * z if want is None else want)
    for _ in range(2):  # the names of indices do not depend on what was traced before
        found = check_call(claim, 0)
        assert (found.state == "proved") == bool(shown) and (show(found.formula) if found.formula is not None else "") == shown


# Each gives something else where there is one row and several columns, or one column and several rows, and nothing where both are 1.
AT_ONE = {
    "answers after an operation": "y = x + x\nn, m = x.shape\nif n == 1 and m != 1:\n    return 0 * x\nreturn x",
    "a product of sizes": "y = x + x\nreturn 0 * x if x.numel() == x.shape[1] and x.numel() > 1 else x",
    "a number from a size": "y = x + x\nreturn x * (bool(x.shape[0] - 1) or not bool(x.shape[1] - 1))",
    "the largest": "y = x + x\nreturn 0 * x if min(x.shape[0], 2) < 2 and not min(x.shape[1], 2) < 2 else x",
    "one among them": "y = x + x\nreturn 0 * x if 1 in x.shape[:1] and 1 not in x.shape[1:] else x",
    "axes that are gone": "return 0 * x if x.squeeze().dim() == 1 else x",
    "an axis that is gone": "return 0 * x if x.squeeze(0).dim() < x.squeeze(1).dim() else x",
}  # fmt: skip


@pytest.mark.parametrize("body", AT_ONE.values(), ids=AT_ONE)
def test_what_code_learns_of_a_size_of_1_is_met(said, body):
    found = said(body, [A], A + 0 * A)
    assert found.state == "different", found


def test_whether_something_is_none_may_be_asked(said):
    assert said("y = None\nz = y is None\nreturn x if y is None and z and x is not None else 0 * x", [A], A + 0 * A).scope == "every shape"


def test_what_only_operations_ask_is_proved_at_every_shape_with_one_more_reading(said, monkeypatch):
    read = []
    own = witness.trace_call
    monkeypatch.setattr(witness, "trace_call", lambda claim, k: read.append(claim) or own(claim, k))
    found = said("return (x + x) @ (x.T + x.T) @ x / 4", [A], A @ A.T @ A)
    assert found.scope == "every shape" and len(read) == 2
    assert not witness.claim_sizes(read[1])


def test_what_only_operations_ask_is_read_at_1_all_the_same(said):
    variance = total((x[i] - total(x[j], j) / n) ** 2, i) / (n - 1)
    found = said("return x.var() + 0 * (x + x).sum()", [x], variance)
    assert found.scope == "n >= 2", found


def test_code_that_writes_is_taken_to_have_learned_of_all_sizes(said, monkeypatch):
    made = []
    own = witness.Sizes
    monkeypatch.setattr(witness, "Sizes", lambda **hints: made.append(own(**hints)) or made[-1])
    said("y = x.clone()\ny += 1\nreturn y - 1", [A], A + 0 * A)
    assert made[0].all_asked


def test_a_scope_where_a_size_is_1_is_told(said):
    found = said("n, m = x.shape\nif n == 1 and m > 64:\n    return 0 * x\nreturn x", [A], A + 0 * A)
    assert found.state == "proved" and "64 >= m at n = 1" in found.scope


def test_conditions_and_constants_where_a_size_is_1_are_told(said):
    body = "if x.shape[0] == 1:\n    return torch.where(y > 0.25, x * 0.1, 9.0)\nreturn torch.where(z > 0, x / 10, 9.0)"
    found = said(body, [x, y, z], x / 10)
    assert any("y" in one and "n = 1" in one for one in found.conditions) and any("z" in one for one in found.conditions)
    assert found.constants == ["0.1 as 1/10"]


def test_nothing_is_no_result(said):
    assert said("return ()", [x], X).reason == "it gives nothing"


@pytest.mark.parametrize("body", ["return (x @ y).unsqueeze(-2)[0]", "z = x @ y\nw = z[None]\nreturn (w + z)[0] / 2"])
def test_a_view_of_what_was_turned_in_place_is_read(said, body):
    """A vector by a matrix is a product of matrices whose result drops an axis in place, which PyTorch counts as a write."""
    assert said(body, [x, B], x @ B).state == "proved"


def test_a_condition_holds_for_all_its_indices_and_takes_no_name_of_the_claim(said):
    made = with_plain_indices("x[i] - y[at7] is positive", {"i", "x", "y"})
    assert made == "x[i] - y[j] is positive for all j"
    many = with_plain_indices(" ".join(f"at{k}" for k in range(25)), {"i"})
    assert len(set(many.split(" for all ")[0].split())) == 25
    found = said("return torch.where(x[:, None] - y[None, :] > 0, 1.0, 0.0).sum(1)", [x[i], y], n + 0 * x[i])
    assert found.state == "proved" and "for all" in found.conditions[0]


def test_right_code_with_what_is_the_largest_of_numbers_is_not_refused(said):
    assert said("return torch.maximum(x, y) + torch.minimum(x, y)", [x, y], each(x[i] + y[i], i)).state != "different"
    p = [P[1, k] for k in (1, 2)]
    assert said("return x.amax(1)[0]", [P], (p[0] + p[1] + sqrt((p[0] - p[1]) ** 2)) / 2).state != "different"


def test_a_name_that_the_claim_has_is_not_taken_for_what_is_unknown(said):
    some = symbol("some0", "real", ())
    assert said("return torch.maximum(x, y)", [a, c], some + 0 * some).state != "proved"


@pytest.fixture
def recursion_limit():
    """Set Python's usual recursion limit, which other tests of the process may have raised."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


def test_endless_loops_and_deep_results_are_not_read(said, recursion_limit):
    found = said("while x > 0.5:\n    x = x / 2\nreturn x", [a], a + 0 * a)
    assert found.state == "not read" and "conditions" in found.reason
    found = said("y = x\nfor _ in range(3000):\n    y = y + x\nreturn y", [x], 3001 * x)
    assert found.state == "not read" and "too many operations" in found.reason


@pytest.mark.parametrize("number", ["(x.new_full((), x.shape[0]) + 1).item()", "x.new_full((), 2.0).sqrt().item()"])
def test_no_scope_is_told_at_which_nothing_is(said, number):
    found = said(f"c = {number}\nreturn x if c < 1 else 2 * x", [x], X)
    assert found.state != "proved"


def test_what_takes_the_place_of_an_index_is_not_bound():
    bound = substitute(total(B[i, j], j), {i: j})
    assert j in free_indices(bound)
    bound = substitute(total(B[i, j], j), {j: i})
    assert bound == total(B[i, j], j)


def test_what_a_comparison_needs_to_have_a_value_is_a_condition(said):
    found = said("return torch.where(x / x > 0, x, 7)", [x], X)
    assert found.state != "proved" or any("not zero" in one for one in found.conditions)
    assert said("return x if x > 1 else x + 1", [a], a + 1, given=[positive(1 - a)]).state == "proved"


CAUSAL = each(total(exp(S[i, j]) * x[j], j, where=j <= i) / total(exp(S[i, j]), j, where=j <= i), i)
MASKS = {
    "ones below the diagonal": "torch.ones_like(S, dtype=torch.bool).tril()",
    "none above the diagonal": "~torch.ones_like(S, dtype=torch.bool).triu(1)",
    "positions compared": "torch.arange(S.shape[0])[:, None] >= torch.arange(S.shape[0])",
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_a_causal_mask_is_read_at_every_shape(said, mask):
    found = said(f"return torch.softmax(x.masked_fill(~({mask.replace('S', 'x')}), -torch.inf), -1) @ y", [S, x], CAUSAL)
    assert (found.state, found.scope) == ("proved", "every shape"), found


WRONG_MASKS = ("torch.ones_like(x, dtype=torch.bool).triu()", "torch.ones_like(x, dtype=torch.bool).tril(1)")


@pytest.mark.parametrize("mask", WRONG_MASKS)
def test_a_wrong_mask_computes_something_else(said, mask):
    found = said(f"return torch.softmax(x.masked_fill(~({mask}), -torch.inf), -1) @ y", [S, x], CAUSAL)
    assert found.state == "different", found


def test_a_mask_without_the_diagonal_leaves_nothing_in_the_first_row(said):
    mask = "torch.ones_like(x, dtype=torch.bool).tril(-1)"
    found = said(f"return torch.softmax(x.masked_fill(~({mask}), -torch.inf), -1) @ y", [S, x], CAUSAL)
    assert found.state != "proved"
    assert said("return x.tril(-1).sum()", [S], total(where(S[i, j], j < i), i, j)).scope == "every shape"


CENTRED, SPREAD = x[i] - total(x[j], j) / n, total((x[i] - total(x[j], j) / n) ** 2, i) / n
UNIT = each(CENTRED / sqrt(SPREAD), i), [nonzero(SPREAD)]
KL = total(softmax(y)[i] * (log(softmax(y)[i]) - log(softmax(x)[i])), i), []
BITS = each(y[i] * x[i], i), [zero_or_one(y)]
# Right code, the same with a mistake, and what the right code computes.
FUNCTIONS = {
    "var_mean": ("v, m = torch.var_mean(x, 0, correction=0)\nreturn (x - m) / v.sqrt()", ("correction=0", "correction=1"), [x], *UNIT),
    "std_mean": ("s, m = torch.std_mean(x, 0, correction=0)\nreturn (x - m) / s", ("x - m", "x + m"), [x], *UNIT),
    "std": ("return (x - x.mean()) / x.std(correction=0)", ("x.std", "x.var"), [x], *UNIT),
    "layer_norm": ("return torch.nn.functional.layer_norm(x, x.shape, eps=0.0)", ("0.0", "0.5"), [x], *UNIT),
    "kl_div": (
        "return torch.nn.functional.kl_div(x.log_softmax(0), y.softmax(0), reduction='sum')",
        ("x.log_softmax(0), y", "y.log_softmax(0), x"), [x, y], *KL,
    ),
    "logaddexp": ("return torch.logaddexp(x, y)", ("x, y", "x, -y"), [x, y], each(log(exp(x[i]) + exp(y[i])), i), []),
    "bool": ("return torch.where(y.bool(), x, 0)", ("y.bool()", "~y.bool()"), [x, y], *BITS),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_pytorch_are_read_as_formulas(said, name):
    body, (right, wrong), arguments, want, given = FUNCTIONS[name]
    found = said(body, arguments, want, given=given)
    assert (found.state, found.scope) == ("proved", "n >= 2" if given == UNIT[1] else "every shape"), found
    assert not found.conditions
    assert said(body.replace(right, wrong), arguments, want, given=given).state == "different"


GUARDED = "if {} < 5:\n    raise ValueError('too few')\n"


def test_code_that_needs_large_sizes_is_read_at_sizes_that_the_assumptions_allow(said):
    found = said(GUARDED.format("x.shape[0]") + "return x", [x], X, given=[nonnegative(n - 5)])
    assert (found.state, found.scope) == ("proved", "n >= 5"), found
    assert said(GUARDED.format("x.shape[0]") + "return -x", [x], X, given=[nonnegative(n - 5)]).state == "different"
    loop = GUARDED.format("len(x)") + "s = 0\nfor k in range(len(x)):\n    s = s + x[k]\nreturn s"
    found = said(loop, [x], total(x[i], i), given=[nonnegative(n - 5)])
    assert (found.state, found.scope) == ("proved", "n = 5; n = 6; n = 7"), found
    assert said(loop.replace("x[k]", "x[0]"), [x], total(x[i], i), given=[nonnegative(n - 5)]).state == "different"


def test_without_assumptions_several_sizes_are_read_at_numbers_that_differ():
    shapes = witness.choose_shapes(["d", "m", "n", "p"], ())
    assert shapes == [dict.fromkeys("dmnp", 1), {"d": 2, "m": 3, "n": 2, "p": 3}]
    assert witness.choose_shapes(["d", "n"], (nonnegative(n - 2),)) == [{"d": 2, "n": 3}, {"d": 3, "n": 2}]


def test_a_size_that_is_taken_for_a_number_is_named(said):
    found = said(GUARDED.format("len(x)") + "return x", [x], X)
    assert found.reason == "it needs n as a number", found
