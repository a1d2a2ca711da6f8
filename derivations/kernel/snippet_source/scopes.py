"""Find the names that a statement reads and binds, and where each name comes from.

This uses `symtable`, Python's own analysis of scopes. Nothing is imported or run.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


@dataclass(frozen=True)
class Origin:
    """The source of an imported name: `from module import name`, or `import module` if the name is empty."""

    module: str
    name: str = ""


@dataclass(frozen=True)
class ExampleValue:
    """The value of a name that a docstring example computes, and that cannot be imported."""

    file: str
    line: int


Meaning = Origin | ExampleValue


@dataclass(frozen=True)
class Import:
    """One name that an import statement binds."""

    line: int
    bound: str
    origin: Origin
    is_renamed: bool  # by `as`


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a module or of an example, with the names that it reads and binds."""

    file: str
    line: int  # of the statement itself
    first: int  # of its first decorator, where it has one
    last: int
    reads: dict[str, Meaning | None]  # None: nothing binds the name
    binds: dict[str, Meaning]
    node: ast.stmt = field(compare=False, repr=False)
    imports: tuple[Import, ...] = ()  # in the bodies of its functions

    def __hash__(self) -> int:
        return hash((self.file, self.line))

    @property
    def is_definition(self) -> bool:
        """Whether it defines a function or a class, which may look up names when it is called."""
        return isinstance(self.node, DEFINITIONS)

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)

    @cached_property
    def uses(self) -> dict[str, Origin]:
        """The names from modules of `snippets` that the statement reads or that functions in it import, each with its origin."""
        found = {name: one for name, one in self.reads.items() if isinstance(one, Origin)}
        found |= {one.bound: one.origin for one in self.imports}
        return {name: one for name, one in found.items() if one.module.partition(".")[0] == "snippets"}


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, including its decorators."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


def imports_of(node: ast.AST, module: str, is_package: bool) -> Iterator[Import]:
    """Yield the names that an import statement binds, with relative imports resolved. Yield nothing for other nodes.

    `module` is the full name of the module that contains the statement."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(node.lineno, alias.asname or alias.name.partition(".")[0], Origin(alias.name), bool(alias.asname))
    elif isinstance(node, ast.ImportFrom):
        source = absolute(node, module, is_package)
        for alias in node.names:
            yield Import(node.lineno, alias.asname or alias.name, Origin(source, alias.name), bool(alias.asname))


def absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """Return the full name of the module that `from ... import` names."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    length = len(parts) - node.level + is_package  # of the package that the import is relative to
    return ".".join([*parts[: max(length, 0)], *([node.module] if node.module else [])])


def analyse(node: ast.stmt, line: int, file: str, known: dict[str, Meaning], binds: dict[str, Meaning]) -> Statement:
    """Return a statement with the names that it reads and binds.

    `line` is its line in the file, and `known` maps the names of its module to their meanings."""
    meanings = {name: known.get(name) or (Origin("builtins", name) if hasattr(builtins, name) else None) for name in read_names(node)}
    shift = line - node.lineno
    return Statement(file, line, first_line(node) + shift, (node.end_lineno or node.lineno) + shift, meanings, binds, node)


def read_names(node: ast.stmt) -> list[str]:
    """Return the names that a statement reads without binding them first, when it runs or when its functions are called."""
    table = _table(node)
    found = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    found |= {one.get_name() for inner in _inner(table) for one in inner.get_symbols() if one.is_referenced() and one.is_global()}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return sorted(found if isinstance(node, _ASSIGNMENTS) else found - _bound(table))


def bound_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds in its module."""
    return _bound(_table(node))


def _bound(table: symtable.SymbolTable) -> set[str]:
    return {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}


def _table(node: ast.stmt) -> symtable.SymbolTable:
    if any(isinstance(one, _COMPREHENSIONS) for one in ast.walk(node)):
        node = _ComprehensionsAsGenerators().visit(deepcopy(node))
    return symtable.symtable(ast.unparse(node), "a statement", "exec")


def _inner(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for inner in table.get_children():
        yield inner
        yield from _inner(inner)


class _ComprehensionsAsGenerators(ast.NodeTransformer):
    """A transformer that makes all comprehensions generator expressions.

    Since Python 3.12, `symtable` lists the names of other comprehensions in the surrounding scope."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators))
