"""Compare a claim with what its code computes, as the code witness read it in the build: the code itself needs PyTorch and does not run here."""

from __future__ import annotations

from typing import Any

from ..core.claims import Claim
from ..core.expr import Expr
from ..printing.latex import latex
from ..script.tree_data import describe_call, read_data
from .expression_comparison import compare
from .prover import load_text


def compare_code(path: str, text: str, id: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each call that a claim of a script's text names whether it computes what the claim says.

    `calls` are those that were read as an expression in the build: the call, the name and the line of its code, and the expression. The verdict
    is "right", or "wrong" if one side is something else, or "unread" for a call that is not among them; then the message says why.
    """
    _, stated = load_text(path, text)
    known = {call["call"]: call for call in calls}
    claim = next((claim for claim in stated if claim.id == id), None)
    if claim is None:
        return []
    traced = [known.get(describe_call(code)) for code in claim.code]
    return [describe(claim, place, call) if call else explain_unread(claim.code[place][0], calls) for place, call in enumerate(traced)]


def explain_unread(name: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a record that says why a call of this function cannot be compared."""
    if not calls:
        why = "the build stored no formula for this claim"
    elif name in [call["name"] for call in calls]:
        why = "the build ran it with other arguments"
    else:
        why = "for this claim, the build stored no formula of this function"
    message = f"{why}, and PyTorch, which would run it, does not run here"
    return {"name": name, "line": "", "latex": "", "verdict": "unread", "message": message, "sides": {}}


def describe(claim: Claim, place: int, known: dict[str, Any]) -> dict[str, Any]:
    """Return which sides of a claim a call computes, and what it computes as LaTeX."""
    computed = read_data(known["expression"])
    found = {name: compare(claim, side, computed) for name, side in list_sides(claim, place)}
    sides = {verdict: [name for name, one in found.items() if one["verdict"] == verdict] for verdict in ("wrong", "right", "unread")}
    verdict = next(verdict for verdict, names in sides.items() if names)
    message = found[sides[verdict][0]]["message"]
    return {"name": known["name"], "line": known["line"], "latex": latex(computed), "verdict": verdict, "message": message, "sides": sides}


def list_sides(claim: Claim, place: int) -> list[tuple[str, Expr]]:
    """Return the sides that a call computes if the claim is true, as the code witness chooses them."""
    first, last = ("left side", claim.start), ("right side", claim.steps[-1].expr)
    if claim.kind == "refutation":
        return [(first, last)[place]]
    if claim.kind == "definition":
        return [last]
    return [first, last] if claim.kind in ("identity", "chain", "law") else [first]
