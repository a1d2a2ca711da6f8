"""The boxes of a course: what to do in practice, exercises, and their solutions, which are folded; and what a page of it has."""

import re
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from .page import Page
from .page_source import Source

MOST = 7  # unfolded claims
EXERCISES = range(3, 6)
HEADINGS = ("Why anyone would want it", "What goes wrong without each assumption", "Where it leads")  # each page has its own


def practice(page: Page, parent: Element, title: str) -> Element:
    """Append a box that says what to do differently tomorrow."""
    box = SubElement(parent, "section", {"class": "practice"})
    SubElement(box, "p", {"class": "practice__head"}).text = title or "In practice"
    return box


def exercise(page: Page, parent: Element, title: str) -> Element:
    """Append an exercise, numbered on from the last."""
    if not title:
        nameless = [one.line for one in page.source.openings() if (one.name, one.argument) == ("exercise", "")]
        raise page.source.error(nameless[0], "an exercise has a name; write '/// exercise | What it asks for'")
    page.exercises += 1
    box = SubElement(parent, "section", {"class": "exercise", "id": f"exercise-{page.exercises}"})
    head = SubElement(box, "p", {"class": "exercise__head"})
    SubElement(head, "a", {"class": "exercise__number", "href": f"#exercise-{page.exercises}"}).text = f"Exercise {page.exercises}"
    SubElement(head, "span", {"class": "exercise__title"}).text = title
    return box


def solution(page: Page, parent: Element, title: str) -> Element:
    """Append what an exercise comes to, folded."""
    box = SubElement(parent, "details", {"class": "solution"})
    SubElement(box, "summary").text = title or "Solution"
    return box


def lacking(text: str) -> list[str]:
    """What a page of the course lacks, in words: a theorem, a picture, a box for practice, exercises that are solved."""
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
