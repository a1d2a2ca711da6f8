"""Test that each page's code runs when it is pasted into a fresh interpreter beside the folder `snippets`, and gives the output shown.

Each file that a page shows whole must run alone.
"""

import ast
import doctest
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site import PageError, Source, added_imports, full_source, included_regions, page_lint
from derivations.kernel.site.included_regions import read_snippet
from derivations.kernel.snippet_source import parse

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("pasting.py")

# Pages that are not pasted, each with the reason.
LEFT_OUT = {
    "contributing/language.md": "its blocks are one script of claims, which needs the kernel; tests/kernel/language/test_recipes.py runs it",
}


def blocks_of(path, root=ROOT):
    return added_imports.read_blocks(Source(included_regions.read_text(path), root / "docs", path), root)


@cache
def pages():
    """Return the texts of the code blocks of each page that has any."""
    found = {path.relative_to(ROOT / "docs").as_posix(): blocks_of(path) for path in page_lint.read_pages(ROOT)}
    return {name: [block.text() for block in blocks] for name, blocks in found.items() if blocks}


@cache
def files():
    topics = [topic for topic in page_lint.topics_with_snippets(ROOT) if not topic.endswith("__init__")]
    return {f"snippets/{topic}.py": [read_snippet(ROOT, topic).without_marks] for topic in topics}


def copied(blocks):
    """Return what the copy buttons of a page's blocks copy."""
    return [full_source.find_copied_text(one) for one in blocks]


def results(python, jobs, folder):
    """Return what pasting.py reports for each job (a kind, a name and texts). Assert that it used that Python's snippets."""
    done = subprocess.run([python, "-I", SCRIPT], input=json.dumps(jobs), capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    places = {place for *_, place in said}
    assert all(Path(place).is_relative_to(python.parents[1]) for place in places), places
    return {(kind, name): one for kind, name, one, _ in said}


def jobs():
    found = {name: blocks for name, blocks in pages().items() if name not in LEFT_OUT}
    return [
        *(("blocks", name, blocks) for name, blocks in found.items()),
        *(("typed", name, copied(blocks)) for name, blocks in found.items()),
        *(("file", name, texts) for name, texts in files().items()),
    ]


def outputs(blocks):
    """Return the expected output of a page's examples at a prompt: printed lines, and the last line of each error."""
    wants = [one.want for block in blocks if ">>>" in block for one in doctest.DocTestParser().get_examples(block)]
    return "".join(one for one in wants if not is_error(one)), [one.splitlines()[-1] for one in wants if is_error(one)]


def is_error(want):
    return want.startswith("Traceback")


def errors(said):
    """Return the last lines of the errors that a prompt reported, or all lines of an error that ends inside a text."""
    return re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception|Warning|Exit|Interrupt)\b.*", said, re.M)


@pytest.fixture(scope="module")
def pasted(with_snippets, tmp_path_factory):
    return results(with_snippets, jobs(), tmp_path_factory.mktemp("empty"))


def test_all_pages_with_code_are_pasted_except_the_listed_ones():
    assert len(pages()) >= 46 and LEFT_OUT.keys() <= pages().keys()


@pytest.mark.parametrize("name", sorted(pages().keys() - LEFT_OUT))
def test_pasted_page_runs_from_top_to_bottom(name, pasted):
    assert pasted["blocks", name] == []


@pytest.mark.parametrize("name", sorted(pages().keys() - LEFT_OUT))
def test_copied_page_runs_at_the_plain_prompt(name, pasted):
    out, wrong = pasted["typed", name]
    assert (out, errors(wrong)) == outputs(pages()[name]), wrong


@pytest.mark.parametrize("name", sorted(files()))
def test_whole_file_runs_alone(name, pasted):
    assert pasted["file", name] == []


def test_failing_code_is_found(with_snippets, tmp_path):
    pages = {
        "no name": ["def f():\n    return torch.ones(1)\n", ">>> f()\ntensor([1.])\n"],
        "no name at once": ["half = torch.tensor(0.5)\n"],
        "other output": ["def f():\n    return 1\n", ">>> f()\n2\n"],
        "not kept": [">>> one = 1\n", ">>> one\n1\n"],
        "not in the package": ["from snippets.ruff import toml\n"],
        "of the repository": ["import derivations\n"],
        "a file": ["open('README.md')\n"],
    }
    files = {
        "one.py": ['"""\n>>> one()\n2\n"""\n\n\ndef one():\n    return 1\n'],
        "two.py": ['"""\n>>> two()\n2\n"""\n\n\ndef two():\n    return 2\n'],
    }
    jobs = [*(("blocks", *one) for one in pages.items()), *(("file", *one) for one in files.items())]
    assert [name for (_, name), wrong in results(with_snippets, jobs, tmp_path).items() if not wrong] == ["not kept", "two.py"]


SPLIT = """class Two:
    \"\"\"Two.

    Of them.
    \"\"\"

    def one(self):
        return 1

    def text(self):
        a = (1,

             2)

        return a, '''one

two''', f"{self.one()}"


two = Two()
"""


def test_empty_lines_do_not_break_copied_code_at_a_prompt(with_snippets, tmp_path):
    shown = [
        SPLIT,
        ">>> two.text()\n((1, 2), 'one\\n\\ntwo', '1')\n>>> Two.__doc__.split()\n['Two.', 'Of', 'them.']\n>>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: division by zero\n",
    ]
    broken = [SPLIT, *copied(shown[1:])]
    typed = results(
        with_snippets, [("typed", "copied", copied(shown)), ("typed", "by hand", broken), ("typed", "no name", ["a", "1"])], tmp_path
    )
    out, wrong = typed["typed", "copied"]
    assert (out, errors(wrong)) == outputs(shown) and len(errors(wrong)) == 1
    assert len(errors(typed["typed", "by hand"][1])) > 3
    assert typed["typed", "no name"][0] == "1\n" and errors(typed["typed", "no name"][1]) == ["NameError: name 'a' is not defined"]


def test_copied_code_differs_from_shown_code_only_in_spaces_of_empty_lines():
    for name, blocks in pages().items():
        for block in blocks:
            told = full_source.extract_typed_code(block) if ">>>" in block else block
            assert [line.rstrip() for line in full_source.find_copied_text(block).split("\n")] == [
                line.rstrip() for line in told.split("\n")
            ], name
            assert name in LEFT_OUT or ast.dump(ast.parse(full_source.find_copied_text(block))) == ast.dump(ast.parse(told)), name


# The code on the built pages --------------------------------------------------------------------------------------------


def shown(html):
    """Return the code that a built page shows, without whole files, and the code that its buttons copy."""
    soup = BeautifulSoup(html, "html.parser")
    found = [one for one in soup.select(".language-python, .language-pycon") if not one.find_parent(class_="whole-file")]
    return [one.get_text() for one in found], [one["data-copy"] for one in found]


def at(site, name):
    place = Path(name).with_suffix("")
    return site / (place.parent if place.name == "index" else place) / "index.html"


@pytest.mark.parametrize("generator", ["built", "zensical"])
def test_built_pages_show_the_code_that_is_pasted_here(generator, request):
    site = request.getfixturevalue(generator)
    for name, blocks in ((name, blocks) for name, blocks in pages().items() if name not in LEFT_OUT):
        code, buttons = shown(at(site, name).read_text(encoding="utf-8"))
        assert [one.strip() for one in code] == [one.strip() for one in blocks], name
        assert [one.strip() for one in buttons] == [one.strip() for one in copied(blocks)], name
        assert not any(">>>" in one for one in buttons)


@pytest.mark.parametrize("generator", ["built", "zensical"])
def test_each_file_is_linked_and_shown_unchanged(generator, request):
    site, links = request.getfixturevalue(generator), 0
    read = cache(lambda path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser"))
    for name in pages().keys() - LEFT_OUT:
        soup = read(at(site, name).resolve())
        wanted = {block.place.topic for block in blocks_of(ROOT / "docs" / name)}
        assert {one.code.text for one in soup.select("a.whole-file")} == {f"snippets/{topic}.py" for topic in wanted}, name
        for link in soup.select("a.whole-file, .nn a"):
            path, _, identifier = link["href"].partition("#")
            target = at(site, name).parent / path / "index.html" if path else at(site, name)
            folded = read(target.resolve()).find(id=identifier)
            file = f"{link.text.removeprefix('The whole file: ').replace('.', '/').removesuffix('/py')}.py"
            assert folded.pre.get_text().strip() == parse(file, (ROOT / file).read_text()).without_marks.strip(), (name, link)
            links += 1
    assert links > 100


def test_whole_file_has_no_marks_and_runs():
    for name, (text,) in files().items():
        assert "--8<--" not in text
        kept = [line for line in (ROOT / name).read_text().splitlines() if line and "--8<--" not in line]
        assert [line for line in text.splitlines() if line] == kept, name


# Imports of a block ---------------------------------------------------------------------------------------------------------

FILE = '''"""About halves.

--8<-- [start:first]
>>> from snippets.a.b import half
>>> z = half(4)
>>> z
2

--8<-- [end:first]

--8<-- [start:second]
>>> half(z)
1

--8<-- [end:second]

--8<-- [start:hides]
>>> scale = 8
>>> scale + 1
9

--8<-- [end:hides]

--8<-- [start:example-scaled]
>>> scaled(3)
6

--8<-- [end:example-scaled]
"""

import math
import os.path as paths
from collections.abc import Callable
from functools import partial, reduce

import torch
from torch import Tensor, nn

from snippets.a.c import other as another

SIDE = 2


# --8<-- [start:half]
def half(a: int) -> int:
    return a // 2


# --8<-- [end:half]


# --8<-- [start:quarter]
def quarter(a: int) -> int:
    return half(half(a))


# --8<-- [end:quarter]


# --8<-- [start:scaled]
def scaled(a: int) -> int:
    return scale(a)


# --8<-- [end:scaled]


def scale(a: int) -> int:
    return SIDE * a


# --8<-- [start:many]
class Many(nn.Module):
    """Of all kinds."""

    size = len("ab")

    def forward(self, x: Tensor, apply: Callable = partial) -> Tensor:
        numbers = [math.sqrt(k) for k in range(self.size)]
        return torch.tensor(numbers) + another(x) + SIDE + reduce(max, (y for y in x))


# --8<-- [end:many]


# --8<-- [start:nowhere]
def nowhere():
    return nothing + 1


# --8<-- [end:nowhere]
'''


@pytest.fixture
def site(tmp_path):
    """Return a function that returns the blocks of a page that shows the given sections in order."""
    (tmp_path / "docs" / "a").mkdir(parents=True)
    (tmp_path / "snippets" / "a").mkdir(parents=True)
    snippet, page = tmp_path / "snippets/a/b.py", tmp_path / "docs/a/b.md"
    snippet.write_text(FILE)

    def make(*sections, change=("", "")):
        snippet.write_text(FILE.replace(*change, 1))
        page.write_text("# Halves\n\n" + "\n\n".join(f'```python\n--8<-- "snippets/a/b.py:{name}"\n```' for name in sections) + "\n")
        return blocks_of(page, tmp_path)

    make.root = tmp_path
    return make


def refusal(make, *sections, **more):
    with pytest.raises(PageError) as caught:
        make(*sections, **more)
    return caught.value.format_message()


def test_block_begins_with_exactly_the_imports_that_it_needs(site):
    (block,) = site("many")
    assert block.text().startswith(
        "import math\n"
        "from collections.abc import Callable\n"
        "from functools import partial, reduce\n"
        "\n"
        "import torch\n"
        "from torch import Tensor, nn\n"
        "\n"
        "from snippets.a.b import SIDE\n"
        "from snippets.a.c import other as another\n"
        "\n"
        "\n"
        "class Many(nn.Module):\n"
    )


def test_names_of_earlier_blocks_are_not_imported_again(site):
    assert [block.head for block in site("half", "quarter")] == [(), ()]
    assert [block.head for block in site("quarter", "half")] == [("from snippets.a.b import half", "", ""), ()]
    assert [block.head for block in site("first", "quarter")] == [(), ()]


def test_example_sees_names_of_earlier_examples(site):
    assert [block.head for block in site("first", "second")] == [(), ()]
    assert refusal(site, "second") == (
        "docs/a/b.md:3: snippets/a/b.py:12 uses 'half', which the code before it on this page does not define, or defines otherwise; "
        "add '>>> from snippets.a.b import half' to that example"
    )
    assert "snippets/a/b.py:12 uses the 'z' of line 5, which this page does not show before it" in refusal(
        site, "second", change=(">>> half(z)", ">>> z")
    )


def test_example_with_rebound_name_is_rejected(site):
    changed = (">>> scale = 8\n>>> scale", ">>> z = 8\n>>> z")
    assert len(site("first", "second", "hides", change=changed)) == 3
    assert "uses the 'z' of line 5" in refusal(site, "first", "hides", "second", change=changed)


def test_example_that_imports_a_pasted_name_again_passes(site):
    """The pasted `scaled` would find a number in place of its function."""
    changed = ("\n>>> scaled(3)", "\n>>> from snippets.a.b import scaled\n>>> scaled(3)")
    assert len(site("scaled", "scaled", change=changed)) == 2
    assert site("scaled")[0].head == ("from snippets.a.b import scale", "", "")


def test_undefined_name_is_an_error_with_file_and_line(site):
    assert refusal(site, "half", "nowhere") == (
        f"docs/a/b.md:7: snippets/a/b.py:{FILE[: FILE.index('def nowhere')].count(chr(10)) + 1} uses 'nothing', which that file does not "
        "define; import it there, or define it"
    )


def test_syntax_error_is_reported_with_its_line(site):
    assert "is not Python" in refusal(site, "half", change=("SIDE = 2", "SIDE = = 2"))


# Comparison with ruff------------------------------------------------------------------------------------------------------------


def ruff(texts, rules, folder):
    """Return what ruff reports for pieces of code: undefined names, unused imports, and imports in another order."""
    for name, text in texts.items():
        (folder / f"{re.sub(r'[^a-z0-9]', '_', name)}.py").write_text(text)
    settings = ["--isolated", "--no-cache", "--output-format", "concise", "--config", "lint.isort.known-first-party=['snippets']"]
    command = [sys.executable, "-m", "ruff", "check", "--select", rules, *settings, "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stdout.splitlines() if ".py:" in line]


def test_ruff_finds_no_unused_or_unsorted_import(tmp_path):
    heads = {}
    for name in pages().keys() - LEFT_OUT:
        for block in blocks_of(ROOT / "docs" / name):
            heads |= {} if block.example else {f"{name} {block.place.first}": block.text()}
    assert ruff(heads, "F401,I001", tmp_path) == []
    found = ruff({"planted": "import torch\nimport math\n\nmath.sqrt(1)\n"}, "F401,I001", tmp_path)
    assert len(heads) > 100 and [line.split()[1] for line in found] == ["I001", "F401"]


def test_ruff_finds_no_undefined_name(tmp_path):
    texts = {
        name: "\n".join(full_source.extract_typed_code(one) if ">>>" in one else one for one in blocks) for name, blocks in pages().items()
    }
    assert ruff({name: text for name, text in texts.items() if name not in LEFT_OUT}, "F821", tmp_path) == []
    assert len(ruff({"planted": "print(nothing)\n"}, "F821", tmp_path)) == 1
