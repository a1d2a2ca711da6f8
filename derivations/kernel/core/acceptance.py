"""The rule of acceptance: every witness is asked about a claim, and not one may refuse it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from .claims import Claim, Verdict


def verdicts(claim: Claim, witnesses: Mapping[str, Callable[[Claim], Verdict]]) -> list[Verdict]:
    """What each witness says of the claim, by name and in order; whichever does not accept it raises Refused."""
    said = []
    for name, witness in witnesses.items():
        start = time.perf_counter()
        verdict = witness(claim)
        said.append(replace(verdict, name=name, seconds=time.perf_counter() - start))
    return said
