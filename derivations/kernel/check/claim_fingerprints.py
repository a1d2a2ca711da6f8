"""What the verdict on a claim rests on, as a hash: how the claim is told, and the lines of the snippets that its code may run.

Where the claim stands in its file is left out. Of the snippets there count, of all modules within reach, what is run while they are loaded,
and each function whose name occurs in what counts already, so that rather too many lines count than too few. Where a module finds out names
by other means (`DYNAMIC`), all of its text does.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..core.assumptions import Assumption
from ..core.claims import Claim, Step
from ..core.expr import Expr
from ..errors import KernelError
from ..pytorch.snippet_arguments import locate_snippet
from ..snippet_source import Snippet
from .shown_code import LoadedLibrary, named

PLACE = ("file", "line")
PLAIN = (str, int, float, complex, bool, type(None), Fraction)
# Names by which a module finds what its text does not name, or reads a text that is not its own.
DYNAMIC = {"getattr", "dir", "attrgetter", "methodcaller", "itemgetter", "__subclasses__", "__getattr__", "__dict__", "mro", "__mro__"} | {
    *("open", "Path", "read_text", "read_bytes", "load", "from_file", "loadtxt", "genfromtxt", "inspect", "importlib", "__file__"),
}


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


def code(claim: Claim) -> dict[str, Any]:
    """Of the claim's code: a hash of the lines that it may run, which does not change when they move; one of all their files, for a verdict
    that names a line; and these files. Without hashes where a file cannot be read."""
    if not claim.code:
        return {"lines": "none", "texts": "none", "files": []}
    try:
        snippets = within_reach(claim)
        found = {
            "lines": lines(claim, list(snippets.values())),
            "texts": hashed(*(part for file, one in snippets.items() for part in (file, one.text))),
        }
    except (KernelError, OSError, SyntaxError, UnicodeDecodeError):
        return {"lines": "", "texts": "", "files": []}
    return found | {"files": list(snippets)}


def within_reach(claim: Claim) -> dict[str, Snippet]:
    """Return the snippets that a claim names, all that these import, and the packages around them, by file; a file's name is the same in
    every checkout."""
    return LoadedLibrary().closure(locate_snippet(name)[0].__name__ for name in named(claim))


def lines(claim: Claim, snippets: list[Snippet]) -> str:
    if any(DYNAMIC & mentioned(one.tree) for one in snippets):
        return hashed(*(one.file for one in snippets), *(one.text for one in snippets))
    named_first = {name.rpartition(".")[2] for name in named(claim)} | set(words(claim.code))
    names = reached(named_first, snippets)
    return hashed(*(part for one in snippets for part in (one.file, *parts(one, names))))


def words(code: Any) -> Iterator[str]:
    """The texts among what a claim's code is given: a name may be among them."""
    if isinstance(code, str):
        yield code
    elif isinstance(code, (tuple, list, dict)):
        for part in code.values() if isinstance(code, dict) else code:
            yield from words(part)


def reached(names: set[str], snippets: Iterable[Snippet]) -> set[str]:
    """The names that these, and what is run while modules are loaded, may come to use, in one step after another."""
    uses: dict[str, set[str]] = {}
    left = set(names)
    for snippet in snippets:
        left |= {name for node in at_load(snippet.tree) for name in mentioned(node)}
        for name, node in snippet.definitions.items():
            uses.setdefault(name, set()).update(mentioned(node))
        for one in snippet.imports:
            if one.is_renamed:
                uses.setdefault(one.bound, set()).add(one.origin.name or one.origin.module.rpartition(".")[2])
    found: set[str] = set()
    while left:
        found |= left
        left = {name for one in left for name in uses.get(one, ())} - found
    return found


@lru_cache(maxsize=4096)
def mentioned(node: ast.AST) -> frozenset[str]:
    """All names in some lines, texts that may be names among them."""
    inside = list(ast.walk(node))
    found = {name for one in inside for part in ("id", "attr", "name", "arg") if isinstance(name := getattr(one, part, 0), str)}
    texts = (one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return frozenset(found | {part for text in texts for part in text.split(".") if part.isidentifier()})


@lru_cache(maxsize=256)
def at_load(tree: ast.Module) -> tuple[ast.AST, ...]:
    """What is run when a module is loaded: all but the bodies of its functions. A class is taken whole."""
    found: list[ast.AST] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found += [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
        else:
            found.append(node)
    return tuple(found)


@lru_cache(maxsize=4096)
def dumped(node: ast.AST) -> str:
    return ast.dump(node)


def parts(snippet: Snippet, names: set[str]) -> list[str]:
    used = (node for name, node in snippet.definitions.items() if name in names)
    return [dumped(node) for node in [*at_load(snippet.tree), *used]]
