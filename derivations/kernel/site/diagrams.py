"""Pictures for pages, drawn as SVG when the site is built. What to draw stands in docs/figures.

A function for each sort of picture: `operations`, `shapes`, `heat_map`, `bars`, `curves`, `mask`, `tokens`. Each takes a title and
a description, which are what somebody hears who does not see the picture. `beside` and `below` put pictures together.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element

from .role_colors import with_role
from .svg_picture import (
    NAME,
    DrawingError,
    Picture,
    Point,
    below,
    bend,
    beside,
    box,
    breadth,
    line,
    number,
    part,
    path,
    quiet,
    text,
    widest,
)

__all__ = [
    "DrawingError",
    "Picture",
    "bars",
    "below",
    "beside",
    "curves",
    "heat_map",
    "mask",
    "operations",
    "shapes",
    "tokens",
]

STRONGEST = 0.45  # of a cell's colour, so that the number on it can be read


# Matrices ---------------------------------------------------------------------------------------------------------------


def heat_map(
    values,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    title: str,
    description: str,
    across: str = "",
    down: str = "",
    digits: int | None = None,
    numbers: bool = True,
    marked: Iterable[tuple[int, int]] = (),
    most: float | None = None,
) -> Picture:
    """A matrix (n, m): a number in each cell, on a colour as strong as the number is large; negative ones in another colour.

    `across` and `down` say what columns and rows are; `marked` cells get a frame; `most` is what has the strongest colour.
    """
    values = [[float(value) for value in row] for row in values]
    finite = [abs(value) for row in values for value in row if math.isfinite(value)]
    digits = (0 if all(map(float.is_integer, finite)) else 2) if digits is None else digits
    most = float(most or max(finite, default=0) or 1)
    side = (max(44.0, 14 + widest(number(v, digits) for row in values for v in row)), 34.0) if numbers else (16.0, 16.0)
    grid = _Grid(rows, columns, across, down, side, (len(values), len(values[0])))
    for (i, j), (x, y) in grid.cells():
        value = values[i][j]
        css = "picture__cell" + (" picture__cell--minus" if value < 0 else "")
        grid.add(box(x, y, *side, css, fill_opacity=STRONGEST * min(abs(value) / most, 1) if math.isfinite(value) else 0))
        if numbers:
            grid.add(text(x + side[0] / 2, y + side[1] / 2, number(value, digits), css="picture__number"))
    for i, j in sorted(marked):
        grid.add(box(*grid.corner(i, j), *side, "picture__mark"))
    return grid.picture(title, description)


def mask(
    kept,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    title: str,
    description: str,
    across: str = "",
    down: str = "",
) -> Picture:
    """A matrix (n, m) of truth values: what is kept is filled, what is blocked is struck through."""
    kept, side = [[bool(value) for value in row] for row in kept], 26.0
    grid = _Grid(rows, columns, across, down, (side, side), (len(kept), len(kept[0])))
    for (i, j), (x, y) in grid.cells():
        grid.add(box(x, y, side, side, "picture__cell", fill_opacity=STRONGEST * kept[i][j]))
        if not kept[i][j]:
            grid.add(line((x + 7, y + side - 7), (x + side - 7, y + 7), css="picture__thin"))
    return grid.picture(title, description)


class _Grid:
    """Cells with labels at the left and above."""

    def __init__(self, rows, columns, across: str, down: str, side: Point, shape: tuple[int, int]):
        if len(rows) not in (0, shape[0]) or len(columns) not in (0, shape[1]):
            raise DrawingError(f"{len(rows)} rows and {len(columns)} columns are named; the matrix is {shape[0]} by {shape[1]}")
        self.side, self.shape, self.elements = side, shape, []
        turned = widest(columns) > side[0] - 2
        self.left = (widest(rows) + 10 if rows else 0) + (24 if down else 0) + 1
        self.top = (widest(columns) + 8 if turned else 24 if columns else 0) + (22 if across else 0) + 1
        if across:
            self.add(quiet(self.left + shape[1] * side[0] / 2, 9, across))
        if down:
            self.add(quiet(9, self.top + shape[0] * side[1] / 2, down, turned=True))
        for i, words in enumerate(rows):
            self.add(text(self.left - 8, self.corner(i, 0)[1] + side[1] / 2, words, anchor="end"))
        for j, words in enumerate(columns):
            how = {"anchor": "start", "turned": True} if turned else {}
            self.add(text(self.corner(0, j)[0] + side[0] / 2, self.top - (6 if turned else 12), words, **how))

    def add(self, element: Element):
        self.elements.append(element)

    def corner(self, i: int, j: int) -> Point:
        return self.left + j * self.side[0], self.top + i * self.side[1]

    def cells(self) -> list[tuple[tuple[int, int], Point]]:
        return [((i, j), self.corner(i, j)) for i in range(self.shape[0]) for j in range(self.shape[1])]

    def picture(self, title: str, description: str) -> Picture:
        right, bottom = self.corner(*self.shape)
        return Picture(title, description, right + 1, bottom + 1, tuple(self.elements))


def tokens(
    weights,
    left: Sequence[str],
    right: Sequence[str],
    *,
    title: str,
    description: str,
    heads: tuple[str, str] = ("query", "key"),
) -> Picture:
    """Which token looks at which: a line from each at the left to each at the right, as strong as its weight."""
    weights = [[float(weight) for weight in row] for row in weights]
    if (len(weights), len(weights[0])) != (len(left), len(right)):
        raise DrawingError(f"{len(left)} and {len(right)} tokens; the weights are {len(weights)} by {len(weights[0])}")
    start = widest([*left, heads[0]]) + 8
    sides = ((left, heads[0], start, -8, "end"), (right, heads[1], start + 150, 8, "start"))
    room = 28.0 * max(len(left), len(right))
    places = [[(x, 26 + room * (i + 0.5) / len(names)) for i in range(len(names))] for names, _, x, *_ in sides]
    threads = [(one, other, weight) for one, row in zip(places[0], weights) for other, weight in zip(places[1], row)]
    elements = [_thread(*thread) for thread in threads if thread[2] > 0.005]
    for (names, head, x, away, anchor), points in zip(sides, places):
        elements += [quiet(x + away, 9, head, anchor=anchor)]
        elements += [text(x + away, y, words, anchor=anchor) for words, (_, y) in zip(names, points)]
    return Picture(title, description, start + 158 + widest([*right, heads[1]]), 26 + room, tuple(elements))


def _thread(one: Point, other: Point, weight: float) -> Element:
    look = {"stroke_opacity": 0.08 + 0.92 * weight, "stroke_width": 0.75 + 3.5 * weight}
    return part("path", "picture__thread", d=bend(one, other, False), **look)


# Shapes of matrices -----------------------------------------------------------------------------------------------------


class Matrix(NamedTuple):
    """A matrix in a picture of shapes: its name, and the names of its two sizes."""

    name: str
    rows: str
    columns: str


def shapes(factors: Sequence[tuple], result: tuple, sizes: dict[str, float], *, title: str, description: str) -> Picture:
    """A product of matrices and its result, drawn to proportion; each is (name, rows, columns).

    `sizes` says how long each size is drawn, in units. A product whose sizes do not fit is refused.
    """
    factors, result = [Matrix(*one) for one in factors], Matrix(*result)
    _refuse_misfit(factors, result)
    middle, elements, x, bottom = 24 + max(sizes[one.rows] for one in factors) / 2, [], 0.0, 0.0
    for one in (*factors, result):
        if one is result:
            elements.append(text(x + 5, middle, "=", size=NAME, css="picture__sign"))
            x += 26
        drawn, x, end = _matrix(one, sizes, x, middle)
        elements += drawn
        bottom = max(bottom, end)
    return Picture(title, description, x - 12, bottom, tuple(elements))


def _refuse_misfit(factors: Sequence[Matrix], result: Matrix) -> None:
    for one, other in pairwise(factors):
        if one.columns != other.rows:
            found = f"{one.name} has columns {one.columns} and {other.name} has rows {other.rows}"
            raise DrawingError(f"{found}; a product needs one size there")
    outer = factors[0].rows, factors[-1].columns
    if result[1:] != outer:
        raise DrawingError(f"{result.name} is {result.rows} by {result.columns}; the product is {outer[0]} by {outer[1]}")


def _matrix(one: Matrix, sizes: dict[str, float], x: float, middle: float) -> tuple[list[Element], float, float]:
    """One matrix with its name and sizes, from x on; also where the next one starts, and how far down this one reaches."""
    rows, columns, width, height = f"${one.rows}$", f"${one.columns}$", sizes[one.columns], sizes[one.rows]
    inside = breadth(one.name, NAME) < width - 2 and height > 22
    room = max(width, breadth(columns), 0 if inside else breadth(one.name, NAME))
    centre, top, bottom = x + breadth(rows) + 7 + room / 2, middle - height / 2, middle + height / 2
    return (
        [
            box(centre - width / 2, top, width, height, with_role("picture__matrix", one.name)),
            text(centre, middle if inside else bottom + 14, one.name, size=NAME),
            quiet(centre, top - 11, columns),
            quiet(centre - width / 2 - 6, middle, rows, anchor="end"),
        ],
        centre + room / 2 + 14,
        bottom + (2 if inside else 26),
    )


# Graphs of operations ---------------------------------------------------------------------------------------------------


class Node(NamedTuple):
    """A box at a column (which may be a fraction) and a row; one with a shape is a tensor, another an operation."""

    words: str
    column: float
    row: int
    shape: str = ""

    @property
    def width(self) -> float:
        return max(26 + max(breadth(self.words, NAME if self.shape else 13), breadth(self.shape)), 64)

    @property
    def height(self) -> float:
        return 48 if self.shape else 32


def operations(nodes: dict[str, tuple], arrows: Sequence[tuple], *, title: str, description: str) -> Picture:
    """A graph. `nodes` maps keys to (words, column, row) for an operation, or (words, column, row, shape) for a tensor.

    Each arrow is (from, to), or (from, to, label).
    """
    nodes = {key: Node(*one) for key, one in nodes.items()}
    for key in (key for arrow in arrows for key in arrow[:2] if key not in nodes):
        raise DrawingError(f"an arrow names {key!r}; the nodes are {', '.join(nodes)}")
    places, height = _placed(nodes)
    elements, ends = [], [places[key][0] + node.width / 2 + 1 for key, node in nodes.items()]
    for start, end, *label in arrows:
        elements += _arrow(nodes[start], nodes[end], places[start], places[end], *label)
        ends += [(places[start][0] + places[end][0]) / 2 + 10 + breadth(words) for words in label]
    for key, node in nodes.items():
        elements += _node(node, *places[key])
    return Picture(title, description, max(ends), height, tuple(elements))


def _placed(nodes: dict[str, Node]) -> tuple[dict[str, Point], float]:
    """The middle of each box, and how high the picture is: rows as high as they need, columns as wide as the widest box."""
    pitch = max(node.width for node in nodes.values()) + 26
    first = max(node.width / 2 - node.column * pitch for node in nodes.values()) + 1
    middles, y = {}, 1.0
    for row in sorted({node.row for node in nodes.values()}):
        height = max(node.height for node in nodes.values() if node.row == row)
        middles[row] = y + height / 2
        y += height + 34
    return {key: (first + node.column * pitch, middles[node.row]) for key, node in nodes.items()}, y - 33


def _node(node: Node, x: float, y: float) -> list[Element]:
    css, corner = (with_role("picture__matrix", node.words), 2) if node.shape else ("picture__operation", 16)
    frame = box(x - node.width / 2, y - node.height / 2, node.width, node.height, css, rx=corner)
    if not node.shape:
        return [frame, text(x, y, node.words)]
    return [frame, text(x, y - 9, node.words, size=NAME), quiet(x, y + 12, node.shape)]


def _arrow(start: Node, end: Node, one: Point, other: Point, label: str = "") -> list[Element]:
    """From the side of one box to the facing side of the other, bending where they are not in line."""
    level = start.row == end.row
    axis = 0 if level else 1
    way = 1 if other[axis] > one[axis] else -1
    reach = [(node.width if level else node.height) / 2 for node in (start, end)]
    (x, y), tip = _along(one, axis, way * reach[0]), _along(other, axis, -way * reach[1])
    back = _along(tip, axis, -6 * way)
    head = path(_along(back, 1 - axis, -3.5), tip, _along(back, 1 - axis, 3.5))
    bent = abs(one[1 - axis] - other[1 - axis]) > 0.5
    drawn = [part("path", "picture__line", d=(bend((x, y), tip, not level) if bent else path((x, y), tip)) + head)]
    if label and bent:  # near its start, where it does not bend to
        side = -1 if tip[0] > x else 1
        drawn.append(quiet(x + 8 * side, y + 0.4 * (tip[1] - y), label, anchor="start" if side > 0 else "end"))
    elif label:
        drawn.append(quiet((x + tip[0]) / 2 + 8, (y + tip[1]) / 2, label, anchor="start"))
    return drawn


def _along(point: Point, axis: int, distance: float) -> Point:
    return (point[0] + distance, point[1]) if axis == 0 else (point[0], point[1] + distance)


# Charts -----------------------------------------------------------------------------------------------------------------


def bars(
    rows: Sequence[tuple[str, float] | None],
    *,
    title: str,
    description: str,
    digits: int = 2,
    most: float | None = None,
    unit: str = "",
) -> Picture:
    """Bars from the left, each with its label before it, its number behind it, and the number's unit. None leaves a gap between groups."""

    def said_of(value: float) -> str:
        return f"{number(value, digits)} {unit}".strip()

    shown = [(label, float(value)) for label, value in filter(None, rows)]
    if any(value < 0 for _, value in shown):
        raise DrawingError("a bar starts at nothing, so its number may not be negative")
    left, most = widest(label for label, _ in shown) + 12, most or max(value for _, value in shown) or 1
    elements, y = [], 0.0
    for row in rows:
        if row:
            length, said = max(190 * min(float(row[1]) / most, 1), 1), said_of(float(row[1]))
            elements += [
                text(left - 12, y + 12, row[0], anchor="end"),
                box(left, y + 3, length, 18, "picture__bar"),
                text(left + length + 8, y + 12, said, anchor="start", css="picture__number"),
            ]
        y += 28 if row else 14
    elements.append(line((left, 0), (left, y - 4), css="picture__axis"))
    return Picture(title, description, left + 200 + widest(said_of(value) for _, value in shown), y - 2, tuple(elements))


class Curve(NamedTuple):
    """A curve through points, or, with `dots`, the points alone; its label stands at its end."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    dots: bool = False


def curves(
    drawn: Sequence[tuple],
    *,
    title: str,
    description: str,
    across: str,
    up: str = "",
    log: str = "",
    x_ticks: Sequence[float] = (),
    y_ticks: Sequence[float] = (),
    y_range: Sequence[float] = (),
) -> Picture:
    """Curves (label, xs, ys), or (label, xs, ys, True) for dots, over axes named `across` and `up`.

    `log` is "", "x", "y" or "xy". At most four curves, told apart by dashes as well as colour.
    """
    drawn = [Curve(one[0], [float(x) for x in one[1]], [float(y) for y in one[2]], *one[3:]) for one in drawn]
    if len(drawn) > 4:
        raise DrawingError(f"{len(drawn)} curves; four can be told apart")
    xs, ys = ([value for one in drawn for value in getattr(one, name)] for name in "xy")
    upward, along = _Axis([*ys, *y_range], "y" in log, y_ticks), _Axis(xs, "x" in log, x_ticks, tight=True)
    left, top, bottom = widest(upward.labels()) + 12, 30 if up else 8, 206
    right = left + 264
    upward.between(bottom, top)
    along.between(left, right)
    elements = [quiet(0, 9, up, anchor="start")] if up else []
    elements += _rulings(upward, left, right) + _scale(along, left, right, bottom + 6)
    elements.append(quiet(right, bottom + 44, across, anchor="end"))
    ends = _apart([upward(one.y[-1]) for one in drawn], bottom)
    for one, order, end in sorted(zip(drawn, range(4), ends), key=lambda each: each[0].dots):  # dots lie on curves
        elements += _curve([(along(x), upward(y)) for x, y in zip(one.x, one.y) if upward.shows(y)], order, one.dots)
        if one.label:  # behind a piece of the curve
            elements += _curve([(right + 20, end)] if one.dots else [(right + 10, end), (right + 30, end)], order, one.dots)
            elements.append(text(right + 37, end, one.label, anchor="start"))
    return Picture(title, description, right + 37 + widest(one.label for one in drawn), bottom + 52, tuple(elements))


def _rulings(axis: "_Axis", left: float, right: float) -> list[Element]:
    lines = [line((left, y), (right, y), css="picture__grid") for y, _ in axis.marks()]
    return lines + [text(left - 8, y, label, anchor="end", css="picture__number") for y, label in axis.marks()]


def _scale(axis: "_Axis", left: float, right: float, y: float) -> list[Element]:
    ticks = [line((x, y), (x, y + 5), css="picture__axis") for x, _ in axis.marks()]
    labels = [text(x, y + 16, label, css="picture__number") for x, label in axis.marks()]
    return [line((left, y), (right, y), css="picture__axis"), *ticks, *labels]


def _curve(points: Sequence[Point], order: int, dots: bool) -> list[Element]:
    kind = f"picture__{'dot' if dots else 'curve'}"
    css, radius = f"{kind} {kind}--{order}", 3.5 if len(points) <= 40 else 2
    return [part("circle", css, cx=x, cy=y, r=radius) for x, y in points] if dots else [line(*points, css=css)]


def _apart(places: list[float], lowest: float, gap: float = 18) -> list[float]:
    """Heights moved so that labels do not lie on each other, their order kept."""
    order, moved = sorted(range(len(places)), key=places.__getitem__), list(places)
    for above, under in pairwise(order):
        moved[under] = max(moved[under], moved[above] + gap)
    for one in reversed(order):
        moved[one] = lowest = min(moved[one], lowest)
        lowest -= gap
    return moved


class _Axis:
    """Where numbers stand on an axis, and its ticks; a tight axis ends where the numbers end."""

    def __init__(self, values: Sequence[float], log: bool, ticks: Sequence[float], tight: bool = False):
        self.log = log
        values = [value for value in values if self.shows(value)]
        if not values:
            raise DrawingError("an axis has no number to show" + (" that is positive, as a logarithmic one needs" if log else ""))
        low, high = min(values), max(values)
        self.binary = log and all(math.log2(value).is_integer() for value in ticks or values)
        made = list(ticks) or (self._powers if log else self._steps)(low, high)
        self.ticks = [tick for tick in made if low <= tick <= high] if tight and not ticks else made
        self.low, self.high = min(low, *self.ticks), max(high, *self.ticks)

    def between(self, start: float, end: float) -> None:
        """Where the axis begins and ends in the picture."""
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        low, high, value = (math.log(one) if self.log else one for one in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (value - low) / ((high - low) or 1)

    def shows(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.log)

    def marks(self) -> list[tuple[float, str]]:
        return list(zip(map(self, self.ticks), self.labels()))

    def labels(self) -> list[str]:
        if self.log and not self.binary and (max(self.ticks) > 1e4 or min(self.ticks) < 1e-3):
            return [f"$10^{{{number(math.log10(tick), 0)}}}$" for tick in self.ticks]
        near = 1e-9 * max(map(abs, self.ticks))
        digits = [next((k for k in range(12) if abs(round(tick, k) - tick) <= near), 12) for tick in self.ticks]
        return [number(tick, own if self.log else max(digits)) for tick, own in zip(self.ticks, digits)]

    def _powers(self, low: float, high: float) -> list[float]:
        base = 2.0 if self.binary else 10.0
        first, last = math.floor(math.log(low, base) + 0.1), math.ceil(math.log(high, base) - 0.1)
        return [base**power for power in range(first, last + 1, max(1, math.ceil((last - first) / 5)))]

    def _steps(self, low: float, high: float) -> list[float]:
        rough = (high - low) / 4 or 1
        magnitude = 10 ** math.floor(math.log10(rough))
        step = next(magnitude * m for m in (1, 2, 2.5, 5, 10) if magnitude * m >= rough * 0.999)
        return [step * k for k in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]
