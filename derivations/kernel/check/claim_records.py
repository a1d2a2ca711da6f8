"""Write the record of an accepted claim: its LaTeX for the pages, and the verdict of each witness."""

from __future__ import annotations

from dataclasses import asdict

from ..core.acceptance import collect_verdicts
from ..core.assumptions import describe_assumption
from ..core.claims import Claim, Rejected, Verdict
from ..errors import KernelError
from ..exact.closed_forms import evaluate_closed_sides
from ..exact.value_printing import DIGITS, nest_entries, number_to_latex
from ..printing.latex import latex, value_latex
from ..printing.mathml import MathsError, render_author_text
from ..printing.name_latex import name_latex
from .leaked_answers import reject_leaked_answers
from .shown_code import named, require_shown_code
from .symbol_table import letters
from .witnesses import WITNESSES, code

RELATIONS = {"=": "=", "<=": r"\le", "!=": r"\ne", "!<=": r"\nleq", ":=": r"\coloneqq"}


def check_claim(claim: Claim) -> dict:
    """Return a claim's record with the verdicts of all witnesses. Raise Rejected if a witness or `refuse_unseen` rejects the claim."""
    refuse_unseen(claim)
    return witnessed(claim)


def witnessed(claim: Claim) -> dict:
    """Return the record of a claim that has passed `refuse_unseen`. Raise Rejected if a witness rejects it."""
    return record(claim, collect_verdicts(claim, WITNESSES)) | {"computed": computed(claim)}


def refuse_unseen(claim: Claim) -> None:
    """Raise Rejected for a fault that no witness checks.

    The code that the witnesses run must be the code that a page shows, `code=` must not pass a function the answer, and the title and the
    reasons must be text that can be rendered and states no relation.
    """
    require_shown_code(claim)
    reject_leaked_answers(claim)
    for text, what in [(claim.title, "title"), *((step.reason, "reason") for step in claim.steps)]:
        if fault := fault_of_words(text):
            raise Rejected(claim.file, claim.line, claim.id, f"its {what} {fault}", code="invalid-text")


def computed(claim: Claim) -> dict:
    """Return the code witness's verdict on the snippets that a claim names, without empty fields other than "state" and "seconds".

    Acceptance does not require this verdict. Raise Rejected if a snippet computes something other than the claim says.
    """
    said = code(claim)
    return {name: value for name, value in asdict(said).items() if value or name in ("state", "seconds")}


def fault_of_words(text: str) -> str:
    """Return what is wrong with a title or a reason, which no witness checks; "" if nothing is."""
    if not isinstance(text, str):
        return f"is {text!r}, which is no text; write a sentence"
    try:
        render_author_text(text)
    except MathsError as error:
        return str(error)
    return ""


def relation(claim: Claim, step) -> str:
    """Return the LaTeX of a step's relation. In a limit, this is an arrow with the variable and its limit above it."""
    if claim.kind == "limit":
        variable, to = claim.towards
        end = r"\infty" if to == "oo" else f"{to}^{{+}}"
        return rf"\xrightarrow{{{latex(variable)} \to {end}}}"
    return RELATIONS[step.relation]


def said_by(v: Verdict) -> dict:
    """Return one witness's verdict as a record, with the program that the witness ran, if it ran one."""
    result = {"name": v.name, "verdict": v.verdict, "scope": v.scope, "note": v.note, "seconds": round(v.seconds, 3)}
    return result | ({"source": v.source} if v.source else {})


def both_latex(claim: Claim) -> tuple[str, str]:
    """Return the LaTeX of both sides of a refuted relation at the counterexample.

    Values are exact where possible. Otherwise they have as many digits as it takes to tell them apart. Raise KernelError if no number of
    digits in `DIGITS` does.
    """
    left, right = map(nest_entries, evaluate_closed_sides(claim))
    for digits in DIGITS:
        shown = tuple(value_latex(side, lambda v, digits=digits: number_to_latex(v, digits)) for side in (left, right))
        if shown[0] != shown[1]:
            return shown
    raise KernelError("the two sides of the counterexample are too close to be told apart in print; choose another", code="printed-alike")


def record(claim: Claim, said: list) -> dict:
    """Return the record of a claim that the witnesses accepted with the verdicts `said`."""
    vouching = [v.name for v in said if v.verdict != "not applicable"]
    last = claim.steps[-1]
    result = {
        "id": claim.id,
        "kind": claim.kind,
        "title": claim.title,
        "line": claim.line,
        "start": latex(claim.start),
        "steps": [{"relation": relation(claim, s), "latex": latex(s.expr), "reason": s.reason, "witnesses": vouching} for s in claim.steps],
        "latex": f"{latex(claim.start)} {relation(claim, last)} {latex(last.expr)}",
        "letters": letters(claim),
        "assumptions": [
            {"text": describe_assumption(a, latex_names=True), "needed": needed} for a, needed in zip(claim.given, said[0].needed)
        ],
        "scope": next((v.scope for v in said if v.scope), "notation"),
        "witnesses": list(map(said_by, said)),
        "uses": list(claim.uses),
        "because": [latex(e) for e in claim.because],
        "code": named(claim),
    }
    if claim.kind == "refutation":
        result["refuted"] = claim.refuted
        result["counterexample"] = [{"latex": f"{name_latex(n)} = {value_latex(v)}"} for n, v in claim.at]
        result["left"], result["right"] = both_latex(claim)
    return result
