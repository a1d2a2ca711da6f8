"""What a page of the course has: a theorem, few claims that are unfolded, a box for practice, and exercises with solutions."""

import re
from posixpath import dirname, join, normpath

import pytest

from derivations.kernel.run.certificates import ROOT, topics
from derivations.kernel.site.course_boxes import lacking

# Pages that are not revised yet: each has to lack something.
LEFT: set[str] = set()


@pytest.mark.parametrize("topic", topics())
def test_a_page_of_the_course_has_what_it_takes(topic):
    lacks = lacking((ROOT / "docs" / f"{topic}.md").read_text(encoding="utf-8"))
    assert bool(lacks) == (topic in LEFT), f"it lacks {', '.join(lacks) or 'nothing: take it off the list'}"


LOOKED_UP = "wrong.md"  # from here on nothing is read in order


def in_order():
    """The pages that the navigation leads through, one after another."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\n\n")[0]
    return re.findall(r": (\S+\.md)$", navigation, flags=re.M)


@pytest.mark.parametrize("topic", topics())
def test_the_next_page_is_the_next_in_the_navigation(topic):
    text = (ROOT / "docs" / f"{topic}.md").read_text(encoding="utf-8")
    order = in_order()
    after = order[order.index(f"{topic}.md") + 1]
    said = re.findall(r"\[The\s+next\s+page\]\(([^)#]+)", text, flags=re.I)
    assert {normpath(join(dirname(topic), one)) for one in said} == ({after} if after != LOOKED_UP else set())


PAGE = """# A page

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


@pytest.mark.parametrize(
    "old, new, lacks",
    [
        ("A page", "A page", []),
        ("/// theorem", "/// claim", ["a theorem"]),
        ("/// practice", "/// note", ["one box for practice"]),
        ("/// exercise | f", "/// note | f", ["three to five exercises"]),
        ("//// solution", "//// note", ["a solution for each"]),
        ("///// claim", "///// note", ["an exercise that ends in a claim"]),
        ("```pycon", "```text", ["an exercise in code"]),
        ("# A page", "# A page\n\n## Where it leads", ["headings of its own"]),
        ("/// figure", "/// note", ["a picture"]),
        ("/// theorem | a/b#c\n///\n", "/// theorem | a/b#c\n///\n" * 8, ["at most 7 unfolded claims"]),
    ],
)
def test_what_is_lacking_is_said(old, new, lacks):
    assert lacking(PAGE.replace(old, new)) == lacks
