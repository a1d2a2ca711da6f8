"""Functions that draw the pictures of pages as SVG when the site is built; the functions in docs/figures call them.

There is one for each kind of picture: `operations`, `shapes`, `heat_map`, `bars`, `curves`, `mask`, `tokens`. Each takes a title and a
description, for those who cannot see the picture. `beside` and `below` combine pictures.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element

from .role_classes import with_role
from .svg_picture import (
    MIN_FONT_SIZE,
    NAME,
    PHONE_WIDTH,
    TEXT,
    Axis,
    DrawingError,
    Grid,
    Picture,
    Point,
    below,
    beside,
    box,
    curve_path,
    line,
    line_path,
    max_text_width,
    muted_text,
    number,
    part,
    text,
    text_width,
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

Rows = Iterable[Iterable[float]]  # a matrix: nested lists, or a tensor

MAX_OPACITY = 0.43  # the largest opacity of a cell, so that the number on it can be read
PHONE = PHONE_WIDTH * TEXT // MIN_FONT_SIZE  # the units of width that a phone shows with legible labels


# Matrices ---------------------------------------------------------------------------------------------------------------


def heat_map(
    values: Rows,
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
    """Draw a matrix (n, m): a number in each cell, on a colour whose strength is its absolute value; negative ones in another colour.

    `rows` and `columns` are labels, `across` and `down` names of the columns and rows as a whole. `marked` cells get a frame. `most` is
    the number with the strongest colour.
    """
    matrix = [[float(value) for value in row] for row in values]
    finite = [abs(value) for row in matrix for value in row if math.isfinite(value)]
    digits = (0 if all(map(float.is_integer, finite)) else 2) if digits is None else digits
    most = float(most or max(finite, default=0) or 1)
    side = (max(44.0, 14 + max_text_width(number(v, digits) for row in matrix for v in row)), 34.0) if numbers else (16.0, 16.0)
    grid = Grid(rows, columns, across, down, side, (len(matrix), len(matrix[0])))
    for (i, j), (x, y) in grid.cells():
        value = matrix[i][j]
        css = "picture__cell" + (" picture__cell--minus" if value < 0 else "")
        grid.add(box(x, y, *side, css, fill_opacity=MAX_OPACITY * min(abs(value) / most, 1) if math.isfinite(value) else 0))
        if numbers:
            grid.add(text(x + side[0] / 2, y + side[1] / 2, number(value, digits), css="picture__number"))
    for i, j in sorted(marked):
        grid.add(box(*grid.corner(i, j), *side, "picture__mark"))
    return grid.picture(title, description, [[number(value, digits) for value in row] for row in matrix] if numbers else ())


def mask(
    kept: Rows,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    title: str,
    description: str,
    across: str = "",
    down: str = "",
) -> Picture:
    """Draw a matrix (n, m) of truth values: entries that are kept are filled, blocked ones struck through."""
    matrix, side = [[bool(value) for value in row] for row in kept], 26.0
    grid = Grid(rows, columns, across, down, (side, side), (len(matrix), len(matrix[0])))
    for (i, j), (x, y) in grid.cells():
        grid.add(box(x, y, side, side, "picture__cell", fill_opacity=MAX_OPACITY * matrix[i][j]))
        if not matrix[i][j]:
            grid.add(line((x + 7, y + side - 7), (x + side - 7, y + 7), css="picture__thin"))
    return grid.picture(title, description)


def tokens(
    weights: Rows,
    left: Sequence[str],
    right: Sequence[str],
    *,
    title: str,
    description: str,
    heads: tuple[str, str] = ("query", "key"),
) -> Picture:
    """Draw attention weights (n, m): a line from each token at the left to each at the right, as strong as its weight."""
    matrix = [[float(weight) for weight in row] for row in weights]
    if (len(matrix), len(matrix[0])) != (len(left), len(right)):
        raise DrawingError(f"{len(left)} and {len(right)} tokens; the weights are {len(matrix)} by {len(matrix[0])}")
    start = max_text_width([*left, heads[0]]) + 8
    sides = ((left, heads[0], start, -8, "end"), (right, heads[1], start + 150, 8, "start"))
    room = 28.0 * max(len(left), len(right))
    places = [[(x, 26 + room * (i + 0.5) / len(names)) for i in range(len(names))] for names, _, x, *_ in sides]
    lines = [(query, key, weight) for query, row in zip(places[0], matrix) for key, weight in zip(places[1], row)]
    elements = [_draw_weighted_line(query, key, weight) for query, key, weight in lines if weight > 0.005]
    for (names, head, x, offset, anchor), points in zip(sides, places):
        elements += [muted_text(x + offset, 9, head, anchor=anchor)]
        elements += [text(x + offset, y, words, anchor=anchor) for words, (_, y) in zip(names, points)]
    return Picture(title, description, start + 158 + max_text_width([*right, heads[1]]), 26 + room, tuple(elements))


def _draw_weighted_line(start: Point, end: Point, weight: float) -> Element:
    style = {"stroke_opacity": 0.08 + 0.92 * weight, "stroke_width": 0.75 + 3.5 * weight}
    return part("path", "picture__thread", d=curve_path(start, end, False), **style)


# Shapes of matrices -----------------------------------------------------------------------------------------------------


class Matrix(NamedTuple):
    """A matrix in a picture of shapes: its name, and the names of its two sizes."""

    name: str
    rows: str
    columns: str


def shapes(factors: Sequence[tuple], result: tuple, sizes: dict[str, float], *, title: str, description: str) -> Picture:
    """Draw a product of matrices and its result to scale; each is (name, rows, columns).

    `sizes` gives the length of each size in units. Raise DrawingError if the sizes of the product do not match.
    """
    matrices, product = [Matrix(*factor) for factor in factors], Matrix(*result)
    _check_sizes(matrices, product)
    middle, x, bottom = 24 + max(sizes[matrix.rows] for matrix in matrices) / 2, 0.0, 0.0
    elements: list[Element] = []
    for matrix in (*matrices, product):
        if matrix is product:
            elements.append(text(x + 5, middle, "=", size=NAME, css="picture__sign"))
            x += 26
        drawn, x, end = _draw_matrix(matrix, sizes, x, middle)
        elements += drawn
        bottom = max(bottom, end)
    return Picture(title, description, x - 12, bottom, tuple(elements))


def _check_sizes(factors: Sequence[Matrix], result: Matrix) -> None:
    for left, right in pairwise(factors):
        if left.columns != right.rows:
            found = f"{left.name} has columns {left.columns} and {right.name} has rows {right.rows}"
            raise DrawingError(f"{found}; in a product they must be equal")
    outer = factors[0].rows, factors[-1].columns
    if result[1:] != outer:
        raise DrawingError(f"{result.name} is {result.rows} by {result.columns}; the product is {outer[0]} by {outer[1]}")


def _draw_matrix(matrix: Matrix, sizes: dict[str, float], x: float, middle: float) -> tuple[list[Element], float, float]:
    """Return a matrix with its name and sizes, starting at x; also the x of the next matrix, and the y of this one's lower end."""
    rows, columns, width, height = f"${matrix.rows}$", f"${matrix.columns}$", sizes[matrix.columns], sizes[matrix.rows]
    inside = text_width(matrix.name, NAME) < width - 2 and height > 22
    room = max(width, text_width(columns), 0 if inside else text_width(matrix.name, NAME))
    centre, top, bottom = x + text_width(rows) + 7 + room / 2, middle - height / 2, middle + height / 2
    return (
        [
            box(centre - width / 2, top, width, height, with_role("picture__matrix", matrix.name)),
            text(centre, middle if inside else bottom + 14, matrix.name, size=NAME),
            muted_text(centre, top - 11, columns),
            muted_text(centre - width / 2 - 6, middle, rows, anchor="end"),
        ],
        centre + room / 2 + 14,
        bottom + (2 if inside else 26),
    )


# Graphs of operations ---------------------------------------------------------------------------------------------------


class Node(NamedTuple):
    """A box at a column, which may be a fraction, and a row; a tensor if it has a shape, else an operation."""

    words: str
    column: float
    row: int
    shape: str = ""

    @property
    def width(self) -> float:
        return max(26 + max(text_width(self.words, NAME if self.shape else 13), text_width(self.shape)), 64)

    @property
    def height(self) -> float:
        return 48 if self.shape else 32


def operations(nodes: dict[str, tuple], arrows: Sequence[tuple], *, title: str, description: str) -> Picture:
    """Draw a graph. `nodes` maps keys to (words, column, row) for an operation, or (words, column, row, shape) for a tensor.

    Each arrow is (from, to), or (from, to, label). Raise DrawingError if an arrow names no node.
    """
    boxes = {key: Node(*node) for key, node in nodes.items()}
    for key in (key for arrow in arrows for key in arrow[:2] if key not in boxes):
        raise DrawingError(f"an arrow names {key!r}; the nodes are {', '.join(boxes)}")
    places, height = _place_nodes(boxes)
    elements: list[Element] = []
    ends = [places[key][0] + node.width / 2 + 1 for key, node in boxes.items()]
    for start, end, *label in arrows:
        elements += _draw_arrow(boxes[start], boxes[end], places[start], places[end], *label)
        ends += [(places[start][0] + places[end][0]) / 2 + 10 + text_width(words) for words in label]
    for key, node in boxes.items():
        elements += _draw_node(node, *places[key])
    return Picture(title, description, max(ends), height, tuple(elements))


def _place_nodes(nodes: dict[str, Node]) -> tuple[dict[str, Point], float]:
    """Return the middle of each box, and the height of the picture. All columns are as wide as the widest box."""
    pitch = max(node.width for node in nodes.values()) + 26
    first = max(node.width / 2 - node.column * pitch for node in nodes.values()) + 1
    middles, y = {}, 1.0
    for row in sorted({node.row for node in nodes.values()}):
        height = max(node.height for node in nodes.values() if node.row == row)
        middles[row] = y + height / 2
        y += height + 34
    return {key: (first + node.column * pitch, middles[node.row]) for key, node in nodes.items()}, y - 33


def _draw_node(node: Node, x: float, y: float) -> list[Element]:
    css, corner = (with_role("picture__matrix", node.words), 2) if node.shape else ("picture__operation", 16)
    frame = box(x - node.width / 2, y - node.height / 2, node.width, node.height, css, rx=corner)
    if not node.shape:
        return [frame, text(x, y, node.words)]
    return [frame, text(x, y - 9, node.words, size=NAME), muted_text(x, y + 12, node.shape)]


def _draw_arrow(start: Node, end: Node, start_middle: Point, end_middle: Point, label: str = "") -> list[Element]:
    """Return an arrow between the facing sides of two boxes; a curve if they are not aligned."""
    level = start.row == end.row
    axis = 0 if level else 1
    direction = 1 if end_middle[axis] > start_middle[axis] else -1
    half = [(node.width if level else node.height) / 2 for node in (start, end)]
    (x, y), tip = _move(start_middle, axis, direction * half[0]), _move(end_middle, axis, -direction * half[1])
    back = _move(tip, axis, -6 * direction)
    head = line_path(_move(back, 1 - axis, -3.5), tip, _move(back, 1 - axis, 3.5))
    bent = abs(start_middle[1 - axis] - end_middle[1 - axis]) > 0.5
    drawn = [part("path", "picture__line", d=(curve_path((x, y), tip, not level) if bent else line_path((x, y), tip)) + head)]
    if label and bent:  # near its start, on the side away from the curve
        side = -1 if tip[0] > x else 1
        drawn.append(muted_text(x + 8 * side, y + 0.4 * (tip[1] - y), label, anchor="start" if side > 0 else "end"))
    elif label:
        drawn.append(muted_text((x + tip[0]) / 2 + 8, (y + tip[1]) / 2, label, anchor="start"))
    return drawn


def _move(point: Point, axis: int, distance: float) -> Point:
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
    """Draw horizontal bars, each with a label, a nonnegative number and its unit. None leaves a gap between groups."""

    def with_unit(value: float) -> str:
        return f"{number(value, digits)} {unit}".strip()

    shown = [(label, float(value)) for label, value in filter(None, rows)]
    if any(value < 0 for _, value in shown):
        raise DrawingError("a bar starts at zero, so its number must not be negative")
    left, most = max_text_width(label for label, _ in shown) + 12, most or max(value for _, value in shown) or 1
    numbers = max_text_width(with_unit(value) for _, value in shown)
    longest = min(190, max(PHONE - left - 10 - numbers, 95))
    elements: list[Element] = []
    y = 0.0
    for row in rows:
        if row:
            label, value = row[0], float(row[1])
            length = max(longest * min(value / most, 1), 1)
            elements += [
                text(left - 12, y + 12, label, anchor="end"),
                box(left, y + 3, length, 18, "picture__bar"),
                text(left + length + 8, y + 12, with_unit(value), anchor="start", css="picture__number"),
            ]
        y += 28 if row else 14
    elements.append(line((left, 0), (left, y - 4), css="picture__axis"))
    return Picture(title, description, left + longest + 10 + numbers, y - 2, tuple(elements))


class Curve(NamedTuple):
    """A curve through points, or with `dots` only the points; its label is at its end, or below if it is too wide for a phone."""

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
    """Draw curves (label, xs, ys), or dots (label, xs, ys, True), over axes named `across` and `up`.

    `log` is "", "x", "y" or "xy". Raise DrawingError for more than four curves: dashes and colours distinguish only four.
    """
    lines = [Curve(label, [float(x) for x in xs], [float(y) for y in ys], *dots) for label, xs, ys, *dots in drawn]
    if len(lines) > 4:
        raise DrawingError(f"{len(lines)} curves are too many; draw at most four")
    all_xs, all_ys = ([value for curve in lines for value in getattr(curve, name)] for name in "xy")
    upward, along = Axis([*all_ys, *y_range], "y" in log, y_ticks), Axis(all_xs, "x" in log, x_ticks, tight=True)
    left, top, bottom = max_text_width(upward.labels()) + 12, 30 if up else 8, 206
    right = left + 264
    upward.between(bottom, top)
    along.between(left, right)
    elements = [muted_text(0, 9, up, anchor="start")] if up else []
    elements += _draw_rules(upward, left, right) + _draw_scale(along, left, right, bottom + 6)
    elements.append(muted_text(right, bottom + 44, across, anchor="end"))
    ends = [upward(curve.y[-1]) for curve in lines]
    labels = max_text_width(curve.label for curve in lines)
    if right + 37 + labels <= PHONE:
        places = [(right + 10, y) for y in _spread_heights(ends, bottom)]
        width, height = right + 37 + labels, bottom + 52
    else:  # below, from the highest end to the lowest
        downward = sorted(range(len(lines)), key=ends.__getitem__)
        places = [(left, bottom + 72 + 20 * downward.index(order)) for order in range(len(lines))]
        width, height = max(right + 20, left + 27 + labels), bottom + 62 + 20 * len(lines)
    for curve, order, place in sorted(zip(lines, range(4), places), key=lambda each: each[0].dots):  # dots are drawn over curves
        elements += _draw_curve([(along(x), upward(y)) for x, y in zip(curve.x, curve.y) if upward.shows(y)], order, curve.dots)
        elements += _draw_label(curve, order, *place) if curve.label else []
    return Picture(title, description, width, height, tuple(elements))


def _draw_label(curve: Curve, order: int, x: float, y: float) -> list[Element]:
    """Return a curve's label, after a sample of the curve."""
    sample = [(x + 10, y)] if curve.dots else [(x, y), (x + 20, y)]
    return [*_draw_curve(sample, order, curve.dots), text(x + 27, y, curve.label, anchor="start")]


def _draw_rules(axis: Axis, left: float, right: float) -> list[Element]:
    """Return the labels of a vertical axis, and a rule at each tick."""
    rules = [line((left, y), (right, y), css="picture__grid") for y, _ in axis.marks()]
    return rules + [text(left - 8, y, label, anchor="end", css="picture__number") for y, label in axis.marks()]


def _draw_scale(axis: Axis, left: float, right: float, y: float) -> list[Element]:
    """Return a horizontal axis with its ticks and labels."""
    ticks = [line((x, y), (x, y + 5), css="picture__axis") for x, _ in axis.marks()]
    labels = [text(x, y + 16, label, css="picture__number") for x, label in axis.marks()]
    return [line((left, y), (right, y), css="picture__axis"), *ticks, *labels]


def _draw_curve(points: Sequence[Point], order: int, dots: bool) -> list[Element]:
    kind = f"picture__{'dot' if dots else 'curve'}"
    css, radius = f"{kind} {kind}--{order}", 3.5 if len(points) <= 40 else 2
    return [part("circle", css, cx=x, cy=y, r=radius) for x, y in points] if dots else [line(*points, css=css)]


def _spread_heights(heights: list[float], lowest: float, gap: float = 18) -> list[float]:
    """Return the heights, moved so that they are at least `gap` apart, in the same order, and none is below `lowest`."""
    order, moved = sorted(range(len(heights)), key=heights.__getitem__), list(heights)
    for above, below_it in pairwise(order):
        moved[below_it] = max(moved[below_it], moved[above] + gap)
    for index in reversed(order):
        moved[index] = lowest = min(moved[index], lowest)
        lowest -= gap
    return moved
