"""What is written down of a checked claim: LaTeX for pages, verdicts for everybody."""

from __future__ import annotations

from . import values
from .check import assumption_text, law_sides, values_at
from .claims import Claim
from .facts import facts_of
from .latex import fraction_latex, latex, name_latex
from .search import is_law

RELATIONS = {"=": "=", "<=": r"\le", "!=": r"\ne", "!<=": r"\nleq", ":=": r"\coloneqq"}


def relation(claim: Claim, step) -> str:
    if claim.kind == "limit":
        variable, to = claim.towards
        end = r"\infty" if to == "oo" else f"{to}^{{+}}"
        return rf"\xrightarrow{{{latex(variable)} \to {end}}}"
    return RELATIONS[step.relation]


def record(claim: Claim, verdicts: list) -> dict:
    steps = [{"relation": relation(claim, s), "latex": latex(s.expr), "reason": s.reason,
              "witnesses": [v.name for v in verdicts if v.verdict != "not applicable"]} for s in claim.steps]
    last = claim.steps[-1] if claim.kind != "definition" else claim.steps[0]
    result = {
        "id": claim.id, "kind": claim.kind, "title": claim.title, "line": claim.line, "start": latex(claim.start), "steps": steps,
        "latex": f"{latex(claim.start)} {relation(claim, last)} {latex(last.expr)}",
        "assumptions": [{"text": assumption_text(a, latex_names=True), "needed": needed} for a, needed in zip(claim.given, verdicts[0].needed)],
        "scope": next((v.scope for v in verdicts if v.scope), "notation"),
        "witnesses": [{"name": v.name, "verdict": v.verdict, "scope": v.scope, "note": v.note, "seconds": round(v.seconds, 3)} for v in verdicts],
        "uses": list(claim.uses), "because": [latex(e) for e in claim.because],
    }
    if claim.kind == "refutation":
        env = values_at(claim)
        result["refuted"] = claim.refuted
        result["counterexample"] = [{"latex": f"{name_latex(n)} = {value_latex(v)}"} for n, v in claim.at]
        sides = [{(): v} for v in law_sides(claim, facts_of(claim.given), env)] if is_law(*claim.trees[:2]) else \
            [values.evaluate(e, env) for e in (claim.start, claim.steps[0].expr)]
        result["left"], result["right"] = map(array_latex, sides)
    return result


def value_latex(value) -> str:
    """A binding as the author wrote it."""
    if not isinstance(value, tuple):
        return latex(value)
    if value and isinstance(value[0], tuple):
        return matrix_latex([[latex(x) for x in row] for row in value])
    return r"\left(" + ", ".join(latex(x) for x in value) + r"\right)"


def array_latex(entries: dict) -> str:
    def show(v):
        return fraction_latex(values.fraction(v)) if hasattr(v, "p") else values.show_value(v)
    if set(entries) == {()}:
        return show(entries[()])
    if len(next(iter(entries))) == 1:
        return r"\left(" + ", ".join(show(v) for _, v in sorted(entries.items())) + r"\right)"
    rows = sorted({p[0] for p in entries})
    return matrix_latex([[show(v) for p, v in sorted(entries.items()) if p[0] == r] for r in rows])


def matrix_latex(rows: list) -> str:
    return r"\begin{pmatrix}" + r" \\ ".join(" & ".join(row) for row in rows) + r"\end{pmatrix}"
