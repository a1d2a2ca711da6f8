"""The table of a group of rows from docs/sources.toml: what a source says, what is set right, and which claims hold it.

The words are the author's own, so they go through Markdown and its checks like any page's.
"""

import posixpath
import re
import tomllib
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

FILE = "sources.toml"
NUMBERED = "numbered"  # the group of rows whose id is a number alone


class RowsError(ValueError):
    """Rows that cannot be shown: what was found and what to do, without a place."""


def group(name: str) -> str:
    """The group of a row.

    >>> group("U12"), group("7")
    ('U', 'numbered')
    """
    return name.rstrip("0123456789") or NUMBERED


def rows(docs: Path, wanted: str) -> list[dict]:
    """The rows of a group, in order. Raises RowsError."""
    try:
        found = tomllib.loads((docs / FILE).read_text(encoding="utf-8"))["row"]
        groups = list(dict.fromkeys(group(row["id"]) for row in found))
        chosen = [{"right": "", "pages": []} | row for row in found if group(row["id"]) == wanted]
        for row in chosen:
            row["says"], row["claims"]
    except FileNotFoundError:
        raise RowsError(f"there is no {docs.name}/{FILE}") from None
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise RowsError(f"{docs.name}/{FILE} is not a list of rows with id, says and claims ({error})") from None
    if not chosen:
        raise RowsError(f"expected '/// sources | GROUP' with a group of {', '.join(groups)}, found {wanted!r}")
    return chosen


def places(row: dict) -> dict[str, list[str]]:
    """The topics that hold a row, and the claims of each.

    >>> places({"claims": ["a/b#c", "a/b#d"], "pages": ["e/f"]})
    {'a/b': ['c', 'd'], 'e/f': []}
    """
    found = {}
    for claim in row["claims"]:
        topic, _, name = claim.partition("#")
        found.setdefault(topic, []).append(name)
    return found | {page: [] for page in row["pages"] if page not in found}


def heading(docs: Path, topic: str) -> str:
    """What the topic's page calls itself. Raises RowsError."""
    path = docs / f"{topic}.md"
    first = re.match(r"# (.+)", path.read_text(encoding="utf-8")) if path.is_file() else None
    if not first:
        raise RowsError(f"{docs.name}/{topic}.md is no page that begins with a heading")
    return first[1].strip()


def table(parent: Element, chosen: list[dict], docs: Path, start: str) -> Element:
    """Append the rows as a table; addresses are relative to the folder `start`. Raises RowsError."""
    box = SubElement(parent, "div", {"class": "rows"})
    body = SubElement(SubElement(box, "table", {"class": "rows__table"}), "tbody")
    for row in chosen:
        line = SubElement(body, "tr", {"id": f"row-{row['id'].lower()}"})
        SubElement(line, "th", {"scope": "row", "class": "rows__id"}).text = row["id"]
        cell = SubElement(line, "td", {"class": "rows__says"})
        SubElement(cell, "p").text = row["says"]
        if row["right"]:
            SubElement(cell, "p", {"class": "rows__right"}).text = row["right"]
        listed = SubElement(SubElement(line, "td", {"class": "rows__where"}), "ul")
        for topic, names in places(row).items():
            item = SubElement(listed, "li")
            address = posixpath.relpath(f"{topic}.md", start)
            SubElement(item, "a", {"href": address}).text = heading(docs, topic)
            for order, name in enumerate(names):
                link = SubElement(item, "a", {"href": f"{address}#{name}", "class": "rows__claim"})
                link.text = name
                item[-2].tail = ": " if order == 0 else ", "
    return box
