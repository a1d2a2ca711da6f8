"""The findings of the page checks, and the faults that they are made from."""

from dataclasses import dataclass

Fault = tuple[int, str]  # a line, and a message


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
