"""Draw a figure that is a table: rows of words and numbers, with a heading for each row and column, and links."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from .svg_picture import ID_PLACEHOLDER, DrawingError, HtmlPicture, html_picture

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
    for words in columns:
        SubElement(heads, "th", {"scope": "col"}).text = words
    rest = SubElement(body, "tbody")
    for row in rows:
        line = SubElement(rest, "tr")
        SubElement(line, "th", {"scope": "row"}).text = str(row[0])
        for cell in row[1:]:
            _fill(SubElement(line, "td"), cell)
    return html_picture(title, description, box)


def _fill(cell: Element, content: Cell) -> None:
    if isinstance(content, str):
        cell.text = content
        if content[:1].isdigit():
            cell.set("class", "table-figure__number")
        return
    for words, address in content:
        link = SubElement(cell, "a", {"href": address})
        link.text = words
        link.tail = " "
