"""Draw a figure that is a table: rows of words and numbers, with a heading for each row and column, and links."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from .svg_picture import ID_PLACEHOLDER, DrawingError, HtmlPicture, html_picture

NUMBER = "table-figure__number"  # the class of the heading and the cells of a column of numbers

Cell = str | Sequence[tuple[str, str]]  # words, or links: pairs (words, address)


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, title: str, description: str) -> HtmlPicture:
    """Return a table. The first cell of each row is its heading. Raise DrawingError if a row has another length, or a text states a relation."""
    for row in rows:
        if len(row) != len(columns):
            raise DrawingError(f"the row {row[0]!r} has {len(row)} cells, but there are {len(columns)} columns")
    box = Element("div", {"class": "table-figure", "data-search-exclude": ""})
    name = f"{ID_PLACEHOLDER}-title"
    SubElement(box, "p", {"class": "table-figure__title", "id": name}).text = title
    scroller = SubElement(box, "div", {"class": "table-figure__scroll", "tabindex": "0", "role": "group", "aria-labelledby": name})
    # The theme wraps a table without a class.
    body = SubElement(scroller, "table", {"class": "table-figure__table", "aria-labelledby": name})
    heads = SubElement(SubElement(body, "thead"), "tr")
    kinds = [{"class": NUMBER} if all(_is_number(row[place]) for row in rows) else {} for place in range(len(columns))]
    for words, kind in zip(columns, kinds, strict=True):
        SubElement(heads, "th", {"scope": "col", **kind}).text = words
    rest = SubElement(body, "tbody")
    for row in rows:
        line = SubElement(rest, "tr")
        SubElement(line, "th", {"scope": "row"}).text = str(row[0])
        for cell, kind in zip(row[1:], kinds[1:], strict=True):
            _fill(SubElement(line, "td", kind), cell)
    return html_picture(title, description, box)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, str) and re.fullmatch(r"[\d,]+(\.\d+)?", cell) is not None


def _fill(cell: Element, content: Cell) -> None:
    if isinstance(content, str):
        cell.text = content
        return
    for words, address in content:
        link = SubElement(cell, "a", {"href": address})
        link.text = words
        link.tail = " "
