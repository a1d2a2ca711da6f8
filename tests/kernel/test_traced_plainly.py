"""Code that is proved is written plainly. An adversary's code, each of which was proved once: it asks what leaves no trace, or who reads it."""

import re
import sys
from types import ModuleType

import pytest

from derivations.kernel import exp, log, matrix, sizes, vector
from derivations.kernel.core.claims import Refused
from derivations.kernel.pytorch import witness as numbers
from derivations.kernel.traced.python_subset import gives_tensors
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
NUMBERS = (2.0, 3.0)
def among(**kinds):
    return kinds["dtype"]
def helper(x):
    return 2 * x if x.stride(0) == 3 else x
"""
NEEDS = {  # what stands before code that names it
    "ASKS": 'ASKS = {"which": lambda n: n == DOZEN and not hasattr(n, "node")}',
    "KINDS": "KINDS = (isinstance, type)",
    "QUEUE": "QUEUE = collections.deque()",
    "ENDING": "ENDING = itertools.cycle([1] * 5000 + [2])",
    "Asks": "class Asks:\n    how = type\n    def same(self, n):\n        return n is DOZEN",
    "second": "def second(x, which=lambda n: isinstance(n, int)):\n    return 2 * x if which(x.shape[0]) and x.shape[0] == DOZEN else x",
}


def before(body: str) -> str:
    return HEAD + "".join(f"{text}\n" for name, text in NEEDS.items() if re.search(rf"\b{name}\b", body))


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
    said = asked(computing(NOT_PLAIN[name], [x], x + 0 * x, head=before(NOT_PLAIN[name])), 0)
    assert said.state in ("not read", "different"), said


# Of another round: (what stands before the function, the function's lines).
SEEN = "seen = []\n"
MORE_NOT_PLAIN = {
    "the gradient that was found": ("", "return x if x.grad is None else 2 * x"),
    "the order of texts": ("", "order = tuple({'a', 'b', 'c'})\nreturn x if order else 2 * x"),
    "a text that others are put into": ("", TWICE.format("'Fake' not in '%s' % (x,) and x.shape[0] == 12")),
    "such a text of the module": ("FORM = '%s'", "return x if FORM % (x,) else 2 * x"),
    "such bytes": ("", "return x if b'%a' % (x,) else 2 * x"),
    "a module of a module": ("import dataclasses", TWICE.format("dataclasses.inspect.builtins.isinstance(x.shape[0], int)")),
    "a module taken of a module": ("from dataclasses import inspect", TWICE.format("inspect.builtins.isinstance(x.shape[0], int)")),
    "whose function it is": ("import math\nfrom math import sqrt", TWICE.format("sqrt == math.sqrt and x.shape[0] == 12")),
    "whose function it is, by default": (
        "import math\ndef own(x, exp=math.exp):\n    return 2 * x if exp == math.exp and x.shape[0] == 12 else x", "return own(x)",
    ),
    "in what is raised": (
        "", f"{SEEN}def ask(_):\n    raise StopIteration(seen.append(x.stride(0)))\nlist(map(ask, (1,)))\n{TWICE.format('seen[0] == 3')}",
    ),
    "in what an error comes from": ("", f"{SEEN}if x.shape[0] < 0:\n    raise ValueError('a') from seen.append(1)\nreturn x"),
    "in an annotation": (
        "", f"{SEEN}def ask(y: seen.append(x.stride(0))):\n    return y\nreturn ask(2 * x if seen[0] == 3 else x)",
    ),
    "in what a function is said to give": (
        "", f"{SEEN}def ask(y) -> seen.append(x.stride(0)):\n    return y\nreturn ask(2 * x if seen[0] == 3 else x)",
    ),
    "in a class within": ("", f"{SEEN}class Within:\n    k: int = 0\nreturn x"),
    "a frame, by a class's names": (
        "class Names:\n    gi_frame: int = 0\n    f_back: int = 0\n    f_code: int = 0",
        "box = []\nbox.append((box[0].gi_frame.f_back.f_code for _ in (1,)))\nreturn x if list(box[0]) else 2 * x",
    ),
    "a function of PyTorch's, by a class's name": (
        "class Names:\n    get_num_threads: int = 0", f"t = torch\n{TWICE.format('t.get_num_threads() == 3')}",
    ),
    "a module by another name": ("", "t = torch\nreturn t.exp(x).log()"),
    "what stops an error": (
        "class Quiet:\n    def no_grad(self):\n        return self\n    def __enter__(self):\n        return self\n"
        "    def __exit__(self, a, b, c):\n        return True",
        f"{SEEN}with Quiet().no_grad():\n    seen.append(1)\nreturn x",
    ),
    "what stands around is named": ("", "with torch.no_grad() as seen:\n    y = 1 * x\nreturn y"),
    "a list that is given by default": (
        "def keeps(x, seen=[[[0]]]):\n    seen[0][0].append(1)\n    return 2 * x if len(seen[0][0]) > 10**6 else x", "return keeps(x)",
    ),
    "a table that is given by default": (
        "def keeps(x, seen={'a': 0}):\n    seen['a'] = 1 - seen['a']\n    return x", "return keeps(x)",
    ),
    "a function that is given by default": (
        "def keeps(x, g=lambda k, seen=[0]: seen.append(k) or len(seen)):\n    return 2 * x if g(1) > 10**6 else x", "return keeps(x)",
    ),
    "a list that a class holds": (
        "class Keeps:\n    seen: list = [[[[[0]]]]]", "Keeps.seen[0][0][0][0].append(1)\nreturn x",
    ),
    "a format by default": ("", f"same = lambda k=x.dtype, o=torch.float32: k == o\n{TWICE.format('same() and x.shape[0] == 12')}"),
    "a format by a method": (
        "class Same:\n    def to(self, k, o):\n        return k == o", TWICE.format("Same().to(x.dtype, torch.float32) and x.shape[0] == 12"),
    ),
    "which thing it is, by a list": ("", "z = x.sum() * 0\nreturn x if z.to(x.dtype) in [z] else 2 * x"),
    "what is done where numbers are compared": (
        "class Like:\n    def __eq__(self, other):\n        return True", "return x if Like() == x.shape[0] else 2 * x",
    ),
}  # fmt: skip


CONCRETE = "from torch.fx.experimental.symbolic_shapes import is_concrete_int as "
LIES = "lambda t: t.stride(0) == 3"
# (what stands before the function, its lines): a name that is something else than its text says, and what is kept beside.
NOT_PLAIN_AROUND = {
    "a number, and an import of the name": (f"K = 0\n{CONCRETE}K", TWICE.format("K(x.shape[0]) and x.shape[0] == 12")),
    "a function, and an import of the name": (f"def ask(k):\n    return False\n{CONCRETE}ask", TWICE.format("ask(x.shape[0]) and x.shape[0] == 12")),
    "a name in a loop": (f"K = 0\nfor K in [{LIES}]:\n    pass", TWICE.format("K(x)")),
    "a function, and another of the name": (f"def ask(t):\n    return False\nask = {LIES}", TWICE.format("ask(x)")),
    "a function that is defined where something holds": (
        "def ask(t):\n    return False\nif True:\n    def ask(t):\n        return t.stride(0) == 3", TWICE.format("ask(x)"),
    ),
    "a name of Python's": (f"if True:\n    max = {LIES}", TWICE.format("max(x)")),
    "a name of PyTorch's": ("class O:\n    def exp(self, t):\n        return t.stride(0)\nfor torch in [O()]:\n    pass", TWICE.format("torch.exp(x) == 3")),
    "the code of a function": (f"def g(t):\n    return False\ng.__code__ = ({LIES}).__code__", TWICE.format("g(x)")),
    "a method that is put in": ("class K:\n    k: int = 0\nK.size = lambda self, t: t.stride(0)", TWICE.format("K().size(x) == 3")),
    "an operation that is put in": (f"torch.celu = {LIES}", TWICE.format("torch.celu(x)")),
    "an operation that is put in by a value": (f"K = setattr(torch, 'celu', {LIES})", TWICE.format("torch.celu(x)")),
    "one that is put in by a default": (f"def other(x, y=setattr(torch, 'celu', {LIES})):\n    return x", TWICE.format("torch.celu(x)")),
    "one that is put in before a function": (
        f"@(lambda f: setattr(torch, 'celu', {LIES}) or f)\ndef other(x):\n    return x", TWICE.format("torch.celu(x)"),
    ),
    "one that is put in by a function": (
        f"def put(x):\n    torch.celu = {LIES}\n    return 1\nK = put(0)", TWICE.format("torch.celu(x)"),
    ),
    "one that is put in by a class": (f"class C:\n    setattr(torch, 'celu', {LIES})", TWICE.format("torch.celu(x)")),
    "one that is put in by what a class says": (f"class C:\n    k: setattr(torch, 'celu', {LIES}) = 0", TWICE.format("torch.celu(x)")),
    "one that is put in by what a module says": (f"K: setattr(torch, 'celu', {LIES}) = 0", TWICE.format("torch.celu(x)")),
    "a text that is evaluated": (
        "import typing\ndef g(y: 'int if t.stride(0) == 3 else float'):\n    return y",
        TWICE.format("typing.get_type_hints(g, None, dict(t=x)).get('y') == int"),
    ),
    "what a class counts": ("class K:\n    k: int = 0", f"K.k += 1\n{TWICE.format('K.k > 10**5')}"),
    "what a function counts": ("class K:\n    k: int = 0\ndef g(x):\n    return x\ng.k = 0", f"g.k += 1\n{TWICE.format('g.k > 10**5')}"),
    "what Python's counts": ("from typing import cast\ncast.seen = 0", f"cast.seen += 1\n{TWICE.format('cast.seen > 10**5')}"),
    "what PyTorch's counts": (
        "class K:\n    seen: int = 0\ntorch.nn.Module.seen = 0", f"M = torch.nn.Module\nM.seen += 1\n{TWICE.format('M.seen > 10**5')}",
    ),
    "what a field counts": (
        "import dataclasses\n@dataclasses.dataclass\nclass K:\n    default: int = 0",
        f"k = dataclasses.fields(K)[0]\nk.default += 1\n{TWICE.format('k.default > 10**5')}",
    ),
    "a format, by what an object is given": (
        "class Box:\n    k: int = 0", f"b = Box()\nb.to = lambda k, o: k == o\n{TWICE.format('b.to(x.dtype, torch.float32) and x.shape[0] == 12')}",
    ),
    "a format, by a field": (
        "import dataclasses\n@dataclasses.dataclass\nclass Box:\n    to: object",
        TWICE.format("Box(lambda k, o: k == o).to(x.dtype, torch.float32) and x.shape[0] == 12"),
    ),
    "a format, in what is replaced": (
        "import dataclasses\n@dataclasses.dataclass\nclass Box:\n    dtype: object",
        TWICE.format("dataclasses.replace(Box(0), dtype=x.dtype) == dataclasses.replace(Box(0), dtype=torch.float32) and x.shape[0] == 12"),
    ),
    "a copy, or not": ("", "a = 1 * x\nb = a.float()\nb.mul_(2)\nreturn a"),
    "a copy, or not, that is added to": ("", "a = 1 * x\nb = a.double()\nb += b\nreturn a / 2"),
    "a copy, or not, by a function": ("", "a = 1 * x\nb = torch.as_tensor(a, dtype=torch.float64)\nb.mul_(2)\nreturn a / 2"),
}  # fmt: skip


@pytest.mark.parametrize("head, body", [*MORE_NOT_PLAIN.values(), *NOT_PLAIN_AROUND.values()], ids=[*MORE_NOT_PLAIN, *NOT_PLAIN_AROUND])
def test_code_that_asks_by_another_door_or_is_not_what_its_text_says_is_not_proved(computing, head, body):
    said = asked(computing(body, [x], x + 0 * x, head=f"import torch\n{head}\n"), 0)
    assert said.state in ("not read", "different"), said


def test_whether_one_is_made_of_another_is_not_asked(computing):
    body = "x.requires_grad_()\ny.requires_grad_()\ng = torch.autograd.grad(y.sum(), x, allow_unused=True)[0]\nreturn x if g is None else 2 * x"
    for way in (body, body.replace("allow_unused=True", "None, None, False, True")):
        assert asked(computing(way, [x, vector("y", n)], x + 0 * vector("y", n)), 0).state != "proved"


def test_a_function_of_another_module_hands_no_format_on_by_its_name(computing, monkeypatch, tmp_path):
    other = ModuleType("snippets.other")
    other.__file__ = str(tmp_path / "other.py")
    text = "import torch\ndef tensor(k):\n    return k == torch.float32\n"
    (tmp_path / "other.py").write_text(text)
    exec(compile(text, other.__file__, "exec"), vars(other))
    monkeypatch.setitem(sys.modules, "snippets.other", other)
    body = TWICE.format("other.tensor(x.dtype) and x.shape[0] == 12")
    assert asked(computing(body, [x], x + 0 * x, head="import torch\nimport snippets.other as other\n"), 0).state != "proved"


PLAIN = {
    "numbers of its module": "return x * NUMBERS[0] / DOZEN * 6",
    "a kind that is handed on": "return x * torch.ones(x.shape, dtype=x.dtype, device=x.device)",
    "is it a truth value": "if x.dtype == torch.bool:\n    return x\nreturn 1 * x",
    "what is raised": "if not x.is_floating_point():\n    raise TypeError(f'no floats: {x.dtype}')\nreturn x * 1",
    "with more digits": "y = x.float() if x.itemsize < 4 else x\nreturn y.to(x.dtype)",
    "a kind that is named": "wide = torch.promote_types(x.dtype, torch.float32)\nreturn torch.exp(x.to(wide)).log().to(x.dtype)",
    "None": "other = None\nreturn x if other is None else 2 * x",
    "a number that is none of several": "return x if 0 in x.shape else 1 * x",
    "what is given by default": "def times(y, by=2.0, kind=torch.float64, one=F.relu):\n    return y * by / DOZEN\nreturn times(x) * 6",
    "without gradients": "with torch.no_grad():\n    y = 2 * x\nreturn y / 2",
    "a function within": "def twice(y):\n    return 2 * y\nreturn twice(x) / 2",
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_code_that_is_written_plainly_is_proved(computing, name):
    said = asked(computing(PLAIN[name], [x], x + 0 * x, head=HEAD), 0)
    assert said.state == "proved", said


def test_what_is_not_plain_is_named_with_its_line(computing):
    said = asked(computing("return helper(x)", [x], x + 0 * x, head=HEAD), 0)
    assert "'.stride'" in said.reason and said.line == "planted.py:17"


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
