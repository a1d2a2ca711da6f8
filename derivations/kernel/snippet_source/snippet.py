"""A snippet module's text, parsed once."""

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
    """Return the snippet with this text; the same object for the same file and text. Each property parses what it needs when it is read.

    `file` is the path from the project's root, "snippets/chapter/topic.py"; "" for code that lies in no file, such as a block of a page.
    """
    return Snippet(file, text)


@lru_cache(maxsize=4096)
def doctest_examples(text: str) -> tuple[DoctestExample, ...]:
    """Return the examples in a docstring or in a region. Raises ValueError where doctest cannot read them."""
    return tuple(DocTestParser().get_examples(text))


@dataclass(frozen=True)
class Example:
    """An example in one of a module's texts."""

    line: int  # its first line in the file
    source: str
    want: str
    in_docstring: bool  # in the module's own docstring

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)


class Snippet:
    """The text of a module. Properties that need a syntax tree raise SyntaxError where the text is not Python."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.is_package = file.endswith("__init__.py")
        self.module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    # Syntax -------------------------------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

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
        """The names that the module imports, in functions too."""
        return tuple(one for node in self.nodes for one in imports_of(node, self.module, self.is_package))

    @cached_property
    def imported_modules(self) -> tuple[str, ...]:
        """The full names of all that may be modules among the imports, with the packages around them and around this module.

        `from a.b import c` gives "a", "a.b" and "a.b.c": whether c is a module, only the folder can tell."""
        names = [self.module.rpartition(".")[0], *(f"{one.origin.module}.{one.origin.name}".strip(".") for one in self.imports)]
        parts = [name.split(".") for name in names if name]
        return tuple(dict.fromkeys(".".join(own[:k]) for own in parts for k in range(1, len(own) + 1)))

    # Names ----------------------------------------------------------------------------------------------------------------------

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """What the names that the module binds at its top level mean."""
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
        """Return the first top-level statement that gives a name its value here; None for an imported name."""
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
        """The module's docstring as it is written, or ""."""
        return ast.get_docstring(self.tree, clean=False) or ""

    @cached_property
    def docstring_lines(self) -> range:
        first = self.tree.body[0] if self.docstring else None
        return range(first.lineno, (first.end_lineno or first.lineno) + 1) if first else range(0)

    @cached_property
    def comments(self) -> tuple[tuple[int, str], ...]:
        """(line, comment). Raises TokenError or SyntaxError."""
        tokens = tokenize.generate_tokens(StringIO(self.text).readline)
        return tuple((one.start[0], one.string) for one in tokens if one.type == tokenize.COMMENT)

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """The examples in all texts of the module, in the order of their lines. Raises ValueError where doctest cannot read them."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and ">>>" in node.value:
                documented = node.lineno in self.docstring_lines
                found += [Example(node.lineno + one.lineno, one.source, one.want, documented) for one in doctest_examples(node.value)]
        return tuple(sorted(found, key=lambda one: one.line))

    @cached_property
    def example_statements(self) -> tuple[Statement, ...]:
        """The statements of the docstring's examples, as doctest runs them: one after the other, among the module's own names."""
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
        """The named regions. A text that is not Python has regions too."""
        return find_regions(self.text)

    @cached_property
    def without_marks(self) -> str:
        return remove_marks(self.text)

    @cached_property
    def mark_faults(self) -> tuple[Fault, ...]:
        """Marks by which a page would show something else than the file's code, and examples that nothing compares, in the order of
        their lines. Empty where the text is not Python, since others report that."""
        try:
            comment_lines = {line for line, _ in self.comments}
            found = [*malformed_marks(self.text, comment_lines, self.docstring_lines), *unpaired_marks(self.text)]
        except (SyntaxError, tokenize.TokenError):
            return ()
        found += [(one.first - 1, f"{one.name!r}: {said}") for one in self.regions.values() if (said := self._region_fault(one))]
        return tuple(sorted(found))

    def _region_fault(self, region: Region) -> str:
        """Return what is wrong with a region of examples, or ""."""
        if region.first not in self.docstring_lines:
            return "'>>>' in code; an example stands in the module's docstring" if region.is_example else ""
        if region.body not in self.docstring:
            return "this section reads otherwise where it is run; write it without '\\\\'"
        try:
            words = "".join(one for one in DocTestParser().parse(region.body) if isinstance(one, str)).strip()
        except ValueError:
            return ""  # reported where the examples are run
        return (
            f"{words.splitlines()[0]!r} is neither typed nor what is given, so nothing compares it; write it on the page" if words else ""
        )

    def statements_in(self, region: Region) -> list[Statement]:
        """Return the statements that begin in a region: of its examples, or else of its code."""
        return [one for one in (self.example_statements if region.is_example else self.statements) if one.line in region.lines]

    # Code -------------------------------------------------------------------------------------------------------------------------

    @cached_property
    def code(self) -> tuple[CodeType, ...]:
        """The code objects that the text compiles to: the module's own, and those of all functions and classes in it."""
        found = [compile(self.text, self.file, "exec", dont_inherit=True)]
        for one in found:
            found += [inner for inner in one.co_consts if isinstance(inner, CodeType)]
        return tuple(found)

    def code_of(self, name: str, line: int) -> CodeType | None:
        """Return the code of the function with a qualified name, `Class.method`, that begins on a line (that of its first decorator)."""
        return next((one for one in self.code if (one.co_qualname, one.co_firstlineno) == (name, line)), None)

    @cached_property
    def executable_lines(self) -> frozenset[int]:
        """The lines on which Python runs something."""
        return frozenset(line for one in self.code for _, _, line in one.co_lines() if line)

    def function_at(self, name: str, line: int) -> ast.FunctionDef | None:
        """Return the function, a method included, that begins on a line (that of its first decorator)."""
        functions = (one for one in self.nodes if isinstance(one, ast.FunctionDef))
        return next((one for one in functions if one.name == name and first_line(one) == line), None)
