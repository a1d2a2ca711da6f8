"""What a claim assumes, as hypotheses of its theorems."""

from __future__ import annotations

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import free_indices, matmul
from .algebraic_structures import FIELD, REAL, UNITS, NotForCoq
from .notation import ATOM, Notation

DISTRIBUTIONS = ("independent", "gaussian", "mean", "variance", "moment")


def hypotheses(notation: Notation, claim: Claim, free: set) -> list:
    """(name, statement) for what the claim assumes; several with a letter where one assumption says several things."""
    found = []
    for k, a in enumerate(claim.given, 1):
        said = notation.distribution(a, claim) if a.kind in DISTRIBUTIONS else [assumption(notation, a, free)]
        found += [(f"assumed_{k}{chr(97 + j) if len(said) > 1 else ''}", text) for j, text in enumerate(said)]
    return found


def assumption(notation: Notation, a: Assumption, free: set) -> str:
    if a.kind in ("positive", "nonnegative", "nonzero"):
        notation.need(FIELD if a.kind == "nonzero" else REAL)
        (x,) = a.args
        text = {"positive": "0 < {} :> R", "nonnegative": "0 <= {} :> R", "nonzero": "{} != 0 :> R"}[a.kind]
        bound = sorted(free_indices(x) - free, key=lambda i: i.data[0])
        every = "".join(f"forall {notation.name(i.data[0])} : 'I_{notation.size(i.data[1])}, " for i in bound)
        return every + text.format(notation.show(x))
    if a.kind == "invertible":
        notation.need(UNITS)
        return f"{notation.show(a.args[0], ATOM)} \\in unitmx"
    if a.kind == "product":
        left, right, times = a.args
        product = matmul(left, right)
        value = "0" if not times.data else f"{notation.show(times, ATOM)}%:M"
        return f"{notation.show(product)} = {value}"
    raise NotForCoq(f"it assumes what has no counterpart: '{a.kind}'")
