"""Test that every claim of every topic appears on the topic's own page."""

import re
from pathlib import Path

import pytest

from derivations.kernel.site.page_lint import find_unshown_claims
from derivations.kernel.store.certificates import topics
from derivations.kernel.store.project_files import ROOT


@pytest.mark.parametrize("topic", topics())
def test_every_claim_is_on_the_page_of_its_topic(topic):
    page = Path(ROOT / "docs" / f"{topic}.md").read_text(encoding="utf-8")
    assert find_unshown_claims(topic, page) == []
    assert (
        find_unshown_claims(
            topic, re.sub(rf"^/{{3,}} (theorem|claim|routine) \| {topic}", r"/// \1 | other/topic", page, count=1, flags=re.M)
        )
        != []
    )
