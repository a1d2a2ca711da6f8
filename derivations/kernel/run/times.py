"""How long checks took, kept apart from what they found: a certificate is the same bytes whoever made it. Nothing rests on these numbers.

The topics that took longest are begun first, so that nobody waits for one of them at the end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import certificates

MEASURED = ("seconds",)
UNKNOWN = 10.0**6  # a topic that was never checked may take longer than any other


def without(x: Any) -> Any:
    """A record without what is otherwise in each run."""
    if isinstance(x, dict):
        return {key: without(value) for key, value in x.items() if key not in MEASURED}
    return [without(one) for one in x] if isinstance(x, (list, tuple)) else x


def path_of(topic: str) -> Path:
    return certificates.STORE / "seconds" / f"{topic}.json"


def save(topic: str, seconds: dict[str, float]) -> None:
    """Keep the seconds of the claims that were checked now, beside what is known of the others."""
    certificates.put(path_of(topic), json.dumps(of_claims(topic) | seconds, sort_keys=True))


def of_claims(topic: str) -> dict[str, float]:
    try:
        return {str(claim): float(seconds) for claim, seconds in json.loads(path_of(topic).read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def of_topic(topic: str) -> float:
    return sum(of_claims(topic).values()) or UNKNOWN
