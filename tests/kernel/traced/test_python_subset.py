"""The subset of Python that the code witness reads: mistakes that an honest author could make are outside it."""

import sys
from importlib import import_module

import pytest

from derivations.kernel import exp, log, matrix, sizes, vector
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch import witness as numbers
from derivations.kernel.traced import witness
from derivations.kernel.traced.python_subset import find_violation, returns_tensors
from derivations.kernel.traced.witness import called_functions, check_call
from tests.kernel.common import has_code

n, m = sizes("n m")
x, A = vector("x", n), matrix("A", n, m)
HEAD = """
import contextlib
import functools
import logging
import math
import random
import time
import torch
import torch.nn.functional as F
from torch import nn
DOZEN = 12
NUMBERS = (2.0, 3.0)
LOW = (torch.float16, torch.bfloat16)
SEEN = []
CACHE = {}
SCALE = torch.tensor([1.0, 1.0])
LOG = logging.getLogger(__name__)
CALLS = 0

def contiguous_sum(x):
    return x.sum() if x.is_contiguous() else 2 * x.sum()

@functools.lru_cache
def table(n):
    return torch.ones(n)

def counted(x, seen=[]):
    seen.append(1)
    return x * len(seen)

class Counter:
    seen: list = []

class Scaler:
    def __init__(self, scale):
        self.scale, self.calls = scale, 0

    def scaled(self, x):
        self.calls += 1
        return self.scale * x
"""
# What a branch could hang on that a trace answers differently from a call with numbers, or does not record.
DOUBLED = "return 2 * x if {} else x"
MISTAKES = {
    "type of a size": (DOUBLED.format("isinstance(x.shape[0], float)"), "'isinstance'"),
    "exact type": (DOUBLED.format("type(x) == torch.nn.Parameter"), "'type'"),
    "text of a size": (DOUBLED.format("str(x.shape[0]) == '12'"), "'str'"),
    "text of a size, formatted": (DOUBLED.format("f'{x.shape[0]}' == '12'"), "a formatted string"),
    "text of a size, by %": (DOUBLED.format("'%d' % x.shape[0] == '12'"), "a formatted string"),
    "identity of numbers": (DOUBLED.format("x.shape[0] is DOZEN"), "'is' with an operand other than None"),
    "has an attribute": (DOUBLED.format("hasattr(x.shape[0], 'bit_length') and x.shape[0] == 12"), "'hasattr'"),
    "bits of a size": ("return x * 2 ** (x.shape[0].bit_length() - 1)", "'.bit_length'"),
    "dtype": (DOUBLED.format("x.dtype == torch.float16"), "'x.dtype' other than as an argument"),
    "dtype among several": (DOUBLED.format("x.dtype in (torch.float16, torch.bfloat16)"), "'x.dtype' other than as an argument"),
    "dtype among the module's": (DOUBLED.format("x.dtype in LOW"), "'x.dtype' other than as an argument"),
    "dtype that is named": ("kind = x.dtype\nreturn 2 * x if kind == torch.float16 else x", "'x.dtype' other than as an argument"),
    "dtype that is wider": (DOUBLED.format("torch.promote_types(x.dtype, torch.float32) == torch.float64"), "'torch.float64' other than as an argument"),
    "dtypes that differ": (DOUBLED.format("x.dtype != DOZEN.dtype"), "'x.dtype' other than as an argument"),
    "bytes of an entry": (DOUBLED.format("x.itemsize == 4"), "'.itemsize'"),
    "rounding of a format": ("return x + torch.finfo(x.dtype).eps", "'.eps'"),
    "default dtype": (DOUBLED.format("torch.get_default_dtype() == torch.float64"), "'.get_default_dtype'"),
    "device": (DOUBLED.format("x.device.type == 'cuda'"), "'.type'"),
    "on a GPU": (DOUBLED.format("x.is_cuda"), "'.is_cuda'"),
    "a GPU is there": (DOUBLED.format("torch.cuda.is_available()"), "'.is_available'"),
    "gradients are recorded": (DOUBLED.format("torch.is_grad_enabled()"), "'.is_grad_enabled'"),
    "gradients are needed": (DOUBLED.format("x.requires_grad"), "'.requires_grad'"),
    "gradient that was computed": (DOUBLED.format("x.grad is not None"), "'.grad'"),
    "training": ("class Layer(nn.Module):\n    def forward(self, x):\n        return 2 * x if self.training else x\nreturn Layer()(x)", "'.training'"),
    "memory layout": (DOUBLED.format("not x.is_contiguous()"), "'.is_contiguous'"),
    "strides": (DOUBLED.format("x.stride(0) == 2"), "'.stride'"),
    "layout, in another function": ("return x * contiguous_sum(x) / x.sum()", "'.is_contiguous'"),
    "layout, in a function within": ("def f(y):\n    return y if y.is_contiguous() else 2 * y\nreturn f(x)", "'.is_contiguous'"),
    "numbers behind": ("y = 1 * x\ny.data *= 1\nreturn y", "an assignment to 'y.data'"),
    "equal tensors": (DOUBLED.format("torch.equal(x, 2 * x)"), "'.equal'"),
    "an operation that fails": ("try:\n    return x.view(2, -1).view(-1)\nexcept RuntimeError:\n    return 2 * x", "'try'"),
    "a failure that is passed over": ("with contextlib.suppress(RuntimeError):\n    return x.view(2, -1).view(-1)\nreturn 2 * x", "'with'"),
    "fewer digits for a while": ("with torch.autocast('cpu'):\n    return 1 * x", "'with'"),
    "a counter of the module": ("global CALLS\nCALLS += 1\nreturn x if CALLS < 5000 else 2 * x", "'global'"),
    "a list of the module": ("SEEN.append(1)\nreturn x if len(SEEN) < 5000 else 2 * x", "the module variable 'SEEN'"),
    "a cache of the module": ("CACHE[1] = CACHE.get(1, 1.0)\nreturn x * CACHE[1]", "the module variable 'CACHE'"),
    "a tensor of the module": ("SCALE.mul_(2)\nreturn x", "the module variable 'SCALE'"),
    "a cache of a function": ("return x * table(x.shape[0])", "'.lru_cache'"),
    "a default that changes": ("return counted(x)", "a default value that a call can change"),
    "a list that a class holds": ("Counter.seen.append(1)\nreturn x", "a class attribute that a call can change"),
    "a count that an object keeps": ("return Scaler(1).scaled(x)", "an assignment to 'self.calls'"),
    "random numbers of Python": (DOUBLED.format("random.random() < 0.5"), "'.random'"),
    "a seed": ("torch.manual_seed(0)\nreturn x", "'.manual_seed'"),
    "the time": (DOUBLED.format("time.time() < 0"), "'.time'"),
    "something printed": ("print(x)\nreturn x", "'print'"),
    "something logged": ("LOG.info('called')\nreturn x", "'.info'"),
    "the order of a set": ("return x * tuple({1.0, 1.0})[0]", "'set'"),
    "a write to a view or a copy": ("y = 1 * x\ny.reshape(-1)[0] = 0\nreturn x", "'reshape', which may return a view, in a function that writes to tensors"),
    "a write to a tensor or its copy": ("y = 1 * x\nz = y.float()\nz *= 2\nreturn y", "'float', which may return a view, in a function that writes to tensors"),
    "a write, and a copy by a function": ("y = 1 * x\nz = torch.flatten(y)\nz.mul_(2)\nreturn y / 2", "'flatten', which may return a view, in a function that writes to tensors"),
    "a pattern": ("match x.shape[0]:\n    case 12:\n        return 2 * x\nreturn x", "'match'"),
    "numbers of NumPy": ("return torch.as_tensor(x.numpy())", "'.numpy'"),
    "a list of numbers": ("return torch.tensor(x.tolist())", "'.tolist'"),
    "a gradient of its own": ("class Own(torch.autograd.Function):\n    pass\nreturn Own.apply(x)", "'.Function'"),
    "compiled": ("return torch.compile(lambda y: 1 * y)(x)", "'.compile'"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_code_outside_the_subset_is_not_read(computing, name):
    body, what = MISTAKES[name]
    claim = computing(body, [x], x + 0 * x, head=HEAD)
    found = check_call(claim, 0)
    assert found.state == "not read" and found.line.startswith("planted.py:"), found
    assert found.reason == f"{what} is not read as mathematics"
    assert witness.check_code(claim).state == "not read"  # and never rejected


def test_code_outside_the_subset_is_not_called(computing):
    """A cached tensor without numbers, or a count, would stay behind."""
    claim = computing("SEEN.append(1)\nreturn x", [x], x + 0 * x, head=HEAD)
    assert check_call(claim, 0).state == "not read" and sys.modules["snippets.planted"].SEEN == []


READ = {
    "numbers of its module": "return x * NUMBERS[0] / DOZEN * 6",
    "a dtype that is passed on": "return x * torch.ones(x.shape, dtype=x.dtype, device=x.device)",
    "a dtype that is written out": "return (x.to(torch.float64) * torch.ones((), dtype=torch.float64)).to(x.dtype)",
    "a tensor of truth values": "if x.dtype == torch.bool:\n    return x\nreturn 1 * x",
    "an error": "if not x.is_floating_point():\n    raise TypeError(f'no floats: {x.dtype}')\nreturn x * 1",
    "an error for dtypes that differ": "y = 2 * x\nif x.dtype != y.dtype:\n    raise TypeError(f'{x.dtype}, {y.dtype}')\nreturn y / 2",
    "an assertion": "assert x.ndim == 1, f'{x.ndim} axes'\nreturn x * 1",
    "more digits": "y = x.float() if x.itemsize < 4 else x\nreturn y.to(x.dtype)",
    "a wider dtype": "wide = torch.promote_types(x.dtype, torch.float32)\nreturn torch.exp(x.to(wide)).log().to(x.dtype)",
    "None": "other = None\nreturn x if other is None else 2 * x",
    "a number among several": "return x if 0 in x.shape else 1 * x",
    "defaults": "def times(y, by=2.0, kind=torch.float64, one=F.relu):\n    return y * by / DOZEN\nreturn times(x) * 6",
    "without gradients": "with torch.no_grad():\n    y = 2 * x\nreturn y / 2",
    "a function within": "def twice(y):\n    return 2 * y\nreturn twice(x) / 2",
    "a local name that is listed nowhere": "type = 2 * x\nreturn type / 2",
    "a write where nothing is copied": "y = torch.zeros_like(x)\ny += x\nreturn y",
    "an argument that is written to by name": "y = torch.empty_like(x)\ntorch.add(x, x, out=y)\nreturn y / 2",
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_code_inside_the_subset_is_proved(computing, name):
    found = check_call(computing(READ[name], [x], x + 0 * x, head=HEAD), 0)
    assert (found.state, found.scope) == ("proved", "every shape"), found


# Questions that are answered differently by a trace, and are recorded: (the function, the shapes or conditions it is proved under).
RECORDED = {
    "a size as a number": ("return x * int(x.shape[0]) / x.shape[0]", "n = 1; n = 2; n = 3"),
    "a length": ("return x * len(x) / x.shape[0]", "n = 1; n = 2; n = 3"),
    "a size of a loop": ("y = 0 * x\nfor _ in range(x.shape[0]):\n    y = y + x / x.shape[0]\nreturn y", "n = 1; n = 2; n = 3"),
    "a size that is large": (DOUBLED.format("x.shape[0] > 100"), "100 >= n"),
    "one that is not met": (DOUBLED.format("x.shape[0] == 7"), "n != 7"),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDED)
def test_a_question_about_a_size_limits_the_shapes(computing, name):
    body, scope = RECORDED[name]
    found = check_call(computing(body, [x], x + 0 * x, head=HEAD), 0)
    assert (found.state, found.scope) == ("proved", scope), found


def test_a_question_about_numbers_is_a_condition(computing):
    for body in ("return x if x.sum() > 0 else 2 * x", "return x if x.sum().item() > 0 else 2 * x"):
        found = check_call(computing(body, [x], x + 0 * x, head=HEAD), 0)
        assert found.state == "proved" and any(
            one.startswith("sum(x[i], i = 1..n)") and "is positive" in one for one in found.conditions
        ), found


def test_the_file_and_the_line_are_named(computing):
    found = check_call(computing("return contiguous_sum(x) * x", [x], x + 0 * x, head=HEAD), 0)
    line = 1 + HEAD.split("\n").index("    return x.sum() if x.is_contiguous() else 2 * x.sum()")
    assert found.line == f"planted.py:{line}" and "'.is_contiguous' is not read as mathematics" in found.reason


def test_an_argument_that_another_snippet_computes_is_checked_too(computing):
    claim = computing("return 1 * x", [x], x + 0 * x, head=HEAD)
    inner = ("snippets.planted.contiguous_sum", x)
    assert list(called_functions(("snippets.planted.f", inner))) == ["snippets.planted.f", "snippets.planted.contiguous_sum"]
    assert witness.outside_subset(("snippets.planted.f", inner)).state == "not read"
    assert witness.outside_subset(claim.code[0]) is None


def test_what_the_functions_of_other_modules_call_is_checked_too():
    module = import_module("snippets.positions.alibi")  # whose `slopes` asks for the default dtype
    assert find_violation(module, "alibi_weights") is None
    assert find_violation(module, "slopes") == ("'.get_default_dtype'", find_violation(module, "slopes").line)
    assert find_violation(module, "absent") == ("'absent'", "positions/alibi.py")


def test_the_methods_of_a_class_are_checked_where_its_objects_come_from_outside(computing):
    head = (
        "import torch\nclass Cache:\n    def __init__(self):\n        self.rows = []\n    def kept(self, x):\n        return x.stride()\n"
    )
    computing("return y.kept(x)", [x, x], x + 0 * x, head=head)
    found = find_violation(sys.modules["snippets.planted"], "f")
    assert found == ("'.stride'", "planted.py:6")


def test_operations_are_those_that_return_tensors():
    others = ["stride", "is_contiguous", "equal", "item", "tolist", "data", "grad", "requires_grad", "backward", "_version", "none"]
    assert not any(map(returns_tensors, others))
    assert all(map(returns_tensors, ["exp", "matmul", "sum", "mT", "requires_grad_"]))


def test_beyond_its_threshold_softplus_is_the_number_itself(computing):
    body = "return x * torch.nn.functional.softplus(torch.full_like(x, 3.0), threshold=1.0)"
    assert check_call(computing(body, [x], x * log(1 + exp(3))), 0).state == "different"
    assert check_call(computing(body, [x], 3 * x), 0).state == "proved"


@pytest.mark.parametrize("size", [10, 60])
def test_a_branch_on_the_dtype_is_rejected_by_its_numbers(computing, size):
    claim = computing(f"return 2 * x if x.dtype == torch.float32 and x.shape[0] >= {size} else x", [x], x + 0 * x)
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match="in fp32"):
        numbers.witness(claim)
