"""Which functions of the prelude a program needs, and their text."""

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

# In the order in which they stand in a program.
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


@dataclass(frozen=True)
class Part:
    """One definition of the prelude: where it stands, its text, and the names that it needs."""

    place: tuple
    text: str
    needs: frozenset


@cache
def parts() -> tuple:
    """({name: Part}, {name: the import that brings it})."""
    found, imports = {}, {}
    for order, module in enumerate(FILES):
        text = Path(module.__file__).read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports |= brought(node)
            elif names := defined(node):
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                source = "\n".join(text.splitlines()[first - 1 : node.end_lineno])
                part = Part((order, node.lineno), source, frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)) - names)
                found |= dict.fromkeys(names, part)
    return found, imports


def defined(node: ast.stmt) -> set:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)} if isinstance(node, ast.Assign) else set()


def brought(node) -> dict:
    """What an import brings, by name: (module, what of it). The prelude's own files bring nothing, as all of them are copied."""
    if isinstance(node, ast.ImportFrom):
        return {} if node.level or node.module == "__future__" else {a.name: (node.module, a.name) for a in node.names}
    return {(a.asname or a.name): (f"{a.name} as {a.asname}" if a.asname else a.name, "") for a in node.names}


@cache
def names() -> frozenset:
    """Every name that a program may already have in use."""
    found, imports = parts()
    return frozenset(found) | frozenset(imports)


@dataclass(frozen=True)
class Carried:
    """What stands around the claim in a program: imports before it, and definitions after it, which need some of the imports."""

    imports: str
    own: str
    bodies: tuple

    @property
    def definitions(self) -> str:
        return "\n\n\n".join(self.bodies) + "\n"


@cache
def carried(wanted: frozenset) -> Carried:
    """What is wanted, with all that it needs; what is not of the prelude, SymPy has."""
    found, imports = parts()
    needed, waiting = {}, set(wanted & found.keys())
    while waiting:
        name = waiting.pop()
        needed[name] = found[name]
        waiting |= (found[name].needs & found.keys()) - needed.keys()
    own = {imports[name] for part in needed.values() for name in part.needs & imports.keys()}
    brings = own | {imports.get(name, ("sympy", name)) for name in wanted - found.keys()}
    bodies = tuple(part.text for part in sorted(set(needed.values()), key=lambda part: part.place))
    return Carried(import_lines(brings), import_lines(own), bodies)


def import_lines(brings: set) -> str:
    """The standard library first, then SymPy; one line for each module."""
    by_module = {}
    for module, name in sorted(brings):
        by_module.setdefault(module, []).append(name)
    lines = {m: f"from {m} import {', '.join(names)}" if names != [""] else f"import {m}" for m, names in by_module.items()}
    ordered = sorted(lines.items(), key=lambda item: (item[0].startswith(("sympy", "mpmath")), item[1].startswith("from"), item[0]))
    own = [line for m, line in ordered if not m.startswith(("sympy", "mpmath"))]
    return "\n".join(own) + "\n\n" + "\n".join(line for m, line in ordered if line not in own)
