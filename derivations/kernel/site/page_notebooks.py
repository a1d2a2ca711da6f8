"""Convert a page to a self-contained Jupyter notebook: its prose, its claims as LaTeX, its code in order, its exercises.

The code is that of the page (added_imports.py). The snippets that it imports, and the data that these read, are in a setup cell, so the
notebook needs only PyTorch and jaxtyping. An example ends a cell after each line with output, and the notebook contains the output that the page shows.
"""

import ast
import posixpath
import re
from collections.abc import Iterator
from doctest import Example
from functools import lru_cache
from urllib.parse import urljoin

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ..snippet_source import Snippet, doctest_examples, parse
from ..store.project_files import ROOT
from . import claim_formats
from .added_imports import CodeBlock, read_blocks
from .claim_html import label_kind
from .course_boxes import find_answer
from .exercise_questions import list_question
from .front_matter import blank_front_matter
from .full_source import is_compound
from .included_regions import RECIPES, snippet_library
from .page import Page
from .page_source import RANKS, Opening, Source

EXCLUDED = ("contributing/",)  # these pages are about the checker
READS_DATA = re.compile(r'Path\(__file__\)\.parent / "([\w.]+\.(?:json|toml))"')  # the file becomes part of the notebook
READS_FILES = re.compile(r"__file__|\bimportlib(\.| import )resources\b")  # code that reads other files does not run in a notebook

_CLOSING = re.compile(r"[ \t]*/{3,}[ \t]*")
_ATTRIBUTES = re.compile(r"\{[ :][^}]*\}")
_LINK = re.compile(r"(\[[^\]]*\])\(([^)\s]+)\)")
_INTRO = """*This notebook is [a page of {site}]({address}), where each claim says who vouches for it. It needs PyTorch and jaxtyping:*
`pip install torch jaxtyping`"""
_MODULES = """# What this page's code imports of the site's snippets, so that the notebook runs by itself.
import sys
import types

SOURCES = {sources}
{data}
for name, source in SOURCES.items():
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []{file}
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    exec(compile(source, name, "exec"), module.__dict__)"""
_DATA = """
# The files that they read.
import tempfile
from pathlib import Path

DATA = {data}
FOLDER = Path(tempfile.mkdtemp())
for name, text in DATA.items():
    (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text(text, encoding="utf-8")
"""
_FILE = """
    module.__file__ = str(FOLDER / f"{name.replace('.', '/')}.py")"""


def notebook_name(source: Source) -> str:
    """Return the file name of a page's notebook. The page must come from a file."""
    path, _ = source.location
    assert path
    return f"{path.stem}.ipynb"


def has_notebook(source: Source) -> bool:
    """Return whether a page has a notebook: it shows code, and everything that this code imports can be part of the notebook."""
    page = source.path_in_docs
    if not page or page.startswith(EXCLUDED) or "--8<--" not in source.text:
        return False
    code = read_code(source)
    sources = (READS_DATA.sub("", text) for text in find_modules(code).values())
    return bool(code) and all(block.place.topic != RECIPES for block in code) and not any(map(READS_FILES.search, sources))


def make_notebook(source: Source, address: str = "", repository: str = "") -> str:
    """Return the notebook as JSON. `address` is the page's address, without which links become plain text."""
    source = blank_front_matter(source)
    code, page = read_code(source), Page(source, repository)
    cells = list(_CellConverter(page, address).cells(code))
    needed = find_modules(code)
    intro = new_markdown_cell(_INTRO.format(site="a site about attention", address=address) if address else _INTRO.split("\n")[1])
    hidden = {"jupyter": {"source_hidden": True}}
    setup = [new_code_cell(write_setup(needed), metadata=hidden)] if needed else []
    book = new_notebook(cells=[*cells[:1], intro, *setup, *cells[1:]], metadata=_KERNEL)
    for number, cell in enumerate(book.cells):
        cell.id = f"cell-{number}"  # fixed ids make the file reproducible
    nbformat.validate(book)
    return nbformat.writes(book)


_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}


def read_code(source: Source) -> list[CodeBlock]:
    """Return the code blocks of a page."""
    return read_blocks(source, ROOT)


# What the code imports ----------------------------------------------------------------------------------------------------------------


def find_modules(code: list[CodeBlock]) -> dict[str, str]:
    """Return the sources of the snippet modules that code imports, directly or through others, by name. Each comes after its own imports."""
    found: dict[str, str] = {}
    for block in code:
        for name in find_imported_modules(parse("", extract_code(block.text()))):
            _add_module(name, found)
    return found


def _add_module(name: str, found: dict[str, str]) -> None:
    """Add a module to `found`, after its parent packages and the modules that it imports. Packages get no source."""
    if name in found:
        return
    parent = name.rpartition(".")[0]
    if parent:
        _add_module(parent, found)
    snippet = snippet_library(ROOT).find(name)
    if name in found:
        return
    if snippet is None or snippet.is_package:
        found[name] = ""
        return
    for needed in find_imported_modules(snippet):
        if needed != name:
            _add_module(needed, found)
    found[name] = snippet.without_marks


def extract_code(text: str) -> str:
    """Return the code of a block, without the prompts and output of examples."""
    return "".join(example.source for example in doctest_examples(text)) if ">>>" in text else text


def find_imported_modules(code: Snippet) -> list[str]:
    """Return the full names of the snippet modules that code imports."""
    try:
        origins = [one.origin for one in code.imports if one.origin.module.partition(".")[0] == "snippets"]
    except SyntaxError:  # an example may show a syntax error
        return []
    names = [origin.module for origin in origins if not origin.name]
    names += [name for origin in origins if origin.name for name in (origin.module, f"{origin.module}.{origin.name}")]
    find_modules = {origin.module for origin in origins}
    return list(dict.fromkeys(name for name in names if name in find_modules or (ROOT / f"{name.replace('.', '/')}.py").is_file()))


def find_data(modules: dict[str, str]) -> dict[str, str]:
    """Return the texts of the data files that snippet modules read, by their paths in the repository."""
    folders = {name: name.rpartition(".")[0].replace(".", "/") for name in modules}
    paths = [f"{folders[name]}/{file}" for name, source in modules.items() for file in READS_DATA.findall(source)]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}


def write_setup(modules: dict[str, str]) -> str:
    """Return the code of the setup cell, which makes the snippet modules and their data available."""
    data = find_data(modules)
    return _MODULES.format(
        sources=write_sources(modules), data=_DATA.format(data=write_sources(data)) if data else "", file=_FILE if data else ""
    )


def write_sources(sources: dict[str, str]) -> str:
    """Return the code of a dictionary of sources, one module after another, with readable texts."""
    return "{\n" + "".join(f"    {name!r}: {write_literal(text)},\n" for name, text in sources.items()) + "}"


def write_literal(text: str) -> str:
    """Return a Python literal for a text: a raw multi-line string if that gives the same text, otherwise its `repr`."""
    literal = "r'''" + text + "'''"
    try:
        return literal if ast.literal_eval(literal) == text else repr(text)
    except (SyntaxError, ValueError):
        return repr(text)


# The cells --------------------------------------------------------------------------------------------------------------------------


class _CellConverter:
    """A conversion of one page to cells, from its first line to its last."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.source = page.source
        self.address = address
        self.text: list[str] = []  # converted lines of the current Markdown cell
        self.prose: list[str] = []  # lines of the page that come after them and are not converted yet
        self.exercises = 0

    def cells(self, code: list[CodeBlock]) -> Iterator[nbformat.NotebookNode]:
        """Yield the cells of the page; `code` are its code blocks."""
        fenced = {block.place.first: block for block in code}
        opened = {opening.line: opening for opening in self.source.openings()}
        number, last = 1, len(self.source.lines)
        while number <= last:
            after = number
            if block := fenced.get(number):
                yield from self.end_cell()
                yield from make_example_cells(block.text()) if block.example else [new_code_cell(block.text().strip("\n"))]
                after = block.place.last
            elif opening := opened.get(number):
                after = self.begin(opening)
            else:
                self.read(self.source.lines[number - 1])
            if number == 1:
                yield from self.end_cell()  # the heading has a cell of its own
            number = after + 1
        yield from self.end_cell()

    def end_cell(self) -> Iterator[nbformat.NotebookNode]:
        """Yield the current Markdown cell, unless it is empty, and begin a new one."""
        self.end_prose()
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self.text)).strip()
        self.text = []
        if text:
            yield new_markdown_cell(text)

    def begin(self, opening: Opening) -> int:
        """Convert the opening of a block, and return the last line that is converted by that: the block's end, if it holds no prose."""
        self.end_prose()
        if opening.name in (*RANKS, "derivation"):
            for block, topic, claims in self.page.blocks:
                self.text += [line for claim in claims if block == opening for line in self.claim(topic, claim, opening.name)]
            return opening.end
        if opening.name == "figure":
            caption = " ".join(self.source.lines[opening.line : opening.end - 1])
            self.text += ["", f"*Figure: {self.inline(caption).strip()}*", ""]
            return opening.end
        if opening.name in ("trust", "sources", "api", "journey", "sentence"):
            return opening.end
        if opening.name == "answer":
            _, claim, part = find_answer(self.page, opening.argument)
            self.text += list_question(claim, part)
            return opening.end
        self.text += ["", self.head(opening), ""]
        return opening.line

    def head(self, opening: Opening) -> str:
        """Return the heading of a block."""
        if opening.name == "exercise":
            self.exercises += 1
            return f"### Exercise {self.exercises}. {opening.argument}"
        default = {"practice": "In practice", "solution": "Solution"}.get(opening.name, opening.name.capitalize())
        return f"**{opening.argument or default}**"

    def claim(self, topic: str, claim: dict, rank: str) -> list[str]:
        """Return the Markdown lines of a claim: its kind, number and title with a link, its LaTeX, reasons, assumptions, counterexample."""
        number = f"({self.page.number_claims()[topic, claim['id']]})"
        where = f"[{number}]({self.address}#{self.page.anchor(topic, claim['id'])})" if self.address else number
        lines = ["", f"**{label_kind(claim, rank)} {where}.** *{claim['title']}*", "", f"$$\n{claim_formats.to_latex(claim)}\n$$", ""]
        if len(claim["steps"]) > 1:
            lines += [f"{number}. {step['reason']}" for number, step in enumerate(claim["steps"], start=1) if step["reason"]]
        if claim["assumptions"]:
            lines += ["", "assuming that " + "; ".join(one["text"] for one in claim["assumptions"])]
        if claim["kind"] == "refutation" and claim["counterexample"]:
            lines += ["", "at " + ", ".join(f"${one['latex']}$" for one in claim["counterexample"])]
        return [*lines, ""]

    def read(self, line: str) -> None:
        """Add a line of prose, unless it closes a block."""
        if not _CLOSING.fullmatch(line):
            self.prose.append(line)

    def end_prose(self) -> None:
        """Convert the prose so far, all lines together, since a link may be split between lines."""
        self.text.append(self.inline("\n".join(self.prose)))
        self.prose = []

    def inline(self, text: str) -> str:
        """Return Markdown without attribute lists, with links to the site; without links if the site's address is not known."""
        return _LINK.sub(self.link, _ATTRIBUTES.sub("", text)).rstrip()

    def link(self, match: re.Match[str]) -> str:
        """Return the replacement of a Markdown link."""
        address = match[2]
        if re.match(r"[a-z]+:", address):
            return match[0]
        return f"{match[1]}({self.site_address(address)})" if self.address else match[1][1:-1]

    def site_address(self, address: str) -> str:
        """Return the address on the site for the path of a file that a page links."""
        path, _, anchor = address.partition("#")
        if path:
            path = re.sub(r"(index)?\.(md|py)$", lambda match: "" if match[1] else "/", path)
            path = posixpath.join("..", path)  # on the site, each page is a folder
        return urljoin(self.address, path) + (f"#{anchor}" if anchor else "")


def make_example_cells(text: str) -> Iterator[nbformat.NotebookNode]:
    """Yield the cells of an example. Each ends with a line that has output, except perhaps the last."""
    typed: list[str] = []
    for example in doctest_examples(text):
        typed.append(example.source)
        if example.want:
            yield make_output_cell("".join(typed), example)
            typed = []
    if typed:
        yield new_code_cell("".join(typed).rstrip("\n"))


def make_output_cell(code: str, example: Example) -> nbformat.NotebookNode:
    """Return a cell with the output of its last line, `example`. A cell that shows an error does not stop the notebook."""
    cell = new_code_cell(code.rstrip("\n"))
    if example.exc_msg is not None:
        name, _, message = example.exc_msg.strip().partition(": ")
        cell.metadata["tags"] = ["raises-exception"]
        cell.outputs = [new_output("error", ename=name, evalue=message, traceback=[example.exc_msg.strip()])]
    elif is_value(example.source):
        cell.outputs = [new_output("execute_result", data={"text/plain": format_value(example.want)}, execution_count=None)]
    else:
        cell.outputs = [new_output("stream", name="stdout", text=example.want)]
    return cell


def is_value(source: str) -> bool:
    """Return whether code ends in an expression whose value is shown, not in a compound statement or a call of print."""
    return not is_compound(source) and not source.lstrip().startswith("print(")


@lru_cache(maxsize=1024)
def format_value(want: str) -> str:
    """Return the value that doctest expects, as a notebook shows it."""
    return want.rstrip("\n").replace("<BLANKLINE>", "")
