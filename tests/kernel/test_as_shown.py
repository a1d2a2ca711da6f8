"""What `code=` names is the function of that name in its file: scripts in which a page would show one thing, and another one be run.

Each of them computes what the claim says, so the witnesses agree; it is refused since its lines say something else.
"""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

import snippets
from derivations.kernel import Derivation, index, ones, sizes, total, vector
from derivations.kernel.core.claims import Refused
from derivations.kernel.pytorch import witness as tw
from derivations.kernel.pytorch.snippet_arguments import names
from derivations.kernel.run import as_shown
from derivations.kernel.run.records import check_claim
from derivations.kernel.store import project_files

NAME = "snippets.planted.sums.shown"
HEAD = "import torch\nfrom torch import Tensor\n\n\n"
SHOWN = 'def shown(x: Tensor) -> Tensor:\n    """The sum of the entries."""\n    return x.mean()\n\n\n'
FAST = "def fast(x: Tensor) -> Tensor:\n    return x.sum()\n\n\n"
ASKS = "def shown(x: Tensor) -> Tensor:\n    return x.sum() if {} else x.mean()\n"
COMPILED = "def compiled(function):\n    return TABLE.get(function.__name__, function)\n\n\nTABLE = {'shown': fast}\n"
CALLS = "def shown(x: Tensor) -> Tensor:\n    return {}(x)\n\n\n"


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A function that writes modules `snippets.planted.NAME`, and gives a claim that names `shown` of `sums`."""
    (tmp_path / "planted").mkdir()
    monkeypatch.setattr(snippets, "__path__", [*snippets.__path__, str(tmp_path)])

    def plant(**texts):
        for name, text in texts.items():
            (tmp_path / "planted" / f"{name}.py").write_text(text)
        n = sizes("n")
        x, i = vector("x", n), index("i", n)
        derivation = Derivation("test")
        derivation.identity("sum", total(x[i], i), x @ ones(n), code=[(NAME, x)])
        importlib.invalidate_caches()
        return derivation.claims[-1]

    yield plant
    for name in [name for name in sys.modules if name.startswith("snippets.planted")]:
        del sys.modules[name]


# What is refused: the modules, and what is said of `sums`, or of the module that comes first
OTHERS = {
    "another one under its name": ({"sums": HEAD + SHOWN + FAST + COMPILED + "shown = compiled(shown)\n"}, 19, "'shown' is bound here and"),
    "another one, plainly": ({"sums": HEAD + SHOWN + FAST + "shown = fast\n"}, 14, "'shown' is bound here and on line 5"),
    "defined twice": ({"sums": HEAD + SHOWN + FAST.replace("fast", "shown")}, 10, "'shown' is bound here and on line 5"),
    "imported after": ({"sums": HEAD + SHOWN + "from snippets.planted.fast import shown\n", "fast": HEAD + FAST.replace("fast", "shown")}, 10,
                       "'shown' is bound here and on line 5"),
    "in a branch": ({"sums": HEAD + SHOWN + "if True:\n    def shown(x):\n        return x.sum()\n"}, 11, "'shown' is bound here and"),
    "in a loop": ({"sums": HEAD + SHOWN + FAST + "for shown in [fast]:\n    pass\n"}, 14, "'shown' is bound here and"),
    "in passing": ({"sums": HEAD + SHOWN + FAST + "print(shown := fast)\n"}, 14, "'shown' is bound here and"),
    "by a match": ({"sums": HEAD + SHOWN + FAST + "match fast:\n    case shown:\n        pass\n"}, 15, "'shown' is bound here and"),
    "by a function": ({"sums": HEAD + SHOWN + FAST + "def swap():\n    global shown\n    shown = fast\n\n\nswap()\n"}, 15, "'shown' is bound"),
    "by globals": ({"sums": HEAD + SHOWN + FAST + "globals()['shown'] = fast\n"}, 14, "'globals' can make a name mean something else"),
    "by setattr": ({"sums": "import sys\n" + HEAD + SHOWN + FAST + "setattr(sys.modules[__name__], 'shown', fast)\n"}, 15, "'setattr' can"),
    "by its module": ({"sums": "import sys\n" + HEAD + SHOWN + FAST + "sys.modules[__name__].shown = fast\n"}, 15, "'modules' can make"),
    "by a text": ({"sums": HEAD + SHOWN + "exec('def shown(x): return x.sum()')\n"}, 10, "'exec' can make a name"),
    "by who calls": ({"sums": "import sys\n" + HEAD + ASKS.format("sys._getframe(0)")}, 7, "'_getframe' tells a snippet more"),
    "by a prompt": ({"sums": "import sys\n" + HEAD + ASKS.format("not hasattr(sys, 'ps1')")}, 7, "'ps1' tells a snippet more"),
    "by where it lies": ({"sums": HEAD + ASKS.format("id(x)")}, 6, "'id' tells a snippet more"),
    "by its code": ({"sums": HEAD + SHOWN + FAST + "shown.__code__ = fast.__code__\n"}, 14, "'__code__' can make a name"),
    "by a decorator": ({"sums": HEAD + FAST + "def faster(function):\n    return fast\n\n\n@faster\n" + SHOWN}, 13, "'@faster' may put another"),
    "by a decorator of Python's": (
        {"sums": "import functools\n" + HEAD + FAST + "@functools.partial(lambda fast, shown: fast, fast)\n" + SHOWN}, 10, "'@functools.partial"),
    "imported": ({"sums": "from snippets.planted.fast import fast as shown\n", "fast": HEAD + FAST}, 0, "there is no function .*elsewhere"),
    "imported under its name": ({"sums": "from snippets.planted.fast import shown\n", "fast": HEAD + FAST.replace("fast", "shown")}, 0,
                                "there is no function .*elsewhere"),
    "by a value": ({"sums": HEAD + FAST + "shown = fast\n"}, 0, "there is no function .*elsewhere"),
    "a helper is another": ({"sums": HEAD + CALLS.format("added") + SHOWN.replace("shown", "added") + FAST + "added = fast\n"}, 18,
                            "'added' is bound here and on line 9"),
    "a helper is a value": ({"sums": HEAD + CALLS.format("mean") + "mean = torch.sum\n"}, 9, "'mean' is called like a function"),
    "a helper is a lambda": ({"sums": HEAD + CALLS.format("mean") + "mean = lambda x: x.sum()\n"}, 9, "'mean' is called like a function"),
    "a helper under another name": ({"sums": "from torch import sum as mean\n" + HEAD + CALLS.format("mean")}, 1, "'torch.sum' is called 'mean'"),
    "a module under another name": ({"sums": HEAD + "import snippets.planted.fast as means\n" + CALLS.format("means.fast"),
                                     "fast": HEAD + FAST}, 5, "'snippets.planted.fast' is called 'means'"),
    "a helper elsewhere": ({"sums": HEAD + "from snippets.planted.fast import mean\n" + CALLS.format("mean"),
                            "fast": HEAD + FAST.replace("fast", "mean") + "mean = mean\n"}, 9, "'mean' is bound here and"),
    "a helper further on": ({"sums": HEAD + "from snippets.planted import near\n" + CALLS.format("near.near"),
                             "near": "from snippets.planted.far import mean\n\n\ndef near(x):\n    return mean(x)\n",
                             "far": HEAD + FAST.replace("fast", "mean") + "mean = mean\n"}, 9, "'mean' is bound here and"),
    "everything of another": ({"sums": HEAD + "from snippets.planted.fast import *\n" + CALLS.format("fast"), "fast": HEAD + FAST}, 5, r"'\*' binds"),
    "a known name": ({"sums": HEAD + CALLS.format("max") + FAST.replace("fast", "max")}, 9, "'max' is something else to every reader"),
    "a known module": ({"sums": HEAD.replace("import torch\n", "from snippets.planted.own import torch\n") + CALLS.format("torch.mean"),
                        "own": "class torch:\n    @staticmethod\n    def mean(x):\n        return x.sum()\n"}, 1, "'torch' is something else"),
    "PyTorch's own": ({"sums": HEAD + SHOWN + "def fast(x, dim=None, **more):\n    return torch.einsum('i->', x)\n\n\nTensor.mean = fast\n"},
                      14, "'Tensor.mean' is written"),
    "of another from here": ({"sums": HEAD + "import snippets.planted.fast\n" + CALLS.format("snippets.planted.fast.mean")
                              + "snippets.planted.fast.mean = torch.sum\n", "fast": HEAD + SHOWN.replace("shown", "mean")}, 10,
                             "'snippets.planted.fast.mean' is written"),
    "a method": ({"sums": HEAD + "class Sum:\n    def mean(self, x):\n        return x.mean()\n\n\nSum.mean = lambda self, x: x.sum()\n\n\n"
                  "def shown(x):\n    return Sum().mean(x)\n"}, 10, "'Sum.mean' is written"),
    "a setter of one's own": ({"sums": HEAD + "class fast:\n    @staticmethod\n    def setter(function):\n        def inner(x):\n"
                              "            return x.sum()\n\n        return inner\n\n\n@fast.setter\n" + SHOWN}, 14, "'@fast.setter' may put another"),
    "a getter of one's own": ({"sums": HEAD + "class fast:\n    @staticmethod\n    def getter(function):\n        return lambda x: x.sum()\n\n\n"
                              "@fast.getter\n" + SHOWN}, 11, "'@fast.getter' may put another"),
    "a class for all that are made of it": (
        {"sums": HEAD + "class Base:\n    def __init_subclass__(cls):\n        cls.total = cls.other\n\n    def other(x):\n        return x.sum()\n\n\n"
         "class Sum(Base):\n    def total(x):\n        return x.mean()\n\n\n" + CALLS.format("Sum.total")}, 6, "'__init_subclass__' can make"),
    "a metaclass": ({"sums": HEAD + "class Kind(type):\n    pass\n\n\nclass Sum(metaclass=Kind):\n    def total(x):\n        return x.sum()\n\n\n"
                     + CALLS.format("Sum.total")}, 5, "'Kind' is a kind of classes"),
    "a method twice": ({"sums": HEAD + "class Sum:\n    def total(x):\n        return x.mean()\n\n    def total(x):\n        return x.sum()\n\n\n"
                        + CALLS.format("Sum.total")}, 9, "'total' is bound here and on line 6"),
    "a method that is another": ({"sums": HEAD + "class Sum:\n    def total(x):\n        return x.mean()\n\n    def other(x):\n        return x.sum()\n\n"
                                  "    total = other\n\n\n" + CALLS.format("Sum.total")}, 12, "'total' is bound here and on line 6"),
    "what is given to a function": ({"sums": HEAD + "def install(library):\n    library.mean = lambda x: x.sum()\n    return 1\n\n\nONE = install(Tensor)\n\n\n"
                                     + SHOWN}, 6, "'library.mean' is written"),
    "what a function calls its own": ({"sums": HEAD + "def install():\n    library = Tensor\n    library.mean = lambda x: x.sum()\n    return 1\n\n\n"
                                       "ONE = install()\n\n\n" + SHOWN}, 7, "'library.mean' is written"),
    "what a method is given as self": ({"sums": HEAD + "def install(self):\n    self.mean = lambda x: x.sum()\n    return 1\n\n\nONE = install(Tensor)\n\n\n"
                                        + SHOWN}, 6, "'self.mean' is written"),
    "a letter of another alphabet": ({"sums": HEAD + "class t\u043erch:\n    @staticmethod\n    def mean(x):\n        return x.sum()\n\n\n"
                                      + CALLS.format("t\u043erch.mean")}, 5, "'t\u043erch' has letters that are not ASCII"),
    "an order of writing": ({"sums": HEAD + SHOWN.replace("mean()", "sum()  # \u202e)(naem")}, 7, "a character that is not seen, U\\+202E"),
    "by a near name": ({"sums": HEAD + "from .fast import mean\n" + CALLS.format("mean"), "fast": HEAD + FAST.replace("fast", "mean")}, 5,
                       "write where it is imported from in full"),
    "by a package, from beside it": ({"__init__": "from .fast import mean\n", "fast": HEAD + FAST.replace("fast", "mean"),
                                      "sums": HEAD + "from snippets.planted import mean\n" + CALLS.format("mean")}, 1,
                                     "write where it is imported from in full"),
    "of another package": ({"sums": HEAD + "from tests.snippets.elsewhere import mean\n" + CALLS.format("mean"),}, 5,
                           "'tests.snippets.elsewhere' is no module that"),
}  # fmt: skip


@pytest.mark.parametrize("texts, line, said", OTHERS.values(), ids=OTHERS)
def test_what_is_run_in_place_of_what_is_shown_is_refused(planted, monkeypatch, texts, line, said):
    claim = planted(**texts)
    monkeypatch.setattr(torch.Tensor, "mean", torch.Tensor.mean)  # put back afterwards
    elsewhere = ModuleType("tests.snippets.elsewhere")
    elsewhere.mean = lambda x: x.sum()
    monkeypatch.setitem(sys.modules, "tests.snippets.elsewhere", elsewhere)
    assert tw.witness(claim)[0] == "agrees"  # so that it computes what is claimed
    with pytest.raises(Refused) as caught:
        check_claim(claim)
    message = str(caught.value)
    assert message.startswith(f"{claim.file}:{claim.line}: claim 'sum': ") and re.search(said, message), message
    assert not line or re.search(rf"planted/\w+\.py:{line}: ", message), message


def shown_by_a_script(module):
    module.shown = lambda x: x.sum()


def another_code(module):
    module.shown.__code__ = (lambda x: x.sum()).__code__


def wrapped(module):
    module.shown = torch.no_grad()(lambda x: x.sum())


def a_method(module):
    module.Sum.of = lambda self, x: x.sum()


def a_constant(module):
    module.shown.__code__ = module.shown.__code__.replace(co_consts=(None, "ij->"))


CHANGES = (shown_by_a_script, another_code, a_method, wrapped)  # PyTorch's own wrapper keeps a state, which the witness refuses


@pytest.mark.parametrize("change", CHANGES)
def test_what_another_puts_into_the_module_is_refused(planted, change):
    text = HEAD + "class Sum:\n    def of(self, x):\n        return torch.einsum('i->', x)\n\n\n" + CALLS.format("Sum().of")
    claim = planted(sums=text)
    as_shown.require_as_shown(claim)
    change(sys.modules["snippets.planted.sums"])
    assert change is wrapped or tw.witness(claim)[0] == "agrees"
    with pytest.raises(Refused, match=r"planted/sums\.py:(5|10): what is run as '(shown|Sum)' is not what these lines define; let nothing"):
        as_shown.require_as_shown(claim)


def test_another_constant_is_another_code(planted):
    claim = planted(sums=HEAD + "def shown(x):\n    return torch.einsum('i->', x)\n")
    as_shown.require_as_shown(claim)
    a_constant(sys.modules["snippets.planted.sums"])
    with pytest.raises(Refused, match="what is run as 'shown' is not what these lines define"):
        as_shown.require_as_shown(claim)


def test_a_statement_that_calls_is_refused(planted):
    claim = planted(sums=HEAD + "def install():\n    pass\n\n\nif True:\n    install()\n\n\n" + SHOWN.replace("mean", "sum"))
    with pytest.raises(Refused, match=r"planted/sums\.py:10: 'install\(\)' is called while the module is loaded"):
        as_shown.require_as_shown(claim)


def test_a_text_in_another_encoding_is_refused(planted):
    claim = planted(sums="# coding: utf-7\n" + HEAD + "HALF = 1  # +AAo-FULL = 2\n" + SHOWN)
    with pytest.raises(Refused, match=r"planted/sums\.py:1: this file is read as 'utf-7'"):
        as_shown.require_as_shown(claim)


@pytest.mark.parametrize("other", ["of", "within"])
def test_another_function_of_the_same_text_is_refused(planted, other):
    """Its code is in the text, under another name or on another line."""
    text = "class Other:\n    def of(self, x):\n        return x.sum()\n\n    def within(self, x):\n        return x.sum()\n\n\n"
    claim = planted(sums=HEAD + text + "class Sum:\n    def of(self, x):\n        return x.sum()\n\n\n" + CALLS.format("Sum().of"))
    as_shown.require_as_shown(claim)
    module = sys.modules["snippets.planted.sums"]
    module.Sum.of = vars(module.Other)[other]
    with pytest.raises(Refused, match=r"planted/sums\.py:13: what is run as 'Sum' is not what these lines define"):
        as_shown.require_as_shown(claim)


GOOD = {
    "a property that is set": HEAD + "class Sum:\n    @property\n    def size(self):\n        return self._size\n\n    @size.setter\n"
    "    def size(self, value):\n        self._size = value\n\n    def of(self, x):\n        return x.sum()\n\n\n"
    + CALLS.format("Sum().of"),
    "a command": HEAD + SHOWN.replace("mean", "sum") + "if __name__ == '__main__':\n    print(1)\n",
    "letters in texts": HEAD + SHOWN.replace("mean", "sum").replace("The", "Schr\u00f6der's \u2211: the"),
    "itself": HEAD + SHOWN.replace("mean", "sum"),
    "with a helper": HEAD + CALLS.format("fast") + FAST,
    "a helper before": HEAD + FAST + CALLS.format("fast"),
    "a class": HEAD + "class Sum:\n    size = 0\n\n    def __init__(self):\n        self.one = 1\n\n    @staticmethod\n    def of(x):\n"
    "        return x.sum()\n\n    @property\n    def two(self):\n        return 2\n\n\n" + CALLS.format("Sum().of"),
    "a constant": HEAD
    + "PAIR = (1, 0)\nFIRST, SECOND = PAIR\n\n\ndef shown(x):\n    parts = [0, 0]\n    parts[0] = x * FIRST\n    return parts[0].sum()\n",
    "a function within": HEAD + "def shown(x):\n    def inner(y):\n        return y.sum()\n\n    return inner(x)\n",
    "a lambda within": HEAD + "def shown(x):\n    return (lambda y: y.sum())(x)\n",
    "a name of a function's own": HEAD + "def shown(x):\n    fast = x.sum()\n    return fast\n\n\n" + FAST,
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_what_is_shown_stays_accepted(planted, text):
    claim = planted(sums=text)
    assert tw.witness(claim)[0] == "agrees"
    assert check_claim(claim)["code"] == [NAME]


def test_a_helper_without_gradients_is_what_it_shows(planted):
    claim = planted(sums=HEAD + CALLS.format("fast") + "@torch.no_grad()\n" + FAST)
    as_shown.require_as_shown(claim)


def test_a_snippet_among_the_arguments_of_another_is_asked_too():
    n = sizes("n")
    x = vector("x", n)
    derivation = Derivation("test")
    derivation.identity("a", x + x, 2 * x, code=[("snippets.a.b.c[0]", ("snippets.a.b.d", x), {"by": ("snippets.e.f.g", x)})])
    assert as_shown.named(derivation.claims[-1]) == ["snippets.a.b.c", "snippets.a.b.d", "snippets.e.f.g"]


@pytest.mark.slow
def test_every_module_of_the_site_is_what_it_shows():
    files = [path for path in sorted((project_files.ROOT / "snippets").rglob("*.py")) if path.name != "__init__.py"]
    assert len(files) > 40
    for path in files:
        module = importlib.import_module(".".join(path.relative_to(project_files.ROOT).with_suffix("").parts))
        assert Path(as_shown.file_of(module)) == path
        as_shown.refuse_text(str(path), path.read_text())
        as_shown.refuse_held(module)


def test_calls_within_calls_and_within_what_they_are_given_by_name_are_seen():
    code = [("snippets.a.f", ("snippets.a.g", 1), {"by": [("snippets.a.h", {"to": ("snippets.a.k",)})], "word": "other.a.l"})]
    assert list(names(code)) == ["snippets.a.f", "snippets.a.g", "snippets.a.h", "snippets.a.k"]
