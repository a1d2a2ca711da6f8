"""The axes of a tensor, and the places along them.

| axis | a place along it |
|---|---|
| `Count(3)` | 0, 1 or 2 |
| `Run(n)` | an index of the kernel that runs to n |
| `Merged((Run(n), Count(2)))`, what a view has made one of two | a place along each, the last fastest |
| `Joined((Run(n), Count(1)))`, one after another | which of them, and a place there |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product
from math import prod
from typing import Any

from ..core.expr import Expr, index
from .errors import NotRead, Sized

Length = dict  # {names of sizes, sorted: a whole number}: a polynomial in sizes
Place = Any
FRESH = count()


@dataclass(frozen=True)
class Count:
    n: int


@dataclass(frozen=True)
class Run:
    size: Expr


@dataclass(frozen=True)
class Merged:
    parts: tuple


@dataclass(frozen=True)
class Joined:
    parts: tuple


Axis = Count | Run | Merged | Joined
ONE = Count(1)


def along(size: Expr) -> Axis:
    """The axis of a size as expressions have it: a number or a symbol."""
    return Count(int(size.data)) if size.op == "const" else Run(size)


def length(axis: Axis) -> Length:
    if isinstance(axis, Count):
        return {(): axis.n} if axis.n else {}
    if isinstance(axis, Run):
        return {(axis.size.data[0],): 1}
    parts = [length(part) for part in axis.parts]
    return multiplied(*parts) if isinstance(axis, Merged) else added(*parts)


def names_in(axis: Axis) -> tuple[str, ...]:
    """The sizes that the length of an axis is made of."""
    return tuple(sorted({name for names in length(axis) for name in names}))


def added(*lengths: Length) -> Length:
    total: Length = {}
    for one in lengths:
        for names, k in one.items():
            total[names] = total.get(names, 0) + k
    return {names: k for names, k in total.items() if k}


def multiplied(*lengths: Length) -> Length:
    total: Length = {(): 1}
    for one in lengths:
        total = added(*({tuple(sorted(a + b)): j * k} for a, j in total.items() for b, k in one.items()))
    return total


def quotient(whole: Length, part: Length) -> Length | None:
    """How often a length goes into another, both of one term; None where it does not."""
    if len(whole) != 1 or len(part) != 1:
        return {(): 1} if whole == part else None
    ((names, k),), ((less, j),) = whole.items(), part.items()
    left = list(names)
    for name in less:
        if name not in left:
            return None
        left.remove(name)
    return {tuple(left): k // j} if k % j == 0 else None


def fresh(axis: Run) -> Expr:
    return index(f"at{next(FRESH)}", axis.size)


def places(axis: Axis) -> Iterator[tuple[Place, tuple[Expr, ...]]]:
    """Each place, and the new indices in it: of what runs to a symbol one stands for all."""
    if isinstance(axis, Count):
        yield from ((k, ()) for k in range(axis.n))
    elif isinstance(axis, Run):
        i = fresh(axis)
        yield i, (i,)
    elif isinstance(axis, Merged):
        for chosen in product(*(list(places(part)) for part in axis.parts)):
            yield tuple(place for place, _ in chosen), tuple(i for _, bound in chosen for i in bound)
    else:
        for which, part in enumerate(axis.parts):
            yield from (((which, place), bound) for place, bound in places(part))


def known(axis: Axis) -> bool:
    return isinstance(axis, Count) or not isinstance(axis, Run) and all(map(known, axis.parts))


@dataclass(frozen=True)
class Group:
    """Axes side by side as one axis, the last fastest: those of known lengths that meet are one of them, and those of length 1 none."""

    parts: tuple

    def clusters(self) -> list[list[Axis]]:
        found: list[list[Axis]] = []
        for part in self.parts:
            if found and isinstance(part, Count) and isinstance(found[-1][0], Count):
                found[-1].append(part)
            else:
                found.append([part])
        return found

    @property
    def axis(self) -> Axis:
        made = [Count(prod(part.n for part in some)) if isinstance(some[0], Count) else some[0] for some in self.clusters()]
        kept = tuple(part for part in made if part != ONE)
        return ONE if not kept else kept[0] if len(kept) == 1 else Merged(kept)

    def unpack(self, place: Place) -> list:
        """A place along the axis as one along each part."""
        here = iter(place if isinstance(self.axis, Merged) else [] if self.axis == ONE else [place])
        found: list = []
        for some in self.clusters():
            if not isinstance(some[0], Count):
                found.append(next(here))
                continue
            bases = [part.n for part in some]
            found += digits(0 if prod(bases) == 1 else next(here), bases)
        return found

    def pack(self, chosen: list) -> Place:
        """Places along the parts as one along the axis."""
        left, made = iter(chosen), []
        for some in self.clusters():
            if isinstance(some[0], Count):
                k = 0
                for part in some:
                    k = k * part.n + next(left)
                made += [k] * (prod(part.n for part in some) != 1)
            else:
                made.append(next(left))
        return 0 if not made else made[0] if len(made) == 1 else tuple(made)


def digits(k: int, bases: list) -> list:
    found: list = []
    for base in reversed(bases):
        k, rest = divmod(k, base)
        found.insert(0, rest)
    return found


def atoms(axis: Axis) -> tuple:
    """The axes that one is made of side by side."""
    return axis.parts if isinstance(axis, Merged) else (axis,)


def regrouped(axes: list, wanted: list[Length]) -> tuple[list[list[Axis]], list[list[Axis]]]:
    """The same places in the same order, told in two ways: the smallest pieces of each axis there is, and of each that is wanted.

    NotRead where an axis would have to be cut at a length that is not known.
    """
    before: list[list[Axis]] = [list(atoms(axis)) for axis in axes]
    waiting = [(k, j) for k, group in enumerate(before) for j in range(len(group))]
    pieces: dict[tuple, list[Axis]] = {where: [before[where[0]][where[1]]] for where in waiting}
    left = [(where, pieces[where][0]) for where in waiting]
    after: list[list[Axis]] = []
    for need in wanted:
        group: list[Axis] = []
        while need != {(): 1}:
            if not left:
                raise Sized("a view whose axes do not add up")
            where, axis = left.pop(0)
            if axis == ONE:
                continue
            if (rest := quotient(need, length(axis))) is not None:
                group.append(axis)
                need = rest
            elif isinstance(axis, Count) and need.keys() == {()} and axis.n % need[()] == 0:
                one, other = Count(need[()]), Count(axis.n // need[()])
                pieces[where][-1:] = [one, other]
                left.insert(0, (where, other))
                group.append(one)
                need = {(): 1}
            else:
                raise Sized("a view that cuts an axis where its length is not known", names_in(axis))
        after.append(group)
    if any(axis != ONE for _, axis in left):
        raise Sized("a view whose axes do not add up")
    return [[piece for j in range(len(group)) for piece in pieces[k, j] if piece != ONE] for k, group in enumerate(before)], after


def joined(parts: list[Axis]) -> tuple[Axis, list]:
    """(axes one after another as one axis, for each of them how a place along it is told along the whole)."""
    flat: list[Axis] = []
    ways = []
    for part in parts:
        inner = part.parts if isinstance(part, Joined) else (part,)
        starts = []
        for one in inner:
            if isinstance(one, Count) and flat and isinstance(flat[-1], Count):
                starts.append((len(flat) - 1, flat[-1].n))
                flat[-1] = Count(flat[-1].n + one.n)
            else:
                starts.append((len(flat), 0))
                flat.append(one)
        ways.append((part, starts))
    whole = flat[0] if len(flat) == 1 else Joined(tuple(flat))
    return whole, ways


def located(place: Place, whole: Axis, ways: list) -> tuple[int, Place]:
    """Which of the axes that were joined a place lies in, and where there."""
    which, here = place if isinstance(whole, Joined) else (0, place)
    for k, (part, starts) in enumerate(ways):
        inner = part.parts if isinstance(part, Joined) else (part,)
        for j, ((at, start), one) in enumerate(zip(starts, inner)):
            if at != which or isinstance(one, Count) and not start <= here < start + one.n:
                continue
            own = here - start if isinstance(one, Count) else here
            return k, (j, own) if isinstance(part, Joined) else own
    raise NotRead("a place beyond what was joined")
