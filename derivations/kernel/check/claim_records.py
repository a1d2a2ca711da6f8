"""Write the record of an accepted claim: its LaTeX for the pages, and the verdict of each witness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from ..core.acceptance import collect_verdicts
from ..core.assumptions import describe_assumption
from ..core.claims import Claim, Rejected, Verdict
from ..core.expr import show, walk
from ..errors import KernelError
from ..exact.closed_forms import evaluate_closed_sides
from ..exact.value_printing import DIGITS, nest_entries, number_to_latex
from ..printing.latex import latex, value_latex
from ..printing.mathml import MathsError, render_author_text
from ..printing.name_latex import name_latex
from ..script.claim_latex import relation_latex
from .answers_in_arguments import reject_leaked_answers
from .shown_code import named_functions, require_shown_code
from .symbol_table import list_symbols
from .witnesses import WITNESSES, ask_code

IDLE = (
    "nothing is compared with {0}, so nothing would show a mistake in it: no other claim contains it, and it names no code. Name code that "
    "computes it, with code=[...], or state a claim about it"
)


def check_claim(claim: Claim) -> dict:
    """Return a claim's record with the verdicts of all witnesses. Raise Rejected if one of them or `check_code_and_text` rejects it."""
    check_code_and_text(claim)
    return check_with_witnesses(claim)


def check_with_witnesses(claim: Claim) -> dict:
    """Return the record of a claim that has passed `check_code_and_text`. Raise Rejected if a witness rejects it."""
    return make_record(claim, collect_verdicts(claim, WITNESSES)) | {"computed": code_verdict(claim)}


def check_code_and_text(claim: Claim) -> None:
    """Raise Rejected for a fault that no witness looks for.

    The code that the witnesses run must be the code that a page shows, and `code=` must not pass the answer to a function. The title and
    the reasons must be text that can be rendered and that states no relation.
    """
    require_shown_code(claim)
    reject_leaked_answers(claim)
    for text, what in [(claim.title, "title"), *((step.reason, "reason") for step in claim.steps)]:
        if fault := find_text_fault(text):
            raise Rejected(claim.file, claim.line, claim.id, f"its {what} {fault}", code="invalid-text")


def reject_idle_definition(claim: Claim, stated: Sequence[Claim]) -> None:
    """Raise Rejected for a definition that names no code and that no other of these claims contains: nothing would show a mistake in it."""
    others = (tree for other in stated if other is not claim for tree in other.trees)
    if claim.kind == "definition" and not claim.code and not any(claim.start in set(walk(tree)) for tree in others):
        raise Rejected(claim.file, claim.line, claim.id, IDLE.format(show(claim.start)), code="idle-definition")


def code_verdict(claim: Claim) -> dict:
    """Return the code witness's verdict on the snippets that a claim names, without empty fields other than "state" and "seconds".

    A claim can be accepted without this verdict. Raise Rejected if a snippet computes something other than the claim says.
    """
    verdict = asdict(ask_code(claim))
    return {name: value for name, value in verdict.items() if value or name in ("state", "seconds")}


def find_text_fault(text: str) -> str:
    """Return what is wrong with a title or a reason, or "" if nothing is."""
    if not isinstance(text, str):
        return f"is {text!r}, which is no text; write a sentence"
    try:
        render_author_text(text)
    except MathsError as error:
        return str(error)
    return ""


def verdict_record(v: Verdict) -> dict:
    """Return one witness's verdict as a record, with its program if it ran one."""
    result = {"name": v.name, "verdict": v.verdict, "scope": v.scope, "note": v.note, "seconds": round(v.seconds, 3)}
    return result | ({"source": v.source} if v.source else {})


def sides_latex(claim: Claim) -> tuple[str, str]:
    """Return the LaTeX of both sides of a refuted relation at the counterexample.

    Values are exact if possible. Otherwise they have as many digits as are needed to tell them apart. Raise KernelError if no number of
    digits in `DIGITS` is enough.
    """
    left, right = map(nest_entries, evaluate_closed_sides(claim))
    for digits in DIGITS:
        show = partial(number_to_latex, digits=digits)
        if (left_latex := value_latex(left, show)) != (right_latex := value_latex(right, show)):
            return left_latex, right_latex
    raise KernelError("the two sides of the counterexample are too close to be told apart in print; choose another", code="printed-alike")


def make_record(claim: Claim, verdicts: list[Verdict]) -> dict:
    """Return the record of an accepted claim with the verdicts of its witnesses."""
    vouching = [v.name for v in verdicts if v.verdict != "not applicable"]
    last = claim.steps[-1]
    result = {
        "id": claim.id,
        "kind": claim.kind,
        "title": claim.title,
        "line": claim.line,
        "start": latex(claim.start),
        "steps": [
            {"relation": relation_latex(claim, s), "latex": latex(s.expr), "reason": s.reason, "witnesses": vouching} for s in claim.steps
        ],
        "latex": f"{latex(claim.start)} {relation_latex(claim, last)} {latex(last.expr)}",
        "letters": list_symbols(claim),
        "assumptions": [
            {"text": describe_assumption(a, latex_names=True), "needed": needed} for a, needed in zip(claim.given, verdicts[0].needed)
        ],
        "scope": next((v.scope for v in verdicts if v.scope), "notation"),
        "witnesses": list(map(verdict_record, verdicts)),
        "uses": list(claim.uses),
        "because": [latex(e) for e in claim.because],
        "code": named_functions(claim),
    }
    if claim.kind == "refutation":
        result["refuted"] = claim.refuted
        result["counterexample"] = [{"latex": f"{name_latex(n)} = {value_latex(v)}"} for n, v in claim.at]
        result["left"], result["right"] = sides_latex(claim)
    return result
