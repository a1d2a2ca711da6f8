"""The code witness's verdict on the snippets that a claim names, in words: they compute the formula, or are only compared in numbers."""

from __future__ import annotations

EVERY_SHAPE = "every shape"  # the scope, as in certificates


def is_proved(claim: dict) -> bool:
    """Return whether the claim's code is proved to compute it."""
    return claim.get("computed", {}).get("state") == "proved"


def describe_verdict(claim: dict) -> str:
    """Return the verdict as a sentence; "" if the claim names no code, or the code witness did not run."""
    result = claim.get("computed", {})
    if result.get("state") == "proved":
        where = "at every shape" if result["scope"] == EVERY_SHAPE else f"where {result['scope']}"
        inputs = "for every input" if not result.get("conditions") else f"where {'; '.join(result['conditions'])}"
        return f"this code computes this formula, {where}, {inputs}, rounding aside"
    return "the code is compared in numbers alone" if result.get("state") == "not read" else ""


def describe_reach(claim: dict) -> str:
    """Return at which shapes the code is proved, in few words."""
    return EVERY_SHAPE if claim["computed"]["scope"] == EVERY_SHAPE else "some shapes"


def describe_note(claim: dict) -> str:
    """Return why the code is not read, or the exact numbers that its floats are read as; "" if there is nothing to add."""
    result = claim.get("computed", {})
    if result.get("state") == "not read":
        return result.get("reason", "")
    constants = result.get("constants", ())
    return f"read as exact numbers: {'; '.join(constants)}" if constants else ""


def count_scopes(claims: list[dict]) -> dict[str, int]:
    """Count the claims whose code is proved at every shape, at named shapes, or only compared in numbers."""
    results = [claim["computed"] for claim in claims if claim.get("computed", {}).get("state") in ("proved", "not read")]
    proved = [result for result in results if result["state"] == "proved"]
    at_every_shape = sum(result["scope"] == EVERY_SHAPE for result in proved)
    return {
        EVERY_SHAPE: at_every_shape,
        "shapes that are named": len(proved) - at_every_shape,
        "numbers only": len(results) - len(proved),
    }
