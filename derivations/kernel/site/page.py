"""One page on its way through Markdown: which claims its blocks ask for, and where each of them stands."""

import re
from collections.abc import Callable
from html import escape
from xml.etree.ElementTree import Element, SubElement

from markdown.util import AtomicString

from ..printing.mathml import authored
from ..store.certificates import CertificateError
from ..store.coq_results import load
from ..store.project_files import ROOT
from . import page_dependencies, page_errors, rejected_claims
from .claim_html import ClaimError, render
from .links import Ways
from .page_source import RANKS, Opening, PageError, Source
from .step_details import SCRIPT

TOPIC = re.compile(r"([a-z0-9_-]+/[a-z0-9_-]+)(?:#([\w-]+))?")
TOKEN = re.compile("[\x02\ue000]certified(\\d+)[\x03\ue001]")


MADE = ("class", "role")  # what an element that the kernel makes has, and none that is typed


def refuse_tokens(source: Source) -> None:
    """Raise PageError where the author wrote what stands for finished HTML."""
    for number, line in enumerate(source.lines, start=1):
        if found := re.search("[\x02\x03\ue000\ue001]", line):
            raise source.error(number, f"{found[0]!r}, a character that is not seen; leave it out")


def used_by(topic: str, use: str) -> tuple[str, str]:
    """The topic and the id of a claim that another one uses. Raises ClaimError."""
    match = TOPIC.fullmatch(use) or TOPIC.fullmatch(f"{topic}#{use}")
    if not match or not match[2]:
        raise ClaimError(f"it uses {use!r}, which names no claim")
    return match[1], match[2]


class Page:
    """One page on its way through Markdown: its source, what is shown on it, and finished HTML held back."""

    def __init__(self, source: Source, repository: str = "", pieces: list[str] | None = None, certificates: dict[str, dict] | None = None):
        self.source = source
        self.repository = repository
        self.pieces: list[str] = pieces or []
        self.certificates: dict[str, dict] = {} if certificates is None else certificates  # those that were loaded already
        self.blocks: list[tuple[Opening, str, list[dict]]] = []
        self.refused: dict[
            int, rejected_claims.Refused
        ] = {}  # by the line of their block: claims that nothing vouches for, where that is shown
        self.number = 0
        self.figures = 0
        self.exercises = 0
        for opening in source.openings():
            if opening.name in (*RANKS, "derivation"):
                self.blocks.append((opening, *self._read(opening)))
        self.path = None
        if self.blocks:
            path, _ = source.file()
            self.path = path and path.relative_to(source.docs).as_posix()
        self.ways = Ways(source.docs, self.path)
        self._refuse_twice()

    def stash(self, html: str) -> str:
        """A token that Markdown leaves alone and the last step puts the HTML back for."""
        self.pieces.append(html)
        return AtomicString(f"\x02certified{len(self.pieces) - 1}\x03")

    def restore(self, html: str) -> str:
        return TOKEN.sub(lambda match: self.pieces[int(match[1])], html)

    def place(self, parent: Element, make: Callable[[], Element]) -> Element:
        """What `make` appends; where that is a mistake, and mistakes are shown, a box instead."""
        before = len(parent)
        try:
            made = make()
            self._mark(parent[before:])
            return made
        except PageError as error:
            page_errors.tolerate(error)
            del parent[before:]
            box = SubElement(parent, "div", {"class": self.stash("mistakes")})
            box.text = self.stash(page_errors.box(error.format_message()))
            return box

    def _mark(self, elements: list[Element]) -> None:
        """Trade the classes of what was made for tokens, so that what was typed does not pass for it."""
        for element in (one for made in elements for one in made.iter()):
            for name in MADE:
                if (value := element.get(name)) and not TOKEN.fullmatch(value):
                    element.set(name, self.stash(value))

    def show(self, parent: Element, name: str, argument: str) -> Element:
        """Append the claims of one block to the tree, numbered on from the last."""
        box = SubElement(parent, "div", {"class": "claims"})
        found = [block for block in self.blocks if (block[0].name, block[0].argument) == (name, argument)]
        if not found:
            raise self.source.error(0, f"the block '{name} | {argument}' must stand on the page itself, not in an include")
        opening, topic, claims = found[0]
        if opening.line in self.refused:
            anchor, link = lambda name: self.anchor(topic, name), lambda name: self._refused_at(topic, name)
            rejected_claims.render(self.refused[opening.line], box, self.stash, anchor, link)
        for claim in claims:
            self.number += 1
            self.place(box, lambda claim=claim: self._claim(box, opening, topic, claim))
        return box

    def _claim(self, box: Element, opening: Opening, topic: str, claim: dict) -> Element:
        """Append one claim."""
        try:
            return render(
                claim,
                box,
                stash=self.stash,
                number=self.number,
                rank=opening.name if opening.name in RANKS else "claim",
                anchor=self.anchor(topic, claim["id"]),
                script=self.certificates[topic]["script"],
                repository=self.repository,
                link=lambda use: self._link(use, topic),
                file=self.ways.file,
                named=lambda use: self._named(use, topic),
                code=self.ways.code,
                text=self._script(self.certificates[topic]["script"]),
            )
        except ClaimError as error:
            raise self.source.error(opening.line, f"{topic}#{claim['id']} cannot be shown: {error}") from None

    def _script(self, name: str) -> str:
        """What a script says; it is as it was checked, or its certificate would not have been loaded."""
        path = ROOT / name
        if not SCRIPT.fullmatch(name) or not path.is_file():
            return ""
        page_dependencies.note_files([path])
        return path.read_text(encoding="utf-8")

    def certificate(self, topic: str) -> dict:
        """The topic's certificate, loaded once for a page."""
        page_dependencies.note(f"topic:{topic}")
        if topic not in self.certificates:
            self.certificates[topic] = load(topic)
        return self.certificates[topic]

    def _read(self, opening: Opening) -> tuple[str, list[dict]]:
        """The topic and the claims that a block asks for."""
        wanted = "chapter/topic#id" if opening.name in RANKS else "chapter/topic"
        match = TOPIC.fullmatch(opening.argument)
        if not match or bool(match[2]) != (opening.name in RANKS):
            found = repr(opening.argument) if opening.argument else "nothing"
            raise self.source.error(opening.line, f"expected '/// {opening.name} | {wanted}', found {found}", opening.end)
        topic, name = match.groups()
        try:
            claims = self.certificate(topic)["claims"]
        except CertificateError as error:
            message = f"{topic} cannot be shown: {' '.join(str(error).split())}"
            page_errors.tolerate(stopping := self.source.error(opening.line, message, opening.end))
            self.refused[opening.line] = rejected_claims.of(topic, name, stopping.format_message())
            return topic, []
        chosen = [claim for claim in claims if name in (None, claim["id"])]
        if not chosen:
            names = ", ".join(claim["id"] for claim in claims)
            raise self.source.error(opening.line, f"{topic} has no claim {name!r}; it has {names}", opening.end)
        return topic, chosen

    def _refuse_twice(self) -> None:
        seen = {}
        for opening, topic, claims in self.blocks:
            for claim in claims:
                anchor = self.anchor(topic, claim["id"])
                if anchor in seen:
                    message = f"{topic}#{claim['id']} would have the id of the claim shown at line {seen[anchor]}"
                    raise self.source.error(opening.line, message, opening.end)
                seen[anchor] = opening.line

    def anchor(self, topic: str, name: str) -> str:
        """A claim's id; with the topic's name before it where another topic's claims stand on a page."""
        alone = len({other for _, other, _ in self.blocks}) == 1
        return name if alone or self.path == f"{topic}.md" else f"{topic.rpartition('/')[2]}-{name}"

    def _refused_at(self, topic: str, name: str) -> str:
        """The address of the box of a claim that was refused: on this page or on its topic's; "" where there is neither."""
        for opening, of, _ in self.blocks:
            if of == topic and opening.line in self.refused and name in (one["id"] for one in self.refused[opening.line].claims):
                return f"#{self.anchor(topic, name)}"
        there = self.path != f"{topic}.md" and (self.source.docs / f"{topic}.md").is_file()
        return self._link(name, topic) if there else ""

    def _link(self, use: str, topic: str) -> str:
        """The address of a claim that another one uses: on this page if it is shown here, else on its own."""
        used, name = used_by(topic, use)
        if (used, name) in self.numbers():
            return f"#{self.anchor(used, name)}"
        return f"{self.ways.to(f'{used}.md')}#{name}"

    def numbers(self) -> dict[tuple[str, str], int]:
        """The claims of this page, each by its topic and its id, with the number that it has here."""
        shown = [(topic, claim["id"]) for _, topic, claims in self.blocks for claim in claims]
        return {one: number for number, one in enumerate(shown, start=1)}

    def _named(self, use: str, topic: str) -> str:
        """What a claim that another one uses is called, as HTML: number and title here, the way by its page's title elsewhere."""
        used, name = used_by(topic, use)
        number = self.numbers().get((used, name))
        try:
            title = next((one["title"] for one in self.certificate(used)["claims"] if one["id"] == name), "")
        except CertificateError:  # the page that shows it says so
            title = ""
        called = authored(title) if title else escape(name)
        return f"({number}) {called}" if number else " · ".join(filter(None, (self.ways.heading(f"{used}.md"), called)))
