"""Prose that looks like a claim: one that begins as a claim's head does, or that sets witnesses and a scope side by side as its badge does.

A reader knows a claim by these, and behind them stand witnesses. A sentence may name a witness, or how far it reaches; it says so with a verb.
"""

import re

from . import allowed_html
from .claim_details import WITNESSES
from .claim_html import KINDS

BOLD = ("strong", "b")
WITHIN = allowed_html.WITHIN | {"code", "br"}  # a paragraph goes on through these
LISTS = ("ul", "ol", "dl", "table")  # what stands side by side in these is read as one row
TITLES = ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt", "th")
NAMED = ("Theorem", "Lemma", "Proposition", "Corollary", "Claim", "Fact")
HEADS = (*KINDS.values(), *NAMED)
HEAD = re.compile(rf"\W*(?:{'|'.join(HEADS)})(?:\s+\d[\d.]*)?\s*[(.:·]", re.IGNORECASE)
ALONE = re.compile(rf"\W*(?:{'|'.join(NAMED)})(?:\s+\d[\d.]*)?\W*", re.IGNORECASE)  # a title that says no more
WITNESS = re.compile(rf"\b(?:{'|'.join(WITNESSES.values())})\b(?! counterexample)", re.IGNORECASE)
SCOPE = re.compile(
    r"\b(?:every (?:shape|value|size|field|ring|commutative ring|ordered field|real closed field)(?: that the assumptions allow)?"
    r"|(?:some )?sizes up to \w+|induction|limit|exact counterexample|numbers only)\b",
    re.IGNORECASE,
)
_MARK = rf"(?:{SCOPE.pattern}|{WITNESS.pattern})"
ROW = re.compile(rf"{_MARK}(?:\W{{1,5}}(?:and\s+|by\s+)?{_MARK})+", re.IGNORECASE)  # with dots, commas or brackets between them


def is_title(tag: str, classes: str) -> bool:
    return tag in TITLES or "admonition-title" in classes.split()


def poses(text: str, bold: bool = False, title: bool = False) -> str:
    """What of a paragraph, or of what is bold in it, looks like a claim; '' where nothing does. A title may be a head alone.

    >>> poses("Theorem (every shape · exact · SymPy). The transpose of a sum."), poses("The limit. Then it stops."), poses("Limit.", bold=True)
    ('Theorem (', '', 'Limit.')
    >>> poses("exact, every shape, SymPy"), poses("The exact witness proves it at every shape; that SymPy does not")
    ('exact, every shape, SymPy', '')
    """
    head = HEAD.match(text)
    if head and (bold or head[0].endswith("(")):
        return head[0].strip()
    if title and ALONE.fullmatch(text):
        return text.strip()
    return next((row[0] for row in ROW.finditer(text) if SCOPE.search(row[0]) and len(WITNESS.findall(row[0])) > 1), "")
