"""Draw a picture as an image, with Pillow, for the cards of pages.

It draws the elements that svg_picture.py and the modules with it make, in the light colours and the fonts of docs/assets/css/site.css.
"""

import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from PIL import Image, ImageColor, ImageDraw, ImageFont

from ..store.project_files import ROOT
from .svg_picture import MATHS, SCRIPT

MARGIN = 6.0  # units around a drawing, for what reaches over its edges
FINE = 3  # the image is drawn this many times as large, and then reduced, so that its lines are smooth
PAPER = "#fdfcf9"
COLOURS = {
    "ink": "#1f1e1b",
    "quiet": "#6a665e",
    "hairline": "#e3dfd5",
    "data": "#27528a",
    "against": "#a13d2d",
    "query": "#1d5fae",
    "key": "#8f5200",
    "value": "#0b6e63",
    "output": "#7a3d9c",
}
# The properties of shapes, by class. If a shape has several classes, the last one here decides.
STYLES: dict[str, dict[str, Any]] = {
    "picture__line": {"stroke": "quiet"},
    "picture__operation": {"stroke": "quiet"},
    "picture__matrix": {"fill": "quiet", "opacity": 0.09, "stroke": "quiet"},
    **{f"role--{role}": {"fill": role, "stroke": role} for role in ("query", "key", "value", "output")},
    "picture__cell": {"fill": "data", "stroke": "hairline"},
    "picture__cell--minus": {"fill": "against"},
    "picture__spots": {"fill": "data", "stroke": None},
    "picture__mark": {"width": 1.5},
    "picture__thin": {"stroke": "quiet", "width": 0.75},
    "picture__axis": {"stroke": "quiet", "width": 0.75},
    "picture__grid": {"stroke": "hairline"},
    "picture__bar": {"fill": "data", "opacity": 0.45, "stroke": None},
    "picture__thread": {"stroke": "data"},
    "picture__curve": {"width": 1.6},
    "picture__dot": {"fill": "paper", "width": 1.5},
    **{
        f"picture__{kind}--{k}": {"stroke": colour}
        for kind in ("curve", "dot")
        for k, colour in enumerate(("data", "against", "ink", "quiet"))
    },
}
DASHES = {"picture__curve--1": (7, 4), "picture__curve--2": (2, 4), "picture__curve--3": (9, 3, 2, 3)}
FONTS = {"label": "inter", "letter": "stix-two-text-400-italic", "name": "stix-two-text-400-normal", "sign": "stix-two-math"}

Point = tuple[float, float]
_SIGNS = re.compile("[\u2190-\u22ff✓]")  # Inter lacks these
_COMMAND = re.compile(r"([MLHVCZhvz])|(-?\d+(?:\.\d+)?(?:e-?\d+)?)")


def draw_picture(drawing: str, width: float, height: float, scale: float) -> Image.Image:
    """Return the image of a drawing with a margin. The drawing is given as SVG in its units, and `scale` is the number of pixels of a unit."""
    size = width + 2 * MARGIN, height + 2 * MARGIN
    image = Image.new("RGB", (round(size[0] * scale * FINE), round(size[1] * scale * FINE)), PAPER)
    _draw_group(ImageDraw.Draw(image), fromstring(drawing), (MARGIN, MARGIN), scale * FINE)
    return image.resize((round(size[0] * scale), round(size[1] * scale)), Image.Resampling.BOX)


def _draw_group(pen: ImageDraw.ImageDraw, group: Element, origin: Point, scale: float) -> None:
    x, y = (float(number) for number in re.findall(r"-?[\d.]+", group.get("transform", "translate(0 0)")))
    origin = origin[0] + x, origin[1] + y
    for element in group:
        if element.tag == "g":
            _draw_group(pen, element, origin, scale)
        elif element.tag == "text":
            _draw_text(pen, element, origin, scale)
        else:
            _draw_shape(pen, element, origin, scale)


# Shapes -----------------------------------------------------------------------------------------------------------------


def _draw_shape(pen: ImageDraw.ImageDraw, element: Element, origin: Point, scale: float) -> None:
    classes = element.get("class", "").split()
    style: dict[str, Any] = {"fill": None, "stroke": "ink", "width": 1.0, "opacity": 1.0}
    for name, properties in STYLES.items():
        style |= properties if name in classes else {}
    fill = style["fill"] and _blend(style["fill"], float(element.get("fill-opacity", style["opacity"])))
    stroke = style["stroke"] and _blend(style["stroke"], float(element.get("stroke-opacity", 1)))
    width = max(1, round(float(element.get("stroke-width", style["width"])) * scale))

    half = width / 2 if stroke else 0.0

    def place(x: float, y: float) -> Point:
        return (origin[0] + x) * scale, (origin[1] + y) * scale

    if element.tag == "rect":
        x, y, w, h = (float(element.get(name, 0)) for name in ("x", "y", "width", "height"))
        box = [place(x, y), place(x + w, y + h)]
        pen.rounded_rectangle(_widen(box, half), float(element.get("rx", 0)) * scale + half, fill, stroke, width)
    elif element.tag == "circle":
        x, y, r = (float(element.get(name, 0)) for name in ("cx", "cy", "r"))
        pen.ellipse(_widen([place(x - r, y - r), place(x + r, y + r)], half), fill, stroke, width)
    else:
        dashes = next((DASHES[name] for name in classes if name in DASHES), ())
        for points in _flatten(element.get("d", "")):
            points = [place(*point) for point in points]
            if fill and len(points) > 2:
                pen.polygon(points, fill)
            for part in _cut(points, [dash * scale for dash in dashes]) if stroke else ():
                pen.line(part, stroke, width, joint="curve")


def _widen(box: list[Point], by: float) -> list[Point]:
    """Return a box that is larger on all sides, since Pillow draws a line inside of its box. Pillow counts the last pixel too."""
    (left, top), (right, bottom) = box
    return [(left - by, top - by), (right + by - 1, bottom + by - 1)]


def _blend(colour: str, opacity: float) -> tuple[int, ...]:
    """Return a colour on paper."""
    pairs = zip(ImageColor.getrgb(PAPER), ImageColor.getrgb(COLOURS.get(colour, PAPER)))
    return tuple(round(under + opacity * (over - under)) for under, over in pairs)


def _flatten(path: str) -> list[list[Point]]:
    """Return the lines of path data, each as its points; a curve becomes 32 short lines."""
    lines: list[list[Point]] = []
    numbers: list[float] = []
    command = ""
    for letter, number in _COMMAND.findall(path):
        if letter in ("z", "Z"):
            lines[-1].append(lines[-1][0])
        command, numbers = (letter, []) if letter else (command, [*numbers, float(number)])
        if len(numbers) < {"C": 6, "M": 2, "L": 2}.get(command, 1):
            continue
        x, y = lines[-1][-1] if lines else (0.0, 0.0)
        if command == "M":
            lines.append([(numbers[0], numbers[1])])
        elif command == "C":
            lines[-1] += [_bezier((x, y), *zip(numbers[::2], numbers[1::2]), at=k / 32) for k in range(1, 33)]
        else:
            first = numbers[0]
            ends = {"L": (first, numbers[-1]), "H": (first, y), "h": (x + first, y), "V": (x, first), "v": (x, y + first)}
            lines[-1].append(ends[command])
        command, numbers = "L" if command == "M" else command, []
    return lines


def _bezier(*points: Point, at: float) -> Point:
    """Return the point of a curve at a place between 0 and 1."""
    while len(points) > 1:
        points = tuple((a + at * (c - a), b + at * (d - b)) for (a, b), (c, d) in zip(points, points[1:]))
    return points[0]


def _cut(points: list[Point], dashes: list[float]) -> list[list[Point]]:
    """Return the dashes of a line; the whole line if there is no pattern of dashes."""
    if not dashes:
        return [points]
    parts, which, left = [[points[0]]], 0, dashes[0]
    for (x, y), (end, low) in zip(points, points[1:]):
        length = ((end - x) ** 2 + (low - y) ** 2) ** 0.5
        at = 0.0
        while length - at > left:
            at += left
            point = x + at / length * (end - x), y + at / length * (low - y)
            if which % 2 == 0:
                parts[-1].append(point)
            else:
                parts.append([point])
            which += 1
            left = dashes[which % len(dashes)]
        left -= length - at
        if which % 2 == 0:
            parts[-1].append((end, low))
    return parts


# Text -------------------------------------------------------------------------------------------------------------------


def _draw_text(pen: ImageDraw.ImageDraw, element: Element, origin: Point, scale: float) -> None:
    """Draw text and its spans, one after the other. Text that is turned goes over an image of its own."""
    classes = element.get("class", "").split()
    role = next((name.removeprefix("role--") for name in classes if name.startswith("role--")), "")
    colour = COLOURS[role or ("quiet" if "picture__quiet" in classes else "ink")]
    runs = list(_find_runs(element, scale))
    width = sum(font.getlength(words) for words, font, _ in runs)
    x, y = ((at + float(element.get(name, 0))) * scale for at, name in zip(origin, "xy"))
    start = {"start": 0.0, "middle": -width / 2, "end": -width}[element.get("text-anchor", "start")]
    if "transform" in element.attrib:
        _draw_turned(pen, runs, (x, y), width, colour)
        return
    for words, font, shift in runs:
        pen.text((x + start, y + shift), words, colour, font, anchor="ls")
        start += font.getlength(words)


def _draw_turned(pen: ImageDraw.ImageDraw, runs: list[tuple[str, Any, float]], at: Point, width: float, colour: str) -> None:
    """Draw text from bottom to top, with its middle at a point on its baseline."""
    size = runs[0][1].size
    mask = Image.new("L", (round(width) + 2, round(2 * size)))
    brush, along = ImageDraw.Draw(mask), 1.0
    for words, font, shift in runs:
        brush.text((along, 1.4 * size + shift), words, 255, font, anchor="ls")
        along += font.getlength(words)
    pen.bitmap((round(at[0] - 1.4 * size), round(at[1] - width / 2)), mask.rotate(90, expand=True), colour)


def _find_runs(element: Element, scale: float) -> Any:
    """Yield the pieces of a text that are set alike: the words, their font, and how far they are shifted down, in pixels."""
    size, shift = float(element.get("font-size", 13)) * scale, 0.0
    spans = [element, *element] if element.text else [*element]
    for span in spans:
        classes = span.get("class", "").split()
        kind = next((name for name in ("letter", "name", "sign") if f"picture__{name}" in classes), "label")
        shift += float(span.get("dy", 0)) * scale
        factor = (1 if kind in ("label", "sign") else MATHS) * (SCRIPT / MATHS if "picture__script" in classes else 1)
        for sign, letters in groupby(span.text or "", lambda letter: bool(_SIGNS.match(letter))):
            yield "".join(letters), _load_font("sign" if sign else kind, round(factor * size)), shift


@cache
def _load_font(name: str, size: int) -> Any:
    """Return one of FONTS in a size in pixels."""
    path = Path(ROOT) / f"docs/assets/fonts/{FONTS[name]}.woff2"
    return ImageFont.truetype(str(path), size)
