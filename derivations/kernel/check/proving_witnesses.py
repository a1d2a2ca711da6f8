"""Find the witnesses that prove a claim."""

from __future__ import annotations

PROOFS = ("proved", "refuted")  # "agrees" means that numbers agree, which is not a proof


def provers(claim: dict) -> list[str]:
    """Return the names of the witnesses in a claim's record that prove it or, for a refutation, that refute its relation.

    Numerical agreement does not count.

    >>> provers({"witnesses": [{"name": "exact", "verdict": "proved"}, {"name": "torch", "verdict": "agrees"}]})
    ['exact']
    """
    return [witness["name"] for witness in claim["witnesses"] if witness["verdict"] in PROOFS]
