"""Write a claim as LaTeX."""

from __future__ import annotations

from ..core.claims import Claim, Step
from ..printing.latex import latex

RELATIONS = {"=": "=", "<=": r"\le", "!=": r"\ne", "!<=": r"\nleq", ":=": r"\coloneqq"}


def relation_latex(claim: Claim, step: Step) -> str:
    """Return the LaTeX of a step's relation. In a limit, this is an arrow below the variable and the value that it approaches."""
    if claim.kind == "limit":
        variable, to = claim.towards
        end = r"\infty" if to == "oo" else f"{to}^{{+}}"
        return rf"\xrightarrow{{{latex(variable)} \to {end}}}"
    return RELATIONS[step.relation]


def claim_latex(claim: Claim) -> str:
    """Return the LaTeX of a claim's relations, one after another."""
    return " ".join([latex(claim.start), *(f"{relation_latex(claim, step)} {latex(step.expr)}" for step in claim.steps)])
