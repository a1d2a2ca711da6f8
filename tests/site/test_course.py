"""What a page of the course has: a theorem, few claims that are unfolded, a box for practice, and exercises with solutions."""

import re
from pathlib import Path

import pytest

from derivations.kernel.pages.source import Source
from derivations.kernel.run.certificates import ROOT, topics

MOST = 7  # unfolded claims
EXERCISES = range(3, 6)
HEADINGS = ("Why anyone would want it", "What goes wrong without each assumption", "Where it leads")  # that once stood on each page

# Pages that are not revised yet: each has to lack something.
LEFT: set[str] = set()


def lacking(text):
    """What a page lacks, in words."""
    blocks = Source(text, Path("docs")).openings()
    inside = [(one.line, one.end) for one in blocks if one.name == "exercise"]

    def within(one):
        return any(first < one.line < last for first, last in inside)

    named = {
        name: [one for one in blocks if one.name == name] for name in ("theorem", "claim", "practice", "exercise", "solution", "figure")
    }
    unfolded = [one for one in named["theorem"] + named["claim"] if not within(one)]
    solved = [sum(first < one.line < last for one in named["solution"]) for first, last in inside]
    found = {
        "a theorem": named["theorem"] and not within(named["theorem"][0]),
        f"at most {MOST} unfolded claims": len(unfolded) <= MOST,
        "one box for practice": len(named["practice"]) == 1,
        "three to five exercises": len(named["exercise"]) in EXERCISES,
        "a solution for each": all(number == 1 for number in solved),
        "an exercise that ends in a claim": any(one for one in named["claim"] if within(one)),
        "an exercise in code": any("```py" in "\n".join(text.split("\n")[first:last]) for first, last in inside),
        "headings of its own": not any(re.search(rf"^#+ {re.escape(heading)}", text, flags=re.M) for heading in HEADINGS),
        "a picture": named["figure"],
    }
    return [what for what, there in found.items() if not there]


@pytest.mark.parametrize("topic", topics())
def test_a_page_of_the_course_has_what_it_takes(topic):
    lacks = lacking((ROOT / "docs" / f"{topic}.md").read_text(encoding="utf-8"))
    assert bool(lacks) == (topic in LEFT), f"it lacks {', '.join(lacks) or 'nothing: take it off the list'}"


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
