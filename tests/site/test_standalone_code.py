"""Test that the one file of each page's code runs alone, has all that it uses and nothing else, and computes what the snippets compute."""

import ast
import doctest
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site import PageError, Source, page_lint, standalone_code
from derivations.kernel.site.included_regions import read_snippet

ROOT = Path(__file__).parents[2]
QUICK = ("attention/formula", "heads/module", "io/flash", "layers/swiglu", "order/rotary")  # their examples run in every test run

# Runs each file in a namespace of its own, where no snippet can be imported. Prints errors, and names that a function would not find.
RUN_ALONE = """
import builtins, dis, json, sys, types

class NoSnippets:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("snippets", "attention_snippets", "derivations"):
            raise ImportError(f"{name} is not there")

def find_missing(code, known):
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME") and one.argval not in known and not hasattr(builtins, one.argval):
            yield one.argval
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from find_missing(inner, known | set(inner.co_names) if inner.co_flags & 2 == 0 else known)

sys.meta_path.insert(0, NoSnippets())
said = {}
for name, text in json.load(sys.stdin).items():
    module = sys.modules["page"] = types.ModuleType("page")
    code = compile(text, name, "exec")
    try:
        exec(code, module.__dict__)
        said[name] = sorted(set(find_missing(code, set(module.__dict__))))
    except Exception as error:
        said[name] = [f"{type(error).__name__}: {error}"]
print(json.dumps(said))
"""


def source(topic, text=None):
    path = ROOT / "docs" / f"{topic}.md"
    return Source(path.read_text(encoding="utf-8") if text is None else text, ROOT / "docs", path)


@cache
def code_of(topic):
    return standalone_code.make_code(source(topic), title=topic)


@cache
def topics():
    """Return the topics whose pages have a file."""
    found = [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in page_lint.read_pages(ROOT)]
    return [topic for topic in found if code_of(topic)]


def run_alone(files, folder):
    done = subprocess.run([sys.executable, "-I", "-c", RUN_ALONE], input=json.dumps(files), capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return {name: wrong for name, wrong in json.loads(done.stdout).items() if wrong}


def test_each_file_runs_alone(tmp_path):
    assert len(topics()) > 70 and {"together/gpt", "seeing/recall"} <= {*topics()}
    assert run_alone({topic: code_of(topic) for topic in topics()}, tmp_path) == {}


def test_file_that_does_not_run_alone_is_found(tmp_path):
    files = {
        "a snippet": "from snippets.io.split import merge\n",
        "a name": "def f():\n    return [later(k) for k in g()]\n\n\ndef g():\n    return 1\n",
        "a base": "class A(B):\n    pass\n",
        "nothing": "import torch\n\n\nclass A:\n    b = 1\n    c = b\n\n    def d(self):\n        return torch.ones(1)\n",
    }
    assert {*run_alone(files, tmp_path)} == {"a snippet", "a name", "a base"}
    assert run_alone(files, tmp_path)["a name"] == ["later"]


def test_files_have_no_unused_import_and_no_name_twice(tmp_path):
    for topic in topics():
        (tmp_path / f"{topic.replace('/', '_')}.py").write_text(code_of(topic), encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", "--ignore", "F722", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


# The same results --------------------------------------------------------------------------------------------------------------------


def take_from_file(example, names):
    """Return an import of snippets that takes from the file what the file has."""
    (node,) = ast.parse(example).body
    pairs = [(one.name, one.asname or one.name) for one in node.names]
    taken = [f"{bound} = FILE[{name!r}]" if name in names else f"from {node.module} import {name} as {bound}" for name, bound in pairs]
    return "; ".join(taken) + "\n"


def failures(module, text):
    """Return what doctest reports for the examples of a module with the functions of a file, and how many examples there are."""
    names: dict = {"__name__": "file"}
    exec(compile(text, "file", "exec"), names)
    docstring = read_snippet(ROOT, module).docstring
    examples = doctest.DocTestParser().get_examples(docstring)
    for example in examples:
        if example.source.startswith("from snippets."):
            example.source = take_from_file(example.source, names)
    test = doctest.DocTest(examples, {**names, "FILE": names}, module, None, 0, docstring)
    said: list = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said), len(examples)


@pytest.mark.parametrize("topic", QUICK)
def test_functions_of_a_file_give_the_results_of_the_examples(topic):
    said, count = failures(topic, code_of(topic))
    assert said == "" and count > 5


def others():
    """Return (page, module) for the other pages, with each module that a page shows and that has examples."""
    pages = [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in page_lint.read_pages(ROOT)]
    shown = {page: {one.file for one in standalone_code.find_shown(source(page))} for page in pages if page not in QUICK}
    pairs = [(page, file.removeprefix("snippets/").removesuffix(".py")) for page, files in shown.items() for file in sorted(files)]
    return [(page, module) for page, module in pairs if ">>>" in read_snippet(ROOT, module).docstring]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "module"), others())
def test_functions_of_each_other_file_give_the_results_of_the_examples(page, module):
    said, count = failures(module, code_of(page))
    assert said == "" and count > 0


def test_function_that_computes_something_else_is_found():
    wrong = code_of("attention/formula").replace("** -0.5", "** -0.25")
    assert wrong != code_of("attention/formula") and "Expected:" in failures("attention/formula", wrong)[0]


# What a file has ---------------------------------------------------------------------------------------------------------------------


def test_file_has_what_the_page_shows_and_what_that_uses():
    text = code_of("io/flash")
    assert text.startswith(
        '"""The code of the page “io/flash” in one file.\n\nIt needs PyTorch and jaxtyping: pip install torch jaxtyping.'
    )
    tree = ast.parse(text)
    assert [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))] == [
        "import torch",
        "from jaxtyping import Float",
        "from torch import Tensor",
    ]
    defined = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert {"scores", "upcast", "flash_attention"} <= {*defined} and "attention_2d" not in defined
    assert (
        text.index("\n# From snippets/attention/formula.py\n")
        < text.index("\nscores_of = scores\n")
        < text.index("\n# From snippets/io/flash")
    )
    assert "--8<--" not in text and "snippets." not in text


def test_modules_have_the_same_order_in_each_process():
    """The order of a set of strings differs between processes."""
    print_order = """from derivations.kernel.site import Source, standalone_code
from derivations.kernel.store.project_files import ROOT
path = ROOT / "docs/heads/module.md"
print([*standalone_code.PageCode(Source(path.read_text(encoding="utf-8"), ROOT / "docs", path)).modules()])"""
    orders = [
        subprocess.run(
            [sys.executable, "-c", print_order],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in "123"
    ]
    assert len({*orders}) == 1 and "snippets/heads/module.py" in orders[0]


def test_code_that_reads_files_is_left_out_and_named():
    text = code_of("seeing/recall")
    words = " ".join(ast.get_docstring(ast.parse(text)).split())
    assert words.endswith("Left out, because it reads files that lie beside the code in the site's repository: load.")
    assert "def recall_by_hand(" in text and "def load(" not in text and "DIGEST" not in text
    assert "write_text, stored, text," in " ".join(code_of("together/gpt").split()) and "class GPT(" in code_of("together/gpt")


def test_pages_without_code_and_pages_for_contributors_have_no_file():
    assert code_of("glossary") == code_of("contributing/language") == code_of("contributing/snippets") == ""


# Two modules of a small library, and a page that shows the second.
FIRST = "from torch import tensor\n\nSIZE = 1\n\n\n# What it is.\ndef half(x):\n    return x / 2 + tensor(SIZE)\n"
SECOND = "{imports}\n\n\n# --8<-- [start:use]\ndef use(x):\n    {body}\n\n\n# --8<-- [end:use]\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes the file of a page that shows `use` of a module with the given imports and body."""

    def write(imports, body="return half(x)"):
        (tmp_path / "snippets" / "a").mkdir(parents=True, exist_ok=True)
        (tmp_path / "snippets/a/first.py").write_text(FIRST)
        (tmp_path / "snippets/a/second.py").write_text(SECOND.format(imports=imports, body=body))
        path = tmp_path / "docs" / "a" / "second.md"
        text = '# Two\n\n```python\n--8<-- "snippets/a/second.py:use"\n```\n'
        return standalone_code.make_code(Source(text, tmp_path / "docs", path), title="Two")

    monkeypatch.setattr(standalone_code, "ROOT", tmp_path)
    return write


def test_file_of_two_modules(written):
    text = written("from snippets.a.first import half")
    assert text.partition('MIT.\n"""')[2] == (
        "\n\nfrom torch import tensor\n\n\n# From snippets/a/first.py\n\n\nSIZE = 1\n\n\n# What it is.\ndef half(x):\n"
        "    return x / 2 + tensor(SIZE)\n\n\n# From snippets/a/second.py\n\n\ndef use(x):\n    return half(x)\n"
    )


@pytest.mark.parametrize(
    ("imports", "body", "said"),
    [
        (
            "from snippets.a.first import half\nSIZE = 2",
            "return half(x) + SIZE",
            "'SIZE' means snippets.a.first.SIZE and snippets.a.second.SIZE",
        ),
        (
            "from snippets.a.first import half\nfrom math import tau as tensor",
            "return half(tensor)",
            "'tensor' means torch.tensor and math.tau",
        ),
        ("import snippets.a.first", "return snippets.a.first.half(x)", "uses 'snippets' of snippets.a.first; import it by its name"),
        ("from snippets.a import first", "return first.half(x)", "uses 'first' of snippets.a; import it by its name"),
        ("", "from snippets.a.first import half; return half(x)", "uses 'half' of snippets.a.first; import it by its name, at the top"),
    ],
)
def test_code_that_does_not_fit_into_one_file_is_rejected(written, imports, body, said):
    with pytest.raises(PageError) as caught:
        written(imports, body)
    assert "snippets/a/second.py:" in caught.value.message and said in caught.value.message


@pytest.mark.parametrize(
    ("imports", "body"),
    [
        ("from pathlib import Path\n\nHERE = Path(__file__).parent", "return (HERE / 'a').read_text()"),
        ("from importlib.resources import files", "return files('snippets.a')"),
        ("from importlib import resources", "return resources.files('snippets.a')"),
        ("import importlib.resources", "return importlib.resources.files('snippets.a')"),
        ("", "from importlib.resources import files; return files('snippets.a')"),
    ],
)
def test_code_that_reads_files_is_recognized(written, imports, body):
    assert written(imports, body) == ""


# On the site -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_page_links_its_notebook_and_its_file(built):
    def links(topic):
        page = BeautifulSoup((built / topic / "index.html").read_text(encoding="utf-8"), "html.parser")
        return {one["href"]: one.text for one in page.select(".downloads a[download]")}

    assert links("scaling/variance") == {"variance.ipynb": "This page as a notebook", "variance.py": "The code as one file"}
    assert links("together/gpt") == {"gpt.py": "The code as one file"} and links("glossary") == {}
    for topic, name in (("scaling/variance", "variance.py"), ("together/gpt", "gpt.py")):  # below the blocks, where their code is copied
        page = BeautifulSoup((built / topic / "index.html").read_text(encoding="utf-8"), "html.parser")
        found = [line.select_one("a[download]") for line in page.select("p:has(> a.whole-file)")]
        assert found and all(one and (one["href"], one.text) == (name, "as one file") for one in found)
    assert "class GPT(" in (built / "together/gpt/gpt.py").read_text(encoding="utf-8")
