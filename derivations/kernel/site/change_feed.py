"""When pages were changed last, by what git keeps: for the site's map, and as a feed in Atom's format (RFC 4287).

Git is asked once. Where it knows nothing, or keeps the last commits alone, nothing is said: a date that is not known is not made up.
"""

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

ATOM = "http://www.w3.org/2005/Atom"
NAME = "feed.xml"
NEWEST = 50  # pages that the feed holds
WAIT = 60  # seconds for git


@dataclass(frozen=True)
class Changed:
    """A page that was changed."""

    title: str
    address: str
    when: datetime
    about: str = ""
    chapter: str = ""


def dates(folder: Path) -> dict[str, datetime]:
    """When each file below a folder was last part of a commit, by its path there; nothing where git does not know."""
    if _asked(folder, "rev-parse", "--is-shallow-repository") != "false\n":
        return {}
    found: dict[str, datetime] = {}
    said = _asked(folder, "log", "--no-renames", "--relative", "--name-only", "-z", "--format=tformat:%x01%cI", "--", ".")
    for commit in said.split("\x01")[1:]:
        when, *files = (part.strip("\n") for part in commit.split("\0"))
        for name in filter(None, files):
            moment = datetime.fromisoformat(when).astimezone(UTC)
            found[name] = max(moment, found.get(name, moment))
    return found


def _asked(folder: Path, *words: str) -> str:
    """What git says of a folder; "" where there is no git, or it refuses."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=WAIT)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def feed(pages: list[Changed], *, name: str, about: str, home: str, address: str) -> str:
    """The pages that were changed last, the newest first."""
    ordered = sorted(pages, key=lambda one: (-one.when.timestamp(), one.address))[:NEWEST]
    root = Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    texts(root, title=name, subtitle=about, id=home, updated=moment(ordered[0].when))
    SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": address})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": home})
    texts(SubElement(root, "author"), name=name)
    for one in ordered:
        entry = SubElement(root, "entry")
        texts(entry, title=one.title, id=one.address, updated=moment(one.when), summary=one.about)
        SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": one.address})
        if one.chapter:
            SubElement(entry, "category", {"term": one.chapter})
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False).join(['<?xml version="1.0" encoding="utf-8"?>\n', "\n"])


def texts(parent: Element, **said: str) -> None:
    for tag, text in said.items():
        if text:
            SubElement(parent, tag).text = text


def moment(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
