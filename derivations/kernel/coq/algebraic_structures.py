"""The algebraic structures of MathComp that a claim can be stated over, from the weakest to the strongest."""

from __future__ import annotations

STRUCTURES = ("comRingType", "comUnitRingType", "fieldType", "realFieldType", "rcfType")
RING, UNITS, FIELD, REAL, ROOTS = range(5)  # indices into STRUCTURES
SCOPES = ("every commutative ring", "every commutative ring", "every field", "every ordered field", "every real closed field")


class NotForCoq(Exception):
    """A claim, or a step of it, that this witness cannot state; the message says why."""
