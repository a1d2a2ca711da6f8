"""Building blocks of pictures (lines, boxes, text, grids and axes), and the class of all pictures.

In words, `$...$` sets letters as mathematics, with `_` and `^` before subscripts and superscripts: `$W_Q$`, `$d_{k}$`. As on any page,
words may not state a relation. One unit is one pixel at a page's usual size. A picture sets no colours: its parts have classes, which
docs/assets/css/site.css styles.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, tostring

from ..printing.handwritten_relations import find_text_fault
from .role_classes import with_role

TEXT, NAME = 13.0, 16.0  # font sizes: labels and numbers, names of tensors
MATHS, SCRIPT = 1.12, 0.8  # factors of the font size for letters in mathematics, and for their subscripts and superscripts; as in site.css

ID_PLACEHOLDER = "\x03"  # a placeholder in HTML for the figure's id, which is known only on the page
PHONE_WIDTH, MIN_FONT_SIZE = 358.0, 11.0  # in pixels: the width of a column on a phone, and the smallest legible type there

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

Point = tuple[float, float]


class DrawingError(ValueError):
    """A picture that cannot be drawn; the message says why."""


@dataclass(frozen=True)
class Table:
    """The numbers of a picture, row by row, for those who hear the page. There may be names of the rows, and of the columns."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    entries: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A drawing of the given size, with a title, a description and its numbers as tables for those who cannot see it.

    Raise DrawingError if these are missing, or if a text states a relation or contains a control character.
    """

    title: str
    description: str
    width: float
    height: float
    elements: tuple[Element, ...]
    tables: tuple[Table, ...] = ()

    def __post_init__(self) -> None:
        if not (self.title.strip() and self.description.strip()):
            raise DrawingError("a picture needs a title and a description, for those who cannot see it")
        # The one relation allowed is that between shapes, whose sizes were checked.
        texts = (element.text for element in self.every() if (element.get("class"), element.text) != ("picture__sign", "="))
        for words in filter(None, (self.title, self.description, *texts)):
            _check_words(words)

    def every(self, tag: str | None = None) -> Iterable[Element]:
        """Return all elements with this tag, nested ones included."""
        return (descendant for element in self.elements for descendant in element.iter(tag))

    def smallest(self) -> float:
        """Return the smallest font size, apart from subscripts and superscripts."""
        return min((float(element.get("font-size", TEXT)) for element in self.every("text")), default=TEXT)


@dataclass(frozen=True)
class HtmlPicture(Picture):
    """A picture that is HTML instead of SVG. Its width is that of a narrow drawing, since HTML has no width of its own."""

    html: str = ""


def html_picture(title: str, description: str, root: Element) -> HtmlPicture:
    """Return a picture made of an HTML element. Raise DrawingError if one of its texts states a relation."""
    for words in root.itertext():
        _check_words(words)
    return HtmlPicture(title, description, 340, 0, (), html=tostring(root, encoding="unicode", short_empty_elements=False))


def _check_words(words: str) -> None:
    if _CONTROL.search(words):
        raise DrawingError(f"{words!r} contains a control character")
    if fault := find_text_fault(words):
        raise DrawingError(f"{words!r} {fault}; only claims state relations, so say it in words")


# Lines and boxes --------------------------------------------------------------------------------------------------------


def part(tag: str, css: str = "", *children: Element, **attributes: str | float) -> Element:
    """Return an element; numbers are rounded, so that a picture does not depend on the machine."""
    written = {name.replace("_", "-"): short(value) for name, value in attributes.items()}
    element = Element(tag, ({"class": css} if css else {}) | written)
    element.extend(children)
    return element


def short(value: str | float) -> str:
    """Return a number rounded to two digits; a string as it is."""
    return value if isinstance(value, str) else f"{round(float(value), 2) + 0.0:g}"


def line_path(*points: Point) -> str:
    """Return the path data of straight lines through the points."""
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)


def curve_path(start: Point, end: Point, upright: bool) -> str:
    """Return the path data of a curve that starts and ends vertically, or horizontally if not `upright`."""
    half = [(a + b) / 2 for a, b in zip(start, end)]
    middle = ((start[0], half[1]), (end[0], half[1])) if upright else ((half[0], start[1]), (half[0], end[1]))
    x, y, *rest = (short(value) for point in (start, *middle, end) for value in point)
    return f"M{x} {y}C{' '.join(rest)}"


def line(*points: Point, css: str = "picture__line") -> Element:
    """Return straight lines through the points."""
    return part("path", css, d=line_path(*points))


def box(x: float, y: float, width: float, height: float, css: str, **attributes: str | float) -> Element:
    """Return a rectangle, given by its upper left corner and its size."""
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
    """Return text whose vertical middle is at y; `turned` text is rotated to read from bottom to top."""
    rotation = {"transform": f"rotate(-90 {short(x)} {short(y)})"} if turned else {}
    element = part("text", with_role(css, words), x=x, y=y + 0.35 * size, font_size=size, text_anchor=anchor, **rotation)
    if "$" not in words:
        element.text = words
        return element
    before = 0.0
    for run, style, level in split_runs(words):
        span = part("tspan", style, **({"dy": (level - before) * size} if level != before else {}))
        span.text, before = run, level
        element.append(span)
    return element


def muted_text(x: float, y: float, words: str, *, anchor: str = "middle", turned: bool = False) -> Element:
    """Return words in the muted style of labels."""
    return text(x, y, words, css="picture__quiet", anchor=anchor, turned=turned)


_LEVELS = {"": 0.0, "_": 0.22, "^": -0.36}  # shifts down, in multiples of the font size
_SCRIPTS = re.compile(r"([_^])(?:\{([^}]*)\}|(.))|([^_^]+)")
_LETTERS = re.compile(r"[a-z]{3,}|[A-Za-zα-ω]+|[^A-Za-zα-ω]+")


def split_runs(words: str) -> Iterable[tuple[str, str, float]]:
    """Yield the pieces of a text that are set alike: the piece, its CSS classes, and its shift down in multiples of the font size."""
    for order, piece in enumerate(words.split("$")):
        if order % 2 == 0 and piece:
            yield piece, "", 0.0
        for sign, group, letter, base in _SCRIPTS.findall(piece) if order % 2 else ():
            for run in _LETTERS.findall(group or letter or base):
                upright = not run[0].isalpha() or re.fullmatch("[a-z]{3,}", run)
                yield run, f"picture__{'name' if upright else 'letter'}{' picture__script' if sign else ''}", _LEVELS[sign]


def text_width(words: str, size: float = TEXT) -> float:
    """Estimate the width of a text; the result tends to be too large."""

    def width(char: str) -> float:
        return 0.33 if char in "fijlrtI.,:;'|!()[] " else 0.88 if char in "mwMW" else 0.66 if char.isupper() else 0.57

    scale = {True: SCRIPT, False: MATHS}
    return size * sum((scale["script" in style] if style else 1) * width(char) for run, style, _ in split_runs(words) for char in run)


def max_text_width(words: Iterable[str], size: float = TEXT) -> float:
    """Return the largest of the estimated widths of texts; 0 if there are none."""
    return max((text_width(text, size) for text in words), default=0.0)


def number(value: float, digits: int = 2) -> str:
    """Return a number as pictures print it, with a minus sign and commas between thousands, as in prose."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


# Several pictures in one ------------------------------------------------------------------------------------------------


def beside(*pictures: Picture, title: str, gap: float = 40) -> Picture:
    """Return pictures in a row, each under its own title. A phone shows about 400 units: for more, use `below`."""
    tallest, x = max(picture.height for picture in pictures), 0.0
    elements: list[Element] = []
    for picture in pictures:
        room = max(picture.width, text_width(picture.title))
        elements += _add_title(picture, x + room / 2, 0, (tallest - picture.height) / 2)
        x += room + gap
    return Picture(title, _join_descriptions(pictures), x - gap, tallest + 30, tuple(elements), _join_tables(pictures))


def below(*pictures: Picture, title: str, gap: float = 26) -> Picture:
    """Return pictures one below the other, each under its own title."""
    width, y = max(max(picture.width, text_width(picture.title)) for picture in pictures), 0.0
    elements: list[Element] = []
    for picture in pictures:
        elements += _add_title(picture, width / 2, y, 0)
        y += picture.height + 30 + gap
    return Picture(title, _join_descriptions(pictures), width, y - gap, tuple(elements), _join_tables(pictures))


def _add_title(picture: Picture, middle: float, y: float, down: float) -> list[Element]:
    """Return a title at y, and the picture below it, moved down by a further `down` units."""
    moved = f"translate({short(middle - picture.width / 2)} {short(y + 30 + down)})"
    return [muted_text(middle, y + 9, picture.title), part("g", "", *picture.elements, transform=moved)]


def _join_descriptions(pictures: Sequence[Picture]) -> str:
    return " ".join(f"{picture.title}: {picture.description}" for picture in pictures)


def _join_tables(pictures: Sequence[Picture]) -> tuple[Table, ...]:
    return tuple(table for picture in pictures for table in picture.tables)


# Grids and axes ---------------------------------------------------------------------------------------------------------


class Grid:
    """The cells of a matrix, with labels on the left and above.

    `across` and `down` name the columns and the rows as a whole. Raise DrawingError if the number of labels does not fit the shape.
    """

    def __init__(self, rows: Sequence[str], columns: Sequence[str], across: str, down: str, side: Point, shape: tuple[int, int]):
        if len(rows) not in (0, shape[0]) or len(columns) not in (0, shape[1]):
            raise DrawingError(f"there are {len(rows)} row labels and {len(columns)} column labels; the matrix is {shape[0]} by {shape[1]}")
        self.side, self.shape = side, shape
        self.names = [f"{down} {row}".strip() for row in rows], [f"{across} {column}".strip() for column in columns]
        self.elements: list[Element] = []
        turned = max_text_width(columns) > side[0] - 2
        self.left = (max_text_width(rows) + 10 if rows else 0) + (24 if down else 0) + 1
        self.top = (max_text_width(columns) + 8 if turned else 24 if columns else 0) + (22 if across else 0) + 1
        if across:
            self.add(muted_text(self.left + shape[1] * side[0] / 2, 9, across))
        if down:
            self.add(muted_text(9, self.top + shape[0] * side[1] / 2, down, turned=True))
        for i, words in enumerate(rows):
            self.add(text(self.left - 8, self.corner(i, 0)[1] + side[1] / 2, words, anchor="end"))
        for j, words in enumerate(columns):
            x, y = self.corner(0, j)[0] + side[0] / 2, self.top - (6 if turned else 12)
            self.add(text(x, y, words, anchor="start" if turned else "middle", turned=turned))

    def add(self, element: Element) -> None:
        self.elements.append(element)

    def corner(self, i: int, j: int) -> Point:
        """Return the upper left corner of a cell."""
        return self.left + j * self.side[0], self.top + i * self.side[1]

    def cells(self) -> list[tuple[tuple[int, int], Point]]:
        """Return the indices and corners of all cells."""
        return [((i, j), self.corner(i, j)) for i in range(self.shape[0]) for j in range(self.shape[1])]

    def picture(self, title: str, description: str, entries: Sequence[Sequence[str]] = ()) -> Picture:
        """Return the picture. With entries, it has them as a table."""
        right, bottom = self.corner(*self.shape)
        tables = (Table(title, *self.names, entries),) if entries else ()
        return Picture(title, description, right + 1, bottom + 1, tuple(self.elements), tables)


class Axis:
    """The scale of an axis and its ticks; a tight axis ends at the smallest and largest number.

    Raise DrawingError if no number can be shown.
    """

    start: float
    end: float

    def __init__(self, values: Sequence[float], log: bool, ticks: Sequence[float], tight: bool = False):
        self.log = log
        values = [value for value in values if self.shows(value)]
        if not values:
            raise DrawingError("an axis has no number to show" + (" that is positive, as a logarithmic one needs" if log else ""))
        low, high = min(values), max(values)
        self.binary = log and all(math.log2(value).is_integer() for value in ticks or values)
        chosen = list(ticks) or (self._powers if log else self._steps)(low, high)
        self.ticks = [tick for tick in chosen if low <= tick <= high] if tight and not ticks else chosen
        self.low, self.high = min(low, *self.ticks), max(high, *self.ticks)

    def between(self, start: float, end: float) -> None:
        """Set the coordinates of both ends of the axis in the picture."""
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        """Return the coordinate of a number in the picture."""
        low, high, value = (math.log(each) if self.log else each for each in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (value - low) / ((high - low) or 1)

    def shows(self, value: float) -> bool:
        """Return whether a number can be shown on the axis."""
        return math.isfinite(value) and (value > 0 or not self.log)

    def marks(self) -> list[tuple[float, str]]:
        """Return the coordinate and label of each tick."""
        return list(zip(map(self, self.ticks), self.labels()))

    def labels(self) -> list[str]:
        """Return the labels of the ticks: powers of ten where they are very large or small, else numbers with the digits they need."""
        if self.log and not self.binary and (max(self.ticks) > 1e4 or min(self.ticks) < 1e-3):
            return [f"$10^{{{number(math.log10(tick), 0)}}}$" for tick in self.ticks]
        near = 1e-9 * max(map(abs, self.ticks))
        digits = [next((k for k in range(12) if abs(round(tick, k) - tick) <= near), 12) for tick in self.ticks]
        return [number(tick, needed if self.log else max(digits)) for tick, needed in zip(self.ticks, digits)]

    def _powers(self, low: float, high: float) -> list[float]:
        """Return about five powers of 10, or of 2 if all numbers are, around the range."""
        base = 2.0 if self.binary else 10.0
        first, last = math.floor(math.log(low, base) + 0.1), math.ceil(math.log(high, base) - 0.1)
        return [base**power for power in range(first, last + 1, max(1, math.ceil((last - first) / 5)))]

    def _steps(self, low: float, high: float) -> list[float]:
        """Return about five multiples of a round number around the range."""
        rough = (high - low) / 4 or 1
        magnitude = 10 ** math.floor(math.log10(rough))
        step = next(magnitude * m for m in (1, 2, 2.5, 5, 10) if magnitude * m >= rough * 0.999)
        return [step * k for k in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]
