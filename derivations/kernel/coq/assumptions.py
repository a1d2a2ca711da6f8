"""Translate a claim's assumptions into hypotheses of its Coq theorems."""

from __future__ import annotations

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import Expr, matmul
from .algebraic_structures import FIELD, REAL, UNITS, NotForCoq
from .notation import ATOM, Notation

DISTRIBUTIONS = ("independent", "gaussian", "mean", "variance", "moment")


def state_hypotheses(notation: Notation, claim: Claim, free: set[Expr]) -> list[tuple[str, str]]:
    """Return a (name, statement) pair for each hypothesis.

    An assumption that gives several hypotheses adds a letter to their names: `assumed_1a`, `assumed_1b`. `free` holds the free indices of
    the theorem's trees; other indices in an assumption are quantified.
    """
    pairs = []
    for k, a in enumerate(claim.given, 1):
        statements = notation.distribution(a, claim) if a.kind in DISTRIBUTIONS else [assumption(notation, a, free)]
        pairs += [(f"assumed_{k}{chr(97 + j) if len(statements) > 1 else ''}", text) for j, text in enumerate(statements)]
    return pairs


def assumption(notation: Notation, a: Assumption, free: set[Expr]) -> str:
    """Return the statement of an assumption that is not about a distribution. Raise NotForCoq for a kind that has no translation."""
    if a.kind in ("positive", "nonnegative", "nonzero"):
        notation.need(FIELD if a.kind == "nonzero" else REAL)
        (x,) = a.args
        text = {"positive": "0 < {} :> R", "nonnegative": "0 <= {} :> R", "nonzero": "{} != 0 :> R"}[a.kind]
        return notation.quantify_indices(x, free) + text.format(notation.show(x))
    if a.kind == "invertible":
        notation.need(UNITS)
        return f"{notation.show(a.args[0], ATOM)} \\in unitmx"
    if a.kind == "product":
        left, right, times = a.args
        product = matmul(left, right)
        value = "0" if not times.data else f"{notation.show(times, ATOM)}%:M"
        return f"{notation.show(product)} = {value}"
    raise NotForCoq(f"it assumes what has no counterpart: '{a.kind}'")
