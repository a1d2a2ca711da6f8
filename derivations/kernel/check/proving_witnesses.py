"""Which witnesses prove a claim, by what its record says."""

from __future__ import annotations

PROOFS = ("proved", "refuted")  # who agrees, by numbers alone, has proved nothing


def provers(claim: dict) -> list[str]:
    """The names of the witnesses that prove the claim, or refute what it refutes.

    >>> provers({"witnesses": [{"name": "exact", "verdict": "proved"}, {"name": "torch", "verdict": "agrees"}]})
    ['exact']
    """
    return [witness["name"] for witness in claim["witnesses"] if witness["verdict"] in PROOFS]
