"""Pictures that come alive: which widget plays a figure, and the numbers that it begins with.

    /// figure | softmax/temperature:weights play=temperature

A widget is a module of docs/assets/js/play, which `play.js` there loads and puts in the picture's place. Without JavaScript the picture
stands. The function that draws the figure hands over the widget's numbers, so that they come from snippets as the picture's do:

    return played(heat_map(...), scores=SCORES.tolist())
"""

import json
import math
from dataclasses import dataclass, field, fields
from html import escape

from ..printing.relation_signs import fault_of_text
from .svg_picture import DrawingError, Picture

WIDGETS = ("cache", "cost", "dilution", "integers", "masks", "merge", "permutation", "rotary", "scale", "temperature")


class PlayError(ValueError):
    """A widget that there is not, without a place."""


@dataclass(frozen=True)
class Played(Picture):
    """A picture with the numbers that a widget begins with."""

    numbers: dict = field(default_factory=dict)


def played(picture: Picture, **numbers: object) -> Played:
    """The picture, and numbers for its widget: finite numbers, words that state no relation, and lists of these."""
    for name, value in numbers.items():
        _refuse(name, value)
    return Played(*(getattr(picture, one.name) for one in fields(Picture)), numbers)


def _refuse(name: str, value: object) -> None:
    if isinstance(value, list | tuple):
        for one in value:
            _refuse(name, one)
    elif isinstance(value, str):
        if fault := fault_of_text(value):
            raise DrawingError(f"{name} holds {value!r}, which {fault}")
    elif not isinstance(value, int | float) or not math.isfinite(value):
        raise DrawingError(f"{name} holds {value!r}; a widget takes finite numbers, words, and lists of these")


def asked(argument: str) -> tuple[str, str]:
    """A figure's name, and that of the widget which is to play it, or nothing. Raises PlayError."""
    name, asks, widget = argument.partition(" play=")
    if asks and widget not in WIDGETS:
        raise PlayError(f"there is no widget {widget!r}; the widgets are {', '.join(WIDGETS)}")
    return name, widget


def attributes(widget: str, numbers: dict) -> dict[str, str]:
    """What a figure's element says to the script that plays it, as HTML writes it."""
    return {"data-play": widget, "data-numbers": escape(json.dumps(numbers, separators=(",", ":")))} if widget else {}
