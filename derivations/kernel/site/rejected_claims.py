"""Claims that nothing vouches for just now, as the author sees them in their place while the page is served.

What they state is plain text in a box of its own, never a formula: a reader of a finished page never meets one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..store import certificates, rejections


@dataclass(frozen=True)
class Refused:
    """What is known of the claims of a block: why the page cannot be built, what was said of the script, and of each claim."""

    message: str  # "" where what is said of a claim says more
    said: list[str]
    claims: list[dict]


def of(topic: str, name: str | None, message: str) -> Refused:
    """What the last check said of a topic's claims, or of the one that is named. Where it was not refused, its certificate is out of
    date, and the claims are those that once held."""
    kept = rejections.get(topic)
    if kept is None:
        return Refused(message, [], chosen(once(topic), name))
    changed = rejections.changes(kept)
    since = [f"{', '.join(changed)} changed since; check again: python -m derivations check {topic}"] if changed else []
    claims, script = chosen(kept["claims"], name), kept["script"]
    guilty = {one["id"]: f"{script}:{one['line']}: claim '{one['id']}': {one['message']}" for one in kept["claims"] if one["message"]}
    if not claims:  # not checked at all
        return Refused(message, [*kept["problems"], *guilty.values(), *since], [])
    said = [one | {"message": guilty.get(one["id"], ""), "by": list(guilty)} for one in claims]
    return Refused("" if guilty else message, [*kept["problems"], *since], said)


def chosen(claims: list[dict], name: str | None) -> list[dict]:
    return [one for one in claims if name in (None, one["id"])]


def once(topic: str) -> list[dict]:
    """Return the claims of a certificate that is out of date."""
    content = certificates.STORE.get(topic) if certificates.is_topic(topic) else None
    return [
        {"id": one["id"], "title": one["title"], "line": one["line"], "stated": one["latex"], "message": ""}
        for one in (content["claims"] if content else ())
    ]


def render(
    found: Refused, parent: Element, stash: Callable[[str], str], anchor: Callable[[str], str], link: Callable[[str], str] = lambda name: ""
) -> None:
    """Append a box for the whole, and one for each claim, with the claim's id: what leads to it still does. `link` gives the address of
    the box of a claim of the topic, "" where there is none."""
    box = SubElement(parent, "div", {"class": "mistake", "role": "note"})
    add(box, "mistake__head", "Not vouched for: a page with this is not built", stash)
    for text in filter(None, (found.message, *found.said)):
        add(box, "mistake__message", text, stash)
    for claim in found.claims:
        one = SubElement(box, "section", {"class": "mistake__claim", "id": anchor(claim["id"])})
        add(one, "mistake__title", " ".join(filter(None, (claim["id"], claim["title"] and f"({claim['title']})"))), stash)
        if claim["stated"]:
            add(one, "mistake__stated mistake__stated--refused" if claim["message"] else "mistake__stated", claim["stated"], stash)
        if claim["message"]:
            add(one, "mistake__message", claim["message"], stash)
        else:
            innocent(one, claim.get("by"), stash, link)


def innocent(parent: Element, by: list[str] | None, stash: Callable[[str], str], link: Callable[[str], str]) -> None:
    """Of a claim that was not refused itself: why it is not shown, on a line. `by` names those of its script that were."""
    if by is None:
        return add(parent, "mistake__message", "This claim held when it was last checked.", stash)
    line = SubElement(parent, "div", {"class": "mistake__message"})
    line.text = stash("This claim held when it was checked, and is not shown because ")
    for name in by:
        address = link(name)
        one = SubElement(line, "a" if address else "code", {"href": address} if address else {})
        one.text = stash(escape(name))
        one.tail = stash(" of " if name == by[-1] else ", ")
    SubElement(line, "span").text = stash("its script was refused.")
    return None


def add(parent: Element, css: str, text: str, stash: Callable[[str], str]) -> None:
    SubElement(parent, "div", {"class": css}).text = stash(escape(text) + "\n")
