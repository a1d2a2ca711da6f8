"""The witnesses that check every claim, by name. Each is imported when it is first used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.claims import Claim, Verdict

if TYPE_CHECKING:
    from ..traced.witness import CodeVerdict


def ask_exact(claim: Claim) -> Verdict:
    """Return the verdict of the exact witness. Raise Rejected if it rejects the claim."""
    from ..exact.witness import exact

    return exact(claim)


def ask_sympy(claim: Claim) -> Verdict:
    """Return the verdict of the SymPy witness. Raise Rejected if it rejects the claim."""
    from ..sympy.witness import judge

    return judge(claim)


def ask_torch(claim: Claim) -> Verdict:
    """Return the verdict of the PyTorch witness. Raise Rejected if it rejects the claim."""
    from ..pytorch.witness import check_with_snippets

    verdict, scope, note, ran = check_with_snippets(claim)
    return Verdict("torch", verdict, scope, note, ran=ran)


def ask_code(claim: Claim) -> CodeVerdict:
    """Return the code witness's verdict on the snippets that a claim names. Raise Rejected if they compute something else."""
    from ..traced.witness import check_code

    return check_code(claim)


def timed(witness: Callable[[Claim], Verdict]) -> Callable[[Claim], Verdict]:
    """Return a function that calls a witness and adds the time that it took, in seconds, to the verdict."""

    def timed_witness(claim: Claim) -> Verdict:
        start = time.perf_counter()
        verdict = witness(claim)
        return replace(verdict, seconds=time.perf_counter() - start)

    return timed_witness


WITNESSES = {"exact": timed(ask_exact), "sympy": timed(ask_sympy), "torch": timed(ask_torch)}
