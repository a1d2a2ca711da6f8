"""Show claims without a valid certificate to the author, in a box on the page while the site is served.

Their statements are plain text, never formulas, and no finished page contains them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..store import certificates, rejections


@dataclass(frozen=True)
class RejectedClaims:
    """Why the claims of a block cannot be shown: a message for the block, the problems of the script, and the claims."""

    message: str  # "" if the message of a claim says more
    problems: list[str]  # of the script
    claims: list[dict]


def find_rejected(topic: str, name: str | None, message: str) -> RejectedClaims:
    """Return what the last check said about a topic's claims, or only about the claim `name`.

    If the topic was not rejected, its certificate is out of date, and the claims are those of that certificate.
    """
    rejection = rejections.get(topic)
    if rejection is None:
        return RejectedClaims(message, [], _select(_outdated_claims(topic), name))
    changed = rejections.find_changes(rejection)
    since = [f"{', '.join(changed)} changed since; check again: python -m derivations check {topic}"] if changed else []
    claims, script = _select(rejection["claims"], name), rejection["script"]
    messages = {
        claim["id"]: f"{script}:{claim['line']}: claim '{claim['id']}': {claim['message']}"
        for claim in rejection["claims"]
        if claim["message"]
    }
    if not claims:  # the script failed before it stated them
        return RejectedClaims(message, [*rejection["problems"], *messages.values(), *since], [])
    with_messages = [claim | {"message": messages.get(claim["id"], ""), "rejected": list(messages)} for claim in claims]
    return RejectedClaims("" if messages else message, [*rejection["problems"], *since], with_messages)


def _select(claims: list[dict], name: str | None) -> list[dict]:
    return [claim for claim in claims if name in (None, claim["id"])]


def _outdated_claims(topic: str) -> list[dict]:
    """Return the claims of a certificate that is out of date; empty if there is none that can be read."""
    content = certificates.STORE.get(topic) if certificates.is_topic(topic) else None
    return [
        {"id": claim["id"], "title": claim["title"], "line": claim["line"], "stated": claim["latex"], "message": ""}
        for claim in (content["claims"] if content else ())
    ]


def render_rejected(
    found: RejectedClaims,
    parent: Element,
    stash: Callable[[str], str],
    anchor: Callable[[str], str],
    link: Callable[[str], str] = lambda name: "",
) -> None:
    """Append a box for the block with a section for each claim, which has the claim's id, so that links to it still work.

    `anchor` returns the id of a claim's section, and `link` the address of the box of another claim of the topic, "" if there is none.
    """
    box = SubElement(parent, "div", {"class": "mistake", "role": "note"})
    _add_line(box, "mistake__head", "Not vouched for: a page with this is not built", stash)
    for text in filter(None, (found.message, *found.problems)):
        _add_line(box, "mistake__message", text, stash)
    for claim in found.claims:
        section = SubElement(box, "section", {"class": "mistake__claim", "id": anchor(claim["id"])})
        _add_line(section, "mistake__title", " ".join(filter(None, (claim["id"], claim["title"] and f"({claim['title']})"))), stash)
        if claim["stated"]:
            css = "mistake__stated mistake__stated--refused" if claim["message"] else "mistake__stated"
            _add_line(section, css, claim["stated"], stash)
        if claim["message"]:
            _add_line(section, "mistake__message", claim["message"], stash)
        else:
            _add_reason(section, claim.get("rejected"), stash, link)


def _add_reason(parent: Element, rejected: list[str] | None, stash: Callable[[str], str], link: Callable[[str], str]) -> None:
    """Append the reason why a claim that was not rejected is not shown. `rejected` names the rejected claims of its script."""
    if rejected is None:
        _add_line(parent, "mistake__message", "This claim held when it was last checked.", stash)
        return
    line = SubElement(parent, "div", {"class": "mistake__message"})
    line.text = stash("This claim held when it was checked, and is not shown because ")
    for name in rejected:
        address = link(name)
        element = SubElement(line, "a" if address else "code", {"href": address} if address else {})
        element.text = stash(escape(name))
        element.tail = stash(" of " if name == rejected[-1] else ", ")
    SubElement(line, "span").text = stash("its script was refused.")


def _add_line(parent: Element, css: str, text: str, stash: Callable[[str], str]) -> None:
    SubElement(parent, "div", {"class": css}).text = stash(escape(text) + "\n")
