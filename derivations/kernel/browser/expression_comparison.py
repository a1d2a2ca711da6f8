"""Compare an expression of a claim with another one that should equal it: a reader's answer, or what code computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.assumptions import Assumption
from ..core.claims import Claim, Step
from ..core.expr import Expr, symbols, walk
from ..core.operators import AVERAGE_OPERATORS
from ..errors import KernelError
from ..exact.given_values import ProofFailed
from ..exact.sufficient_assumptions import explain_failure, find_sufficient
from ..exact.witness import check

PROVED = frozenset({"assumption-not-needed", "assumption-too-strong", "need-not-shown"})  # why a claim is rejected that was proved


def compare(claim: Claim, expected: Expr, other: Expr, given: tuple[Assumption, ...] = ()) -> dict[str, Any]:
    """Return whether two expressions are equal under the assumptions of a claim and these: "right", "wrong" or "unread", with a message."""
    if other == expected:
        return {"verdict": "right", "message": ""}
    if other.shape != expected.shape:
        return {"verdict": "wrong", "message": "It has another shape than the expression of the claim."}
    names = {name for tree in (expected, other) for name in symbols(tree)}
    known = tuple(one for one in (*claim.given, *given) if {name for x in one.args for name in symbols(x)} <= names)
    kind = "law" if any(node.op in AVERAGE_OPERATORS for tree in (expected, other) for node in walk(tree)) else "identity"
    stated = replace(
        claim,
        kind=kind,
        start=expected,
        steps=(Step("=", other),),
        given=tuple(dict.fromkeys(known)),
        because=(),
        at=(),
        without=(),
        towards=(),
    )
    try:
        check(stated)
    except KernelError as error:
        return judge_rejection(stated, error)
    return {"verdict": "right", "message": ""}


def judge_rejection(stated: Claim, error: KernelError) -> dict[str, Any]:
    """Return "wrong" with the counterexample, or "unread" if the witness found none.

    The expressions are equal if the equality was proved and only an assumption of the claim was not needed for it, or if it is proved as soon as
    nothing is divided by zero: they need not agree where one has no value.
    """
    remaining: KernelError | None = error
    if isinstance(error, ProofFailed) and error.code == "assumption-missing":
        added, rest = find_sufficient(stated, error, check)
        if all(one.startswith("nonzero(") for one in added):
            remaining = rest
    if remaining is None or remaining.code in PROVED:
        return {"verdict": "right", "message": ""}
    message, code = explain_failure(stated, error, check)
    return {"verdict": "wrong" if code == "false-claim" else "unread", "message": message}
