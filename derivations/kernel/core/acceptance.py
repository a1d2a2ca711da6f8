"""The rule of acceptance: no witness rejects the claim, two vouch for it, one of them by proof, and its snippets have run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from .claims import Claim, Rejected, Verdict
from .expr import symbols

# What the message says for each code.
LACKING = {"contradicting-witnesses": "witnesses that say one thing", "no-proof": "a proof", "no-second-witness": "a second witness"}


def collect_verdicts(claim: Claim, witnesses: Mapping[str, Callable[[Claim], Verdict]]) -> list[Verdict]:
    """Return the verdict of each witness, in order. Raise Rejected if a witness rejects the claim, or if the verdicts do not suffice."""
    given = [replace(witness(claim), name=name) for name, witness in witnesses.items()]
    lacking, not_run = missing_witnesses(claim, given), missing_runs(claim, given)
    if lacking or not_run:
        missing = " and ".join([*(LACKING[code] for code in lacking), *not_run])
        summary = "; ".join(f"{v.name} says {v.verdict}" + f" ({v.note})" * bool(v.note) for v in given) or "nobody was asked"
        raise Rejected(claim.file, claim.line, claim.id, f"it lacks {missing}: {summary}", code=[*lacking, "snippet-not-run"][0])
    return given


def missing_witnesses(claim: Claim, given: list[Verdict]) -> list[str]:
    """Return the codes for what a claim lacks of two witnesses that vouch for it, one of them by proof. A definition needs none."""
    proof, needed = "refuted" if claim.kind == "refutation" else "proved", claim.kind != "definition"
    proving, agreeing, silent = ([v for v in given if v.verdict == verdict] for verdict in (proof, "agrees", "not applicable"))
    vouching = len(proving) + len(agreeing)
    missing = ["contradicting-witnesses"] * (vouching + len(silent) < len(given))  # some verdict is of another kind
    return missing + ["no-proof"] * (needed and not proving) + ["no-second-witness"] * (needed and vouching < 2)


def missing_runs(claim: Claim, given: list[Verdict]) -> list[str]:
    """Return the claim's snippets that no witness ran at two shapes, or at two points if the claim has no sizes."""
    sized = any(s.data[1] == "size" for s in symbols(*claim.trees).values())
    runs = [(call, shapes if sized else points) for v in given for call, shapes, points in v.ran]
    too_few = [call[0] for call in claim.code if max((count for ran, count in runs if ran == call), default=0) < 2]
    return [f"a run of {name} at two {'shapes' if sized else 'points'}" for name in too_few]
