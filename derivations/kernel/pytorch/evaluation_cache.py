"""What was evaluated at a trial: a tree that stands in several places, or is asked for again, is computed once.

Two trees are one here if they are equal. Each has a number, and is found by its identity once it has one.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from typing import Any, NamedTuple, Protocol

from ..core.expr import Expr
from ..core.operators import BINDERS
from .error_bounds import Value

NUMBERS = 2**23  # of values and bounds, that are kept for one trial
TREES = 2**16  # that have a number at once


class Trial(Protocol):
    """What the value of a tree depends on, of a trial."""

    values: dict[str, Value]
    sizes: dict[str, int]
    exactly: bool
    overflows: bool
    weights: Any


class Numbered(NamedTuple):
    tree: Expr  # kept, so that no other has its identity
    number: int
    free: tuple  # the indices that are free in it: what it is worth depends on their axes
    leaves: frozenset[int]  # the numbers of what it is made of: its nodes that have no parts


NUMBERED: dict[int, Numbered] = {}
NUMBER_OF: dict[Hashable, int] = {}
FRESH = count()


def numbered(e: Expr) -> Numbered:
    """A tree's number. Where there are too many all are given anew, before the tree's own parts have theirs."""
    if len(NUMBERED) > TREES:
        NUMBERED.clear()
        NUMBER_OF.clear()
    return found_or_numbered(e)


def found_or_numbered(e: Expr) -> Numbered:
    found = NUMBERED.get(id(e))
    if found is None:
        parts = [found_or_numbered(x) for x in e.args]
        key = (e.op, e.data, e.shape, *(x.number for x in parts))
        free = dict.fromkeys(i for x in parts for i in x.free if e.op not in BINDERS or i != e.data)
        number = NUMBER_OF[key] if key in NUMBER_OF else NUMBER_OF.setdefault(key, next(FRESH))
        leaves = frozenset().union(*(x.leaves for x in parts)) if parts else frozenset([number])
        found = NUMBERED[id(e)] = Numbered(e, number, (e.data,) if e.op == "index" else tuple(free), leaves)
    return found


def has(e: Expr, leaf: Expr) -> bool:
    """Does a tree have a node that is this one, which has no parts?"""
    tree = numbered(e)
    return found_or_numbered(leaf).number in tree.leaves  # no number is given anew in between


class Remembered:
    """The values of trees at one trial, for as long as it stays as it is."""

    def __init__(self):
        self.state: tuple | None = None
        self.found: dict[tuple, Value] = {}
        self.kept = 0

    def refresh(self, t: Trial) -> None:
        """Forget what was found when the trial was another."""
        if self.state is None or not unchanged(self.state, t):
            self.state = dict(t.values), dict(t.sizes), t.exactly, t.overflows, t.weights
            self.found, self.kept = {}, 0

    def keep(self, key: tuple, x: Value) -> None:
        self.kept += x.v.numel() + x.e.numel()
        if self.kept <= NUMBERS:
            self.found[key] = x


def unchanged(state: tuple, t: Trial) -> bool:
    values, sizes, exactly, overflows, weights = state
    same = len(values) == len(t.values) and all(t.values.get(name) is x for name, x in values.items())
    return same and sizes == t.sizes and exactly == t.exactly and overflows == t.overflows and weights is t.weights


def place(e: Expr, axes: dict, deep: int) -> tuple:
    """What the value of a tree at a trial depends on: the tree, and along which axes its indices run."""
    tree = numbered(e)
    return (tree.number, deep, *(axes[i] for i in tree.free))
