"""The selection of the functions of the prelude that a program needs, with their source text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .prelude import (
    derivatives,
    function_domains,
    gaussian_means,
    induction,
    inequalities,
    limits,
    moments,
    outcome,
    ranks,
    refutations,
    rounding,
    steps,
    tensors,
    zero_quotients,
    zero_test,
)

# In the order in which programs contain them.
FILES = (
    outcome,
    zero_quotients,
    zero_test,
    tensors,
    gaussian_means,
    moments,
    induction,
    steps,
    inequalities,
    function_domains,
    derivatives,
    ranks,
    limits,
    rounding,
    refutations,
)


Import = tuple[str, str]  # a module and the name imported from it, or "" if the module itself is imported


@dataclass(frozen=True)
class Part:
    """A definition of the prelude: its position, its text, and the names that it uses."""

    place: tuple[int, int]
    text: str
    needs: frozenset[str]


@cache
def parts() -> tuple[dict[str, Part], dict[str, Import]]:
    """Return the definitions of the prelude and its imports, both by name."""
    found: dict[str, Part] = {}
    imports: dict[str, Import] = {}
    for order, module in enumerate(FILES):
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports |= imported_names(node)
            elif names := defined_names(node):
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                source = "\n".join(text.splitlines()[first - 1 : node.end_lineno])
                part = Part((order, node.lineno), source, frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)) - names)
                found |= dict.fromkeys(names, part)
    return found, imports


def defined_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)} if isinstance(node, ast.Assign) else set()


def imported_names(node: ast.Import | ast.ImportFrom) -> dict[str, Import]:
    """Return the imports of a statement by name. Imports within the prelude are left out, because its definitions are copied."""
    if isinstance(node, ast.ImportFrom):
        return {} if node.level or node.module == "__future__" else {a.name: (node.module or "", a.name) for a in node.names}
    return {(a.asname or a.name): (f"{a.name} as {a.asname}" if a.asname else a.name, "") for a in node.names}


@cache
def names() -> frozenset[str]:
    """Return every name that the prelude defines or imports."""
    found, imports = parts()
    return frozenset(found) | frozenset(imports)


@dataclass(frozen=True)
class PreludeSelection:
    """The parts of the prelude in a program: the imports before the claim, and the definitions after it."""

    imports: str
    own_imports: str  # those that the definitions need
    bodies: tuple[str, ...]

    @property
    def definitions(self) -> str:
        """The text of the definitions."""
        return "\n\n\n".join(self.bodies) + "\n"


@cache
def select_prelude(wanted: frozenset[str]) -> PreludeSelection:
    """Return the definitions with the wanted names and everything that they use. Names that the prelude lacks are imported from SymPy."""
    found, imports = parts()
    needed: dict[str, Part] = {}
    waiting = set(wanted & found.keys())
    while waiting:
        name = waiting.pop()
        needed[name] = found[name]
        waiting |= (found[name].needs & found.keys()) - needed.keys()
    own_imports = {imports[name] for part in needed.values() for name in part.needs & imports.keys()}
    all_imports = own_imports | {imports.get(name, ("sympy", name)) for name in wanted - found.keys()}
    bodies = tuple(part.text for part in sorted(set(needed.values()), key=lambda part: part.place))
    return PreludeSelection(import_lines(all_imports), import_lines(own_imports), bodies)


def import_lines(imports: set[Import]) -> str:
    """Return import statements, one for each module: the standard library first, then SymPy."""
    by_module: dict[str, list[str]] = {}
    for module, name in sorted(imports):
        by_module.setdefault(module, []).append(name)
    lines = {m: f"from {m} import {', '.join(names)}" if names != [""] else f"import {m}" for m, names in by_module.items()}
    ordered = sorted(lines.items(), key=lambda item: (item[0].startswith(("sympy", "mpmath")), item[1].startswith("from"), item[0]))
    standard = [line for m, line in ordered if not m.startswith(("sympy", "mpmath"))]
    return "\n".join(standard) + "\n\n" + "\n".join(line for m, line in ordered if line not in standard)
