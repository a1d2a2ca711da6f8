"""A claim's record: made anew, or taken over from an earlier check where nothing changed that the verdict rests on.

That is how the claim is told, and the lines that its code may run (fingerprints.py); that nothing else changed is asked before
(earlier.py). One in so many is checked all the same, and has to come out as it did.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from ..core.claims import Claim
from ..errors import KernelError
from . import fingerprints, times
from .records import refuse_unseen, witnessed

REPLAYED = 20


class Otherwise(KernelError):
    """A claim came out otherwise than it had, though nothing that it rests on changed."""


@dataclass(frozen=True)
class Checked:
    record: dict
    stands_on: dict
    taken: bool = False


def checked(claim: Claim, before: dict | None, one_in: int = REPLAYED) -> Checked:
    """The claim's record: a new one, or an earlier one that stands. Refused as by `check_claim`."""
    refuse_unseen(claim)
    stands_on = {"told": fingerprints.told(claim)} | fingerprints.code(claim)
    stands = before is not None and still(before, stands_on)
    if before and stands and secrets.randbelow(one_in):
        return Checked(before["record"] | {"line": claim.line}, stands_on, taken=True)
    made = witnessed(claim)
    if before and stands and times.without(made | {"line": 0}) != times.without(before["record"] | {"line": 0}):
        raise Otherwise(
            "it comes out otherwise than it did, though nothing changed that it rests on; run the check again, which takes nothing over"
        )
    return Checked(made, stands_on)


def still(before: dict, stands_on: dict) -> bool:
    """Whether nothing changed that the verdict rests on: where it names a line of the code, no line may have moved."""
    was = before["stands_on"]
    parts = ("told", "texts") if ".py:" in before["record"]["computed"].get("reason", "") else ("told", "lines")
    return all(was[part] and was[part] == stands_on[part] for part in parts)
