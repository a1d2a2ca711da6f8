"""A view of attention heads: choose a head, then a token, and see its weights. HTML, SVG and CSS; no script.

Heads are a group of radio buttons and so are tokens, so that arrow keys, a finger and a mouse all work, and each button says in
words where its token looks. Each token holds its own lines, one drawing for each head; site.css shows those of the head chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from ..printing.relation_signs import fault_of_text
from .svg_picture import DrawingError, Picture, number

HERE = "\x03"  # stands for the figure's id, which is known only on the page
FAINT = 0.005  # a weight below this is neither drawn nor printed
HEADS = 4  # as many as site.css has rules for


@dataclass(frozen=True)
class HeadView(Picture):
    """A picture that is HTML."""

    html: str = ""


def head_view(
    heads: Sequence[tuple[str, object]],
    left: Sequence[str],
    right: Sequence[str],
    *,
    title: str,
    description: str,
    sides: tuple[str, str] = ("query", "key"),
    shown: int | None = None,
) -> HeadView:
    """Heads are pairs (label, weights), weights being (n, m): from each token at the left to each at the right.

    `shown` is the token at the left that is chosen at first, counted from 0; without it, all are shown.
    """
    heads = [(label, [[float(weight) for weight in row] for row in weights]) for label, weights in heads]
    if not 1 <= len(heads) <= HEADS:
        raise DrawingError(f"{len(heads)} heads; a view has from 1 to {HEADS}")
    for label, weights in heads:
        if {len(weights)} | {len(row) + len(left) - len(right) for row in weights} != {len(left)}:
            found = f"the weights of the {label} are {len(weights)} by {len(weights[0])}"
            raise DrawingError(f"{len(left)} and {len(right)} tokens; {found}")
    names = {"aria-labelledby": f"{HERE}-title", "aria-describedby": f"{HERE}-desc"}
    view = Element("div", {"class": "heads", "role": "group", "data-search-exclude": "", **names})
    _add(view, "p", "heads__hidden", title, id=f"{HERE}-title")
    _add(view, "p", "heads__hidden", description, id=f"{HERE}-desc")
    choice = _add(view, "div", "heads__choice", role="radiogroup", **{"aria-label": "Head"})
    for order, (label, _) in enumerate(heads):
        _radio(choice, "head", label, order == 0, css=f"heads__head heads__head--{order}")
    table = _add(view, "div", "heads__table", style=f"--rows: {max(len(left), len(right))}")
    for side, words in zip(("left", "right"), sides):
        _add(table, "span", f"heads__side heads__side--{side}", words)
    asks = _add(table, "div", "heads__asks", role="radiogroup", **{"aria-label": f"One {sides[0]}, or all"})
    for i, token in enumerate(left):
        row = _add(asks, "div", "heads__row")
        said = "; ".join(f"{label}: {_in_words(weights[i], right)}" for label, weights in heads)
        _radio(row, "token", token, i == shown, hidden=f", place {i + 1}; {said}")
        for order, (_, weights) in enumerate(heads):
            row.append(_lines(i, weights[i], max(len(left), len(right)), order))
            printed = _add(row, "div", f"heads__numbers heads__of--{order}", **{"aria-hidden": "true"})
            for j, weight in enumerate(weights[i]):
                if weight >= FAINT:
                    _add(printed, "span", "", number(weight), style=f"--row: {j}")
    every = _add(asks, "div", "heads__every")
    _radio(every, "token", "all", shown is None)
    keys = _add(table, "div", "heads__keys", **{"aria-hidden": "true"})
    for token in right:
        _add(keys, "span", "", token)
    for words in view.itertext():
        if fault := fault_of_text(words):
            raise DrawingError(f"{words!r} {fault}; relations stand in claims, so say it in words")
    return HeadView(title, description, 340, 0, (), tostring(view, encoding="unicode", short_empty_elements=False))


def _add(parent: Element, tag: str, css: str, words: str = "", **attributes: str) -> Element:
    element = SubElement(parent, tag, ({"class": css} if css else {}) | attributes)
    element.text = words or None
    return element


def _radio(parent: Element, group: str, words: str, checked: bool, css: str = "heads__token", hidden: str = "") -> None:
    """A radio button in its label; `hidden` is read out and not shown."""
    label = _add(parent, "label", css)
    _add(label, "input", "", type="radio", name=f"{HERE}-{group}", **({"checked": "checked"} if checked else {}))
    _add(label, "span", "", words)
    if hidden:
        _add(label, "span", "heads__hidden", hidden)


def _lines(i: int, weights: Sequence[float], rows: int, order: int) -> Element:
    """From the middle of row i at the left to the rows at the right, over the whole table; one unit is half a row."""
    svg = Element(
        "svg",
        {
            "class": f"heads__lines heads__of--{order}",
            "viewBox": f"0 0 100 {2 * rows}",
            "preserveAspectRatio": "none",
            "aria-hidden": "true",
        },
    )
    for j, weight in enumerate(weights):
        if weight >= FAINT:
            start, end, strength = 2 * i + 1, 2 * j + 1, min(weight, 1)
            SubElement(
                svg,
                "path",
                {
                    "d": f"M0 {start}C45 {start} 55 {end} 100 {end}",
                    "stroke-opacity": f"{0.08 + 0.92 * strength:.2f}",
                    "stroke-width": f"{0.75 + 2.25 * strength:.2f}",
                },
            )
    return svg


def _in_words(weights: Sequence[float], right: Sequence[str]) -> str:
    """The two largest weights, as somebody hears them who does not see the lines."""
    largest = sorted(range(len(weights)), key=lambda j: -weights[j])[:2]
    return ", ".join(f"{number(weights[j])} on {right[j]} at place {j + 1}" for j in largest if weights[j] >= FAINT)
