"""Cache the values of trees at a trial, so that equal trees are evaluated once.

Equal trees have the same number, by which values are stored. A tree that has a number is found by its identity.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from typing import Any, NamedTuple, Protocol

from ..core.expr import Expr
from ..core.operators import BINDERS
from .error_bounds import BoundedValue

MAX_CACHED = 2**23  # values and bounds that are stored for one trial
MAX_TREES = 2**16  # trees that have a number at the same time


class Trial(Protocol):
    """The attributes of a trial that the value of a tree depends on."""

    values: dict[str, BoundedValue]
    sizes: dict[str, int]
    exactly: bool
    overflows: bool
    weights: Any


class Numbered(NamedTuple):
    """A tree and its number."""

    tree: Expr  # a reference, so that no other tree gets its identity
    number: int
    free: tuple  # its free indices: its value depends on their axes
    leaves: frozenset[int]  # the numbers of its leaves


NUMBERED: dict[int, Numbered] = {}
NUMBER_OF: dict[Hashable, int] = {}
FRESH = count()


def number_tree(e: Expr) -> Numbered:
    """Return a tree with its number. If there are too many trees, forget all numbers first."""
    if len(NUMBERED) > MAX_TREES:
        NUMBERED.clear()
        NUMBER_OF.clear()
    return assign_number(e)


def assign_number(e: Expr) -> Numbered:
    """Return a tree with its number, which is new if no equal tree has one."""
    found = NUMBERED.get(id(e))
    if found is None:
        parts = [assign_number(x) for x in e.args]
        key = (e.op, e.data, e.shape, *(x.number for x in parts))
        free = dict.fromkeys(i for x in parts for i in x.free if e.op not in BINDERS or i != e.data)
        number = NUMBER_OF[key] if key in NUMBER_OF else NUMBER_OF.setdefault(key, next(FRESH))
        leaves = frozenset().union(*(x.leaves for x in parts)) if parts else frozenset([number])
        found = NUMBERED[id(e)] = Numbered(e, number, (e.data,) if e.op == "index" else tuple(free), leaves)
    return found


def contains_leaf(e: Expr, leaf: Expr) -> bool:
    """Return whether a tree contains a leaf."""
    tree = number_tree(e)
    return assign_number(leaf).number in tree.leaves  # not `number_tree`, which might forget the numbers of the tree


class ValueCache:
    """The values of trees at one trial, which are valid until the trial changes."""

    def __init__(self) -> None:
        self.state: tuple | None = None
        self.found: dict[tuple, BoundedValue] = {}
        self.kept = 0

    def refresh(self, t: Trial) -> None:
        """Clear the cache if the trial has changed."""
        if self.state is None or not unchanged(self.state, t):
            self.state = dict(t.values), dict(t.sizes), t.exactly, t.overflows, t.weights
            self.found, self.kept = {}, 0

    def keep(self, key: tuple, x: BoundedValue) -> None:
        """Store a value, unless the cache is full."""
        self.kept += x.value.numel() + x.error.numel()
        if self.kept <= MAX_CACHED:
            self.found[key] = x


def unchanged(state: tuple, t: Trial) -> bool:
    """Return whether a trial is in the state that was stored."""
    values, sizes, exactly, overflows, weights = state
    same = len(values) == len(t.values) and all(t.values.get(name) is x for name, x in values.items())
    return same and sizes == t.sizes and exactly == t.exactly and overflows == t.overflows and weights is t.weights


def cache_key(e: Expr, axes: dict, deep: int) -> tuple:
    """Return the key of a tree's value at a trial: the tree's number and the axes of its free indices."""
    tree = number_tree(e)
    return (tree.number, deep, *(axes[i] for i in tree.free))
