"""Every claim of every topic stands on the topic's own page."""

import re
from pathlib import Path

import pytest

from derivations.kernel.run.certificates import ROOT, load, topics


def missing(topic: str, page: str) -> list[str]:
    """The ids of the topic's claims that its page does not show."""
    if re.search(rf"^/// derivation \| {topic}$", page, flags=re.M):
        return []
    shown = set(re.findall(rf"^/// claim \| {topic}#([\w-]+)$", page, flags=re.M))
    return [claim["id"] for claim in load(topic)["claims"] if claim["id"] not in shown]


@pytest.mark.parametrize("topic", topics())
def test_every_claim_is_on_its_page(topic):
    page = Path(ROOT / "docs" / f"{topic}.md").read_text(encoding="utf-8")
    assert missing(topic, page) == []
    assert missing(topic, page.replace(f"/// claim | {topic}", "/// claim | other/topic", 1)) != []
