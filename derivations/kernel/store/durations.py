"""How long checks took. Nothing depends on these numbers; they are stored apart, so that equal checks give equal certificates.

The topics that took longest are begun first, so that nobody waits for one of them at the end.
"""

from __future__ import annotations

from typing import Any

from .store import Store

STORE = Store("durations")
MEASURED = ("seconds",)
UNKNOWN = 10.0**6  # a topic that was never checked may take longer than any other


def without(x: Any) -> Any:
    """Return a record without the parts that differ from run to run."""
    if isinstance(x, dict):
        return {key: without(value) for key, value in x.items() if key not in MEASURED}
    return [without(one) for one in x] if isinstance(x, (list, tuple)) else x


def put(topic: str, seconds: dict[str, float]) -> None:
    """Store the seconds of the claims that were checked now, beside those of the others."""
    STORE.put(topic, of_claims(topic) | seconds)


def of_claims(topic: str) -> dict[str, float]:
    return STORE.get(topic) or {}


def of_topic(topic: str) -> float:
    return sum(of_claims(topic).values()) or UNKNOWN
