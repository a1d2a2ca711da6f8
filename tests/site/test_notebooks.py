"""Test that the notebook of a page has all of the page's content and runs by itself."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from derivations.kernel.site import Source, page_notebooks

ROOT = Path(__file__).parents[2]
TRIED = ("scaling/variance", "softmax/jacobian", "heads/module", "inference/cache", "serving/paged")  # the last two read data
PLAIN = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", "OMP_NUM_THREADS": "1"}

# Runs a notebook in an empty folder and prints the output of each cell.
RUN = """import json, sys
import nbformat
from nbclient import NotebookClient

book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=600, kernel_name="python3").execute()
print(json.dumps([cell.outputs for cell in book.cells if cell.cell_type == "code"]))
"""


def source(topic):
    path = ROOT / "docs" / f"{topic}.md"
    return Source(path.read_text(encoding="utf-8"), ROOT / "docs", path)


def book_of(topic, **more):
    return nbformat.reads(page_notebooks.make_notebook(source(topic), **more), as_version=4)


def said(outputs):
    """Return the output of a cell as text; an error is given by its name."""
    return "".join("".join(one.get("text") or one.get("data", {}).get("text/plain", "") or one.get("ename", "")) for one in outputs).strip()


def run(path, folder):
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([sys.executable, "-I", "-c", RUN, path], cwd=folder, capture_output=True, text=True, env=known | PLAIN)
    assert done.returncode == 0, done.stderr[-3000:]
    return [said(outputs) for outputs in json.loads(done.stdout)]


@pytest.mark.slow
@pytest.mark.parametrize("topic", TRIED)
def test_notebook_runs_by_itself_and_prints_the_output_on_the_page(topic, tmp_path):
    path = tmp_path / "page.ipynb"
    path.write_text(page_notebooks.make_notebook(source(topic)), encoding="utf-8")
    shown = [said(cell.outputs) for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert run(path, tmp_path) == shown and sum(map(bool, shown)) >= 1


@pytest.mark.slow
def test_failing_cell_is_found(tmp_path):
    path = tmp_path / "page.ipynb"
    text = page_notebooks.make_notebook(source("scaling/variance"))
    path.write_text(text.replace("def draw(", "def drawn(", 1), encoding="utf-8")
    with pytest.raises(AssertionError, match="draw"):
        run(path, tmp_path)


def test_notebook_has_the_prose_claims_code_and_exercises_of_the_page():
    book = book_of("scaling/variance", address="https://example.org/scaling/variance/")
    words = "\n\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    code = [cell.source for cell in book.cells if cell.cell_type == "code"]
    assert words.startswith("# Why attention scores are divided by √d_k") and "pip install torch jaxtyping" in words
    assert "**Theorem [(1)](https://example.org/scaling/variance/#scaled).** *After division by the root" in words
    assert "$$\n\\begin{aligned}\n\\operatorname{Var}\\left(\\frac{q \\cdot k}{\\sqrt{d}}\\right) &= " in words
    assert "1. a constant factor leaves a variance squared\n" in words
    assert "### Exercise 2. The variance of a score for a fixed query" in words and "**Solution**" in words and "**In practice**" in words
    assert re.search(r"\[softmax passes much\s+less\s+gradient\s+back\]\(https://example\.org/scaling/saturation/\)", words)
    assert "[Vaswani et al. (2017)](https://example.org/bibliography/#vaswani-2017)" in words
    assert not any(sign in words for sign in ("///", "--8<--", ".md)", ".md#", "{ ."))
    assert any(one.startswith("from jaxtyping") and "def scores(" in one for one in code) and not any(">>>" in one for one in code[1:])


def test_notebook_asks_for_missing_assumptions_and_lines():
    def words(name):
        return "\n\n".join(cell.source for cell in book_of(name).cells if cell.cell_type == "markdown")

    assert "Without one of its assumptions, this fails at $E_{1}" in words("heads/split")
    assert r"\boxed{?}" in words("blocks/merge")


def test_notebook_needs_no_packages_of_the_site():
    first = next(cell.source for cell in book_of("scaling/variance").cells if cell.cell_type == "code")
    names: dict = {}
    exec(first.partition("\n\nfor name")[0].partition("import types\n")[2], names)
    assert list(names["SOURCES"])[0] == "snippets" and "snippets.attention.formula" in names["SOURCES"]
    assert names["SOURCES"]["snippets.attention.formula"].count("def scores(") == 1


def test_links_become_plain_text_without_a_site_url():
    words = "\n".join(cell.source for cell in book_of("scaling/variance").cells)
    assert "Vaswani et al. (2017), section 3.2.1" in words and "**Theorem (1).**" in words


def test_data_that_the_code_reads_is_part_of_the_notebook():
    sources = page_notebooks.find_modules(page_notebooks.read_code(source("inference/cache")))
    text = (ROOT / "snippets/seeing/atlas.json").read_text(encoding="utf-8")
    assert page_notebooks.find_data(sources) == {"snippets/seeing/atlas.json": text}


def test_pages_without_code_or_with_code_that_reads_weights_have_no_notebook():
    assert not page_notebooks.has_notebook(source("seeing/atlas")) and not page_notebooks.has_notebook(source("together/gpt"))
    assert not page_notebooks.has_notebook(source("glossary")) and not page_notebooks.has_notebook(source("contributing/language"))
    assert page_notebooks.has_notebook(source("scaling/variance"))


EXAMPLE = """>>> a = 1
>>> a
1
>>> print(a)
1
>>> for k in range(2):
...     k
0
1
>>> 1 / 0
Traceback (most recent call last):
ZeroDivisionError: division by zero
>>> b = 2
"""


def test_example_is_split_after_each_output():
    cells = list(page_notebooks.make_example_cells(EXAMPLE))
    assert [cell.source for cell in cells] == ["a = 1\na", "print(a)", "for k in range(2):\n    k", "1 / 0", "b = 2"]
    assert [one.output_type for cell in cells for one in cell.outputs] == ["execute_result", "stream", "stream", "error"]
    assert cells[3].metadata["tags"] == ["raises-exception"] and cells[3].outputs[0].ename == "ZeroDivisionError"
