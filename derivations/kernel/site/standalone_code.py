"""Write the code of a page as one Python file that needs only PyTorch and jaxtyping.

The file has the functions and classes that the page shows, and those of other snippets that they use, directly or through others; nothing
else of the snippets. Modules come in the order of their imports, and the imports of other packages are merged at the top. Code that reads
a file of the repository, such as stored weights, is left out together with all that uses it; the file names what is left out.
"""

import re
from graphlib import TopologicalSorter
from textwrap import fill

from ..snippet_source import Meaning, Origin, Snippet, Statement
from ..store.project_files import ROOT
from . import page_notebooks
from .added_imports import group_imports, import_group
from .included_regions import RECIPES, find_includes, read_snippet, snippet_library
from .page_source import PageError, Source

_COMMENT = re.compile(r"\s*#(?! --8<--)")


def code_name(source: Source) -> str:
    """Return the file name of a page's code. The page must come from a file."""
    return page_notebooks.notebook_name(source).replace(".ipynb", ".py")


class PageCode:
    """The statements that a page's file has, and those that it leaves out."""

    def __init__(self, source: Source) -> None:
        self.source, self.library = source, snippet_library(ROOT)
        self.kept: set[Statement] = set()
        self.left_out: list[Statement] = []
        for shown in find_shown(source):
            needed = self.find_needed(shown)
            if any(map(reads_files, needed)):
                self.left_out.append(shown)
            else:
                self.kept |= needed
        self.origins: dict[str, Origin] = {}  # of each name in the file
        for statement in self.in_order():
            for name, meaning in [*statement.reads.items(), *statement.binds.items()]:
                self.name(name, meaning, statement)

    def find_needed(self, shown: Statement) -> set[Statement]:
        """Return a statement and all that it uses, directly or through others. Raise PageError if something is not imported by its name."""
        found = {shown}
        for user, name, origin, definition in self.library.reachable(shown):
            if definition is None or name not in user.reads:
                raise self.error(user, f"uses {name!r} of {origin.module}; import it by its name, at the top of the file")
            found.add(definition)
        return found

    def in_order(self) -> list[Statement]:
        """Return the kept statements in the order of their files and lines."""
        return sorted(self.kept, key=lambda one: (one.file, one.line))

    def name(self, name: str, meaning: Meaning | None, statement: Statement) -> None:
        """Note what a name means. Raise PageError if it means two things in the file."""
        assert isinstance(meaning, Origin)  # a snippet without undefined names: added_imports.py has read it
        known = self.origins.setdefault(name, meaning)
        if known != meaning:
            both = " and ".join(f"{one.module}.{one.name}".strip(".") for one in (known, meaning))
            raise self.error(statement, f"{name!r} means {both} in the one file of this page's code; rename one of them")

    def error(self, statement: Statement, message: str) -> PageError:
        return self.source.error(1, f"{statement.file}:{statement.line}: {message}")

    def modules(self) -> dict[str, list[Statement]]:
        """Return the statements of the file by module, in the order of the modules' imports and of their lines."""
        found: dict[str, list[Statement]] = {}
        for statement in self.in_order():
            found.setdefault(statement.file, []).append(statement)
        needs = {
            file: sorted(
                {self.library.path(origin.module).relative_to(ROOT).as_posix() for one in group for origin in one.uses.values()} - {file}
            )
            for file, group in found.items()
        }
        return {file: found[file] for file in TopologicalSorter(needs).static_order()}


def find_shown(source: Source) -> list[Statement]:
    """Return the definitions that a page shows, in its order."""
    places = [place for place in find_includes(source.text) if place.topic != RECIPES]
    snippets = [(read_snippet(ROOT, place.topic), place.section) for place in places]
    regions = [(snippet, snippet.regions[section]) for snippet, section in snippets if section in snippet.regions]
    return [one for snippet, region in regions if not region.is_example for one in snippet.statements_in(region)]


def reads_files(statement: Statement) -> bool:
    """Return whether a statement itself names a file beside its module."""
    origins = [*filter(None, statement.reads.values()), *(one.origin for one in statement.imports)]
    modules = [f"{one.module}.{one.name}" for one in origins if isinstance(one, Origin)]
    return "__file__" in statement.reads or any(one.startswith("importlib.resources") for one in modules)


# The text ---------------------------------------------------------------------------------------------------------------------------


def make_code(source: Source, title: str, address: str = "") -> str:
    """Return the file of a page's code; "" if the page shows no code. Raise PageError if a name would mean two things in it."""
    if not source.path_in_docs or source.path_in_docs.startswith(page_notebooks.EXCLUDED):
        return ""
    code = PageCode(source)
    imported = {name: one for name, one in code.origins.items() if one.module != "builtins" and import_group(one.module) < 2}
    head = [write_docstring(code, title, address), *("\n".join(group) for group in group_imports(imported))]
    parts = ["\n\n".join(head), *(write_module(code, file, statements) for file, statements in code.modules().items())]
    return "\n\n\n".join(parts) + "\n" if code.kept else ""


def write_docstring(code: PageCode, title: str, address: str) -> str:
    """Return the docstring of the file: what it is, what it needs, and what is left out."""
    about = f"The code of the page “{title}” in one file" + (f": {address}" if address else ".")
    paragraphs = [about, "It needs PyTorch and jaxtyping: pip install torch jaxtyping. Licence: MIT."]
    names = [name for one in code.left_out if one.is_definition for name in one.binds]
    if names:
        paragraphs.append(f"Left out, because it reads files that lie beside the code in the site's repository: {', '.join(names)}.")
    return '"""' + "\n\n".join([paragraphs[0], *(fill(one, 79) for one in paragraphs[1:])]) + '\n"""'


def write_module(code: PageCode, file: str, statements: list[Statement]) -> str:
    """Return the statements of one module, after a comment that says where they come from, and other names that the file uses for them."""
    snippet = read_snippet(ROOT, file.removeprefix("snippets/").removesuffix(".py"))
    text, after = f"# From {file}\n", True
    for statement in statements:
        text += "\n" * (2 if after or statement.is_definition else 0) + write_statement(snippet, statement) + "\n"
        after = statement.is_definition
    aliases = "".join(f"{name} = {one.name}\n" for name, one in code.origins.items() if one.module == snippet.module and one.name != name)
    return (text + (aliases and f"\n\n{aliases}")).rstrip("\n")


def write_statement(snippet: Snippet, statement: Statement) -> str:
    """Return a statement as written, with the comment directly above it."""
    lines = snippet.text.split("\n")
    first = statement.first - 1
    while first and _COMMENT.match(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first : statement.last])
