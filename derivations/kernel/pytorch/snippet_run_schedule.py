"""Choose the points, input layouts and formats in which a snippet runs at a trial.

All of them are used if a size is larger than before. Otherwise they rotate: a snippet that is wrong in one layout, in one format or for one kind
of entries is wrong at many shapes, so it suffices to use each of them at many shapes. One trial takes two layouts and half of the points; the
next trial takes the next two layouts and the other half.
"""

from __future__ import annotations

from typing import NamedTuple

from .float_formats import FORMATS, Format
from .input_layouts import LAYOUTS

LAYOUTS_PER_TRIAL = 2
WATCHED_TRIALS = 3  # in one trial of so many, a snippet is called twice at a point
FEW = 2  # a trial with so few points uses all of them
WATCHED = 4  # in a trial that uses everything, a snippet is called twice at one point of so many


class Selection(NamedTuple):
    """The points, layouts and formats in which snippets run at a trial."""

    points: range
    watched: range  # where the snippet is called twice
    layouts: tuple[str, ...]
    formats: tuple[Format, ...]


class Rotation:
    """The rotation through points, layouts and formats over the trials of some snippets."""

    def __init__(self) -> None:
        self.turn = -1
        self.largest: dict[str, int] = {}  # the largest value so far of each size
        self.odd = False  # whether an odd size was tried in all formats: half precision is computed in pairs

    def look(self, sizes: dict[str, int], points: int, in_formats: bool, scaled: bool = False) -> Selection:
        """Return the choice for the next trial, which has these sizes and so many points; a scaled trial uses all its points."""
        self.turn += 1
        wider = any(size > self.largest.get(name, 1) for name, size in sizes.items()) or not sizes and not self.turn
        odd = in_formats and not self.odd and any(size % 2 for size in sizes.values() if size > 1)
        self.largest |= {name: max(size, self.largest.get(name, 1)) for name, size in sizes.items()}
        self.odd |= odd
        look = use_all(points) if wider or odd else use_some(points, self.turn, 1 if scaled or points <= FEW else 2)
        return look if self.turn else look._replace(formats=FORMATS)  # a refutation may have no other trial


def use_all(points: int) -> Selection:
    """Use all points, layouts and formats."""
    return Selection(range(points), range(0, points, WATCHED), tuple(LAYOUTS), FORMATS)


def use_some(points: int, turn: int, step: int) -> Selection:
    """Use one point of every `step`, and in rotation two layouts and one format."""
    chosen = range(turn % step, points, step)
    layouts = tuple(LAYOUTS)
    selected = tuple(layouts[(LAYOUTS_PER_TRIAL * turn + k) % len(layouts)] for k in range(LAYOUTS_PER_TRIAL))
    watched = chosen[-1:] if turn % WATCHED_TRIALS == 0 else range(0)  # not the first point, where all entries are zero
    format_ = FORMATS[(turn + turn // len(FORMATS)) % len(FORMATS)]  # shifted, so that no format always meets the same layouts
    return Selection(chosen, watched, selected, (format_,))
