"""Runs a program's text in this process."""

from __future__ import annotations

from functools import lru_cache

from .program import Program
from .trouble import Disagrees, NotForSymPy


@lru_cache(maxsize=100)
def loaded(own: str, definitions: str) -> dict:
    """The definitions that a program carries, loaded once for all the programs that carry just these."""
    space = {"__name__": "carried"}
    exec(compile(f"{own}\n\n{definitions}", "<carried>", "exec"), space)
    return space


def run(program: Program) -> tuple:
    """(verdict, scope, note). The text that runs is the text that is shown; what is carried comes first, since it is kept."""
    space = dict(loaded(program.carried.own, program.carried.definitions))
    exec(compile(program.carried.imports, "<imports>", "exec"), space)
    exec(compile(program.stated, "<claim>", "exec"), space)
    try:
        return space["verdict"](lambda step: None)
    except space["Fails"] as problem:
        raise Disagrees(str(problem)) from None
    except space["NotSettled"] as reason:
        raise NotForSymPy(str(reason)) from None
