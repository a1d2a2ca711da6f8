"""Reading a Coq file before Coq does: whether anything in it would let it pass without a proof."""

from __future__ import annotations

import re

from .prelude_files import PRELUDES
from .reserved_words import FORBIDDEN

NAMES = "|".join(PRELUDES)
# All that a source is made of: what it imports, what it declares, theorems, and tactics, whose names begin with a small letter.
EXPECTED = re.compile(
    rf"From Derivations Require Import ({NAMES})|Local Open Scope (ring|R)_scope|(Section|End) Claim|"
    r"Variables? [^:]+ : .+|Hypothesis \w+ : .+|Add Ring R_ring : \(ring_of R\)|Add Field R_field : \(field_of R\)|"
    r"Theorem [\w']+ : .+|Proof|Qed|Print Assumptions [\w']+|[a-z].*"
)


def suspicious(text: str) -> str:
    """What in a source would let it pass without a proof; "" if nothing."""
    bare, names = uncommented(text), theorems(text)
    found = FORBIDDEN.search(bare)
    if found:
        return f"the source contains '{found[0]}'"
    if not names:
        return "the source states no theorem"
    if '"' in text:  # in a comment, too: Coq reads strings there
        return "the source contains a string"
    asked = re.findall(r"^Print Assumptions ([A-Za-z0-9_']+)\.$", bare, re.MULTILINE)
    if asked != names or len(re.findall(r"\bPrint\b", bare)) != len(names):
        return "the source does not print the assumptions of each of its theorems once"
    if re.search(r"\b(idtac|fail)\b", bare):
        return "the source prints something of its own"
    strange = [s for s in sentences(bare) if not EXPECTED.fullmatch(s)]
    return f"the source contains the sentence '{strange[0]}'" if strange else ""


def preludes_of(text: str) -> set:
    """The preludes that the source imports."""
    found = sentences(uncommented(text))
    return {name for name in PRELUDES if f"From Derivations Require Import {name}" in found}


def over_the_reals(text: str) -> bool:
    return any(PRELUDES[name].over_the_reals for name in preludes_of(text))


def theorems(text: str) -> list:
    return re.findall(r"^Theorem ([A-Za-z0-9_']+) :", uncommented(text), re.MULTILINE)


def sentences(bare: str) -> list:
    return [" ".join(s.split()) for s in re.split(r"\.\s", bare + "\n") if s.strip()]


def uncommented(text: str) -> str:
    """The text without comments, which nest in Coq."""
    depth, kept, k = 0, [], 0
    while k < len(text):
        pair = text[k : k + 2]
        if pair == "(*":
            depth, k = depth + 1, k + 2
        elif pair == "*)" and depth:
            depth, k = depth - 1, k + 2
            kept.append(" ")
        else:
            if not depth:
                kept.append(text[k])
            k += 1
    return "".join(kept)
