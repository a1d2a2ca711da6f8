"""A page as a notebook that runs by itself: its prose, its claims as LaTeX, its code in order, its exercises.

The code is that of the page (code_imports.py), and what it imports of the snippets is in the notebook's first cell: PyTorch and jaxtyping are
all that it needs. An example is cut into cells where it prints something, and what it prints is in the notebook as it is on the page.
"""

import ast
import posixpath
import re
from collections.abc import Iterator
from doctest import Example
from functools import lru_cache
from pathlib import Path
from urllib.parse import urljoin

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ..snippet_source import Snippet, doctest_examples, parse
from . import claim_export
from .claim_html import KINDS
from .code_imports import Block, blocks
from .code_regions import RECIPES, library
from .full_source import is_compound
from .page import Page
from .page_source import RANKS, Opening, Source

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = ("contributing/",)  # these pages are about the checker
FILES = re.compile(r"__file__")  # what reads a file that lies beside it does not run without it

_CLOSING = re.compile(r"[ \t]*/{3,}[ \t]*")
_ATTRIBUTES = re.compile(r"\{[ :][^}]*\}")
_LINK = re.compile(r"(\[[^\]]*\])\(([^)\s]+)\)")
_INTRO = """*This notebook is [a page of {site}]({address}), where each claim says who vouches for it. It needs PyTorch and jaxtyping:*
`pip install torch jaxtyping`"""
_MODULES = """# What this page's code imports of the site's snippets, so that the notebook runs by itself.
import sys
import types

SOURCES = {sources}

for name, source in SOURCES.items():
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    exec(compile(source, name, "exec"), module.__dict__)"""


def name_of(source: Source) -> str:
    path, _ = source.file()
    return f"{path.stem}.ipynb"


def has_one(source: Source) -> bool:
    """Whether a page has a notebook: it shows code, and all that its code imports can be taken along."""
    path, _ = source.file()
    here = path.relative_to(source.docs).as_posix() if path else ""
    if not here or here.startswith(LEFT_OUT) or "--8<--" not in source.text:
        return False
    code = code_of(source)
    return bool(code) and all(one.place.topic != RECIPES for one in code) and not any(map(FILES.search, modules(code).values()))


def made(source: Source, address: str = "", repository: str = "") -> str:
    """The notebook, as JSON."""
    code, page = code_of(source), Page(source, repository)
    cells = list(_Cells(page, address).cells(code))
    needed = modules(code)
    intro = new_markdown_cell(_INTRO.format(site="a site about attention", address=address) if address else _INTRO.split("\n")[1])
    hidden = {"jupyter": {"source_hidden": True}}
    setup = [new_code_cell(_MODULES.format(sources=quoted(needed)), metadata=hidden)] if needed else []
    book = new_notebook(cells=[*cells[:1], intro, *setup, *cells[1:]], metadata=_KERNEL)
    for number, cell in enumerate(book.cells):
        cell.id = f"cell-{number}"  # the same page makes the same file
    nbformat.validate(book)
    return nbformat.writes(book)


_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}


def code_of(source: Source) -> list[Block]:
    return blocks(source, ROOT)


# What the code imports ----------------------------------------------------------------------------------------------------------------


def modules(code: list[Block]) -> dict[str, str]:
    """The modules of the snippets that code imports, and those that these import, each after all that it needs itself."""
    found: dict[str, str] = {}
    for block in code:
        for name in imported(parse("", plain(block.text()))):
            _add(name, found)
    return found


def _add(name: str, found: dict[str, str]) -> None:
    if name in found:
        return
    parent = name.rpartition(".")[0]
    if parent:
        _add(parent, found)
    snippet = library(ROOT).find(name)
    if name in found:
        return
    if snippet is None or snippet.is_package:
        found[name] = ""
        return
    for needed in imported(snippet):
        if needed != name:
            _add(needed, found)
    found[name] = snippet.without_marks


def plain(text: str) -> str:
    """The code of a block: of an example, what is typed."""
    return "".join(one.source for one in doctest_examples(text)) if ">>>" in text else text


def imported(code: Snippet) -> list[str]:
    """Return the modules of the snippets that code imports."""
    try:
        imports = [one.origin for one in code.imports if one.origin.module.partition(".")[0] == "snippets"]
    except SyntaxError:  # an example of that
        return []
    names = [one.module for one in imports if not one.name]
    names += [name for one in imports if one.name for name in (one.module, f"{one.module}.{one.name}")]
    modules = {one.module for one in imports}
    return list(dict.fromkeys(name for name in names if name in modules or (ROOT / f"{name.replace('.', '/')}.py").is_file()))


def quoted(sources: dict[str, str]) -> str:
    """The modules as a dictionary that can be read."""
    return "{\n" + "".join(f"    {name!r}: {text_literal(text)},\n" for name, text in sources.items()) + "}"


def text_literal(text: str) -> str:
    """A text as a literal on several lines, wherever Python reads that as the same text."""
    literal = "r'''" + text + "'''"
    try:
        return literal if ast.literal_eval(literal) == text else repr(text)
    except (SyntaxError, ValueError):
        return repr(text)


# The cells --------------------------------------------------------------------------------------------------------------------------


class _Cells:
    """The page from its first line to its last."""

    def __init__(self, page: Page, address: str):
        self.page = page
        self.source = page.source
        self.address = address
        self.text: list[str] = []  # of the cell that is being made
        self.prose: list[str] = []  # lines of the page that are to come after it
        self.exercises = 0

    def cells(self, code: list[Block]) -> Iterator[nbformat.NotebookNode]:
        fenced = {block.place.first: block for block in code}
        opened = {one.line: one for one in self.source.openings()}
        number, last = 1, len(self.source.lines)
        while number <= last:
            after = number
            if block := fenced.get(number):
                yield from self.told()
                yield from of_example(block.text()) if block.example else [new_code_cell(block.text().strip("\n"))]
                after = block.place.last
            elif opening := opened.get(number):
                after = self.begin(opening)
            else:
                self.read(self.source.lines[number - 1])
            if number == 1:
                yield from self.told()  # the heading has a cell of its own
            number = after + 1
        yield from self.told()

    def told(self) -> Iterator[nbformat.NotebookNode]:
        self.end_prose()
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self.text)).strip()
        self.text = []
        if text:
            yield new_markdown_cell(text)

    def begin(self, opening: Opening) -> int:
        """What opens a block; the last line that it leaves nothing to be read of."""
        self.end_prose()
        if opening.name in (*RANKS, "derivation"):
            for one, topic, claims in self.page.blocks:
                self.text += [line for claim in claims if one == opening for line in self.claim(topic, claim, opening.name)]
            return opening.end
        if opening.name == "figure":
            caption = " ".join(self.source.lines[opening.line : opening.end - 1])
            self.text += ["", f"*Figure: {self.inline(caption).strip()}*", ""]
            return opening.end
        if opening.name in ("trust", "sources", "api", "journey"):
            return opening.end
        self.text += ["", self.head(opening), ""]
        return opening.line

    def head(self, opening: Opening) -> str:
        if opening.name == "exercise":
            self.exercises += 1
            return f"### Exercise {self.exercises}. {opening.argument}"
        usual = {"practice": "In practice", "solution": "Solution"}.get(opening.name, opening.name.capitalize())
        return f"**{opening.argument or usual}**"

    def claim(self, topic: str, claim: dict, rank: str) -> list[str]:
        """A claim: what it is, its number and title, with a link to it; its LaTeX, its reasons and what it assumes."""
        kind = "Theorem" if rank == "theorem" and claim["kind"] not in ("definition", "refutation") else KINDS[claim["kind"]]
        number = f"({self.page.numbers()[topic, claim['id']]})"
        where = f"[{number}]({self.address}#{self.page.anchor(topic, claim['id'])})" if self.address else number
        lines = ["", f"**{kind} {where}.** *{claim['title']}*", "", f"$$\n{claim_export.latex_of(claim)}\n$$", ""]
        if len(claim["steps"]) > 1:
            lines += [f"{number}. {step['reason']}" for number, step in enumerate(claim["steps"], start=1) if step["reason"]]
        if claim["assumptions"]:
            lines += ["", "assuming that " + "; ".join(one["text"] for one in claim["assumptions"])]
        if claim["kind"] == "refutation" and claim["counterexample"]:
            lines += ["", "at " + ", ".join(f"${one['latex']}$" for one in claim["counterexample"])]
        return [*lines, ""]

    def read(self, line: str) -> None:
        if not _CLOSING.fullmatch(line):
            self.prose.append(line)

    def end_prose(self) -> None:
        """Prose is read together, since a link may go over lines; what a claim says is never read as prose."""
        self.text.append(self.inline("\n".join(self.prose)))
        self.prose = []

    def inline(self, text: str) -> str:
        """Markdown without attributes, with links that lead to the site; to nowhere where the site's address is not known."""
        return _LINK.sub(self.link, _ATTRIBUTES.sub("", text)).rstrip()

    def link(self, match: re.Match) -> str:
        address = match[2]
        if re.match(r"[a-z]+:", address):
            return match[0]
        return f"{match[1]}({self.at(address)})" if self.address else match[1][1:-1]

    def at(self, address: str) -> str:
        """The address on the site of what a page links to as a file."""
        path, _, anchor = address.partition("#")
        if path:
            path = re.sub(r"(index)?\.(md|py)$", lambda match: "" if match[1] else "/", path)
            path = posixpath.join("..", path)  # a page is a folder of its own
        return urljoin(self.address, path) + (f"#{anchor}" if anchor else "")


def of_example(text: str) -> Iterator[nbformat.NotebookNode]:
    """An example, a cell for all that is typed up to something that is printed."""
    typed: list[str] = []
    for one in doctest_examples(text):
        typed.append(one.source)
        if one.want:
            yield with_output("".join(typed), one)
            typed = []
    if typed:
        yield new_code_cell("".join(typed).rstrip("\n"))


def with_output(code: str, example: Example) -> nbformat.NotebookNode:
    """A cell and what it prints. One that is to fail does not stop the notebook."""
    cell = new_code_cell(code.rstrip("\n"))
    if example.exc_msg is not None:
        name, _, said = example.exc_msg.strip().partition(": ")
        cell.metadata["tags"] = ["raises-exception"]
        cell.outputs = [new_output("error", ename=name, evalue=said, traceback=[example.exc_msg.strip()])]
    elif is_value(example.source):
        cell.outputs = [new_output("execute_result", data={"text/plain": shown(example.want)}, execution_count=None)]
    else:
        cell.outputs = [new_output("stream", name="stdout", text=example.want)]
    return cell


def is_value(source: str) -> bool:
    """Is it an expression whose value is shown? What prints shows it otherwise."""
    return not is_compound(source) and not source.lstrip().startswith("print(")


@lru_cache(maxsize=1024)
def shown(want: str) -> str:
    return want.rstrip("\n").replace("<BLANKLINE>", "")
