"""Interactive figures: the widget that replaces the picture of a figure, and its initial numbers.

    /// figure | softmax/temperature:weights play=temperature

A widget is a module of docs/assets/js/play. `play.js` there loads it and replaces the picture; without JavaScript the picture remains.
The function that draws the figure also gives the widget its numbers, so that they come from snippets like those of the picture:

    return played(heat_map(...), scores=SCORES.tolist())
"""

import json
import math
from dataclasses import dataclass, field
from html import escape

from ..printing.handwritten_relations import find_text_fault
from .svg_picture import DrawingError, Picture

WIDGETS = (
    "alibi",
    "atlas",
    "blend",
    "block",
    "bytes",
    "cache",
    "causal",
    "chunks",
    "cost",
    "delta",
    "dilution",
    "entmax",
    "exchange",
    "fit",
    "flash",
    "gated",
    "grid",
    "guesses",
    "heads",
    "hybrid",
    "integers",
    "interpolation",
    "jacobian",
    "levels",
    "loads",
    "masks",
    "merge",
    "nope",
    "nothing",
    "pages",
    "permutation",
    "ring",
    "roofline",
    "rotary",
    "scale",
    "selection",
    "softcap",
    "splits",
    "state",
    "symbols",
    "temperature",
    "tiles",
    "variance",
    "window",
)


class PlayError(ValueError):
    """A page names an unknown widget. The message has no page and line, which the caller adds."""


@dataclass(frozen=True)
class Played(Picture):
    """A picture with the initial numbers of a widget."""

    numbers: dict[str, object] = field(default_factory=dict)


def played(picture: Picture, **numbers: object) -> Played:
    """Return the picture with initial values for its widget.

    Raise DrawingError unless they are finite numbers, words that state no relation, and lists of these.
    """
    for name, value in numbers.items():
        _check_value(name, value)
    return Played(picture.title, picture.description, picture.width, picture.height, picture.elements, picture.tables, numbers)


def _check_value(name: str, value: object) -> None:
    if isinstance(value, list | tuple):
        for item in value:
            _check_value(name, item)
    elif isinstance(value, str):
        if fault := find_text_fault(value):
            raise DrawingError(f"{name} contains {value!r}, which {fault}")
    elif not isinstance(value, int | float) or not math.isfinite(value):
        raise DrawingError(f"{name} contains {value!r}; a widget takes finite numbers, text, and lists of these")


def parse_argument(argument: str) -> tuple[str, str]:
    """Return the name of the figure and of its widget, "" if it has none. Raise PlayError if there is no such widget."""
    name, separator, widget = argument.partition(" play=")
    if separator and widget not in WIDGETS:
        raise PlayError(f"there is no widget {widget!r}; the widgets are {', '.join(WIDGETS)}")
    return name, widget


def make_data_attributes(widget: str, numbers: dict[str, object]) -> dict[str, str]:
    """Return the attributes that tell play.js which widget to load, and its numbers, escaped for HTML."""
    text = json.dumps(numbers, separators=(",", ":"), sort_keys=True)  # a stored picture has its numbers in this order
    return {"data-play": widget, "data-numbers": escape(text)} if widget else {}
