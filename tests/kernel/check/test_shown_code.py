"""The code that a claim names is the code that a page shows: the check or ruff finds an author's mistakes."""

import importlib
import re
import subprocess
import sys

import pytest
import torch

import snippets
from derivations.kernel import Derivation, index, ones, sizes, total, vector
from derivations.kernel.check import shown_code
from derivations.kernel.check.claim_records import check_claim
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch import witness as tw
from derivations.kernel.pytorch.snippet_arguments import snippet_names
from derivations.kernel.snippet_source import parse
from derivations.kernel.store import project_files
from tests.kernel.common import has_code

NAME = "snippets.planted.sums.shown"
HEAD = "import torch\nfrom torch import Tensor\n\n\n"
SHOWN = 'def shown(x: Tensor) -> Tensor:\n    """The sum of the entries."""\n    return x.mean()\n\n\n'
FAST = "def fast(x: Tensor) -> Tensor:\n    return x.sum()\n\n\n"
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


# Each computes what the claim says, so that the witnesses agree, and shows something else: the modules, the line, and the code of the error.
OTHERS = {
    "assigned after": ({"sums": HEAD + SHOWN + FAST + "shown = fast\n"}, 14, "bound-twice"),
    "defined twice": ({"sums": HEAD + SHOWN + FAST.replace("fast", "shown")}, 10, "bound-twice"),
    "imported after": ({"sums": HEAD + SHOWN + "from snippets.planted.fast import shown\n", "fast": HEAD + FAST.replace("fast", "shown")}, 10,
                       "bound-twice"),
    "in a branch": ({"sums": HEAD + SHOWN + "if True:\n    def shown(x):\n        return x.sum()\n"}, 10, "bound-twice"),
    "in a loop": ({"sums": HEAD + SHOWN + FAST + "for shown in [fast]:\n    pass\n"}, 14, "bound-twice"),
    "in an expression": ({"sums": HEAD + SHOWN + FAST + "print(shown := fast)\n"}, 14, "bound-twice"),
    "a function that declares it global": (
        {"sums": HEAD + SHOWN + FAST + "def swap():\n    global shown\n    shown = fast\n\n\nswap()\n"}, 5, "code-not-shown"),
    "a decorator": ({"sums": HEAD + FAST + "def faster(function):\n    return fast\n\n\n@faster\n" + SHOWN}, 13, "code-not-shown"),
    "a decorator that wraps": (
        {"sums": "import functools\n" + HEAD + "def doubled(function):\n    @functools.wraps(function)\n    def inner(x):\n"
         "        return function(x) * len(x)\n\n    return inner\n\n\n@doubled\n" + SHOWN}, 14, "code-not-shown"),
    "imported": ({"sums": "from snippets.planted.fast import fast as shown\n", "fast": HEAD + FAST}, 0, "snippet-not-found"),
    "imported under its name": ({"sums": "from snippets.planted.fast import shown\n", "fast": HEAD + FAST.replace("fast", "shown")}, 0,
                                "snippet-not-found"),
    "a value": ({"sums": HEAD + FAST + "shown = fast\n"}, 0, "snippet-not-found"),
    "a helper is another": ({"sums": HEAD + CALLS.format("added") + SHOWN.replace("shown", "added") + FAST + "added = fast\n"}, 18,
                            "bound-twice"),
    "a helper elsewhere": ({"sums": HEAD + "from snippets.planted.fast import mean\n" + CALLS.format("mean"),
                            "fast": HEAD + FAST.replace("fast", "mean") + "mean = mean\n"}, 9, "bound-twice"),
    "a helper further on": ({"sums": HEAD + "from snippets.planted import near\n" + CALLS.format("near.near"),
                             "near": "from .far import mean\n\n\ndef near(x):\n    return mean(x)\n",
                             "far": HEAD + FAST.replace("fast", "mean") + "mean = mean\n"}, 9, "bound-twice"),
    "a method that is replaced": ({"sums": HEAD + "class Sum:\n    def mean(self, x):\n        return x.mean()\n\n\n"
                                   "Sum.mean = lambda self, x: x.sum()\n\n\ndef shown(x):\n    return Sum().mean(x)\n"}, 5,
                                  "code-not-shown"),
    "a method that is another": ({"sums": HEAD + "class Sum:\n    def total(x):\n        return x.mean()\n\n    def other(x):\n        return x.sum()\n\n"
                                  "    total = other\n\n\n" + CALLS.format("Sum.total")}, 5, "code-not-shown"),
}  # fmt: skip


@pytest.mark.parametrize("texts, line, code", OTHERS.values(), ids=OTHERS)
def test_what_runs_in_place_of_what_is_shown_is_rejected(planted, texts, line, code):
    claim = planted(**texts)
    assert tw.witness(claim)[0] == "agrees"
    with pytest.raises(Rejected, check=has_code(code)) as caught:
        check_claim(claim)
    message = str(caught.value)
    assert message.startswith(f"{claim.file}:{claim.line}: claim 'sum': ")
    assert not line or re.search(rf"snippets/planted/\w+\.py:{line}: ", message), message


def assigned(module):
    module.shown = lambda x: x.sum()


def another_constant(module):
    module.shown.__code__ = module.shown.__code__.replace(co_consts=(None, "ij->"))


def another_method(module):
    module.Sum.of = module.Other.of


@pytest.mark.parametrize("change, line", [(assigned, 15), (another_constant, 15), (another_method, 10)])
def test_what_a_script_puts_into_the_module_is_rejected(planted, change, line):
    other = "class Other:\n    def of(self, x):\n        return x.sum()\n\n\n"
    text = (
        HEAD
        + other
        + "class Sum:\n    def of(self, x):\n        return x.sum()\n\n\n"
        + "def shown(x):\n    return torch.einsum('i->', x)\n"
    )
    claim = planted(sums=text)
    shown_code.require_shown_code(claim)
    change(sys.modules["snippets.planted.sums"])
    with pytest.raises(Rejected, check=has_code("code-not-shown"), match=rf"planted/sums\.py:{line}: "):
        shown_code.require_shown_code(claim)


def test_a_file_that_changed_since_it_was_imported_is_rejected(planted):
    claim = planted(sums=HEAD + SHOWN.replace("mean", "sum"))
    shown_code.require_shown_code(claim)
    planted(sums=HEAD + SHOWN)
    with pytest.raises(Rejected, check=has_code("code-not-shown")):
        shown_code.require_shown_code(claim)
    planted(sums=HEAD + "def shown(:\n")
    with pytest.raises(Rejected, check=has_code("not-python"), match=r"snippets/planted/sums\.py:5: "):
        shown_code.require_shown_code(claim)


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
    shown_code.require_shown_code(claim)
    module = sys.modules["snippets.planted.sums"]
    module.fast = torch.no_grad()(lambda x: x.sum())
    with pytest.raises(Rejected, check=has_code("code-not-shown"), match="'fast'"):
        shown_code.require_shown_code(claim)


def test_a_snippet_among_the_arguments_of_another_is_checked_too():
    n = sizes("n")
    x = vector("x", n)
    derivation = Derivation("test")
    derivation.identity("a", x + x, 2 * x, code=[("snippets.a.b.c[0]", ("snippets.a.b.d", x), {"by": ("snippets.e.f.g", x)})])
    assert shown_code.named_functions(derivation.claims[-1]) == ["snippets.a.b.c", "snippets.a.b.d", "snippets.e.f.g"]


@pytest.mark.slow
def test_every_module_of_the_site_is_what_it_shows():
    files = [path for path in sorted((project_files.ROOT / "snippets").rglob("*.py")) if path.name != "__init__.py"]
    assert len(files) > 40
    for path in files:
        snippet = parse(path.relative_to(project_files.ROOT).as_posix(), path.read_text())
        shown_code.check_module(snippet, importlib.import_module(snippet.module))


def test_calls_within_calls_and_within_what_they_are_given_by_name_are_seen():
    code = [("snippets.a.f", ("snippets.a.g", 1), {"by": [("snippets.a.h", {"to": ("snippets.a.k",)})], "word": "other.a.l"})]
    assert list(snippet_names(code)) == ["snippets.a.f", "snippets.a.g", "snippets.a.h", "snippets.a.k"]


# What ruff finds ----------------------------------------------------------------------------------------------------------------

MISTAKES = {
    "F811": "def f():\n    pass\n\n\ndef f():\n    return 1\n",
    "F403": "from torch import *\n",
    "S102": 'exec("f = 1")\n',
    "S307": 'f = eval("1")\n',
    "PLW0603": "f = 1\n\n\ndef g():\n    global f\n    f = 2\n",
}


@pytest.mark.parametrize("rule", MISTAKES)
def test_ruff_finds_in_a_snippet_what_hides_a_name(rule):
    run = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "--output-format",
        "concise",
        "--stdin-filename",
        "snippets/attention/planted.py",
        "-",
    ]
    found = subprocess.run(run, cwd=project_files.ROOT, input=MISTAKES[rule], capture_output=True, text=True)
    assert found.returncode == 1 and re.search(rf"planted\.py:\d+:\d+: {rule} ", found.stdout), found.stdout + found.stderr
