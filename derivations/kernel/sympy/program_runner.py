"""Runs a program's text in this process."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType

from .errors import Disagrees, NotForSymPy
from .prelude_selection import parts
from .program import Program


@lru_cache(maxsize=1000)
def compiled(text: str) -> CodeType:
    """A definition of the prelude, or the imports of a program: many programs carry the same ones."""
    return compile(text, "<carried>", "exec")


def compile_prelude() -> None:
    """Have the prelude read and compiled, once for all the processes that are forked from this one."""
    for part in parts()[0].values():
        compiled(part.text)


@lru_cache(maxsize=100)
def loaded(own: str, bodies: tuple) -> dict:
    """The definitions that a program carries, loaded once for all the programs that carry just these."""
    space = {"__name__": "carried"}
    for text in (own, *bodies):
        exec(compiled(text), space)
    return space


def run(program: Program) -> tuple:
    """(verdict, scope, note). The text that runs is the text that is shown; what is carried comes first, since it is kept."""
    space = dict(loaded(program.carried.own, program.carried.bodies))
    exec(compiled(program.carried.imports), space)
    exec(compile(program.stated, "<claim>", "exec"), space)
    try:
        return space["verdict"](lambda step: None)
    except space["Fails"] as problem:
        raise Disagrees(str(problem)) from None
    except space["NotSettled"] as reason:
        raise NotForSymPy(str(reason)) from None
