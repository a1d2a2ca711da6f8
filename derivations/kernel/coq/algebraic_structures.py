"""The structures of MathComp that a claim can be written in, from the weakest on; and the reason when there is none."""

from __future__ import annotations

STRUCTURES = ("comRingType", "comUnitRingType", "fieldType", "realFieldType", "rcfType")
RING, UNITS, FIELD, REAL, ROOTS = range(5)
SCOPES = ("every commutative ring", "every commutative ring", "every field", "every ordered field", "every real closed field")


class NotForCoq(Exception):
    """The reason why a claim, or a step of it, has no theorem here."""
