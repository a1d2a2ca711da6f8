"""Find prose that looks like a claim: it begins like a claim's head, or lists witnesses and a scope like a claim's badge.

Readers recognize a claim by its head and its badge, so nothing unchecked may look like them. A sentence with a verb may name a witness or
a scope.
"""

import re

from . import allowed_html
from .claim_details import WITNESSES
from .claim_html import KINDS

BOLD = ("strong", "b")
INLINE = allowed_html.INLINE | {"code", "br"}  # these do not end a paragraph
LISTS = ("ul", "ol", "dl", "table")  # neighbouring entries of these are read as one row
TITLES = ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt", "th")
NAMED = ("Theorem", "Lemma", "Proposition", "Corollary", "Claim", "Fact")
HEADS = (*KINDS.values(), *NAMED)
HEAD = re.compile(rf"\W*(?:{'|'.join(HEADS)})(?:\s+\d[\d.]*)?\s*[(.:·]", re.IGNORECASE)
HEAD_ALONE = re.compile(rf"\W*(?:{'|'.join(NAMED)})(?:\s+\d[\d.]*)?\W*", re.IGNORECASE)  # a title that consists of a head
WITNESS = re.compile(rf"\b(?:{'|'.join(WITNESSES.values())})\b(?! counterexample)", re.IGNORECASE)
SCOPE = re.compile(
    r"\b(?:every (?:shape|value|size|field|ring|commutative ring|ordered field|real closed field)(?: that the assumptions allow)?"
    r"|(?:some )?sizes up to \w+|induction|limit|exact counterexample|numbers only)\b",
    re.IGNORECASE,
)
_MARK = rf"(?:{SCOPE.pattern}|{WITNESS.pattern})"
BADGE = re.compile(rf"{_MARK}(?:\W{{1,5}}(?:and\s+|by\s+)?{_MARK})+", re.IGNORECASE)  # with dots, commas or brackets between the marks


def is_title(tag: str, classes: str) -> bool:
    """Return whether an element is shown as a title."""
    return tag in TITLES or "admonition-title" in classes.split()


def find_lookalike(text: str, bold: bool = False, title: bool = False) -> str:
    """Return the part of a paragraph that looks like a claim, or "". `bold` and `title` say how the text is set.

    A head with an opening bracket looks like a claim anywhere, other heads where they are bold. A title looks like one if it is a head.

    >>> find_lookalike("Theorem (every shape · exact · SymPy). The transpose of a sum."), find_lookalike("The limit. Then it stops.")
    ('Theorem (', '')
    >>> find_lookalike("Limit.", bold=True)
    'Limit.'
    >>> find_lookalike("exact, every shape, SymPy"), find_lookalike("The exact witness proves it at every shape; that SymPy does not")
    ('exact, every shape, SymPy', '')
    """
    head = HEAD.match(text)
    if head and (bold or head[0].endswith("(")):
        return head[0].strip()
    if title and HEAD_ALONE.fullmatch(text):
        return text.strip()
    return next((badge[0] for badge in BADGE.finditer(text) if SCOPE.search(badge[0]) and len(WITNESS.findall(badge[0])) > 1), "")
