"""The witnesses that are asked about every claim, by name. Each is loaded when it is first asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.claims import Claim, Verdict

if TYPE_CHECKING:
    from ..traced.witness import CodeVerdict


def exact(claim: Claim) -> Verdict:
    from ..exact.witness import exact as witness

    return witness(claim)


def sympy(claim: Claim) -> Verdict:
    from ..sympy.witness import check_with_program

    *said, source = check_with_program(claim)
    return Verdict("sympy", *said, source=source)


def torch(claim: Claim) -> Verdict:
    from ..pytorch.witness import check_with_snippets

    *said, ran = check_with_snippets(claim)
    return Verdict("torch", *said, ran=ran)


def code(claim: Claim) -> CodeVerdict:
    """What the code that a claim names computes. It is asked last, and no claim needs it."""
    from ..traced.witness import check_code as witness

    return witness(claim)


def timed(witness: Callable[[Claim], Verdict]) -> Callable[[Claim], Verdict]:
    """The witness, and how many seconds it took."""

    def asked(claim: Claim) -> Verdict:
        start = time.perf_counter()
        verdict = witness(claim)
        return replace(verdict, seconds=time.perf_counter() - start)

    return asked


WITNESSES = {"exact": timed(exact), "sympy": timed(sympy), "torch": timed(torch)}
