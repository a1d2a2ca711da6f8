"""Render the boxes of a course page (practice, exercises, folded solutions), and check that a page has all the parts it needs."""

import re
from pathlib import Path
from posixpath import dirname, join, normpath
from xml.etree.ElementTree import Element, SubElement

from ..store.certificates import CertificateError
from .claim_details import ElementWriter
from .exercise_questions import add_question, check_question
from .page import Page
from .page_source import Opening, Source

KINDS = ("core", "deeper", "reference")  # how a page is marked: the core route, pages that go deeper, and pages to look things up in
KIND = re.compile(rf"---\nkind: (?:{'|'.join(KINDS)})\n---\n")
MAX_UNFOLDED_CLAIMS = 7
EXERCISE_COUNTS = range(3, 6)
FIRST_REFERENCE_PAGE = "wrong.md"  # from here on, the pages in the navigation are not read in order
NEXT_PAGE_LINK = re.compile(r"\[The\s+next\s+page\]\(([^)#]+)", re.I)
VAGUE_HEADINGS = (
    "Why anyone would want it",
    "What goes wrong without each assumption",
    "Where it leads",
)  # a page needs more specific ones


def append_practice(page: Page, parent: Element, title: str) -> Element:
    """Append a box of practical advice, and return it."""
    box = SubElement(parent, "section", {"class": "practice"})
    SubElement(box, "p", {"class": "practice__head"}).text = title or "In practice"
    return box


def append_exercise(page: Page, parent: Element, title: str) -> Element:
    """Append the page's next exercise, and return it. Raise PageError if it has no title."""
    if not title:
        untitled = [opening.line for opening in page.source.openings() if (opening.name, opening.argument) == ("exercise", "")]
        raise page.source.error(untitled[0], "the exercise has no title; write '/// exercise | TITLE'")
    page.exercises += 1
    box = SubElement(parent, "section", {"class": "exercise", "id": f"exercise-{page.exercises}"})
    head = SubElement(box, "p", {"class": "exercise__head"})
    SubElement(head, "a", {"class": "exercise__number", "href": f"#exercise-{page.exercises}"}).text = f"Exercise {page.exercises}"
    SubElement(head, "span", {"class": "exercise__title"}).text = title
    return box


ANSWER = re.compile(r"([\w/]+)#([\w-]+)(?: (left|step \d+|assumption \d+))?")


def append_answer(page: Page, parent: Element, argument: str) -> Element:
    """Append a box with the author's text about an answer that the reader gives, and return it. docs/assets/js/prover adds the form.

    The argument names the claim that has the answer, `chapter/topic#id`. The answer is the claim's last expression, or with `left` or `step 2`
    another one; with `assumption 2` it is the assumption without which the claim fails where this one is needed; of a refutation, it is a
    counterexample. Raise PageError if there is no such claim or part.
    """
    try:
        topic, claim, part = find_answer(page, argument)
    except (CertificateError, ValueError) as error:
        message = " ".join(str(error).split())
        raise page.source.error(page.source.line_of(f"answer | {argument}"), f"the answer cannot be judged: {message}") from None
    add_question(ElementWriter(page.stash), parent, claim, part)
    part = "counterexample" if claim["kind"] == "refutation" else part
    data = {"data-answer": f"{topic}#{claim['id']}", "data-part": part}
    box = {"class": "answer", "data-search-exclude": ""}
    return SubElement(parent, "div", box | {name: page.stash(value) for name, value in data.items()})


def find_answer(page: Page, argument: str) -> tuple[str, dict, str]:
    """Return the topic and the claim that has an answer, and which part of it is asked for. Raise ValueError if there is none."""
    match = ANSWER.fullmatch(argument)
    if not match:
        raise ValueError("write '//// answer | CHAPTER/TOPIC#ID', and after the id perhaps 'left', 'step 2' or 'assumption 2'")
    topic, id, part = match.groups("")
    claim = next((one for one in page.load_certificate(topic)["claims"] if one["id"] == id), None)
    if claim is None:
        raise ValueError(f"{topic} has no claim {id!r}")
    if claim["kind"] == "refutation" and part:
        raise ValueError(f"the answer to a refutation is a counterexample; leave out {part!r}")
    check_question(claim, part)
    return topic, claim, part


def append_solution(page: Page, parent: Element, title: str) -> Element:
    """Append the folded solution of an exercise, and return it."""
    box = SubElement(parent, "details", {"class": "solution"})
    SubElement(box, "summary").text = title or "Solution"
    return box


def find_missing_parts(text: str) -> list[str]:
    """Return descriptions of the parts that a page of the course lacks, such as a theorem, a picture or solved exercises."""
    blocks = Source(text, Path("docs")).openings()
    exercises = [(block.line, block.end) for block in blocks if block.name == "exercise"]

    folds = [(block.line, block.end) for block in blocks if block.name == "details"]

    def in_exercise(block: Opening) -> bool:
        return any(first < block.line < last for first, last in exercises)

    def is_folded(block: Opening) -> bool:
        return any(first < block.line < last for first, last in [*exercises, *folds])

    names = ("theorem", "claim", "practice", "exercise", "solution", "figure")
    named = {name: [block for block in blocks if block.name == name] for name in names}
    unfolded = [block for block in named["theorem"] + named["claim"] if not is_folded(block)]
    solutions = [sum(first < block.line < last for block in named["solution"]) for first, last in exercises]
    parts = {
        f"'kind: KIND' in its front matter, with one of {', '.join(KINDS)}": bool(KIND.match(text)),
        "a theorem": bool(named["theorem"]) and not is_folded(named["theorem"][0]),
        f"at most {MAX_UNFOLDED_CLAIMS} unfolded claims": len(unfolded) <= MAX_UNFOLDED_CLAIMS,
        "one box for practice": len(named["practice"]) == 1,
        "three to five exercises": len(named["exercise"]) in EXERCISE_COUNTS,
        "a solution for each": all(number == 1 for number in solutions),
        "an exercise that ends in a claim": any(in_exercise(block) for block in named["claim"]),
        "an exercise in code": any("```py" in "\n".join(text.split("\n")[first:last]) for first, last in exercises),
        "headings of its own": not any(re.search(rf"^#+ {re.escape(heading)}", text, flags=re.M) for heading in VAGUE_HEADINGS),
        "a picture": bool(named["figure"]),
    }
    return [description for description, present in parts.items() if not present]


def find_reading_order(settings: str) -> list[str]:
    """Return the pages that are read in order, from the navigation in `settings`, the text of mkdocs.yml."""
    navigation = settings.partition("nav:\n")[2].partition("\n\n")[0]
    pages = re.findall(r": (\S+\.md)$", navigation, flags=re.M)
    return pages[: pages.index(FIRST_REFERENCE_PAGE)] if FIRST_REFERENCE_PAGE in pages else pages


def find_neighbours(settings: str, page: str) -> tuple[str, str]:
    """Return the pages before and after a page in reading order, or "" where there is none."""
    order = ["", *find_reading_order(settings), ""]
    place = order.index(page) if page in order else 0
    return (order[place - 1], order[place + 1]) if place else ("", "")


def check_next_link(root: Path, topic: str) -> list[str]:
    """Return what is wrong with the link from a topic's page to the next page: no message, or one."""
    page, settings = f"{topic}.md", (root / "mkdocs.yml").read_text(encoding="utf-8")
    if page not in find_reading_order(settings):
        return [f"the navigation in mkdocs.yml does not have this page before '{FIRST_REFERENCE_PAGE}'; add it"]
    after = find_neighbours(settings, page)[1]
    linked = {normpath(join(dirname(page), one)) for one in NEXT_PAGE_LINK.findall((root / "docs" / page).read_text(encoding="utf-8"))}
    if linked == ({after} if after else set()):
        return []
    return [
        f"the page needs one link [The next page](...), to {after}"
        if after
        else "this is the last page; remove the link [The next page](...)"
    ]
