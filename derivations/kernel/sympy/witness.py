"""The SymPy witness: the claim is written as a program, and the run of that very program is what vouches.

Identities are expanded entry by entry at small explicit sizes. Laws of expectation are proved for every size by
induction: the moments of a sum of d independent terms follow from those of d - 1, and SymPy sums the recurrence.
It imports no other witness.
"""

from __future__ import annotations

from ..core.claims import Claim, Refused
from . import program_runner
from .errors import Disagrees, NotForSymPy
from .program import program


def witness(claim: Claim) -> tuple:
    """(verdict, scope, note); raises Refused where SymPy contradicts or cannot confirm a claim that it should settle."""
    return vouched(claim)[:3]


def vouched(claim: Claim) -> tuple:
    """The same, and the text of the program whose run it was; no text where nothing is proved."""
    try:
        made = program(claim)
        return *program_runner.run(made), made.text
    except NotForSymPy as reason:
        return "not applicable", "", str(reason), ""
    except Disagrees as problem:
        raise Refused(claim.file, claim.line, claim.id, f"the SymPy witness does not confirm it: {problem}") from None
