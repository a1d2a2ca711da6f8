"""A trial: sizes, and values for a claim's symbols at several points at once; and which axis of a value stands for what.

Every value has the same leading axes: the points, the outcomes of what is random, then one for each free index and for each
index that is bound around it. The tensor's own axes come last.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import lru_cache, wraps

import torch
from torch import Tensor

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, symbols, walk
from ..core.operators import AVERAGES, BINDERS
from .error_bounds import Value
from .errors import Disagrees
from .evaluation_cache import Remembered

POINT, OUTCOME = 0, 1  # the first two axes of every value; the axes of the indices follow, and the tensor's own come last


def of_last(find: Callable) -> Callable:
    """A function that finds something of a claim, or of trees, which it keeps for what it was asked about last."""
    last: list = []

    @wraps(find)
    def found(asked):
        if not last or last[0] is not asked:
            last[:] = asked, find(asked)
        return last[1]

    return found


class Trial:
    """Sizes, and values for the symbols at several points at once. Claims about rounding need to know which results are exact."""

    def __init__(self, trees: list, sizes: dict):
        self.sizes, self.values, self.weights = sizes, {}, None
        self.scaled = False  # are all entries large, or tiny?
        self.overflows = False  # is a rounding that overflows a fault of the claim?
        self.exactly, self.axes, self.leading = arranged(trees)
        self.remembered = Remembered()

    def but(self, values: dict) -> Trial:
        """The same with other values."""
        other = copy(self)
        other.values, other.remembered = values, Remembered()
        return other

    def size(self, s: Expr) -> int:
        if s.op == "symbol" and s.data[0] not in self.sizes:
            raise Disagrees(f"no value is given for {s.data[0]}")
        return int(s.data) if s.op == "const" else self.sizes[s.data[0]]

    def shape(self, e: Expr) -> tuple:
        return tuple(map(self.size, e.shape))

    def lead(self, x: Value, rank: int = 0) -> Value:
        """A value of the tensor's own axes, or with points before them, with all the leading axes."""

        def put(t):
            points = t.shape[: t.dim() - rank] or (1,)
            return t.reshape(*points, *(1,) * (self.leading - 1), *t.shape[t.dim() - rank :])

        return Value(put(x.v), put(x.e))

    def put(self, symbol_: Expr, v: Tensor, e: Tensor | None = None):
        self.values[symbol_.data[0]] = self.lead(Value(v, torch.zeros_like(v) if e is None else e), len(symbol_.shape))

    def points(self, keep: Tensor):
        self.values = {name: Value(x.v[keep], x.e[keep]) if len(x.v) > 1 else x for name, x in self.values.items()}


@of_last
def arranged(trees: list) -> tuple:
    """(is it about rounding, the axes of the indices that are free in the trees, how many axes lead)."""
    exactly = any(n.op == "rounded" for t in trees for n in walk(t))
    free = {i: None for t in trees for i in sorted(free_indices(t), key=lambda i: i.data[0])}
    return exactly, {i.data: 2 + k for k, i in enumerate(free)}, 2 + len(free) + max(map(depth, trees))


def depth(e: Expr) -> int:
    """How many indices are bound at once."""
    return (e.op in BINDERS) + max(map(depth, e.args), default=0)


def averaged(e: Expr) -> bool:
    """Is every random symbol in e inside an expectation?"""
    if e.op in AVERAGES:
        return True
    return not (e.op == "symbol" and e.data[1] == "random") and all(map(averaged, e.args))


def along(values: Tensor, axis: int, t: Trial) -> Tensor:
    return values.reshape(*(-1 if k == axis else 1 for k in range(t.leading)))


@lru_cache(maxsize=4096)
@torch.inference_mode(False)  # of what is kept, some is differentiated
def running(size: int, axis: int, leading: int) -> Tensor:
    """The places 0, 1, ... along a leading axis, of so many."""
    return torch.arange(size).reshape(*(-1 if k == axis else 1 for k in range(leading)))


def pick(x: Value, indices: tuple, t: Trial, axes: dict) -> Value:
    """The entry at each value of the indices: one that runs along a leading axis takes its own place there."""
    along_ = [None if i.op == "const" else axes[i.data] for i in indices]
    own = [k for k in along_ if k is not None]
    if len(set(own)) == len(own) and all(x.v.shape[k] == 1 for k in own):
        return Value(*(turned(y, indices, along_, t) for y in (x.v, x.e if x.e.shape == x.v.shape else x.e.expand(x.v.shape))))
    at = [running(n, k, t.leading) for k, n in enumerate(x.v.shape[: t.leading])]
    for i in indices:
        at.append(
            torch.tensor(int(i.data) - 1).reshape((1,) * t.leading)
            if i.op == "const"
            else running(t.size(i.data[1]), axes[i.data], t.leading)
        )
    # A leading axis of size one is broadcast against the index that runs along it.
    return Value(x.v[tuple(at)], x.e[tuple(at)] if x.e.shape == x.v.shape else x.e.expand(x.v.shape)[tuple(at)])


def turned(x: Tensor, indices: tuple, along_: list, t: Trial) -> Tensor:
    """The same where nothing runs along the leading axes of the indices yet, and no two share one: the tensor's own axes become these."""
    for own, (i, k) in enumerate(zip(indices, along_), t.leading):
        x = x.narrow(own, int(i.data) - 1, 1) if k is None else x.transpose(own, k)
    return x.reshape(x.shape[: t.leading])


def at_point(x: Tensor, point: int) -> Tensor:
    return x[point : point + 1] if len(x) > 1 else x


def expressions(data):
    if isinstance(data, Expr):
        yield data
    elif isinstance(data, (tuple, list, dict)):
        for item in data.values() if isinstance(data, dict) else data:
            yield from expressions(item)


@of_last
def involved(claim: Claim) -> list:
    """The trees of a claim and those that its snippets are given."""
    return [*claim.trees, *expressions([(arguments, dict(keywords)) for _, arguments, keywords in claim.code])]


@of_last
def symbols_of(claim: Claim) -> dict[str, Expr]:
    """The symbols of a claim and of what its snippets are given, by name."""
    return symbols(*involved(claim))
