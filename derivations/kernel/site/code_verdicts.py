"""What the code witness says of the snippets that a claim names, in words: that they compute the formula, or that numbers alone compare them."""

from __future__ import annotations

EVERY = "every shape"  # as a certificate writes it


def is_proved(claim: dict) -> bool:
    """Is the claim's code shown to compute it?"""
    return claim.get("computed", {}).get("state") == "proved"


def verdict(claim: dict) -> str:
    """The sentence that stands for the verdict; "" where the claim names no code, or was checked by something that did not ask."""
    said = claim.get("computed", {})
    if said.get("state") == "proved":
        where = "at every shape" if said["scope"] == EVERY else f"where {said['scope']}"
        inputs = "for every input" if not said.get("conditions") else f"where {'; '.join(said['conditions'])}"
        return f"this code computes this formula, {where}, {inputs}, rounding aside"
    return "the code is compared in numbers alone" if said.get("state") == "not read" else ""


def note(claim: dict) -> str:
    """What belongs to it: why the code is not read, or which of its floats are read as which numbers."""
    said = claim.get("computed", {})
    if said.get("state") == "not read":
        return said.get("reason", "")
    constants = said.get("constants", ())
    return f"read as exact numbers: {'; '.join(constants)}" if constants else ""


def counts(claims: list[dict]) -> dict[str, int]:
    """How many claims have their code proved at every shape, at the shapes that they say, and how many compare it in numbers alone."""
    said = [claim["computed"] for claim in claims if claim.get("computed", {}).get("state") in ("proved", "not read")]
    proved = [one for one in said if one["state"] == "proved"]
    everywhere = sum(one["scope"] == EVERY for one in proved)
    return {EVERY: everywhere, "shapes that are named": len(proved) - everywhere, "numbers only": len(said) - len(proved)}
