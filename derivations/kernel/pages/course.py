"""The boxes of a course: what to do in practice, exercises, and their solutions, which are folded."""

from xml.etree.ElementTree import Element, SubElement

from .page import Page


def practice(page: Page, parent: Element, title: str) -> Element:
    """Append a box that says what to do differently tomorrow."""
    box = SubElement(parent, "section", {"class": "practice"})
    SubElement(box, "p", {"class": "practice__head"}).text = title or "In practice"
    return box


def exercise(page: Page, parent: Element, title: str) -> Element:
    """Append an exercise, numbered on from the last."""
    if not title:
        raise page.source.error(page.source.line_of("/// exercise"), "an exercise has a name; write '/// exercise | What it asks for'")
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
