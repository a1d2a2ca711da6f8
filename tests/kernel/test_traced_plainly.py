"""Code that is proved is written plainly. An adversary's code, each of which was proved once: it asks what leaves no trace, or who reads it."""

import pytest

from derivations.kernel import exp, log, matrix, sizes, vector
from derivations.kernel.core.claims import Refused
from derivations.kernel.pytorch import witness as numbers
from derivations.kernel.traced.plainly import gives_tensors
from derivations.kernel.traced.witness import asked

n, m = sizes("n m")
x, A = vector("x", n), matrix("A", n, m)
HEAD = """
import collections
import io
import itertools
import json
import logging
import operator
import string
from torch.fx.experimental.symbolic_shapes import is_concrete_int
import torch
import torch.nn.functional as F
DOZEN = 12
ASKS = {"which": lambda n: n == DOZEN and not hasattr(n, "node")}
KINDS = (isinstance, type)
QUEUE = collections.deque()
ENDING = itertools.cycle([1] * 5000 + [2])
NUMBERS = (2.0, 3.0)
class Asks:
    how = type
    def same(self, n):
        return n is DOZEN
def second(x, which=lambda n: isinstance(n, int)):
    return 2 * x if which(x.shape[0]) and x.shape[0] == DOZEN else x
def among(**kinds):
    return kinds["dtype"]
def helper(x):
    return 2 * x if x.stride(0) == 3 else x
"""
TWICE = "return 2 * x if {} else x"
NOT_PLAIN = {
    "the format": TWICE.format("x.dtype == torch.float32 and x.shape[0] > 9"),
    "the format by its name": "kind = x.dtype\nreturn 2 * x if kind == torch.bfloat16 else x",
    "the format by a table": TWICE.format("{torch.float32: x.shape[0] > 9}.get(x.dtype, False)"),
    "bytes of an entry": TWICE.format("x.itemsize == 4 and x.shape[0] > 9"),
    "steps": TWICE.format("x.stride(0) == 3"),
    "steps, by a helper": "return helper(x)",
    "one piece": TWICE.format("not x.is_contiguous()"),
    "where it begins": TWICE.format("x.storage_offset() > 1"),
    "are gradients kept": TWICE.format("not torch.is_grad_enabled()"),
    "is a gradient asked for": TWICE.format("x.requires_grad and x.shape[0] == 6"),
    "made by an operation": TWICE.format("x.grad_fn is not None and x.shape[0] == 6"),
    "by default": TWICE.format("torch.get_default_dtype() == torch.float64 and x.shape[0] in (5, 7)"),
    "where it is": TWICE.format("x.device.type == 'cuda'"),
    "how often it was written": TWICE.format("x._version > 1"),
    "a queue": "QUEUE.append(1)\nreturn x if len(QUEUE) < 5000 else 2 * x",
    "a cycle": TWICE.format("next(ENDING) == 2"),
    "by a pattern": "match x.shape[0]:\n    case int():\n        return 2 * x if x.shape[0] == 12 else x\nreturn x",
    "by a method": TWICE.format("Asks().same(x.shape[0])"),
    "by what a class holds": TWICE.format("Asks.how(x.shape[0]) == int and x.shape[0] == 12"),
    "by what a table holds": TWICE.format('ASKS["which"](x.shape[0])'),
    "by another name": TWICE.format("KINDS[0](x.shape[0], int) and x.shape[0] == 12"),
    "by what is given by default": "return second(x)",
    "by a name in a text": TWICE.format("operator.attrgetter('__class__')(x.shape[0]) == int and x.shape[0] == 12"),
    "by PyTorch's own": TWICE.format("is_concrete_int(x.shape[0]) and x.shape[0] == 12"),
    "by a text": TWICE.format("string.Template('$a').substitute(a=x.shape[0]) == '12'"),
    "by what fails": "try:\n    json.dumps([x.shape[0]])\nexcept TypeError:\n    return x\nreturn 2 * x if x.shape[0] == 12 else x",
    "by a number of it": TWICE.format("int.bit_length(3) == 2 and round(x.shape[0], -9) == 0 and x.shape[0] == 12"),
    "by a name behind": TWICE.format("x.shape[0].__module__ == 'builtins' and x.shape[0] == 12"),
    "by what only it has": "return 2 * x if 'constant' in dir(x) else x",
    "who calls": "logging.getLogger().findCaller(stacklevel=1)\nreturn x",
    "a name that is its own elsewhere": "def other(isinstance):\n    return isinstance\n"
    + TWICE.format("isinstance(x.shape[0], int) and x.shape[0] == 12"),
    "an import that is its own elsewhere": "def other(is_concrete_int):\n    return is_concrete_int\n"
    + TWICE.format("is_concrete_int(x.shape[0]) and x.shape[0] == 12"),
    "a format kept in a table": TWICE.format("dict(dtype=x.dtype)['dtype'] == dict(dtype=torch.float32)['dtype']"),
    "a format among keywords": TWICE.format("among(dtype=x.dtype) == among(dtype=torch.float32)"),
    "a format that two have": TWICE.format("torch.promote_types(x.dtype, torch.float32) == torch.promote_types(torch.float32, torch.float32)"),
    "a format that is named": "wide = torch.promote_types(x.dtype, torch.bfloat16)\nother = torch.promote_types(torch.float32, torch.float32)\n"
    + TWICE.format("wide == other"),
    "in a text": "return x * len(f'{x.shape[0]}') / len(f'{x.shape[0]}')",
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_code_that_asks_otherwise_than_by_operations_is_not_proved(computing, name):
    said = asked(computing(NOT_PLAIN[name], [x], x + 0 * x, head=HEAD), 0)
    assert said.state in ("not read", "different"), said


PLAIN = {
    "numbers of its module": "return x * NUMBERS[0] / DOZEN * 6",
    "a kind that is handed on": "return x * torch.ones(x.shape, dtype=x.dtype, device=x.device)",
    "is it a truth value": "if x.dtype == torch.bool:\n    return x\nreturn 1 * x",
    "what is raised": "if not x.is_floating_point():\n    raise TypeError(f'no floats: {x.dtype}')\nreturn x * 1",
    "with more digits": "y = x.float() if x.itemsize < 4 else x\nreturn y.to(x.dtype)",
    "a kind that is named": "wide = torch.promote_types(x.dtype, torch.float32)\nreturn torch.exp(x.to(wide)).log().to(x.dtype)",
    "None": "other = None\nreturn x if other is None else 2 * x",
    "a function within": "def twice(y):\n    return 2 * y\nreturn twice(x) / 2",
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_code_that_is_written_plainly_is_proved(computing, name):
    said = asked(computing(PLAIN[name], [x], x + 0 * x, head=HEAD), 0)
    assert said.state == "proved", said


def test_what_is_not_plain_is_named_with_its_line(computing):
    said = asked(computing("return helper(x)", [x], x + 0 * x, head=HEAD), 0)
    assert "'.stride'" in said.reason and said.line == "planted.py:27"


def test_operations_are_those_that_give_tensors():
    given = {name for name in ("exp", "matmul", "sum", "mT", "stride", "is_contiguous", "equal", "item", "backward", "_version", "none")
             if gives_tensors(name)}  # fmt: skip
    assert given == {"exp", "matmul", "sum", "mT"}


def test_beyond_its_threshold_softplus_is_the_number_itself(computing):
    body = "return x * torch.nn.functional.softplus(torch.full_like(x, 3.0), threshold=1.0)"
    assert asked(computing(body, [x], x * log(1 + exp(3))), 0).state == "different"
    assert asked(computing(body, [x], 3 * x), 0).state == "proved"


@pytest.mark.parametrize("size", [10, 60])
def test_code_is_run_in_fewer_digits_at_larger_sizes_too(computing, size):
    claim = computing(f"return 2 * x if x.dtype == torch.float32 and x.shape[0] >= {size} else x", [x], x + 0 * x)
    with pytest.raises(Refused, match="in fp32"):
        numbers.witness(claim)


HOLDING = HEAD + (
    "import random\nBYTES, TEXT, OWN = bytearray(), io.StringIO(), random.Random(7)\n"
    "class Slot:\n    __slots__ = ('k',)\nSLOT = Slot()\nSLOT.k = 0\n"
)


KEEPERS = {
    "a queue": ("QUEUE.append(1)\nreturn x if len(QUEUE) < 5000 else 2 * x"),
    "a cycle": "return 2 * x if next(ENDING) == 2 else x",
    "bytes": "BYTES.append(1)\nreturn x",
    "a text": "TEXT.write('a')\nreturn x",
    "random numbers of its own": "OWN.random()\nreturn x",
    "a place": "SLOT.k += 1\nreturn x",
}


@pytest.mark.parametrize("name", KEEPERS)
def test_what_is_kept_in_an_object_of_another_kind_is_seen(computing, name):
    with pytest.raises(Refused, match="keeps something from one call to the next"):
        numbers.witness(computing(KEEPERS[name], [x], x + 0 * x, head=HOLDING))


def test_of_what_goes_on_as_it_is_asked_nothing_is_seen_and_none_is_kept(computing):
    head = HEAD + "MADE = (k for k in range(10**9))\n"
    with pytest.raises(Refused, match="keeps something from one call to the next"):
        numbers.witness(computing("next(MADE)\nreturn x", [x], x + 0 * x, head=head))


def test_what_holds_such_objects_and_leaves_them_alone_is_accepted(computing):
    assert numbers.witness(computing("return x", [x], x + 0 * x, head=HOLDING))[0] == "agrees"


SWAPPED = """
import numpy as np
import torch
OLD = np.random.get_bit_generator()
class MT19937(np.random.MT19937):
    ctypes = OLD.ctypes
np.random.set_bit_generator(MT19937(1))
"""


def test_a_generator_that_passes_for_another_is_none_of_numpy_s(computing):
    import numpy

    before = numpy.random.get_bit_generator()
    try:
        claim = computing("np.random.rand(3)\nreturn x", [x], x + 0 * x, head=SWAPPED)
        with pytest.raises(Refused, match="draws at random"):
            numbers.witness(claim)
    finally:
        numpy.random.set_bit_generator(before)
