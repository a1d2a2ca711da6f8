"""Pictures of the attention of a sentence: the weights of many heads, those of one token, and numbers beside each token."""

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple
from xml.etree.ElementTree import Element

from .diagrams import MAX_OPACITY
from .role_classes import with_role
from .svg_picture import DrawingError, Picture, Table, box, max_text_width, muted_text, number, part, text, text_width

STEPS = (0.04, 0.12, 0.3, 0.6)  # a cell is drawn as strongly as the last of these steps that its weight reaches
SIDE, GAP = 46.0, 6.0  # the side of a head's square, and the space between two
WORD = 18.0  # the font size of a sentence
LEAST_LINE, LEAST_NUMBER = 0.005, 0.02  # weights below these are not drawn, or have no number
FAINTEST = 0.4  # the opacity of the line of a small weight, which must be visible in dark mode too
QUIET = 0.2  # up to this weight, the colour behind a token in brackets is weak enough for quiet letters

Rows = Sequence[Sequence[float]]


def head_grid(heads: Sequence[Sequence[Rows]], *, title: str, description: str) -> Picture:
    """Draw the weights of all heads as small squares, with a row for each layer; `heads[layer][head]` is (n, n)."""
    left, top, step = 62.0, 24.0, SIDE + GAP
    elements = [text(left + head * step + SIDE / 2, 12, str(head)) for head in range(len(heads[0]))]
    for layer, row in enumerate(heads):
        elements.append(muted_text(left - 8, top + layer * step + SIDE / 2, f"layer {layer}", anchor="end"))
        elements += [_draw_head(weights, left + head * step, top + layer * step) for head, weights in enumerate(row)]
    return Picture(title, description, left + len(heads[0]) * step, top + len(heads) * step, tuple(elements))


def _draw_head(weights: Rows, x: float, y: float) -> Element:
    """Return the weights (n, n) as a square with its upper left corner at (x, y): one path for each step of strength."""
    cell = SIDE / len(weights)
    paths = [part("path", "picture__grid", d=f"M0 0H{SIDE:g}V{SIDE:g}H0z")]
    for order, least in enumerate(STEPS):
        more = (*STEPS, float("inf"))[order + 1]
        at = [(i, j) for i, row in enumerate(weights) for j, weight in enumerate(row) if least <= weight < more]
        if at:
            data = "".join(f"M{j * cell:g} {i * cell:g}h{cell:g}v{cell:g}h-{cell:g}z" for i, j in at)
            paths.append(part("path", "picture__spots", d=data, fill_opacity=(order + 1) / len(STEPS)))
    return part("g", "", *paths, transform=f"translate({x:g} {y:g})")


class Column(NamedTuple):
    """One number for each token, under a name; the largest has the strongest colour, unless the numbers are labels."""

    name: str
    values: Sequence[float]
    digits: int = 2
    labels: bool = False


def token_columns(tokens: Sequence[str], columns: Sequence[Column], *, title: str, description: str, query: int | None = None) -> Picture:
    """Draw the tokens of a sentence one below the other, each with a number from every column; the token `query` gets a frame.

    A number that is missing (NaN) has an empty cell. Raise DrawingError if a column has not as many numbers as there are tokens.
    """
    if wrong := [column.name for column in columns if len(column.values) != len(tokens)]:
        raise DrawingError(f"{len(tokens)} tokens; the columns {', '.join(wrong)} have another number of values")
    height, left, top = 25.0, max_text_width(tokens) + 14, 30.0
    elements = [
        text(left - 10, top + (row + 0.5) * height, token, anchor="end", css="picture__quiet" if token.startswith("[") else "")
        for row, token in enumerate(tokens)
    ]
    x = left
    for column in columns:
        shown = [number(value, column.digits) for value in column.values]
        width = max(max_text_width([*shown, column.name]) + 14, 52.0)
        most = max(abs(value) for value in column.values if not isnan(value)) or 1
        elements.append(muted_text(x + width / 2, 12, column.name))
        for row, (value, words) in enumerate(zip(column.values, shown)):
            if isnan(value):
                continue
            css = "picture__cell picture__cell--minus" if value < 0 else with_role("picture__cell", column.name)
            opacity = 0 if column.labels else MAX_OPACITY * abs(value) / most
            elements.append(box(x, top + row * height, width, height, css, fill_opacity=opacity))
            elements.append(text(x + width / 2, top + (row + 0.5) * height, words, css="picture__number"))
        x += width + 8
    if query is not None:
        elements.append(box(1, top + query * height, x - 9, height, "picture__mark"))
    entries = [[number(column.values[row], column.digits) for column in columns] for row in range(len(tokens))]
    table = Table(title, tokens, [column.name for column in columns], entries)
    return Picture(title, description, x - 7, top + len(tokens) * height + 1, tuple(elements), (table,))


Word = tuple[float, float, float]  # the middle of a word, and the width of its box


def sentence_weights(
    tokens: Sequence[str], weights: Sequence[float], query: int, second_line: int, *, title: str, description: str
) -> Picture:
    """Draw a sentence in two lines, and the weights (n,) of the token `query`, which is in the second line, on all tokens.

    The second line begins with token `second_line`. A token that begins with ' or a full stop, and the letter after an apostrophe, follow
    the token before them closely. Raise DrawingError if there are not as many weights as tokens.
    """
    if len(weights) != len(tokens) or not second_line <= query < len(tokens):
        raise DrawingError(f"{len(tokens)} tokens, {len(weights)} weights, and token {query} of a line that begins with {second_line}")
    places, width = _place_words(tokens, [range(second_line), range(second_line, len(tokens))])
    drawn = [key for key, weight in enumerate(weights) if key != query and weight >= LEAST_LINE]
    elements = [_draw_weight(places[query], places[key], weights[key]) for key in drawn]
    for key, (token, (x, y, room)) in enumerate(zip(tokens, places)):
        css, more = ("picture__mark", {}) if key == query else ("picture__cell", {"fill_opacity": MAX_OPACITY * weights[key]})
        elements.append(box(x - room / 2, y - 15, room, 30, css, rx=4, **more))
        elements.append(text(x, y, token, size=WORD, css="picture__quiet" if token.startswith("[") and weights[key] <= QUIET else ""))
        if weights[key] >= LEAST_NUMBER:
            elements.append(muted_text(x, y + (-25 if key < second_line else 27), number(weights[key])))
    table = Table(title, tokens, ["weight"], [[number(weight)] for weight in weights])
    return Picture(title, description, width, places[-1][1] + 40, tuple(elements), (table,))


def _place_words(tokens: Sequence[str], lines: Sequence[range]) -> tuple[list[Word], float]:
    """Return the place of each token in the lines, which are centred, and the width of the longest line."""
    rooms = [text_width(token, WORD) + 8 for token in tokens]
    close = [token[0] in "'." or key > 0 and tokens[key - 1] == "'" for key, token in enumerate(tokens)]
    gaps = [0 if joined else 6 for joined in close]
    lengths = [sum(rooms[key] + gaps[key] for key in line) for line in lines]
    places: list[Word] = []
    for line, length, y in zip(lines, lengths, (42.0, 162.0)):
        x = (max(lengths) + 2 - length) / 2
        for key in line:
            x += gaps[key]
            places.append((x + rooms[key] / 2, y, rooms[key]))
            x += rooms[key]
    return places, max(lengths) + 2


def _draw_weight(start: Word, end: Word, weight: float) -> Element:
    """Return a curve from the query to a key in the line above it or in its own line."""
    (x, y, _), (u, v, _) = start, end
    bend, enter = (60, v + 15) if v < y else (30, v - 15)
    control = enter + bend if v < y else enter - bend
    data = f"M{x:.1f} {y - 15:.1f}C{x:.1f} {y - 15 - bend:.1f} {u:.1f} {control:.1f} {u:.1f} {enter:.1f}"
    return part(
        "path", "picture__thread", d=data, pathLength=1, stroke_opacity=FAINTEST + (1 - FAINTEST) * weight, stroke_width=0.75 + 5 * weight
    )
