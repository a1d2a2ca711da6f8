"""Audit a Coq file before Coq checks it: reject anything that could let it pass without a proof."""

from __future__ import annotations

import re

from .prelude_files import PRELUDES
from .reserved_words import FORBIDDEN

NAMES = "|".join(PRELUDES)
# Every sentence of a source is one of these: an import, a declaration, a theorem, or a tactic, whose name begins with a lower-case letter.
EXPECTED = re.compile(
    rf"From Derivations Require Import ({NAMES})|Local Open Scope (ring|R)_scope|(Section|End) Claim|"
    r"Variables? [^:]+ : .+|Hypothesis \w+ : .+|Add Ring R_ring : \(ring_of R\)|Add Field R_field : \(field_of R\)|"
    r"Theorem [\w']+ : .+|Proof|Qed|Print Assumptions [\w']+|[a-z].*"
)


def find_loophole(text: str) -> str:
    """Return what in a source could let it pass without a proof, or ""."""
    bare, names = strip_comments(text), theorem_names(text)
    forbidden = FORBIDDEN.search(bare)
    if forbidden:
        return f"the source contains '{forbidden[0]}'"
    if not names:
        return "the source states no theorem"
    if '"' in text:  # not even in a comment, where Coq reads strings too
        return "the source contains a string"
    printed = re.findall(r"^Print Assumptions ([A-Za-z0-9_']+)\.$", bare, re.MULTILINE)
    if printed != names or len(re.findall(r"\bPrint\b", bare)) != len(names):
        return "the source does not print the assumptions of each of its theorems once"
    if re.search(r"\b(idtac|fail)\b", bare):
        return "the source prints something of its own"
    unexpected = [s for s in split_sentences(bare) if not EXPECTED.fullmatch(s)]
    return f"the source contains the sentence '{unexpected[0]}'" if unexpected else ""


def imported_preludes(text: str) -> set[str]:
    """Return the names of the preludes that the source imports."""
    sentences = split_sentences(strip_comments(text))
    return {name for name in PRELUDES if f"From Derivations Require Import {name}" in sentences}


def imports_reals(text: str) -> bool:
    """Return whether the source imports a prelude over the reals, so that its theorems may rest on the axioms of the reals."""
    return any(PRELUDES[name].over_the_reals for name in imported_preludes(text))


def theorem_names(text: str) -> list[str]:
    """Return the names of the theorems in the source, in order."""
    return re.findall(r"^Theorem ([A-Za-z0-9_']+) :", strip_comments(text), re.MULTILINE)


def split_sentences(bare: str) -> list[str]:
    """Return the sentences of a source without comments, each on one line and without its full stop."""
    return [" ".join(s.split()) for s in re.split(r"\.\s", bare + "\n") if s.strip()]


def strip_comments(text: str) -> str:
    """Return the text with each comment replaced by a space. Comments nest in Coq."""
    depth, characters, k = 0, [], 0
    while k < len(text):
        pair = text[k : k + 2]
        if pair == "(*":
            depth, k = depth + 1, k + 2
        elif pair == "*)" and depth:
            depth, k = depth - 1, k + 2
            characters.append(" ")
        else:
            if not depth:
                characters.append(text[k])
            k += 1
    return "".join(characters)
