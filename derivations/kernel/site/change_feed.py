"""Read the dates when pages last changed from git, and write an Atom feed of them (RFC 4287).

Git runs once for all pages. Without git, or in a shallow clone, there are no dates: an unknown date is left out rather than guessed.
"""

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

ATOM = "http://www.w3.org/2005/Atom"
FILE = "feed.xml"
MAX_PAGES = 50  # pages in the feed
TIMEOUT = 60  # seconds for git


@dataclass(frozen=True)
class ChangedPage:
    """A page and the date of its last change."""

    title: str
    address: str
    when: datetime
    description: str = ""
    chapter: str = ""


def read_dates(folder: Path) -> dict[str, datetime]:
    """Return the date of the last commit of each file below a folder, by its path there; empty if git does not know the history."""
    if _run_git(folder, "rev-parse", "--is-shallow-repository") != "false\n":
        return {}
    latest: dict[str, datetime] = {}
    log = _run_git(folder, "log", "--no-renames", "--relative", "--name-only", "-z", "--format=tformat:%x01%cI", "--", ".")
    for commit in log.split("\x01")[1:]:
        when, *files = (part.strip("\n") for part in commit.split("\0"))
        for name in filter(None, files):
            date = datetime.fromisoformat(when).astimezone(UTC)
            latest[name] = max(date, latest.get(name, date))
    return latest


def _run_git(folder: Path, *arguments: str) -> str:
    """Return the output of a git command in a folder; "" if git is missing or fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def render_feed(pages: list[ChangedPage], *, name: str, description: str, home: str, address: str) -> str:
    """Return the Atom feed of the pages that changed last, newest first. `pages` must not be empty."""
    newest = sorted(pages, key=lambda page: (-page.when.timestamp(), page.address))[:MAX_PAGES]
    root = Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _add_texts(root, title=name, subtitle=description, id=home, updated=_format_time(newest[0].when))
    SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": address})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": home})
    _add_texts(SubElement(root, "author"), name=name)
    for page in newest:
        entry = SubElement(root, "entry")
        _add_texts(entry, title=page.title, id=page.address, updated=_format_time(page.when), summary=page.description)
        SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": page.address})
        if page.chapter:
            SubElement(entry, "category", {"term": page.chapter})
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode", xml_declaration=False)}\n'


def _add_texts(parent: Element, **texts: str) -> None:
    """Append an element for each text that is not empty."""
    for tag, text in texts.items():
        if text:
            SubElement(parent, tag).text = text


def _format_time(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
