"""Draw a figure that is a table: rows of words and numbers, with a heading for each row and column, and links."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from .svg_picture import ID_PLACEHOLDER, DrawingError, HtmlPicture, html_picture

NUMBER = "table-figure__number"  # the class of a cell that is a number, and of a heading above such cells only

Cell = str | Sequence[tuple[str, str]]  # words, or links: pairs (words, address)


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, title: str, description: str) -> HtmlPicture:
    """Return a table. The first cell of each row is its heading. Raise DrawingError if a row has another length, or a text states a relation."""
    for row in rows:
        if len(row) != len(columns):
            raise DrawingError(f"the row {row[0]!r} has {len(row)} cells, but there are {len(columns)} columns")
    box = Element(
        "div",
        {
            "class": "table-figure",
            "tabindex": "0",
            "role": "group",
            "aria-labelledby": f"{ID_PLACEHOLDER}-title",
            "data-search-exclude": "",
        },
    )
    body = SubElement(box, "table", {"class": "table-figure__table"})  # the theme wraps a table without a class
    caption = SubElement(body, "caption", {"class": "table-figure__title", "id": f"{ID_PLACEHOLDER}-title"})
    caption.text = title
    heads = SubElement(SubElement(body, "thead"), "tr")
    for place, words in enumerate(columns):
        kind = {"class": NUMBER} if all(_is_number(row[place]) for row in rows) else {}
        SubElement(heads, "th", {"scope": "col", **kind}).text = words
    rest = SubElement(body, "tbody")
    for row in rows:
        line = SubElement(rest, "tr")
        SubElement(line, "th", {"scope": "row"}).text = str(row[0])
        for cell in row[1:]:
            _fill(SubElement(line, "td"), cell)
    return html_picture(title, description, box)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, str) and re.fullmatch(r"[\d,]+(\.\d+)?", cell) is not None


def _fill(cell: Element, content: Cell) -> None:
    if isinstance(content, str):
        cell.text = content
        if _is_number(content):
            cell.set("class", NUMBER)
        return
    for words, address in content:
        link = SubElement(cell, "a", {"href": address})
        link.text = words
        link.tail = " "
