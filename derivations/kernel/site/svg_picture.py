"""What pictures are made of: lines, boxes, words, and the rules that hold for every picture.

In words, `$...$` sets letters as mathematics sets them, with `_` and `^` before what is lowered and raised: `$W_Q$`, `$d_{k}$`.
No word may state a relation, as on any page. One unit is one pixel where a page is shown at its usual size. Colours are none of
a picture's business: its parts have classes, and docs/assets/css/site.css says how they look.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ..printing.relation_signs import fault_of_text
from .role_colors import with_role

TEXT, NAME = 13.0, 16.0  # sizes of type: labels and numbers, names of tensors
MATHS, SCRIPT = 1.12, 0.8  # of which letters in mathematics are so much larger, and what is lowered or raised; as in site.css

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

Point = tuple[float, float]


class DrawingError(ValueError):
    """What is asked for cannot be drawn; the message says why."""


@dataclass(frozen=True)
class Picture:
    """A drawing, and what it says in words."""

    title: str
    description: str
    width: float
    height: float
    elements: tuple[Element, ...]

    def __post_init__(self):
        if not (self.title.strip() and self.description.strip()):
            raise DrawingError("a picture needs a title and a description, for those who do not see it")
        # The one sign allowed stands between shapes, whose sizes were checked.
        written = (one.text for one in self.every() if (one.get("class"), one.text) != ("picture__sign", "="))
        for words in filter(None, (self.title, self.description, *written)):
            if _CONTROL.search(words):
                raise DrawingError(f"{words!r} holds a control character")
            if fault := fault_of_text(words):
                raise DrawingError(f"{words!r} {fault}; relations stand in claims, so say it in words")

    def every(self, tag: str | None = None) -> Iterable[Element]:
        """The elements, with those inside them."""
        return (one for element in self.elements for one in element.iter(tag))

    def smallest(self) -> float:
        """The size of the smallest type, apart from what is lowered and raised."""
        return min((float(one.get("font-size")) for one in self.every("text")), default=TEXT)


# Lines and boxes --------------------------------------------------------------------------------------------------------


def part(tag: str, css: str = "", *children: Element, **attributes) -> Element:
    """An element; numbers are rounded, so that a picture does not depend on the machine."""
    written = {name.replace("_", "-"): short(value) for name, value in attributes.items()}
    element = Element(tag, ({"class": css} if css else {}) | written)
    element.extend(children)
    return element


def short(value) -> str:
    return value if isinstance(value, str) else f"{round(float(value), 2) + 0.0:g}"


def path(*points: Point) -> str:
    """The `d` of straight lines through the points."""
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)


def bend(start: Point, end: Point, upright: bool) -> str:
    """The `d` of a curve that leaves and arrives upright, or level."""
    half = [(a + b) / 2 for a, b in zip(start, end)]
    middle = ((start[0], half[1]), (end[0], half[1])) if upright else ((half[0], start[1]), (half[0], end[1]))
    x, y, *rest = (short(value) for point in (start, *middle, end) for value in point)
    return f"M{x} {y}C{' '.join(rest)}"


def line(*points: Point, css: str = "picture__line") -> Element:
    return part("path", css, d=path(*points))


def box(x: float, y: float, width: float, height: float, css: str, **attributes) -> Element:
    return part("rect", css, x=x, y=y, width=width, height=height, **attributes)


# Words ------------------------------------------------------------------------------------------------------------------


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float = TEXT,
    anchor: str = "middle",
    css: str = "",
    turned: bool = False,
) -> Element:
    """Words with their middle at the height y; turned, they are read from below."""
    turn = {"transform": f"rotate(-90 {short(x)} {short(y)})"} if turned else {}
    element = part("text", with_role(css, words), x=x, y=y + 0.35 * size, font_size=size, text_anchor=anchor, **turn)
    if "$" not in words:
        element.text = words
        return element
    before = 0.0
    for run, style, level in runs(words):
        span = part("tspan", style, **({"dy": (level - before) * size} if level != before else {}))
        span.text, before = run, level
        element.append(span)
    return element


def quiet(x: float, y: float, words: str, **how) -> Element:
    return text(x, y, words, css="picture__quiet", **how)


_LEVELS = {"": 0.0, "_": 0.22, "^": -0.36}  # how far down, in parts of the size
_SCRIPTS = re.compile(r"([_^])(?:\{([^}]*)\}|(.))|([^_^]+)")
_LETTERS = re.compile(r"[a-z]{3,}|[A-Za-zα-ω]+|[^A-Za-zα-ω]+")


def runs(words: str) -> Iterable[tuple[str, str, float]]:
    """The pieces of a text that are set alike: words, CSS classes, and how far they are lowered."""
    for order, piece in enumerate(words.split("$")):
        if order % 2 == 0 and piece:
            yield piece, "", 0.0
        for sign, several, one, level in _SCRIPTS.findall(piece) if order % 2 else ():
            for run in _LETTERS.findall(several or one or level):
                upright = not run[0].isalpha() or re.fullmatch("[a-z]{3,}", run)
                yield run, f"picture__{'name' if upright else 'letter'}{' picture__script' if sign else ''}", _LEVELS[sign]


def breadth(words: str, size: float = TEXT) -> float:
    """About how wide a text is; rather too wide than too narrow."""

    def of(char: str) -> float:
        return 0.33 if char in "fijlrtI.,:;'|!()[] " else 0.88 if char in "mwMW" else 0.66 if char.isupper() else 0.57

    scale = {True: SCRIPT, False: MATHS}
    return size * sum((scale["script" in style] if style else 1) * of(char) for run, style, _ in runs(words) for char in run)


def widest(words: Iterable[str], size: float = TEXT) -> float:
    return max((breadth(one, size) for one in words), default=0.0)


def number(value: float, digits: int = 2) -> str:
    """A number as it is printed in a picture."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−").replace(",", "\u202f")


# Several pictures in one ------------------------------------------------------------------------------------------------


def beside(*pictures: Picture, title: str, gap: float = 40) -> Picture:
    """Pictures in a row, each under its own title. A phone shows about 400 units: for more, use `below`."""
    tallest, elements, x = max(one.height for one in pictures), [], 0.0
    for one in pictures:
        room = max(one.width, breadth(one.title))
        elements += _titled(one, x + room / 2, 0, (tallest - one.height) / 2)
        x += room + gap
    return Picture(title, _said(pictures), x - gap, tallest + 30, tuple(elements))


def below(*pictures: Picture, title: str, gap: float = 26) -> Picture:
    """Pictures one below the other, each under its own title."""
    width, elements, y = max(max(one.width, breadth(one.title)) for one in pictures), [], 0.0
    for one in pictures:
        elements += _titled(one, width / 2, y, 0)
        y += one.height + 30 + gap
    return Picture(title, _said(pictures), width, y - gap, tuple(elements))


def _titled(one: Picture, middle: float, y: float, down: float) -> list[Element]:
    moved = f"translate({short(middle - one.width / 2)} {short(y + 30 + down)})"
    return [quiet(middle, y + 9, one.title), part("g", "", *one.elements, transform=moved)]


def _said(pictures: Sequence[Picture]) -> str:
    return " ".join(f"{one.title}: {one.description}" for one in pictures)
