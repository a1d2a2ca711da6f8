"""The execution of a program's text in this process."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import Any

from .errors import Disagrees, NotForSymPy
from .prelude_selection import parts
from .program import Program


@lru_cache(maxsize=1000)
def compiled(text: str) -> CodeType:
    """Return the code of a definition of the prelude or of a program's imports. It is cached, because many programs share them."""
    return compile(text, "<carried>", "exec")


def compile_prelude() -> None:
    """Read and compile the prelude before this process forks, so that its children need not."""
    for part in parts()[0].values():
        compiled(part.text)


@lru_cache(maxsize=100)
def loaded(imports: str, bodies: tuple[str, ...]) -> dict[str, Any]:
    """Return a namespace with a program's part of the prelude. It is cached, because many programs need the same part."""
    space: dict[str, Any] = {"__name__": "carried"}
    for text in (imports, *bodies):
        exec(compiled(text), space)
    return space


def run(program: Program) -> tuple[str, str, str]:
    """Return (verdict, scope, note). Raise Disagrees or NotForSymPy if the program does.

    The parts that run are the text that is shown, in another order: the prelude comes first, because it is cached.
    """
    space = dict(loaded(program.prelude.own_imports, program.prelude.bodies))
    exec(compiled(program.prelude.imports), space)
    exec(compile(program.stated, "<claim>", "exec"), space)
    try:
        return space["verdict"](lambda step: None)
    except space["Fails"] as problem:
        raise Disagrees(str(problem)) from None
    except space["NotSettled"] as reason:
        raise NotForSymPy(str(reason)) from None
