"""The witnesses that are asked about every claim, by name. Each is loaded when it is first asked."""

from __future__ import annotations

from ..core.claims import Claim, Verdict


def exact(claim: Claim) -> Verdict:
    from ..exact.witness import exact as witness

    return witness(claim)


def sympy(claim: Claim) -> Verdict:
    from ..sympy.witness import vouched

    *said, source = vouched(claim)
    return Verdict("sympy", *said, source=source)


def torch(claim: Claim) -> Verdict:
    from ..pytorch.witness import vouched

    *said, ran = vouched(claim)
    return Verdict("torch", *said, ran=ran)


WITNESSES = {"exact": exact, "sympy": sympy, "torch": torch}
