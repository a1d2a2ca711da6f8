"""The boxes of a course: what to do in practice, exercises, and their solutions, which are folded; and what a page of it has."""

import re
from pathlib import Path
from posixpath import dirname, join, normpath
from xml.etree.ElementTree import Element, SubElement

from .page import Page
from .page_source import Source

MOST = 7  # unfolded claims
EXERCISES = range(3, 6)
LOOKED_UP = "wrong.md"  # from here on the pages are not read in order
NEXT = re.compile(r"\[The\s+next\s+page\]\(([^)#]+)", re.I)
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


def reading_order(settings: str) -> list[str]:
    """Return the pages of the navigation in mkdocs.yml, given as text, up to the last one that is read in order."""
    navigation = settings.partition("nav:\n")[2].partition("\n\n")[0]
    pages = re.findall(r": (\S+\.md)$", navigation, flags=re.M)
    return pages[: pages.index(LOOKED_UP)] if LOOKED_UP in pages else pages


def neighbours(settings: str, page: str) -> tuple[str, str]:
    """Return the pages before and after a page of the navigation; "" where there is none."""
    order = ["", *reading_order(settings), ""]
    place = order.index(page) if page in order else 0
    return (order[place - 1], order[place + 1]) if place else ("", "")


def wrong_next(root: Path, topic: str) -> list[str]:
    """Return what is wrong with a page's link to the next page in the navigation."""
    page, settings = f"{topic}.md", (root / "mkdocs.yml").read_text(encoding="utf-8")
    if page not in reading_order(settings):
        return [f"the navigation in mkdocs.yml does not have this page before '{LOOKED_UP}'; add it"]
    after = neighbours(settings, page)[1]
    linked = {normpath(join(dirname(page), one)) for one in NEXT.findall((root / "docs" / page).read_text(encoding="utf-8"))}
    if linked == ({after} if after else set()):
        return []
    return [f"it needs a link [The next page](...) to {after}, and to no other page" if after else "it is the last: link to no next page"]
