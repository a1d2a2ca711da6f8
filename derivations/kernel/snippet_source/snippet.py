"""Parse the text of a snippet module once, for all rooms that read it."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from doctest import DocTestParser
from doctest import Example as DoctestExample
from functools import cached_property, lru_cache
from io import StringIO
from types import CodeType

from .regions import Fault, Region, find_regions, malformed_marks, remove_marks, unpaired_marks
from .scopes import ExampleValue, Import, Meaning, Origin, Statement, analyse, bound_names, first_line, imports_of

Definition = ast.FunctionDef | ast.ClassDef


@lru_cache(maxsize=1024)
def parse(file: str, text: str) -> Snippet:
    """Return the snippet for a text; the same object for the same file and text.

    `file` is its path below the project's root, "snippets/chapter/topic.py", or "" for code without a file, such as a block of a page.
    """
    return Snippet(file, text)


@lru_cache(maxsize=4096)
def doctest_parts(text: str) -> tuple[str | DoctestExample, ...]:
    """Return the examples in a docstring or a region, and the text between them. Raise ValueError if doctest cannot parse them."""
    return tuple(DocTestParser().parse(text))


def doctest_examples(text: str) -> list[DoctestExample]:
    """Return the examples in a docstring or a region. Raise ValueError if doctest cannot parse them."""
    return [one for one in doctest_parts(text) if isinstance(one, DoctestExample)]


@dataclass(frozen=True)
class Example:
    """An example in a string of a module, usually a docstring."""

    line: int  # its first line in the file
    source: str
    want: str
    in_docstring: bool  # in the module's own docstring

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """The names that it imports. Their lines are counted within the example, from 1."""
        return tuple(one for node in ast.walk(self.tree) for one in imports_of(node, "", False))


class Snippet:
    """The text of a module, parsed as far as its properties are read. Those that need a syntax tree raise SyntaxError if it is not Python."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.is_package = file.endswith("__init__.py")
        self.module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    # Syntax -------------------------------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.file or "<unknown>")

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the syntax tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """The functions and classes at the top level, by name."""
        return {node.name: node for node in self.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """The names that the module imports, including imports in functions."""
        return tuple(one for node in self.nodes for one in imports_of(node, self.module, self.is_package))

    @cached_property
    def imported_modules(self) -> tuple[str, ...]:
        """The full names of all imports that may be modules, of the packages around them, and of those around this module.

        `from a.b import c` gives "a", "a.b" and "a.b.c", because c may be a module."""
        names = [self.module.rpartition(".")[0], *(f"{one.origin.module}.{one.origin.name}".strip(".") for one in self.imports)]
        parts = [name.split(".") for name in names if name]
        return tuple(dict.fromkeys(".".join(own[:k]) for own in parts for k in range(1, len(own) + 1)))

    # Names ----------------------------------------------------------------------------------------------------------------------

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """The meanings of the names that the module binds at its top level."""
        return {name: meaning for node in self.tree.body for name, meaning in self._binds(node).items()}

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The statements at the top level."""
        found = []
        for node in self.tree.body:
            inner = (one for one in ast.walk(node) if one is not node)
            imports = tuple(one for part in inner for one in imports_of(part, self.module, self.is_package))
            one = analyse(node, node.lineno, self.file, self.meanings, self._binds(node))
            found.append(Statement(one.file, one.line, one.first, one.last, one.reads, one.binds, node, imports))
        return tuple(found)

    def statement_that_binds(self, name: str) -> Statement | None:
        """Return the first top-level statement that binds a name, or None if the name is imported or not bound."""
        return next((one for one in self.statements if one.binds.get(name) == Origin(self.module, name)), None)

    def names_bound_twice(self) -> Iterator[tuple[str, int, int]]:
        """Yield (name, line, first line) for names that more than one top-level statement binds."""
        first: dict[str, int] = {}
        for one in self.statements:
            for name in sorted(one.binds):
                if name in first:
                    yield name, one.line, first[name]
                first.setdefault(name, one.line)

    def _binds(self, node: ast.stmt) -> dict[str, Meaning]:
        imported = {one.bound: one.origin for one in imports_of(node, self.module, self.is_package)}
        return {name: imported.get(name, Origin(self.module, name)) for name in (imported or bound_names(node))}

    # Words and examples -----------------------------------------------------------------------------------------------------------

    @cached_property
    def docstring(self) -> str:
        """The module's docstring with its indentation, or ""."""
        return ast.get_docstring(self.tree, clean=False) or ""

    @cached_property
    def docstring_lines(self) -> range:
        first = self.tree.body[0] if self.docstring else None
        return range(first.lineno, (first.end_lineno or first.lineno) + 1) if first else range(0)

    @cached_property
    def comments(self) -> tuple[tuple[int, str], ...]:
        """The comments as (line, comment). Raises TokenError or SyntaxError if the text is not Python."""
        tokens = tokenize.generate_tokens(StringIO(self.text).readline)
        return tuple((one.start[0], one.string) for one in tokens if one.type == tokenize.COMMENT)

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """The examples in all strings of the module, in the order of their lines. Raises ValueError if doctest cannot parse them."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and ">>>" in node.value:
                documented = node.lineno in self.docstring_lines
                found += [Example(node.lineno + one.lineno, one.source, one.want, documented) for one in doctest_examples(node.value)]
        return tuple(sorted(found, key=lambda one: one.line))

    @cached_property
    def example_statements(self) -> tuple[Statement, ...]:
        """The statements of the docstring's examples, with names resolved as doctest runs them: in order, starting with the module's names."""
        known, found = dict(self.meanings), []
        for example in self.examples:
            for node in example.tree.body if example.in_docstring else ():
                imported: dict[str, Meaning] = {one.bound: one.origin for one in imports_of(node, "", False)}
                binds = imported or {name: ExampleValue(self.file, example.line) for name in bound_names(node)}
                found.append(analyse(node, example.line, self.file, known, binds))
                known |= binds
        return tuple(found)

    # Regions ----------------------------------------------------------------------------------------------------------------------

    @cached_property
    def regions(self) -> dict[str, Region]:
        """The named regions. The text need not be Python."""
        return find_regions(self.text)

    @cached_property
    def without_marks(self) -> str:
        return remove_marks(self.text)

    @cached_property
    def mark_faults(self) -> tuple[Fault, ...]:
        """Faults of marks that would make a page show something other than the file's code, and of examples that doctest would not compare.

        They are sorted by line. There are none if the text is not Python, which other checks report."""
        try:
            comment_lines = {line for line, _ in self.comments}
            found = [*malformed_marks(self.text, comment_lines, self.docstring_lines), *unpaired_marks(self.text)]
        except (SyntaxError, tokenize.TokenError):
            return ()
        found += [(one.first - 1, f"{one.name!r}: {said}") for one in self.regions.values() if (said := self._region_fault(one))]
        return tuple(sorted(found))

    def _region_fault(self, region: Region) -> str:
        """Return what is wrong with a region in a docstring, or with examples outside it; otherwise ""."""
        if region.first not in self.docstring_lines:
            return "'>>>' in code; an example stands in the module's docstring" if region.is_example else ""
        if region.body not in self.docstring:
            return "this section reads otherwise where it is run; write it without '\\\\'"
        try:
            words = "".join(one for one in doctest_parts(region.body) if isinstance(one, str)).strip()
        except ValueError:
            return ""  # reported when doctest runs the examples
        return (
            f"{words.splitlines()[0]!r} is neither typed nor what is given, so nothing compares it; write it on the page" if words else ""
        )

    def statements_in(self, region: Region) -> list[Statement]:
        """Return the statements that begin in a region: those of its examples if it has examples, otherwise those of its code."""
        return [one for one in (self.example_statements if region.is_example else self.statements) if one.line in region.lines]

    # Code -------------------------------------------------------------------------------------------------------------------------

    @cached_property
    def code(self) -> tuple[CodeType, ...]:
        """The code objects of the module and of all functions and classes in it."""
        found = [compile(self.text, self.file, "exec", dont_inherit=True)]
        for one in found:
            found += [inner for inner in one.co_consts if isinstance(inner, CodeType)]
        return tuple(found)

    def code_of(self, name: str, line: int) -> CodeType | None:
        """Return the code of the function with a qualified name, such as `Class.method`, whose first line (including decorators) is `line`."""
        return next((one for one in self.code if (one.co_qualname, one.co_firstlineno) == (name, line)), None)

    @cached_property
    def executable_lines(self) -> frozenset[int]:
        """The lines that have bytecode."""
        return frozenset(line for one in self.code for _, _, line in one.co_lines() if line)

    def function_at(self, name: str, line: int) -> ast.FunctionDef | None:
        """Return the function or method with a name whose first line (including decorators) is `line`."""
        functions = (one for one in self.nodes if isinstance(one, ast.FunctionDef))
        return next((one for one in functions if one.name == name and first_line(one) == line), None)
