"""The axes of a tensor, and the positions along them.

| axis | a position along it |
|---|---|
| `Count(3)`: a known length | 0, 1 or 2 |
| `Run(n)`: a symbolic length | an index of the kernel that runs from 1 to n |
| `Merged((Run(n), Count(2)))`: two axes that a view has merged | a tuple of positions, one along each; the last varies fastest |
| `Joined((Run(n), Count(1)))`: axes that were concatenated | the number of the part, and the position in it |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product
from math import prod
from typing import Any

from ..core.constructors import index
from ..core.expr import Expr
from .errors import NeedsNumericSize, NotRead

Length = dict  # {sorted tuple of size names: integer coefficient}: a polynomial in sizes
Position = Any
FRESH_NUMBERS = count()


@dataclass(frozen=True)
class FixedAxis:
    """An axis of known length."""

    n: int


@dataclass(frozen=True)
class SymbolicAxis:
    """An axis whose length is a size symbol."""

    size: Expr


@dataclass(frozen=True)
class MergedAxis:
    """Several axes that a view has made one; the last part varies fastest."""

    parts: tuple


@dataclass(frozen=True)
class JoinedAxis:
    """Several axes concatenated to one."""

    parts: tuple


Axis = FixedAxis | SymbolicAxis | MergedAxis | JoinedAxis
UNIT_AXIS = FixedAxis(1)


def axis_of_size(size: Expr) -> Axis:
    """Return the axis of a size, which is a constant or a symbol."""
    return FixedAxis(int(size.data)) if size.op == "const" else SymbolicAxis(size)


def axis_length(axis: Axis) -> Length:
    """Return the length of an axis as a polynomial in sizes."""
    if isinstance(axis, FixedAxis):
        return {(): axis.n} if axis.n else {}
    if isinstance(axis, SymbolicAxis):
        return {(axis.size.data[0],): 1}
    parts = [axis_length(part) for part in axis.parts]
    return multiply_lengths(*parts) if isinstance(axis, MergedAxis) else add_lengths(*parts)


def size_names(axis: Axis) -> tuple[str, ...]:
    """Return the names of the sizes in the length of an axis, sorted."""
    return tuple(sorted({name for names in axis_length(axis) for name in names}))


def add_lengths(*lengths: Length) -> Length:
    """Return the sum of lengths."""
    total: Length = {}
    for terms in lengths:
        for names, k in terms.items():
            total[names] = total.get(names, 0) + k
    return {names: k for names, k in total.items() if k}


def multiply_lengths(*lengths: Length) -> Length:
    """Return the product of lengths."""
    total: Length = {(): 1}
    for one in lengths:
        total = add_lengths(*({tuple(sorted(a + b)): j * k} for a, j in total.items() for b, k in one.items()))
    return total


def divide_lengths(whole: Length, part: Length) -> Length | None:
    """Return whole / part if both have one term and the quotient is a length; else None. Equal lengths of several terms give 1."""
    if len(whole) != 1 or len(part) != 1:
        return {(): 1} if whole == part else None
    ((names, k),), ((divisors, j),) = whole.items(), part.items()
    remaining = list(names)
    for name in divisors:
        if name not in remaining:
            return None
        remaining.remove(name)
    return {tuple(remaining): k // j} if k % j == 0 else None


def new_index(axis: SymbolicAxis) -> Expr:
    """Return a new index that runs along an axis."""
    return index(f"at{next(FRESH_NUMBERS)}", axis.size)


def iterate_positions(axis: Axis) -> Iterator[tuple[Position, tuple[Expr, ...]]]:
    """Yield each position and the new indices in it. Along a symbolic axis, a single new index stands for all positions."""
    if isinstance(axis, FixedAxis):
        yield from ((k, ()) for k in range(axis.n))
    elif isinstance(axis, SymbolicAxis):
        i = new_index(axis)
        yield i, (i,)
    elif isinstance(axis, MergedAxis):
        for combination in product(*(list(iterate_positions(part)) for part in axis.parts)):
            yield tuple(position for position, _ in combination), tuple(i for _, bound in combination for i in bound)
    else:
        for number, part in enumerate(axis.parts):
            yield from (((number, position), bound) for position, bound in iterate_positions(part))


def has_known_length(axis: Axis) -> bool:
    """Return whether the length of an axis is a number."""
    return isinstance(axis, FixedAxis) or not isinstance(axis, SymbolicAxis) and all(map(has_known_length, axis.parts))


@dataclass(frozen=True)
class AxisGroup:
    """Adjacent axes combined into one, the last varying fastest.

    Neighbouring axes of known length are combined into one `FixedAxis`; axes of length 1 are left out.
    """

    parts: tuple

    def clusters(self) -> list[list[Axis]]:
        """Return the parts, with neighbouring axes of known length grouped together."""
        clusters: list[list[Axis]] = []
        for part in self.parts:
            if clusters and isinstance(part, FixedAxis) and isinstance(clusters[-1][0], FixedAxis):
                clusters[-1].append(part)
            else:
                clusters.append([part])
        return clusters

    @property
    def axis(self) -> Axis:
        """The combined axis."""
        combined = [
            FixedAxis(prod(known_lengths(cluster))) if isinstance(cluster[0], FixedAxis) else cluster[0] for cluster in self.clusters()
        ]
        longer = tuple(part for part in combined if part != UNIT_AXIS)
        return UNIT_AXIS if not longer else longer[0] if len(longer) == 1 else MergedAxis(longer)

    def unpack(self, position: Position) -> list:
        """Return the position along each part for a position along the combined axis."""
        remaining = iter(position if isinstance(self.axis, MergedAxis) else [] if self.axis == UNIT_AXIS else [position])
        positions: list = []
        for cluster in self.clusters():
            if not isinstance(cluster[0], FixedAxis):
                positions.append(next(remaining))
                continue
            bases = known_lengths(cluster)
            positions += digits(0 if prod(bases) == 1 else next(remaining), bases)
        return positions

    def pack(self, positions: list) -> Position:
        """Return the position along the combined axis for a position along each part."""
        remaining, packed = iter(positions), []
        for cluster in self.clusters():
            if isinstance(cluster[0], FixedAxis):
                k = 0
                lengths = known_lengths(cluster)
                for n in lengths:
                    k = k * n + next(remaining)
                packed += [k] * (prod(lengths) != 1)
            else:
                packed.append(next(remaining))
        return 0 if not packed else packed[0] if len(packed) == 1 else tuple(packed)


def known_lengths(cluster: list[Axis]) -> list[int]:
    """Return the lengths of axes of known length."""
    return [axis.n for axis in cluster if isinstance(axis, FixedAxis)]


def digits(k: int, bases: list) -> list:
    """Return the digits of k in a mixed-radix system, the last base varying fastest."""
    result: list = []
    for base in reversed(bases):
        k, rest = divmod(k, base)
        result.insert(0, rest)
    return result


def merged_parts(axis: Axis) -> tuple:
    """Return the parts of a merged axis, or the axis itself."""
    return axis.parts if isinstance(axis, MergedAxis) else (axis,)


def regroup_axes(axes: list, wanted: list[Length]) -> tuple[list[list[Axis]], list[list[Axis]]]:
    """Split axes into common pieces for a view: return the pieces of each given axis, and of each axis of the wanted length.

    The pieces are in the same order in both. Raise `NeedsNumericSize` if an axis would have to be split where its length is not known.
    """
    before: list[list[Axis]] = [list(merged_parts(axis)) for axis in axes]
    keys = [(k, j) for k, group in enumerate(before) for j in range(len(group))]
    pieces: dict[tuple, list[Axis]] = {key: [before[key[0]][key[1]]] for key in keys}
    remaining = [(key, pieces[key][0]) for key in keys]
    after: list[list[Axis]] = []
    for missing in wanted:
        group: list[Axis] = []
        while missing != {(): 1}:
            if not remaining:
                raise NeedsNumericSize("a view whose axes do not add up")
            key, axis = remaining.pop(0)
            if axis == UNIT_AXIS:
                continue
            if (rest := divide_lengths(missing, axis_length(axis))) is not None:
                group.append(axis)
                missing = rest
            elif isinstance(axis, FixedAxis) and missing.keys() == {()} and axis.n % missing[()] == 0:
                outer, inner = FixedAxis(missing[()]), FixedAxis(axis.n // missing[()])
                pieces[key][-1:] = [outer, inner]
                remaining.insert(0, (key, inner))
                group.append(outer)
                missing = {(): 1}
            else:
                raise NeedsNumericSize("a view that cuts an axis where its length is not known", size_names(axis))
        after.append(group)
    if any(axis != UNIT_AXIS for _, axis in remaining):
        raise NeedsNumericSize("a view whose axes do not add up")
    return [[piece for j in range(len(group)) for piece in pieces[k, j] if piece != UNIT_AXIS] for k, group in enumerate(before)], after


def join_axes(parts: list[Axis]) -> tuple[Axis, list]:
    """Concatenate axes. Return the whole axis and the layout that `locate_in_part` needs: for each part, where its pieces lie in the whole."""
    pieces: list[Axis] = []
    layout = []
    for part in parts:
        inner = part.parts if isinstance(part, JoinedAxis) else (part,)
        starts = []
        for piece in inner:
            if isinstance(piece, FixedAxis) and pieces and isinstance(pieces[-1], FixedAxis):
                starts.append((len(pieces) - 1, pieces[-1].n))
                pieces[-1] = FixedAxis(pieces[-1].n + piece.n)
            else:
                starts.append((len(pieces), 0))
                pieces.append(piece)
        layout.append((part, starts))
    whole = pieces[0] if len(pieces) == 1 else JoinedAxis(tuple(pieces))
    return whole, layout


def locate_in_part(position: Position, whole: Axis, layout: list) -> tuple[int, Position]:
    """Return which part of a concatenated axis a position lies in, and the position in that part. `layout` is the second result of `join_axes`."""
    piece_number, offset = position if isinstance(whole, JoinedAxis) else (0, position)
    for k, (part, starts) in enumerate(layout):
        inner = part.parts if isinstance(part, JoinedAxis) else (part,)
        for j, ((target, start), piece) in enumerate(zip(starts, inner)):
            if target != piece_number or isinstance(piece, FixedAxis) and not start <= offset < start + piece.n:
                continue
            local = offset - start if isinstance(piece, FixedAxis) else offset
            return k, (j, local) if isinstance(part, JoinedAxis) else local
    raise NotRead("a place beyond what was joined")
