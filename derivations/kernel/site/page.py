"""The state of one page while Markdown renders it: the claims that its blocks show, their numbers and addresses, and finished HTML."""

import re
from collections.abc import Callable
from functools import partial
from html import escape
from xml.etree.ElementTree import Element, SubElement

from markdown.util import AtomicString

from ..printing.mathml import render_author_text
from ..store.certificates import CertificateError
from ..store.coq_results import load
from ..store.project_files import ROOT
from . import page_dependencies, page_errors, rejected_claim_boxes
from .claim_html import ClaimError, render_claim
from .links import PageLinks
from .page_source import RANKS, Opening, PageError, Source
from .step_details import SCRIPT

TOPIC = re.compile(r"([a-z0-9_-]+/[a-z0-9_-]+)(?:#([\w-]+))?")
TOKEN = re.compile("[\x02\ue000]certified(\\d+)[\x03\ue001]")
# Attributes that only the kernel may set. Their values are replaced by tokens, so that typed HTML cannot imitate the kernel's elements.
PROTECTED_ATTRIBUTES = ("class", "role")


def reject_token_characters(source: Source) -> None:
    """Raise PageError if the page contains a character that delimits the tokens of finished HTML."""
    for number, line in enumerate(source.lines, start=1):
        if found := re.search("[\x02\x03\ue000\ue001]", line):
            raise source.error(number, f"the page contains {found[0]!r}, an invisible character; delete it")


def resolve_use(topic: str, use: str) -> tuple[str, str]:
    """Return the topic and the id of the claim that `use`, an entry in `uses` of a claim of `topic`, names. Raise ClaimError."""
    match = TOPIC.fullmatch(use) or TOPIC.fullmatch(f"{topic}#{use}")
    if not match or not match[2]:
        raise ClaimError(f"it uses {use!r}, which names no claim")
    return match[1], match[2]


class Page:
    """The state of one page: its source, the claims that it shows, and finished HTML that Markdown must not touch.

    `pieces` is the HTML stored so far, and `certificates` those loaded already, by topic. The constructor raises PageError if a block shows
    no claim, or if a claim is shown twice.
    """

    def __init__(
        self, source: Source, repository: str = "", pieces: list[str] | None = None, certificates: dict[str, dict] | None = None
    ) -> None:
        self.source = source
        self.repository = repository
        self.pieces: list[str] = pieces or []
        self.certificates: dict[str, dict] = {} if certificates is None else certificates  # by topic
        self.blocks: list[tuple[Opening, str, list[dict]]] = []  # each with its topic and its claims
        self.rejected: dict[int, rejected_claim_boxes.RejectedClaims] = {}  # rejected claims to show as a box, by the line of their block
        self.number = 0  # of claims, figures and exercises rendered so far
        self.figures: list[str] = []  # the functions of its figures
        self.exercises = 0
        for opening in source.openings():
            if opening.name in (*RANKS, "derivation"):
                self.blocks.append((opening, *self._read_block(opening)))
        self.path: str | None = None  # the page's path below docs/, if it shows claims
        if self.blocks:
            self.path = source.path_in_docs or None
        self.links = PageLinks(source.docs, self.path)
        self._reject_repeated_claims()

    def stash(self, html: str) -> str:
        """Store finished HTML, and return a token that Markdown leaves alone and `restore` replaces by the HTML."""
        self.pieces.append(html)
        return AtomicString(f"\x02certified{len(self.pieces) - 1}\x03")

    def restore(self, html: str) -> str:
        """Return HTML with its tokens replaced by the stored HTML."""
        return TOKEN.sub(lambda match: self.pieces[int(match[1])], html)

    def append(self, parent: Element, make: Callable[[], Element]) -> Element:
        """Call `make`, which appends elements to `parent`, and return its result.

        If it raises PageError while mistakes are shown on pages, append and return a box with the message instead."""
        before = len(parent)
        try:
            element = make()
            self._protect_attributes(parent[before:])
            return element
        except PageError as error:
            page_errors.raise_or_report(error)
            del parent[before:]
            box = SubElement(parent, "div", {"class": self.stash("mistakes")})
            box.text = self.stash(page_errors.render_box(error.format_message()))
            return box

    def _protect_attributes(self, elements: list[Element]) -> None:
        """Replace the protected attributes of elements and their descendants by tokens."""
        for element in (descendant for root in elements for descendant in root.iter()):
            for name in PROTECTED_ATTRIBUTES:
                if (value := element.get(name)) and not TOKEN.fullmatch(value):
                    element.set(name, self.stash(value))

    def append_claims(self, parent: Element, name: str, argument: str) -> Element:
        """Append the claims of the block `/// name | argument`, numbered on from the last ones, and return the box around them."""
        box = SubElement(parent, "div", {"class": "claims"})
        found = [block for block in self.blocks if (block[0].name, block[0].argument) == (name, argument)]
        if not found:
            raise self.source.error(0, f"the block '{name} | {argument}' must be on the page itself, not in an included file")
        opening, topic, claims = found[0]
        if opening.line in self.rejected:
            anchor, link = partial(self.anchor, topic), partial(self._address_of_rejected, topic)
            rejected_claim_boxes.render_rejected(self.rejected[opening.line], box, self.stash, anchor, link)
        for claim in claims:
            self.number += 1
            self.append(box, partial(self._append_claim, box, opening, topic, claim))
        return box

    def _append_claim(self, box: Element, opening: Opening, topic: str, claim: dict) -> Element:
        """Append one claim. Raise PageError if it cannot be shown."""
        try:
            return render_claim(
                claim,
                box,
                stash=self.stash,
                number=self.number,
                rank=opening.name if opening.name in RANKS else "claim",
                anchor=self.anchor(topic, claim["id"]),
                script=self.certificates[topic]["script"],
                repository=self.repository,
                link_use=lambda use: self._link_use(use, topic),
                link_file=self.links.to_file,
                label_use=lambda use: self._label_use(use, topic),
                link_code=self.links.to_code,
                script_text=self._script_text(self.certificates[topic]["script"]),
            )
        except ClaimError as error:
            raise self.source.error(opening.line, f"{topic}#{claim['id']} cannot be shown: {error}") from None

    def _script_text(self, name: str) -> str:
        """Return the text of a script, or "" if there is none. A certificate is only loaded if its script is unchanged since the check."""
        path = ROOT / name
        if not SCRIPT.fullmatch(name) or not path.is_file():
            return ""
        page_dependencies.note_files([path])
        return path.read_text(encoding="utf-8")

    def load_certificate(self, topic: str) -> dict:
        """Return the topic's certificate, loaded once for a page. Raise CertificateError."""
        page_dependencies.note(f"topic:{topic}")
        if topic not in self.certificates:
            self.certificates[topic] = load(topic)
        return self.certificates[topic]

    def _read_block(self, opening: Opening) -> tuple[str, list[dict]]:
        """Return the topic and the claims that a block shows. Raise PageError if it names no such claims."""
        wanted = "chapter/topic#id" if opening.name in RANKS else "chapter/topic"
        match = TOPIC.fullmatch(opening.argument)
        if not match or bool(match[2]) != (opening.name in RANKS):
            found = repr(opening.argument) if opening.argument else "nothing"
            raise self.source.error(opening.line, f"expected '/// {opening.name} | {wanted}', found {found}", opening.end)
        topic, name = match.groups()
        try:
            claims = self.load_certificate(topic)["claims"]
        except CertificateError as error:
            message = f"{topic} cannot be shown: {' '.join(str(error).split())}"
            page_errors.raise_or_report(error_of_block := self.source.error(opening.line, message, opening.end))
            self.rejected[opening.line] = rejected_claim_boxes.find_rejected(topic, name, error_of_block.format_message())
            return topic, []
        chosen = [claim for claim in claims if name in (None, claim["id"])]
        if not chosen:
            names = ", ".join(claim["id"] for claim in claims)
            raise self.source.error(opening.line, f"{topic} has no claim {name!r}; it has {names}", opening.end)
        return topic, chosen

    def _reject_repeated_claims(self) -> None:
        """Raise PageError if two claims of the page would have the same id."""
        seen: dict[str, int] = {}
        for opening, topic, claims in self.blocks:
            for claim in claims:
                anchor = self.anchor(topic, claim["id"])
                if anchor in seen:
                    message = f"{topic}#{claim['id']} would have the id of the claim shown at line {seen[anchor]}"
                    raise self.source.error(opening.line, message, opening.end)
                seen[anchor] = opening.line

    def anchor(self, topic: str, name: str) -> str:
        """Return the HTML id of a claim. If the page shows claims of several topics, those of other topics get their topic's name as prefix."""
        only_topic = len({other for _, other, _ in self.blocks}) == 1
        return name if only_topic or self.path == f"{topic}.md" else f"{topic.rpartition('/')[2]}-{name}"

    def _address_of_rejected(self, topic: str, name: str) -> str:
        """Return the address of the box of a rejected claim, on this page or on its topic's page; "" if neither shows it."""
        for opening, block_topic, _ in self.blocks:
            rejected = self.rejected.get(opening.line)
            if rejected and block_topic == topic and name in (claim["id"] for claim in rejected.claims):
                return f"#{self.anchor(topic, name)}"
        has_other_page = self.path != f"{topic}.md" and (self.source.docs / f"{topic}.md").is_file()
        return self._link_use(name, topic) if has_other_page else ""

    def _link_use(self, use: str, topic: str) -> str:
        """Return the address of a claim that another one uses: on this page if it is shown here, otherwise on its topic's page."""
        used, name = resolve_use(topic, use)
        if (used, name) in self.number_claims():
            return f"#{self.anchor(used, name)}"
        return f"{self.links.to_page(f'{used}.md')}#{name}"

    def number_claims(self) -> dict[tuple[str, str], int]:
        """Return the numbers of the page's claims, by topic and id."""
        shown = [(topic, claim["id"]) for _, topic, claims in self.blocks for claim in claims]
        return {key: number for number, key in enumerate(shown, start=1)}

    def _label_use(self, use: str, topic: str) -> str:
        """Return the link text, as HTML, for a claim that another one uses.

        It is the claim's number and title if this page shows the claim, otherwise the title of the claim's page and of the claim."""
        used, name = resolve_use(topic, use)
        number = self.number_claims().get((used, name))
        try:
            title = next((one["title"] for one in self.load_certificate(used)["claims"] if one["id"] == name), "")
        except CertificateError:  # reported on the page that shows the claim
            title = ""
        label = render_author_text(title) if title else escape(name)
        return f"({number}) {label}" if number else " · ".join(filter(None, (self.links.find_heading(f"{used}.md"), label)))
