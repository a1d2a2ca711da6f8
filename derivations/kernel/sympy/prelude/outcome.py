"""The outcome of a program."""

from __future__ import annotations

import sys


class Fails(Exception):
    """An error for a step that is false or that SymPy does not confirm."""


class NotSettled(Exception):
    """An error for a claim that SymPy can neither confirm nor contradict."""


def quiet(line):
    """Ignore a line of output."""


def run(verdict):
    """Print each step and the verdict. Exit with code 1 if a step fails, and with code 2 if the claim is not settled."""
    try:
        found, scope, how = verdict(print)
    except Fails as problem:
        print(f"FALSE, or not confirmed: {problem}")
        sys.exit(1)
    except NotSettled as problem:
        print(f"Not settled: {problem}")
        sys.exit(2)
    print(f"{found}, {scope}: {how}")
