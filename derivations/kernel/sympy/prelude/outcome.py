"""How a program says what it found."""

from __future__ import annotations

import sys


class Fails(Exception):
    """A step is false, or SymPy does not confirm it."""


class NotSettled(Exception):
    """SymPy can neither confirm it nor contradict it."""


def quiet(line):
    """Where nobody listens."""


def run(verdict):
    """Print each step and the verdict. The exit code is 0 only if all of it holds."""
    try:
        found, scope, how = verdict(print)
    except Fails as problem:
        print(f"FALSE, or not confirmed: {problem}")
        sys.exit(1)
    except NotSettled as problem:
        print(f"Not settled: {problem}")
        sys.exit(2)
    print(f"{found}, {scope}: {how}")
