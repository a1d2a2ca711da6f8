"""A view of attention heads in HTML, SVG and CSS: choose a head, then a token, and see its weights.

Heads and tokens are two groups of radio buttons, so that arrow keys, touch and mouse all work without a script. Each button says in words
which tokens its token attends to. Each token contains a drawing of its lines for each head; site.css shows the one of the chosen head.
"""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement

from .svg_picture import ID_PLACEHOLDER, DrawingError, HtmlPicture, html_picture, number

MIN_WEIGHT = 0.005  # a weight below this is neither drawn nor printed
MAX_HEADS = 4  # the number of heads that site.css has rules for


Head = tuple[str, list[list[float]]]  # a label, and weights (n, m)


def head_view(
    heads: Sequence[tuple[str, Iterable[Iterable[float]]]],
    left: Sequence[str],
    right: Sequence[str],
    *,
    title: str,
    description: str,
    sides: tuple[str, str] = ("query", "key"),
    shown: int | None = None,
) -> HtmlPicture:
    """Return a view of up to four heads, pairs (label, weights); the weights (n, m) lead from tokens at the left to tokens at the right.

    `shown` is the index of the token at the left that is chosen at first; without it, all are. Raise DrawingError if shapes do not match
    or a text states a relation.
    """
    named = [(label, [[float(weight) for weight in row] for row in weights]) for label, weights in heads]
    _check_shapes(named, left, right)
    names = {"aria-labelledby": f"{ID_PLACEHOLDER}-title", "aria-describedby": f"{ID_PLACEHOLDER}-desc"}
    view = Element("div", {"class": "heads", "role": "group", "data-search-exclude": "", **names})
    _add(view, "p", "heads__hidden", title, id=f"{ID_PLACEHOLDER}-title")
    _add(view, "p", "heads__hidden", description, id=f"{ID_PLACEHOLDER}-desc")
    choice = _add(view, "div", "heads__choice", role="radiogroup", **{"aria-label": "Head"})
    for order, (label, _) in enumerate(named):
        _add_radio(choice, "head", label, order == 0, css=f"heads__head heads__head--{order}")
    table = _add(view, "div", "heads__table", style=f"--rows: {max(len(left), len(right))}")
    for side, words in zip(("left", "right"), sides):
        _add(table, "span", f"heads__side heads__side--{side}", words)
    _add_queries(table, named, left, right, sides[0], shown)
    keys = _add(table, "div", "heads__keys", **{"aria-hidden": "true"})
    for token in right:
        _add(keys, "span", "", token)
    return html_picture(title, description, view)


def _check_shapes(heads: list[Head], left: Sequence[str], right: Sequence[str]) -> None:
    if not 1 <= len(heads) <= MAX_HEADS:
        raise DrawingError(f"a view shows 1 to {MAX_HEADS} heads, not {len(heads)}")
    for label, weights in heads:
        if len(weights) != len(left) or any(len(row) != len(right) for row in weights):
            found = f"the weights of the {label} are {len(weights)} by {len(weights[0])}"
            raise DrawingError(f"{len(left)} and {len(right)} tokens; {found}")


def _add_queries(table: Element, heads: list[Head], left: Sequence[str], right: Sequence[str], side: str, shown: int | None) -> None:
    """Append the tokens at the left, each with its lines and numbers for every head, and the button that shows all."""
    queries = _add(table, "div", "heads__asks", role="radiogroup", **{"aria-label": f"One {side}, or all"})
    for i, token in enumerate(left):
        row = _add(queries, "div", "heads__row")
        spoken = "; ".join(f"{label}: {_describe_largest_weights(weights[i], right)}" for label, weights in heads)
        _add_radio(row, "token", token, i == shown, hidden=f", place {i + 1}; {spoken}")
        for order, (_, weights) in enumerate(heads):
            row.append(_draw_lines(i, weights[i], max(len(left), len(right)), order))
            numbers = _add(row, "div", f"heads__numbers heads__of--{order}", **{"aria-hidden": "true"})
            for j, weight in enumerate(weights[i]):
                if weight >= MIN_WEIGHT:
                    _add(numbers, "span", "", number(weight), style=f"--row: {j}")
    _add_radio(_add(queries, "div", "heads__every"), "token", "all", shown is None)


def _add(parent: Element, tag: str, css: str, words: str = "", **attributes: str) -> Element:
    element = SubElement(parent, tag, ({"class": css} if css else {}) | attributes)
    element.text = words or None
    return element


def _add_radio(parent: Element, group: str, words: str, checked: bool, css: str = "heads__token", hidden: str = "") -> None:
    """Append a radio button with its label; `hidden` is text for screen readers only."""
    label = _add(parent, "label", css)
    _add(label, "input", "", type="radio", name=f"{ID_PLACEHOLDER}-{group}", **({"checked": "checked"} if checked else {}))
    _add(label, "span", "", words)
    if hidden:
        _add(label, "span", "heads__hidden", hidden)


def _draw_lines(i: int, weights: Sequence[float], rows: int, order: int) -> Element:
    """Return the lines from the middle of row i at the left to the rows at the right, over the whole table; a unit is half a row."""
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
        if weight >= MIN_WEIGHT:
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


def _describe_largest_weights(weights: Sequence[float], right: Sequence[str]) -> str:
    """Return the two largest weights in words, for those who cannot see the lines."""
    largest = sorted(range(len(weights)), key=lambda j: -weights[j])[:2]
    return ", ".join(f"{number(weights[j])} on {right[j]} at place {j + 1}" for j in largest if weights[j] >= MIN_WEIGHT)
