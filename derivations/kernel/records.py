"""All the witnesses asked about one claim, and what is written down of it: LaTeX for pages, verdicts for everybody."""

from __future__ import annotations

import time
from dataclasses import replace

from . import sympy_witness
from .check import exact, sides_at
from .claims import Claim, Verdict
from .latex import assumption_text, latex, name_latex, value_latex
from .values import nested, number_latex

RELATIONS = {"=": "=", "<=": r"\le", "!=": r"\ne", "!<=": r"\nleq", ":=": r"\coloneqq"}


def check_claim(claim: Claim) -> dict:
    """The claim's record with every witness's verdict; Refused if one of them does not accept it."""
    start = time.perf_counter()
    first = exact(claim)
    verdicts = [replace(first, seconds=time.perf_counter() - start)]
    for name, witness in (("sympy", sympy_witness.witness), ("torch", torch_witness())):
        start = time.perf_counter()
        verdicts.append(Verdict(name, *witness(claim), time.perf_counter() - start))
    return record(claim, verdicts)


def torch_witness():
    """PyTorch is loaded where this witness runs, and nowhere else."""
    from . import torch_witness
    return torch_witness.witness


def relation(claim: Claim, step) -> str:
    if claim.kind == "limit":
        variable, to = claim.towards
        end = r"\infty" if to == "oo" else f"{to}^{{+}}"
        return rf"\xrightarrow{{{latex(variable)} \to {end}}}"
    return RELATIONS[step.relation]


def record(claim: Claim, verdicts: list) -> dict:
    vouching = [v.name for v in verdicts if v.verdict != "not applicable"]
    last = claim.steps[-1]
    result = {
        "id": claim.id, "kind": claim.kind, "title": claim.title, "line": claim.line, "start": latex(claim.start),
        "steps": [{"relation": relation(claim, s), "latex": latex(s.expr), "reason": s.reason, "witnesses": vouching} for s in claim.steps],
        "latex": f"{latex(claim.start)} {relation(claim, last)} {latex(last.expr)}",
        "assumptions": [{"text": assumption_text(a, latex_names=True), "needed": needed} for a, needed in zip(claim.given, verdicts[0].needed)],
        "scope": next((v.scope for v in verdicts if v.scope), "notation"),
        "witnesses": [{"name": v.name, "verdict": v.verdict, "scope": v.scope, "note": v.note, "seconds": round(v.seconds, 3)} for v in verdicts],
        "uses": list(claim.uses), "because": [latex(e) for e in claim.because],
    }
    if claim.kind == "refutation":
        result["refuted"] = claim.refuted
        result["counterexample"] = [{"latex": f"{name_latex(n)} = {value_latex(v)}"} for n, v in claim.at]
        result["left"], result["right"] = (value_latex(nested(side), number_latex) for side in sides_at(claim))
    return result
