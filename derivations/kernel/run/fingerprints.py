"""What the verdict on a claim rests on, as a hash: how the claim is told, and the lines of the snippets that its code may run.

Where the claim stands in its file is left out. A name in a snippet may mean whatever is defined under that name in any module of
snippets within reach, so that rather too many lines count than too few.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..core.assumptions import Assumption
from ..core.claims import Claim, Step
from ..core.expr import Expr
from ..pytorch.snippets import home
from .as_shown import definitions, file_of, imports, named, parsed
from .certificates import ROOT

PLACE = ("file", "line")
PLAIN = (str, int, float, complex, bool, type(None), Fraction)


class Unknown(Exception):
    """Something is told of which no hash is known."""


def told(claim: Claim) -> str:
    """A hash of all that a claim says; "" where that is not known."""
    known: dict[int, str] = {}
    try:
        return of(tuple(getattr(claim, one.name) for one in fields(Claim) if one.name not in PLACE), known)
    except (Unknown, RecursionError):
        return ""


def of(x: Any, known: dict[int, str]) -> str:
    """A hash of a value; that of a tree is made once, wherever it stands in others."""
    if isinstance(x, Expr):
        if id(x) not in known:
            known[id(x)] = hashed("tree", x.op, of(x.args, known), of(x.shape, known), of(x.data, known))
        return known[id(x)]
    if type(x) in (tuple, list):
        return hashed(type(x).__name__, *(of(one, known) for one in x))
    if type(x) is dict:
        return hashed("dict", *(of(one, known) for one in x.items()))
    if type(x) in (Step, Assumption):
        return hashed(type(x).__name__, *(of(getattr(x, one.name), known) for one in fields(x)))
    if type(x) not in PLAIN:
        raise Unknown
    return hashed(type(x).__name__, repr(x))


def hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


# The code ---------------------------------------------------------------------------------------------------------------------


def lines(claim: Claim) -> str:
    """A hash of the lines that the claim's code may run; it does not change when they move."""
    if not claim.code:
        return ""
    files = within_reach(claim)
    trees = {file: parsed(file, Path(file).read_text(encoding="utf-8")) for file in files}
    found = reached({name.rpartition(".")[2] for name in named(claim)}, trees.values())
    return hashed(*(part for file in files for part in (file, *parts(trees[file], found))))


def texts(claim: Claim) -> str:
    """A hash of all the files of these lines, for a verdict that names a line."""
    return hashed(*(part for file in within_reach(claim) for part in (file, Path(file).read_text(encoding="utf-8")))) if claim.code else ""


def within_reach(claim: Claim) -> list[str]:
    """The files of the snippets that a claim names, and of all that these import."""
    found: dict[str, None] = {}
    left = [file_of(home(name)[0]) for name in named(claim)]
    while left:
        file = left.pop()
        if file not in found:
            found[file] = None
            left += map(str, filter(Path.is_file, map(path_of, imports(parsed(file, Path(file).read_text(encoding="utf-8"))))))
    return sorted(found)


def path_of(module: str) -> Path:
    """The file of a module of snippets; the file of a name that is none is not there."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py") if module.startswith("snippets.") else ROOT / "none"


def reached(names: set[str], trees: Iterable[ast.Module]) -> set[str]:
    """The names that these may come to use, in one step after another."""
    trees = list(trees)
    uses: dict[str, set[str]] = {}
    for tree in trees:
        for name, node in definitions(tree).items():
            uses.setdefault(name, set()).update(mentioned(node))
        for called, name in renamed(tree):
            uses.setdefault(called, set()).add(name)
    found, left = set(), {*names, *(name for tree in trees for node in rest(tree) for name in mentioned(node))}
    while left:
        found |= left
        left = {name for one in left for name in uses.get(one, ())} - found
    return found


def mentioned(node: ast.AST) -> set[str]:
    """All names in some lines, texts that may be names among them."""
    found = {
        getattr(one, part) for one in ast.walk(node) for part in ("id", "attr", "name", "arg") if isinstance(getattr(one, part, 0), str)
    }
    return found | {
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier()
    }


def renamed(tree: ast.Module) -> list[tuple[str, str]]:
    aliases = [one for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for one in node.names]
    return [(one.asname, one.name.rpartition(".")[2]) for one in aliases if one.asname]


def rest(tree: ast.Module) -> list[ast.stmt]:
    """What is run when a module is loaded, beside its functions and classes."""
    known = set(map(id, definitions(tree).values()))
    return [node for node in tree.body if id(node) not in known]


@lru_cache(maxsize=4096)
def dumped(node: ast.AST) -> str:
    return ast.dump(node)


def parts(tree: ast.Module, names: set[str]) -> list[str]:
    return [dumped(node) for node in [*rest(tree), *(node for name, node in definitions(tree).items() if name in names)]]
