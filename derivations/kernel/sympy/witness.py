"""The SymPy witness: it writes a claim as a program and runs the text of this program.

Identities are expanded entry by entry at small explicit sizes. Laws of expectation are proved for every size by induction: the moments of
a sum of d independent terms follow from those of d - 1, and SymPy sums the recurrence.
"""

from __future__ import annotations

from ..core.claims import Claim, Rejected, Verdict
from . import program_runner
from .errors import Disagrees, NotForSymPy
from .program import write_program


def witness(claim: Claim) -> tuple[str, str, str]:
    """Return (verdict, scope, note). Raise Rejected if SymPy contradicts the claim, or cannot confirm it although it should."""
    return check_with_program(claim)[:3]


def check_with_program(claim: Claim) -> tuple[str, str, str, str]:
    """Return (verdict, scope, note, text of the program). The text is empty if SymPy cannot check the claim."""
    try:
        made = write_program(claim)
        return *program_runner.run(made), made.text
    except NotForSymPy as reason:
        return "not applicable", "", str(reason), ""
    except Disagrees as problem:
        raise Rejected(claim.file, claim.line, claim.id, f"the SymPy witness does not confirm it: {problem}", code=problem.code) from None


def judge(claim: Claim) -> Verdict:
    """Return the verdict with the program that gave it. Raise Rejected as `check_with_program` does."""
    verdict, scope, note, source = check_with_program(claim)
    return Verdict("sympy", verdict, scope, note, source=source)
