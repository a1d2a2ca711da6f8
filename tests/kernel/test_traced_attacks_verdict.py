"""What an adversary tried on the verdict: code that is another where a size is 1, that catches, asks, remembers, or goes round what reads it."""

from __future__ import annotations

import re
import sys

import pytest
import torch

from derivations.kernel import each, index, matrix, positive, scalars, sizes, sqrt, total, vector
from derivations.kernel.core.expr import free_indices, symbol
from derivations.kernel.traced import witness
from derivations.kernel.traced.call_arguments import put
from derivations.kernel.traced.witness import asked, with_plain_indices

n, m = sizes("n m")
x, y, z = vector("x", n), vector("y", n), vector("z", n)
A, B, P, S = matrix("A", n, m), matrix("B", n, n), matrix("P", 2, 2), matrix("S", n, n)
i, j = index("i", n), index("j", n)
a, c = scalars("a c")
X = x + 0 * x
HEAD = """
import contextlib
import functools
import math
import operator
import threading
import warnings
import torch
SCALE = torch.tensor([2.0, 3.0], dtype=torch.float64)
STATE = []
SEEN = []
LIES = torch.Tensor.is_contiguous
KIND, SAME, ONE = isinstance, operator.is_, 1
"""
ODD = """
class Own(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is not torch.sin:
            return super().__torch_function__(func, types, args, kwargs or {})
        SEEN[:] = [y.T.is_contiguous() for y in ASKED_OF]
        return args[0]
KEPT, ASKED_OF = torch.zeros(1, dtype=torch.float64).as_subclass(Own), []
@functools.lru_cache
def kept(n):
    return torch.ones(n, dtype=torch.float64)
"""


@pytest.fixture
def said(computing):
    def ask(body, arguments, want, given=()):
        head = HEAD + ODD if re.search(r"\b(Own|KEPT|ASKED_OF|kept)\b", body) else HEAD
        return asked(computing(body, arguments, want, given, head), 0)

    return ask


@pytest.mark.parametrize(
    "body",
    ["n, m = x.shape\nif n == 1 and m == 1:\n    return 0 * x\nreturn x", "for _ in range(x.shape[0]):\n    pass\nif x.shape[1] == 1:\n    return 2 * x\nreturn x"],
)  # fmt: skip
def test_what_is_asked_where_a_size_is_1_is_read_too(said, body):
    found = said(body, [A], A + 0 * A)
    assert found.state == "different" and "m = 1" in found.reason


# Each gives something else where there is one row and several columns, or one column and several rows, and nothing where both are 1.
AT_ONE = {
    "answers after an operation": "y = x + x\nn, m = x.shape\nif n == 1 and m != 1:\n    return 0 * x\nreturn x",
    "a product of sizes": "y = x + x\nreturn 0 * x if x.numel() == x.shape[1] and x.numel() > 1 else x",
    "a number from a size": "y = x + x\nreturn x * (bool(x.shape[0] - 1) or not bool(x.shape[1] - 1))",
    "the largest": "y = x + x\nreturn 0 * x if min(x.shape[0], 2) < 2 and not min(x.shape[1], 2) < 2 else x",
    "one among them": "y = x + x\nreturn 0 * x if 1 in x.shape[:1] and 1 not in x.shape[1:] else x",
    "axes that are gone": "return 0 * x if x.squeeze().dim() == 1 else x",
    "an axis that is gone": "return 0 * x if x.squeeze(0).dim() < x.squeeze(1).dim() else x",
    "how numbers lie": "return 0 * x if x.T.is_contiguous() and not torch.cat([x, x]).T.is_contiguous() else x",
    "steps": "c = torch.cat([x.T, x.T])\nreturn 0 * x if x.T.stride() == x.stride() and c.T.stride() != c.stride() else x",
    "the order of axes": "c = torch.cat([x, x])\nreturn 0 * x if x.T.dim_order() == (0, 1) and c.T.dim_order() != (0, 1) else x",
    "by another name": "return 0 * x if LIES(x.T) and not LIES(torch.cat([x, x]).T) else x",
    "from the outside": "lies = operator.methodcaller('is_contiguous')\nreturn 0 * x if lies(x.T) and not lies(torch.cat([x, x]).T) else x",
    "written to": """
y, c = x.clone(), torch.cat([x, x])
y.T.reshape(-1).add_(1)
c.T.reshape(-1).add_(1)
return y - (c - torch.cat([x, x]))[: x.shape[0]]""",
    "where a slope is taken": """
def f(y):
    return (0 if y.T.is_contiguous() and not torch.cat([y, y]).T.is_contiguous() else 1) * y.sum()
return x * torch.func.grad(f)(x)""",
    "hung on a slope": """
w = x.clone().requires_grad_()
y = w + w
y.register_hook(lambda g: 0 * g if g.T.is_contiguous() and not torch.cat([g, g]).T.is_contiguous() else g)
return torch.autograd.grad((y * y).sum(), w)[0] / 8""",
    "kept for a slope": """
w, seen = x.clone().requires_grad_(), []
def pack(t):
    seen.append(t.T.is_contiguous() and not torch.cat([t, t]).T.is_contiguous())
    return t
with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
    y = w * w
return 0 * x if any(seen) else x""",
    "called by an operation": """
seen = []
def distance(s, t):
    seen.append(s.T.is_contiguous() and not torch.cat([s, s]).T.is_contiguous())
    return (s - t).sum(-1)
torch.nn.functional.triplet_margin_with_distance_loss(x, x + 1, x + 2, distance_function=distance)
return 0 * x if any(seen) else x""",
    "by what fails": """
def fits(y):
    try:
        torch.einsum('ij,ij->ij', y, torch.cat([y, y]))
        return True
    except RuntimeError:
        return False
return 0 * x if fits(x) and not fits(x.T) else x""",
    "whose numbers": "c = torch.cat([x, x])\nm, o = (y.T.reshape(-1)[:]._base.dim() for y in (x, c))\nreturn 0 * x if m == 2 and o == 1 else x",
    "a check that is caught": """
y = x + x
n, m = x.shape
try:
    torch._check((n - 2) * (m - 1) >= 0)
except RuntimeError:
    return 0 * x
return x""",
    "asked by a tensor of its own": "ASKED_OF[:] = [x, torch.cat([x, x])]\ntorch.sin(KEPT)\nlies, other = SEEN\ndel SEEN[:], ASKED_OF[:]\nreturn 0 * x if lies and not other else x",
    "a slope of its own": """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return 2 * y
    @staticmethod
    def backward(ctx, g):
        return 2 * g if not g.T.is_contiguous() or torch.cat([g, g]).T.is_contiguous() else g
w = x.clone().requires_grad_()
return torch.autograd.grad(Own.apply(w).square().sum(), w)[0] / 8""",
}  # fmt: skip


@pytest.mark.parametrize("body", AT_ONE.values(), ids=AT_ONE)
def test_what_code_learns_of_a_size_of_1_is_met(said, body):
    found = said(body, [A], A + 0 * A)
    assert found.state == "different", found


@pytest.mark.parametrize(
    "body",
    ["t = x.T\nreturn 0 * x if t.contiguous() is t else x",
     "return 0 * x if x.sum_to_size(1, x.shape[1]) is not x else x",
     "return 0 * x if x.shape[0] is ONE else x",
     "return 0 * x if (x.shape[0] == 1) is True else x",
     "return 0 * x if any(n is ONE for n in x.shape) else x",
     "return 0 * x if operator.is_(x.shape[0], ONE) else x",
     "return 0 * x if SAME(x.shape[0], ONE) else x",
     "t, c = x.T, torch.cat([x, x]).T\nreturn 0 * x if hash(t.contiguous()) == hash(t) and hash(c.contiguous()) != hash(c) else x",
     "t = x.T\nreturn 0 * x if t.contiguous() in {t} else x",
     "try:\n    {x.shape[0]}\nexcept TypeError:\n    return x\nreturn 2 * x",],
)  # fmt: skip
def test_which_thing_something_is_is_not_asked(said, body):
    found = said(body, [A], A + 0 * A)
    assert found.state != "proved", found


def test_whether_something_is_none_may_be_asked(said):
    assert said("y = None\nz = y is None\nreturn x if y is None and z and x is not None else 0 * x", [A], A + 0 * A).scope == "every shape"


@pytest.mark.parametrize(
    "body",
    ["try:\n    x.shape[0].numerator\nexcept AttributeError:\n    return x\nreturn 2 * x",
     "return 2 * x if KIND(x.shape[0], int) else x",
     "return x if str(x.shape[:1]).startswith('torch.Size([s') else 2 * x",
     "with warnings.catch_warnings(record=True) as told:\n    warnings.simplefilter('always')\n    y = x[:1].var(0)\nreturn 2 * x if told else x"],
)  # fmt: skip
def test_what_a_symbol_has_not_and_how_it_is_written_is_not_asked(said, body):
    found = said(body, [A], A + 0 * A)
    assert found.state != "proved", found


def test_what_only_operations_ask_is_proved_at_every_shape_with_one_more_reading(said, monkeypatch):
    read = []
    own = witness.proved
    monkeypatch.setattr(witness, "proved", lambda claim, k: read.append(claim) or own(claim, k))
    found = said("return (x + x) @ (x.T + x.T) @ x / 4", [A], A @ A.T @ A)
    assert found.scope == "every shape" and len(read) == 2
    assert not witness.sizes_of(read[1])


def test_what_only_operations_ask_is_read_at_1_all_the_same(said):
    variance = total((x[i] - total(x[j], j) / n) ** 2, i) / (n - 1)
    found = said("return x.var() + 0 * (x + x).sum()", [x], variance)
    assert found.scope == "n >= 2", found


def test_code_that_writes_is_taken_to_have_learned_of_all_sizes(said, monkeypatch):
    made = []
    own = witness.Sizes
    monkeypatch.setattr(witness, "Sizes", lambda: made.append(own()) or made[-1])
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


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    return x.erfinv()\nexcept Exception:\n    return x",
        "with contextlib.suppress(Exception):\n    return x.erfinv()\nreturn x",
        "y = x.clone()\ntry:\n    y.add_(1)\nexcept Exception:\n    pass\nreturn y",
        "return ()",
        "if isinstance(x.shape[0], int):\n    return 2 * x\nreturn x",
        "if str(x.shape[0]) == '3':\n    return 2 * x\nreturn x",
        "return x * {'3': 2}.get(f'{x.shape[0]}', 1)",
        "return x if type(x) is not torch.Tensor else 2 * x",
        "return x if hasattr(x, 'fake_mode') else 2 * x",
        "return x if torch.compiler.is_compiling() else 2 * x",
        "return x if torch.fx.experimental.symbolic_shapes.statically_known_true(x.shape[0] > 0) else 2 * x",
        "STATE.append(1)\nreturn x if len(STATE) < 2 else 2 * x",
        "y = x.clone()\nt = threading.Thread(target=lambda: y.mul_(2))\nt.start()\nt.join()\nreturn y",
        "SCALE.numpy()[0] = 5\nreturn x",
    ],
)
def test_what_goes_round_the_reading_is_not_proved(said, body):
    found = said(body, [x], X)
    assert found.state != "proved", found


@pytest.mark.parametrize(
    "body", ["y = x.clone()\ny.data = y.mT\nreturn y", "z = torch.stack([x, 2 * x])\ny = z[0]\ny.data = z[1]\nreturn y",
     "y = (x[0] @ x)[None]\nz = y @ x\ny.data = z\nreturn x + 0 * y"],
)  # fmt: skip
def test_a_tensor_that_goes_through_its_numbers_otherwise_is_not_read(said, body):
    assert said(body, [S], S + 0 * S).state == "not read"


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


def test_a_loop_that_suppositions_keep_up_ends(said):
    found = said("while x > 0.5:\n    x = x / 2\nreturn x", [a], a + 0 * a)
    assert found.state == "not read" and "conditions" in found.reason
    found = said("y = x\nfor _ in range(3000):\n    y = y + x\nreturn y", [x], 3001 * x)
    assert found.state == "not read" and "too many operations" in found.reason


@pytest.mark.parametrize("number", ["(x.new_full((), x.shape[0]) + 1).item()", "x.new_full((), 2.0).sqrt().item()"])
def test_no_scope_is_told_at_which_nothing_is(said, number):
    found = said(f"c = {number}\nreturn x if c < 1 else 2 * x", [x], X)
    assert found.state != "proved"


def test_what_takes_the_place_of_an_index_is_not_bound():
    bound = put(total(B[i, j], j), {i: j})
    assert j in free_indices(bound)
    bound = put(total(B[i, j], j), {j: i})
    assert bound == total(B[i, j], j)


def test_a_trace_leaves_nothing_behind(said):
    said("return x * kept(x.shape[0])", [x], X)
    assert type(sys.modules["snippets.planted"].kept(2)) is torch.Tensor
    said("SCALE.numpy()[0] = 5\nreturn x", [x], X)
    assert sys.modules["snippets.planted"].SCALE[0] == 2 and "isinstance" not in vars(sys.modules["snippets.planted"])


def test_what_a_comparison_needs_to_have_a_value_is_a_condition(said):
    found = said("return torch.where(x / x > 0, x, 7)", [x], X)
    assert found.state != "proved" or any("not zero" in one for one in found.conditions)
    assert said("return x if x > 1 else x + 1", [a], a + 1, given=[positive(1 - a)]).state == "proved"
