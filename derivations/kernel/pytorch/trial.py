"""A trial: sizes, and values for a claim's symbols at several points at once.

Every value has the same leading axes: the points, the outcomes of the random symbols, then one for each free index and for each level of
bound indices. The tensor's own axes come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import lru_cache, wraps
from typing import Any

import torch
from torch import Tensor

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, symbols, walk
from ..core.operators import AVERAGE_OPERATORS, BINDERS
from .error_bounds import BoundedValue
from .errors import Disagreement
from .evaluation_cache import ValueCache

POINT, OUTCOME = 0, 1  # the first two axes of every value; the axes of the indices follow, and the tensor's own come last


def cache_last(find: Callable) -> Callable:
    """Cache the last result of a function of one argument, by the argument's identity."""
    last: list = []

    @wraps(find)
    def cached(argument: Any) -> Any:
        if not last or last[0] is not argument:
            last[:] = argument, find(argument)
        return last[1]

    return cached


class Trial:
    """Sizes, and values for the symbols at several points at once. `exactly` says whether the claim is about rounding."""

    def __init__(self, trees: list, sizes: dict) -> None:
        self.sizes: dict[str, int] = sizes
        self.values: dict[str, BoundedValue] = {}
        self.weights: BoundedValue | None = None  # of the outcomes
        self.scaled = False  # whether all entries are large, or tiny
        self.unbounded = False  # whether roundings have unlimited exponents, since the claim assumes that none leaves its range
        # The smallest and the largest exponent of the exponentials at each point, for bounds in formats.
        self.exponents = (torch.zeros(1, dtype=torch.float64),) * 2
        self.overflows = False  # whether a rounding that overflows contradicts the claim
        self.exactly, self.axes, self.leading = leading_axes(trees)
        self.needed: Tensor | None = None  # where the value of the tree is needed, by its leading axes; None: everywhere
        self.remembered = ValueCache()

    def but(self, values: dict) -> Trial:
        """Return a copy with other values."""
        other = copy(self)
        other.values, other.remembered = values, ValueCache()
        return other

    def size(self, s: Expr) -> int:
        """Return a size as a number."""
        if s.op == "symbol" and s.data[0] not in self.sizes:
            raise Disagreement(f"no value is given for {s.data[0]}", code="missing-value")
        return int(s.data) if s.op == "const" else self.sizes[s.data[0]]

    def shape(self, e: Expr) -> tuple[int, ...]:
        """Return the shape of an expression as numbers."""
        return tuple(map(self.size, e.shape))

    def lead(self, x: BoundedValue, rank: int = 0) -> BoundedValue:
        """Add the leading axes to a value with `rank` axes of its own, with or without an axis for the points."""

        def put(t: Tensor) -> Tensor:
            points = t.shape[: t.dim() - rank] or (1,)
            return t.reshape(*points, *(1,) * (self.leading - 1), *t.shape[t.dim() - rank :])

        return BoundedValue(put(x.value), put(x.error))

    def put(self, symbol_: Expr, v: Tensor, e: Tensor | None = None) -> None:
        """Set the value of a symbol, with error e or none."""
        self.values[symbol_.data[0]] = self.lead(BoundedValue(v, torch.zeros_like(v) if e is None else e), len(symbol_.shape))

    def points(self, keep: Tensor) -> None:
        """Keep only the points with these numbers."""
        self.values = {name: BoundedValue(x.value[keep], x.error[keep]) if len(x.value) > 1 else x for name, x in self.values.items()}


@cache_last
def leading_axes(trees: list) -> tuple:
    """Return (whether a tree rounds, the leading axes of the free indices of the trees, the number of leading axes)."""
    exactly = any(n.op == "rounded" for t in trees for n in walk(t))
    free = {i: None for t in trees for i in sorted(free_indices(t), key=lambda i: i.data[0])}
    return exactly, {i.data: 2 + k for k, i in enumerate(free)}, 2 + len(free) + max(map(depth, trees))


def depth(e: Expr) -> int:
    """Return the largest number of nested bound indices."""
    return (e.op in BINDERS) + max(map(depth, e.args), default=0)


def is_averaged(e: Expr) -> bool:
    """Return whether every random symbol in e is inside an expectation or variance."""
    if e.op in AVERAGE_OPERATORS:
        return True
    return not (e.op == "symbol" and e.data[1] == "random") and all(map(is_averaged, e.args))


def along_axis(values: Tensor, axis: int, t: Trial) -> Tensor:
    """Return a vector along a leading axis."""
    return values.reshape(*(-1 if k == axis else 1 for k in range(t.leading)))


@lru_cache(maxsize=4096)
@torch.inference_mode(False)  # cached tensors may be differentiated
def range_along(size: int, axis: int, leading: int) -> Tensor:
    """Return the positions 0, 1, ..., size - 1 along a leading axis."""
    return torch.arange(size).reshape(*(-1 if k == axis else 1 for k in range(leading)))


def take_entry(x: BoundedValue, indices: tuple, t: Trial, axes: dict) -> BoundedValue:
    """Return the entry of x at each value of the indices, which are constants or run along leading axes."""
    index_axes = [None if i.op == "const" else axes[i.data] for i in indices]
    used_axes = [k for k in index_axes if k is not None]
    if len(set(used_axes)) == len(used_axes) and all(x.value.shape[k] == 1 for k in used_axes):
        return BoundedValue(
            *(
                move_axes(y, indices, index_axes, t)
                for y in (x.value, x.error if x.error.shape == x.value.shape else x.error.expand(x.value.shape))
            )
        )
    positions = [range_along(n, k, t.leading) for k, n in enumerate(x.value.shape[: t.leading])]
    for i in indices:
        positions.append(
            torch.tensor(int(i.data) - 1).reshape((1,) * t.leading)
            if i.op == "const"
            else range_along(t.size(i.data[1]), axes[i.data], t.leading)
        )
    # A leading axis of size one is broadcast against the index that runs along it.
    return BoundedValue(
        x.value[tuple(positions)],
        x.error[tuple(positions)] if x.error.shape == x.value.shape else x.error.expand(x.value.shape)[tuple(positions)],
    )


def move_axes(x: Tensor, indices: tuple, index_axes: list, t: Trial) -> Tensor:
    """Return the entries by moving the tensor's own axes to the leading axes of the indices, which must be different and still have size one."""
    for axis, (i, k) in enumerate(zip(indices, index_axes), t.leading):
        x = x.narrow(axis, int(i.data) - 1, 1) if k is None else x.transpose(axis, k)
    return x.reshape(x.shape[: t.leading])


def at_point(x: Tensor, point: int) -> Tensor:
    """Return one point of a tensor, or the tensor if it is the same at all points."""
    return x[point : point + 1] if len(x) > 1 else x


def expressions(data: Any) -> Iterator[Expr]:
    """Yield the expressions in nested tuples, lists and dictionaries."""
    if isinstance(data, Expr):
        yield data
    elif isinstance(data, (tuple, list, dict)):
        for item in data.values() if isinstance(data, dict) else data:
            yield from expressions(item)


@cache_last
def involved_trees(claim: Claim) -> list:
    """Return the trees of a claim and of the arguments of its code."""
    return [*claim.trees, *expressions([(arguments, dict(keywords)) for _, arguments, keywords in claim.code])]


@cache_last
def symbols_of(claim: Claim) -> dict[str, Expr]:
    """Return the symbols of a claim and of the arguments of its code, by name."""
    return symbols(*involved_trees(claim))
