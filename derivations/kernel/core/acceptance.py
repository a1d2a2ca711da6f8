"""The rule of acceptance: not one witness refuses a claim, two vouch for it and one of them by proof, and its snippets have run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from .claims import Claim, Refused, Verdict
from .expr import symbols


def verdicts(claim: Claim, witnesses: Mapping[str, Callable[[Claim], Verdict]]) -> list[Verdict]:
    """What each witness says of the claim, by name and in order. Raises Refused where one does not accept it, or where something is missing."""
    said = [replace(witness(claim), name=name) for name, witness in witnesses.items()]
    if lacking := [*without_witnesses(claim, said), *without_run(claim, said)]:
        heard = "; ".join(f"{v.name} says {v.verdict}" + f" ({v.note})" * bool(v.note) for v in said) or "nobody was asked"
        raise Refused(claim.file, claim.line, claim.id, f"it lacks {' and '.join(lacking)}: {heard}")
    return said


def without_witnesses(claim: Claim, said: list[Verdict]) -> list[str]:
    """What a claim lacks of two witnesses that vouch, one of them by proof; a definition needs none."""
    proof, needed = "refuted" if claim.kind == "refutation" else "proved", claim.kind != "definition"
    by_proof, agreeing, silent = ([v for v in said if v.verdict == word] for word in (proof, "agrees", "not applicable"))
    several = len(by_proof) + len(agreeing)
    lacking = ["witnesses that say one thing"] * (several + len(silent) < len(said))
    return lacking + ["a proof"] * (needed and not by_proof) + ["a second witness"] * (needed and several < 2)


def without_run(claim: Claim, said: list[Verdict]) -> list[str]:
    """The snippets that no witness ran at two shapes, or at two points where the claim has no sizes."""
    sized = any(s.data[1] == "size" for s in symbols(*claim.trees).values())
    ran = [(call, shapes if sized else points) for v in said for call, shapes, points in v.ran]
    few = [call[0] for call in claim.code if max((times for one, times in ran if one == call), default=0) < 2]
    return [f"a run of {name} at two {'shapes' if sized else 'points'}" for name in few]
