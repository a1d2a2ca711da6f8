"""Claims that nothing vouches for just now, as the author sees them in their place while the page is served.

What they state is plain text in a box of its own, never a formula: a reader of a finished page never meets one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..run import certificates, refusals
from ..run.certificates import CertificateError


@dataclass(frozen=True)
class Refused:
    """What is known of the claims of a block: why the page cannot be built, what was said of the script, and of each claim."""

    message: str
    said: list[str]
    claims: list[dict]


def of(topic: str, name: str | None, message: str) -> Refused:
    """What the last check said of a topic's claims, or of the one that is named. Where it was not refused, its certificate is out of
    date, and the claims are those that once held."""
    kept = refusals.known(topic)
    if kept is None:
        return Refused(message, [], chosen(once(topic), name))
    changed = refusals.changed(kept)
    since = [f"{', '.join(changed)} changed since; check again: python -m derivations check {topic}"] if changed else []
    claims, script = chosen(kept["claims"], name), kept["script"]
    told = [f"{script}:{one['line']}: claim '{one['id']}': {one['message']}" for one in kept["claims"] if one["message"]]
    here = {one["id"] for one in claims}
    elsewhere = [text for one, text in zip([one for one in kept["claims"] if one["message"]], told) if one["id"] not in here]
    return Refused(message, [*kept["problems"], *elsewhere, *since], [one | {"script": script} for one in claims])


def chosen(claims: list[dict], name: str | None) -> list[dict]:
    return [one for one in claims if name in (None, one["id"])]


def once(topic: str) -> list[dict]:
    """The claims of a certificate that is out of date."""
    if not certificates.is_topic(topic):
        return []
    try:
        content = certificates.read(certificates.path_of(topic), "", "")
        return [
            {"id": one["id"], "title": one["title"], "line": one["line"], "stated": one["latex"], "message": ""}
            for one in content["claims"]
        ]
    except (CertificateError, KeyError, TypeError):
        return []


def render(found: Refused, parent: Element, stash: Callable[[str], str], anchor: Callable[[str], str]) -> None:
    """Append a box for the whole, and one for each claim, with the claim's id: what leads to it still does."""
    box = SubElement(parent, "div", {"class": "mistake", "role": "note"})
    add(box, "mistake__head", "Not vouched for: a page with this is not built", stash)
    add(box, "mistake__message", found.message, stash)
    for text in found.said:
        add(box, "mistake__message", text, stash)
    for claim in found.claims:
        one = SubElement(box, "section", {"class": "mistake__claim", "id": anchor(claim["id"])})
        add(one, "mistake__title", " ".join(filter(None, (claim["id"], claim["title"] and f"({claim['title']})"))), stash)
        if claim["stated"]:
            add(one, "mistake__stated", claim["stated"], stash)
        where = f"{claim['script']}:{claim['line']}: claim '{claim['id']}': " if "script" in claim else ""
        add(one, "mistake__message", where + (claim["message"] or held(claim)), stash)


def held(claim: dict) -> str:
    return "held, but does not stand while its script is refused" if "script" in claim else "held when it was last checked"


def add(parent: Element, css: str, text: str, stash: Callable[[str], str]) -> None:
    SubElement(parent, "div", {"class": css}).text = stash(escape(text) + "\n")
