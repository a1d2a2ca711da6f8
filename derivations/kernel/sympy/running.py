"""Runs a program's text in this process."""

from __future__ import annotations

from functools import lru_cache

from .program import Program
from .trouble import Disagrees, NotForSymPy


@lru_cache(maxsize=100)
def carried(text: str) -> dict:
    """What a program carries, loaded once for all the programs that carry just this text."""
    space = {"__name__": "carried"}
    exec(compile(text, "<carried>", "exec"), space)
    return space


def run(program: Program) -> tuple:
    """(verdict, scope, note). The text that runs is the text that is shown: what it carries, and then the claim."""
    space = dict(carried(program.carried))
    exec(compile(program.stated, "<claim>", "exec"), space)
    try:
        return space["verdict"]()
    except space["Fails"] as problem:
        raise Disagrees(str(problem)) from None
    except space["NotSettled"] as reason:
        raise NotForSymPy(str(reason)) from None
