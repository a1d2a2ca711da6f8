"""The findings of the page checks."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Finding:
    """A fault of a page or of its code, with its place."""

    place: str  # "file:line", or "file"
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def parse_finding(text: str) -> Finding:
    """Return the finding that `str` formats as this text."""
    place, _, message = text.partition(": ")
    return Finding(place, message)
