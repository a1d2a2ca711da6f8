"""Which names a file of code reads and binds, statement by statement, and what each of them stands for there.

Nothing is imported or run: `symtable` is Python's own reading of scopes.
"""

import ast
import builtins
import symtable
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from doctest import DocTestParser
from functools import lru_cache
from pathlib import Path

from .code_regions import home, sections, text_of

DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ASSIGNS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


@dataclass(frozen=True)
class Imported:
    """What `from module import name` gives, or `import module` where there is no name."""

    module: str
    name: str = ""


@dataclass(frozen=True)
class Made:
    """What an example makes: it can be had by running that example, and in no other way."""

    file: str
    line: int


Meaning = Imported | Made


@dataclass
class Statement:
    """One statement of a region: what the names mean that it reads, and those that it binds."""

    line: int  # in its file
    wants: dict[str, Meaning | None]  # None: nothing binds the name
    gives: dict[str, Meaning]
    defines: bool  # a function or a class: what it wants it may want later, too


@dataclass
class Region:
    example: bool
    statements: list[Statement] = field(default_factory=list)


def regions_of(root: Path, topic: str) -> dict[str, Region]:
    """A topic's regions by name. Raises SyntaxError where its file, or an example in it, is no Python."""
    return _regions(home(topic), text_of(root / home(topic)))


@lru_cache(maxsize=128)
def _regions(file: str, text: str) -> dict[str, Region]:
    tree = ast.parse(text, file)
    module = file.removesuffix(".py").replace("/", ".")
    known = {name: meaning for node in tree.body for name, meaning in bound(node, module).items()}
    code = [statement(node, node.lineno, known, bound(node, module)) for node in tree.body]
    examples = [*examples_of(tree, text, file, known)]
    found = {}
    for name, section in sections(text).items():
        within = [one for one in (examples if section.example else code) if one.line in section.lines]
        found[name] = Region(section.example, within)
    return found


def examples_of(tree: ast.Module, text: str, file: str, known: dict[str, Meaning]) -> Iterator[Statement]:
    """The module's examples as doctest runs them: one after the other, among the module's own names."""
    if not ast.get_docstring(tree):
        return
    first, last = tree.body[0].lineno, tree.body[0].end_lineno
    known = dict(known)
    for example in DocTestParser().get_examples("\n".join(text.split("\n")[first - 1 : last])):
        line = first + example.lineno
        for node in ast.parse(example.source, file).body:
            one = statement(node, line, known, bound(node, None, Made(file, line)))
            known |= one.gives
            yield one


def statement(node: ast.stmt, line: int, known: dict[str, Meaning], gives: dict[str, Meaning]) -> Statement:
    wants = {name: known.get(name) or (Imported("builtins", name) if hasattr(builtins, name) else None) for name in read(node)}
    return Statement(line, wants, gives, isinstance(node, DEFINES))


def bound(node: ast.stmt, module: str | None, made: Made | None = None) -> dict[str, Meaning]:
    """The names that a statement binds. What is not imported comes from the module that it is in, or from an example."""
    if isinstance(node, ast.Import):
        return {one.asname or one.name.partition(".")[0]: Imported(one.name) for one in node.names}
    if isinstance(node, ast.ImportFrom):
        return {one.asname or one.name: Imported(node.module or "", one.name) for one in node.names}
    return {name: made or Imported(module, name) for name in binds(table_of(node))}


def read(node: ast.stmt) -> list[str]:
    """The names that a statement reads, now or when what it defines is called, and does not bind itself before."""
    table = table_of(node)
    found = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    found |= {one.get_name() for inner in within(table) for one in inner.get_symbols() if one.is_referenced() and one.is_global()}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return sorted(found if isinstance(node, ASSIGNS) else found - binds(table))


def binds(table: symtable.SymbolTable) -> set[str]:
    return {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}


def table_of(node: ast.stmt) -> symtable.SymbolTable:
    if any(isinstance(one, COMPREHENSIONS) for one in ast.walk(node)):
        node = _Apart().visit(deepcopy(node))
    return symtable.symtable(ast.unparse(node), "a statement", "exec")


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


class _Apart(ast.NodeTransformer):
    """Comprehensions as generators: from Python 3.12 on, the names of the others stand among those of what is around them."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators))


def within(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for inner in table.get_children():
        yield inner
        yield from within(inner)
