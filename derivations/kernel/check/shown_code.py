"""Check that the code that runs is the code that a page shows.

A page shows lines of a file, but a witness calls an object of the loaded module. For each snippet module that contains a claim's code, or
that such a module imports, this module checks

  the text      the function that the claim names is a `def` at the top level, and no two statements bind the same name
  the module    its functions and methods have the code to which its text compiles

Ruff finds the other mistakes that an honest author may make (snippets/ruff.toml): names that are defined twice or imported by `*` (F811,
F403), `exec` and `eval` (S102, S307), and names that a function declares global (PLW0603). `site/page_lint.py` checks that pages show the
lines.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

from ..core.claims import Claim, Rejected
from ..errors import KernelError
from ..snippet_source import Library, Snippet
from ..snippet_source.scopes import first_line
from ..store import project_files

BOUND_TWICE = "'{name}' is bound here and on line {first}, so a page would show one thing and another one be run; bind each name once"
NO_GRAD_FILE = "/torch/utils/_contextlib.py"  # where PyTorch defines the wrapper of `torch.no_grad()`


class CodeDiffers(KernelError):
    """The code that runs differs from the code that a page shows; the message names file and line."""

    code = "code-not-shown"


class LoadedLibrary(Library):
    """The project's snippet modules, and modules that were loaded from other places."""

    def __init__(self) -> None:
        super().__init__(project_files.ROOT)

    def path(self, module: str) -> Path:
        """Return the path of a module's file in the project or, if there is none, the path from which the module was loaded."""
        path = super().path(module)
        file = getattr(sys.modules.get(module), "__file__", None)
        return Path(file) if file and not path.is_file() else path


def require_shown_code(claim: Claim) -> None:
    """Raise Rejected if a function that the claim's `code=` names differs from what its lines define."""
    try:
        for name in named_functions(claim):
            check_function(name)
    except CodeDiffers as error:
        raise Rejected(claim.file, claim.line, claim.id, str(error), code=error.code) from None


def named_functions(claim: Claim) -> list[str]:
    """Return the names of the functions in a claim's `code=`, including those of nested calls, without duplicates."""
    from ..pytorch.snippet_arguments import snippet_names

    return list(dict.fromkeys(name.partition("[")[0] for name in snippet_names(claim.code))) if claim.code else []


def check_function(name: str) -> None:
    """Raise CodeDiffers unless the module in a function's name defines it, and all modules that it uses contain the code of their texts."""
    from ..pytorch.errors import Disagreement
    from ..pytorch.snippet_arguments import locate_snippet

    try:
        module, function, _ = locate_snippet(name)
    except Disagreement as error:
        raise CodeDiffers(f"{error}; name it as snippets.chapter.topic.function", code="snippet-not-found") from None
    library = LoadedLibrary()
    try:
        snippet = library.find(module.__name__)
        if snippet is None or function not in snippet.definitions:
            found = "its module has it from elsewhere" if hasattr(module, function) else "there is none"
            file = snippet.file if snippet else module.__name__
            raise CodeDiffers(
                f"there is no function {name}: {file} must define it at its top level, and {found}; name the module that does",
                code="snippet-not-found",
            )
        for used in library.closure([module.__name__]).values():
            check_module(used, sys.modules.get(used.module))
    except SyntaxError as error:
        raise CodeDiffers(f"{error.filename}:{error.lineno}: this is not Python: {error.msg}", code="not-python") from None


def check_module(snippet: Snippet, module: ModuleType | None) -> None:
    """Raise CodeDiffers if a name is bound twice, or if the loaded module contains other code than its text defines."""
    for name, line, first in snippet.names_bound_twice():
        raise CodeDiffers(f"{snippet.file}:{line}: {BOUND_TWICE.format(name=name, first=first)}", code="bound-twice")
    for name, node in snippet.definitions.items() if module else ():
        if not all(has_code(value, snippet, qualified, line) for value, qualified, line in pair_functions(vars(module).get(name), node)):
            raise CodeDiffers(
                f"{snippet.file}:{first_line(node)}: what is run as '{name}' is not what these lines define; let nothing be put in its place "
                "or around it"
            )


def pair_functions(value: object, node: ast.FunctionDef | ast.ClassDef) -> Iterator[tuple[object, str, int]]:
    """Yield (object, qualified name, first line) for a function, or for each method of a class. `value` is the module's object."""
    if isinstance(node, ast.FunctionDef):
        yield value, node.name, first_line(node)
        return
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef):
            method = vars(value).get(statement.name) if isinstance(value, type) else None
            if isinstance(method, property):
                is_setter = any(ast.unparse(decorator) == f"{statement.name}.setter" for decorator in statement.decorator_list)
                method = method.fset if is_setter else method.fget
            yield getattr(method, "__func__", method), f"{node.name}.{statement.name}", first_line(statement)


def has_code(value: object, snippet: Snippet, name: str, line: int) -> bool:
    """Return whether an object is the function that a snippet's text defines on a line, possibly wrapped by `torch.no_grad()`."""
    if isinstance(value, FunctionType) and value.__code__.co_filename.endswith(NO_GRAD_FILE):
        value = getattr(value, "__wrapped__", None)
    return isinstance(value, FunctionType) and value.__code__ == snippet.code_of(name, line)
