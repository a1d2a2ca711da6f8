"""Show a group of rows of docs/sources.toml as a table: what a source says, a correction of it, and the claims that support it.

An author writes these texts, so they go through Markdown and its checks like the text of any page.
"""

import posixpath
import tomllib
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from . import page_summary

FILE = "sources.toml"
NUMBERED = "numbered"  # the group of rows whose id is only a number


class RowsError(ValueError):
    """Rows cannot be shown; the message says what to do, but does not name the page or the line."""


def find_group(row_id: str) -> str:
    """Return the group of a row.

    >>> find_group("U12"), find_group("7")
    ('U', 'numbered')
    """
    return row_id.rstrip("0123456789") or NUMBERED


def read_rows(docs: Path, group: str) -> list[dict]:
    """Return the rows of a group, in order. Raise RowsError if the group is empty or the file is not a list of rows."""
    try:
        all_rows = tomllib.loads((docs / FILE).read_text(encoding="utf-8"))["row"]
        groups = list(dict.fromkeys(find_group(row["id"]) for row in all_rows))
        rows = [{"right": "", "pages": []} | row for row in all_rows if find_group(row["id"]) == group]
        for row in rows:
            row["says"], row["claims"]  # KeyError if one is missing
    except FileNotFoundError:
        raise RowsError(f"there is no {docs.name}/{FILE}") from None
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise RowsError(f"{docs.name}/{FILE} is not a list of rows with id, says and claims ({error})") from None
    if not rows:
        raise RowsError(f"expected '/// sources | GROUP' with a group of {', '.join(groups)}, found {group!r}")
    return rows


def claims_by_topic(row: dict) -> dict[str, list[str]]:
    """Return the topics that a row names, each with the ids of its claims.

    >>> claims_by_topic({"claims": ["a/b#c", "a/b#d"], "pages": ["e/f"]})
    {'a/b': ['c', 'd'], 'e/f': []}
    """
    claims: dict[str, list[str]] = {}
    for claim in row["claims"]:
        topic, _, name = claim.partition("#")
        claims.setdefault(topic, []).append(name)
    return claims | {page: [] for page in row["pages"] if page not in claims}


def read_heading(docs: Path, topic: str) -> str:
    """Return the heading of the topic's page. Raise RowsError if it has none."""
    path = docs / f"{topic}.md"
    heading = page_summary.find_heading(path.read_text(encoding="utf-8")) if path.is_file() else ""
    if not heading:
        raise RowsError(f"{docs.name}/{topic}.md is not a page that begins with a heading")
    return heading


def add_table(parent: Element, rows: list[dict], docs: Path, start: str) -> Element:
    """Append the rows as a table; addresses are relative to the folder `start`. Raise RowsError if a topic's page has no heading."""
    box = SubElement(parent, "div", {"class": "rows"})
    body = SubElement(SubElement(box, "table", {"class": "rows__table"}), "tbody")
    for row in rows:
        line = SubElement(body, "tr", {"id": f"row-{row['id'].lower()}"})
        SubElement(line, "th", {"scope": "row", "class": "rows__id"}).text = row["id"]
        cell = SubElement(line, "td", {"class": "rows__says"})
        SubElement(cell, "p").text = row["says"]
        if row["right"]:
            SubElement(cell, "p", {"class": "rows__right"}).text = row["right"]
        entries = SubElement(SubElement(line, "td", {"class": "rows__where"}), "ul")
        for topic, names in claims_by_topic(row).items():
            item = SubElement(entries, "li")
            address = posixpath.relpath(f"{topic}.md", start)
            SubElement(item, "a", {"href": address}).text = read_heading(docs, topic)
            for order, name in enumerate(names):
                link = SubElement(item, "a", {"href": f"{address}#{name}", "class": "rows__claim"})
                link.text = name
                item[-2].tail = ": " if order == 0 else ", "
    return box
