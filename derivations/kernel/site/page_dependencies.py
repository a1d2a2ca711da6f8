"""What the page that is being rendered is made from, so that a server knows which pages a change concerns.

Names noted: "topic:chapter/topic", a certificate or what was refused instead; "file:PATH"; "within:PATH", the files of a folder; "all",
whatever there is.
"""

import re
from pathlib import Path

_open: list[set[str]] = []


def begin() -> None:
    _open[:] = [set()]


def note(*names: str) -> None:
    """Nothing, where nobody asked."""
    for names_of_page in _open:
        names_of_page.update(names)


def note_files(paths) -> None:
    note(*(f"file:{Path(path)}" for path in paths))


def end() -> set[str]:
    found = set().union(*_open)
    _open.clear()
    return found


def linked(text: str) -> set[str]:
    """Notes of the topics that a text names in an address of a claim, `chapter/topic#id`."""
    return {f"topic:{topic}" for topic in re.findall(r"\b([a-z0-9_]+/[a-z0-9_]+)#[\w-]", text)}
