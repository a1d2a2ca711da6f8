"""Store how long checks took. The durations are not part of the certificates, so that equal checks give equal certificates.

No result depends on them. They only determine the order of checks: the topics that took longest start first, so that none of them delays
the end of a run.
"""

from __future__ import annotations

from typing import Any

from .store import Store

STORE = Store("durations")
MEASURED = ("seconds",)
UNKNOWN = 10.0**6  # in seconds: a topic that was never checked may take longer than any other


def without(x: Any) -> Any:
    """Return a record without the measured durations, which differ from run to run."""
    if isinstance(x, dict):
        return {key: without(value) for key, value in x.items() if key not in MEASURED}
    return [without(one) for one in x] if isinstance(x, (list, tuple)) else x


def put(topic: str, seconds: dict[str, float]) -> None:
    """Store the durations in seconds of the claims that were just checked, and keep those of the other claims of the topic."""
    STORE.put(topic, of_claims(topic) | seconds)


def of_claims(topic: str) -> dict[str, float]:
    """Return the stored durations of the claims of a topic, in seconds by claim id."""
    return STORE.get(topic) or {}


def of_topic(topic: str) -> float:
    """Return the stored duration of a topic in seconds, or UNKNOWN."""
    return sum(of_claims(topic).values()) or UNKNOWN
