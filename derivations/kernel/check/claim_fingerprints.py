"""Hash what the verdict on a claim depends on: the claim itself, and the lines of the snippets that its code may run.

The claim's file and line are left out. The hash of the snippets covers all modules that the claim's code can reach: the code that runs
when they are imported, and each function whose name occurs in code that is already covered. It may cover more than needed, but never less.
If one of the modules can look up names or read files at run time (`DYNAMIC_NAMES`), the hash covers the whole text of all modules.
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
from .shown_code import LoadedLibrary, named_functions

UNHASHED_FIELDS = ("file", "line")
PLAIN_TYPES = (str, int, float, complex, bool, type(None), Fraction)
# Names that let a module look up names at run time, or read other files.
DYNAMIC_NAMES = {
    "getattr",
    "dir",
    "attrgetter",
    "methodcaller",
    "itemgetter",
    "__subclasses__",
    "__getattr__",
    "__dict__",
    "mro",
    "__mro__",
} | {
    *("open", "Path", "read_text", "read_bytes", "load", "from_file", "loadtxt", "genfromtxt", "inspect", "importlib", "__file__"),
}


class Unhashable(Exception):
    """A claim contains a value of a type that cannot be hashed."""


def hash_statement(claim: Claim) -> str:
    """Return a hash of a claim without its file and line, or "" if a part of it cannot be hashed or is nested too deeply."""
    try:
        return hash_value(tuple(getattr(claim, field.name) for field in fields(Claim) if field.name not in UNHASHED_FIELDS), {})
    except (Unhashable, RecursionError):
        return ""


def hash_value(x: Any, known: dict[int, str]) -> str:
    """Return the hash of a value. `known` stores the hashes of trees by their `id`, so that a shared subtree is hashed only once.

    Raise Unhashable for a type that cannot be hashed.
    """
    if isinstance(x, Expr):
        if id(x) not in known:
            known[id(x)] = hash_strings("tree", x.op, hash_value(x.args, known), hash_value(x.shape, known), hash_value(x.data, known))
        return known[id(x)]
    if type(x) in (tuple, list):
        return hash_strings(type(x).__name__, *(hash_value(item, known) for item in x))
    if type(x) is dict:
        return hash_strings("dict", *(hash_value(item, known) for item in x.items()))
    if type(x) in (Step, Assumption):
        return hash_strings(type(x).__name__, *(hash_value(getattr(x, field.name), known) for field in fields(x)))
    if type(x) not in PLAIN_TYPES:
        raise Unhashable
    return hash_strings(type(x).__name__, repr(x))


def hash_strings(*parts: str) -> str:
    """Return the hash of a sequence of strings. Each string is preceded by its length, so that different sequences differ in their hash."""
    return hashlib.sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


# The code ---------------------------------------------------------------------------------------------------------------------


def hash_code(claim: Claim) -> dict[str, Any]:
    """Return hashes of a claim's code, and the files that it can reach.

    "lines" is a hash of the code that may run; it does not change if the code moves within its file. "texts" is a hash of the whole files,
    for verdicts that name a line. Both are "none" if the claim names no code, and "" if a file cannot be read or parsed.
    """
    if not claim.code:
        return {"lines": "none", "texts": "none", "files": []}
    try:
        snippets = reachable_snippets(claim)
        hashes = {
            "lines": hash_reachable_code(claim, list(snippets.values())),
            "texts": hash_strings(*(part for file, snippet in snippets.items() for part in (file, snippet.text))),
        }
    except (KernelError, OSError, SyntaxError, UnicodeDecodeError):
        return {"lines": "", "texts": "", "files": []}
    return hashes | {"files": list(snippets)}


def reachable_snippets(claim: Claim) -> dict[str, Snippet]:
    """Return the snippets that a claim names, the snippets that these import, and the packages that contain them, by file.

    A file has the same name in every checkout.
    """
    return LoadedLibrary().closure(locate_snippet(name)[0].__name__ for name in named_functions(claim))


def hash_reachable_code(claim: Claim, snippets: list[Snippet]) -> str:
    """Return a hash of the code that a claim's code may run, or of the whole snippets if a name in `DYNAMIC_NAMES` occurs in them."""
    if any(DYNAMIC_NAMES & mentioned_names(snippet.tree) for snippet in snippets):
        return hash_strings(*(snippet.file for snippet in snippets), *(snippet.text for snippet in snippets))
    called = {name.rpartition(".")[2] for name in named_functions(claim)} | set(find_strings(claim.code))
    names = reachable_names(called, snippets)
    return hash_strings(*(part for snippet in snippets for part in (snippet.file, *dump_used_code(snippet, names))))


def find_strings(code: Any) -> Iterator[str]:
    """Yield the strings in a claim's `code=`, because they may be names of functions."""
    if isinstance(code, str):
        yield code
    elif isinstance(code, (tuple, list, dict)):
        for part in code.values() if isinstance(code, dict) else code:
            yield from find_strings(part)


def reachable_names(names: set[str], snippets: Iterable[Snippet]) -> set[str]:
    """Return the names that may be used, directly or indirectly, when the named functions or the top level of the snippets run."""
    uses: dict[str, set[str]] = {}
    pending = set(names)
    for snippet in snippets:
        pending |= {name for node in import_time_code(snippet.tree) for name in mentioned_names(node)}
        for name, node in snippet.definitions.items():
            uses.setdefault(name, set()).update(mentioned_names(node))
        for imported in snippet.imports:
            if imported.is_renamed:
                uses.setdefault(imported.bound, set()).add(imported.origin.name or imported.origin.module.rpartition(".")[2])
    found: set[str] = set()
    while pending:
        found |= pending
        pending = {used for name in pending for used in uses.get(name, ())} - found
    return found


@lru_cache(maxsize=4096)
def mentioned_names(node: ast.AST) -> frozenset[str]:
    """Return all names in a syntax tree, including those in strings."""
    nodes = list(ast.walk(node))
    found = {name for n in nodes for field in ("id", "attr", "name", "arg") if isinstance(name := getattr(n, field, None), str)}
    texts = (n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return frozenset(found | {part for text in texts for part in text.split(".") if part.isidentifier()})


@lru_cache(maxsize=256)
def import_time_code(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return the code that runs when a module is imported: everything except the bodies of its functions. Whole classes are included."""
    found: list[ast.AST] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found += [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
        else:
            found.append(node)
    return tuple(found)


@lru_cache(maxsize=4096)
def dump_tree(node: ast.AST) -> str:
    """Return a syntax tree as text without line numbers. The result is cached."""
    return ast.dump(node)


def dump_used_code(snippet: Snippet, names: set[str]) -> list[str]:
    """Return the dumped syntax trees of a snippet's top level and of its definitions with these names."""
    used = (node for name, node in snippet.definitions.items() if name in names)
    return [dump_tree(node) for node in [*import_time_code(snippet.tree), *used]]
