"""The witnesses that are asked about every claim, by name. Each is loaded when it is first asked."""

from __future__ import annotations

from ..core.claims import Claim, Verdict


def exact(claim: Claim) -> Verdict:
    from ..exact.witness import exact as witness

    return witness(claim)


def sympy(claim: Claim) -> Verdict:
    from ..sympy.witness import witness

    return Verdict("sympy", *witness(claim))


def torch(claim: Claim) -> Verdict:
    from ..pytorch.witness import witness

    return Verdict("torch", *witness(claim))


WITNESSES = {"exact": exact, "sympy": sympy, "torch": torch}
