"""Tests of what each page of the course must have: a theorem, few unfolded claims, a box for practice, and exercises with solutions."""

import pytest

from derivations.kernel.site.course_boxes import check_next_link, find_missing_parts, find_reading_order
from derivations.kernel.store.certificates import topics
from derivations.kernel.store.project_files import ROOT

# Pages that are not revised yet. Each must still lack something.
LEFT: set[str] = set()


@pytest.mark.parametrize("topic", topics())
def test_course_page_has_all_required_parts(topic):
    lacks = find_missing_parts((ROOT / "docs" / f"{topic}.md").read_text(encoding="utf-8"))
    assert bool(lacks) == (topic in LEFT), f"it lacks {', '.join(lacks) or 'nothing: take it off the list'}"


def test_core_route_has_at_most_25_pages():
    pages = find_reading_order((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    texts = [(ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages]
    assert 15 <= sum("kind: core" in text.split("\n# ")[0] for text in texts) <= 25


@pytest.mark.parametrize("topic", topics())
def test_next_page_follows_in_the_navigation(topic):
    assert check_next_link(ROOT, topic) == []


def test_wrong_or_missing_link_to_the_next_page_is_reported(tmp_path):
    (tmp_path / "mkdocs.yml").write_text("nav:\n  - One: a/one.md\n  - Two: a/two.md\n  - Wrong: wrong.md\n\nx: 1\n")
    (tmp_path / "docs/a").mkdir(parents=True)
    (tmp_path / "docs/a/one.md").write_text("[The next page](two.md)\n")
    (tmp_path / "docs/a/two.md").write_text("[The next\npage](../wrong.md)\n")
    (tmp_path / "docs/a/left.md").touch()
    assert [bool(check_next_link(tmp_path, topic)) for topic in ("a/one", "a/two", "a/left")] == [False, True, True]
    (tmp_path / "docs/a/one.md").write_text("Nothing.\n")
    assert check_next_link(tmp_path, "a/one") == ["the page needs one link [The next page](...), to a/two.md"]


PAGE = """---
kind: deeper
---

# A page

/// figure | a/b:c
Words.
///

/// theorem | a/b#c
///

/// practice
Do it.
///

""" + "".join(
    f"/// exercise | {name}\nWords.\n\n//// solution\n///// claim | a/b#{name}\n/////\n\n```pycon\n>>> 1\n1\n```\n\n////\n///\n\n"
    for name in "def"
)


FOLDED = "/// details | Proof\n//// theorem | a/b#c\n////\n///\n"


@pytest.mark.parametrize(
    "old, new, lacks",
    [
        ("A page", "A page", []),
        ("deeper", "deep", ["'kind: KIND' in its front matter, with one of core, deeper, reference"]),
        ("/// theorem", "/// claim", ["a theorem"]),
        ("/// practice", "/// note", ["one box for practice"]),
        ("/// exercise | f", "/// note | f", ["three to five exercises"]),
        ("//// solution", "//// note", ["a solution for each"]),
        ("///// claim", "///// note", ["an exercise that ends in a claim"]),
        ("```pycon", "```text", ["an exercise in code"]),
        ("# A page", "# A page\n\n## Where it leads", ["headings of its own"]),
        ("/// figure", "/// note", ["a picture"]),
        ("/// theorem | a/b#c\n///\n", "/// theorem | a/b#c\n///\n" * 8, ["at most 7 unfolded claims"]),
        ("/// theorem | a/b#c\n///\n", FOLDED.replace("theorem", "claim") * 8 + "/// theorem | a/b#c\n///\n", []),
        ("/// theorem | a/b#c\n///\n", FOLDED, ["a theorem"]),
    ],
)
def test_missing_parts_are_named(old, new, lacks):
    assert find_missing_parts(PAGE.replace(old, new)) == lacks
