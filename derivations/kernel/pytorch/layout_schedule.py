"""How closely code is tried in a trial: in all input layouts and formats where a size is larger than before, else by turns.

A snippet that is wrong in one input layout, one format or for one kind of entries is wrong so at many shapes. So not all of them are tried
at each shape, but each of them at many: two layouts at one trial, the next two and the other half of its points at the next one.
"""

from __future__ import annotations

from typing import NamedTuple

from .float_formats import FORMATS, Format
from .input_layouts import LAYOUTS

AT_ONCE = 2  # input layouts that are tried at one trial
SELDOM = 3  # at one trial in so many, a point is watched
FEW = 2  # points of which none is left out
WATCHED = 4  # one point in so many is where a snippet is called twice


class Look(NamedTuple):
    """Where and how a trial is looked at."""

    points: range
    watched: range  # where the snippet is called twice
    layouts: tuple[str, ...]
    formats: tuple[Format, ...]


class Turns:
    """The trials that some snippets have seen."""

    def __init__(self) -> None:
        self.turn = -1
        self.largest: dict[str, int] = {}  # what each size was at most
        self.odd = False  # was one with an odd size seen in all formats? Half precision goes by pairs

    def look(self, sizes: dict[str, int], points: int, in_formats: bool, scaled: bool = False) -> Look:
        """How the next trial is looked at, which has these sizes and so many points; where entries are scaled, at all of these."""
        self.turn += 1
        wider = any(size > self.largest.get(name, 1) for name, size in sizes.items()) or not sizes and not self.turn
        odd = in_formats and not self.odd and any(size % 2 for size in sizes.values() if size > 1)
        self.largest |= {name: max(size, self.largest.get(name, 1)) for name, size in sizes.items()}
        self.odd |= odd
        look = closely(points) if wider or odd else in_turn(points, self.turn, 1 if scaled or points <= FEW else 2)
        return look if self.turn else look._replace(formats=FORMATS)  # of a refutation it may be the only one


def closely(points: int) -> Look:
    return Look(range(points), range(0, points, WATCHED), tuple(LAYOUTS), FORMATS)


def in_turn(points: int, turn: int, step: int) -> Look:
    """Look at one point in so many, and by turns in two layouts and in one format."""
    chosen = range(turn % step, points, step)
    layouts = tuple(LAYOUTS)
    tried = tuple(layouts[(AT_ONCE * turn + k) % len(layouts)] for k in range(AT_ONCE))
    watched = chosen[-1:] if turn % SELDOM == 0 else range(0)  # not the first point, where all is zero
    format_ = FORMATS[(turn + turn // len(FORMATS)) % len(FORMATS)]  # so that none goes with one layout alone
    return Look(chosen, watched, tried, (format_,))
