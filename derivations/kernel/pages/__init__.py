r"""The Markdown extension that puts claims on pages.

    /// derivation | scaling/variance            every claim of a topic
    ///

    /// claim | scaling/variance#mean            one of them
    ///

    /// trust | kinds                            a table of the trust page
    ///

    /// sources | U                              a group of rows of docs/sources.toml, with the claims that hold them
    ///

    /// figure | scaling/variance:widths         a picture, drawn by a function of docs/figures/scaling/variance.py
    Its caption.
    ///

It reads certificates and never runs a proof, and it is an extension of Python-Markdown and nothing else, so that any
generator built on that renders the same pages. (Zensical keeps pages it rendered and does not look at certificates again:
build with `zensical build --clean`.) Mathematics in a page's own text is written `$...$` and may name things
only; a relation typed by hand stops the build, wherever it stands outside code. (In a code span `a = b` is allowed:
there it is code.)

A mistake stops the build with its file and line. Only while `mkdocs serve` runs it is a box in its place instead, and so is a claim
that nothing vouches for just now (mistakes.py, refused.py).

Options in mkdocs.yml: `docs`, the folder of the pages; `repository`, the address that links to scripts begin with.
"""

import posixpath
import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.util import AtomicString
from pymdownx.blocks import BlocksExtension
from pymdownx.blocks.block import Block

from ..run.certificates import CertificateError
from ..run.coq_results import load
from . import includes, mistakes, refused, traces
from .claims import ClaimError, render
from .figures import FigureError, figure
from .front import refuse_front_matter
from .maths import MathsError, notation, relation_in
from .rows import RowsError, rows, table
from .source import Opening, PageError, Source
from .trust import TABLES

__all__ = ["PageError", "PagesExtension", "Prose", "Source", "makeExtension"]

ROOT = Path(__file__).resolve().parents[3]

_TOPIC = re.compile(r"([a-z0-9_-]+/[a-z0-9_-]+)(?:#([\w-]+))?")
_INK = re.compile(r"[^\n]+")
_CODE = re.compile(r"<pre\b[^>]*>.*?</pre>", re.DOTALL)  # much of a page, and read faster by not reading it
_TOKEN = re.compile("[\x02\ue000]certified(\\d+)[\x03\ue001]")


class Page:
    """One page on its way through Markdown: its source, what is shown on it, and finished HTML held back."""

    def __init__(self, source: Source, repository: str = "", pieces: list[str] | None = None):
        self.source = source
        self.repository = repository
        self.pieces: list[str] = pieces or []
        self.certificates: dict[str, dict] = {}
        self.blocks: list[tuple[Opening, str, list[dict]]] = []
        self.refused: dict[int, refused.Refused] = {}  # by the line of their block: claims that nothing vouches for, where that is shown
        self.number = 0
        self.figures = 0
        for opening in source.openings():
            if opening.name in ("claim", "derivation"):
                self.blocks.append((opening, *self._read(opening)))
        self.path = None
        if self.blocks:
            path, _ = source.file()
            self.path = path and path.relative_to(source.docs).as_posix()
        self._refuse_twice()

    def stash(self, html: str) -> str:
        """A token that Markdown leaves alone and the last step puts the HTML back for."""
        self.pieces.append(html)
        return AtomicString(f"\x02certified{len(self.pieces) - 1}\x03")

    def restore(self, html: str) -> str:
        return _TOKEN.sub(lambda match: self.pieces[int(match[1])], html)

    def place(self, parent: Element, make: Callable[[], Element]) -> Element:
        """What `make` appends; where that is a mistake, and mistakes are shown, a box instead."""
        before = len(parent)
        try:
            return make()
        except PageError as error:
            mistakes.tolerate(error)
            del parent[before:]
            box = SubElement(parent, "div", {"class": "mistakes"})
            box.text = self.stash(mistakes.box(error.format_message()))
            return box

    def show(self, parent: Element, name: str, argument: str) -> Element:
        """Append the claims of one block to the tree, numbered on from the last."""
        box = SubElement(parent, "div", {"class": "claims"})
        found = [block for block in self.blocks if (block[0].name, block[0].argument) == (name, argument)]
        if not found:
            raise self.source.error(0, f"the block '{name} | {argument}' must stand on the page itself, not in an include")
        opening, topic, claims = found[0]
        if opening.line in self.refused:
            refused.render(self.refused[opening.line], box, self.stash, lambda name: self._anchor(topic, name))
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
                anchor=self._anchor(topic, claim["id"]),
                script=self.certificates[topic]["script"],
                repository=self.repository,
                link=lambda use: self._link(use, topic),
                file=self._file,
            )
        except ClaimError as error:
            raise self.source.error(opening.line, f"{topic}#{claim['id']} cannot be shown: {error}") from None

    def count(self, parent: Element, name: str) -> Element:
        """Append one of the trust page's tables, with the command that makes its numbers again."""
        traces.note("all")
        line = self.source.line_of(f"/// trust | {name}")
        if name not in TABLES:
            raise self.source.error(line, f"expected '/// trust | NAME' with a name of {', '.join(TABLES)}, found {name!r}")
        try:
            head, rows, command = TABLES[name]()
        except CertificateError as error:
            raise self.source.error(line, f"the claims cannot be counted: {' '.join(str(error).split())}") from None

        def cell(text):  # a number leads to the command that counts it again
            return f"<td><a href='#counted-{name}'>{escape(text)}</a></td>" if text[:1].isdigit() else f"<td>{escape(text)}</td>"

        cells = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
        titles = "".join(f"<th>{escape(title)}</th>" for title in head)
        box = SubElement(parent, "div", {"class": "trust"})
        box.text = self.stash(
            f"<table><thead><tr>{titles}</tr></thead><tbody>{cells}</tbody></table>"
            f"<p class='trust__command' id='counted-{name}'>Counted again by <code>{escape(command)}</code></p>"
        )
        return box

    def list_sources(self, parent: Element, group: str) -> Element:
        """Append the table of a group of rows, each with links to the claims that hold it."""
        line = self.source.line_of(f"/// sources | {group}".rstrip())
        traces.note("all", f"file:{self.source.docs / 'sources.toml'}")
        path, _ = self.source.file()
        folder = posixpath.dirname(path.relative_to(self.source.docs).as_posix()) if path else ""
        try:
            chosen = rows(self.source.docs, group)
            for row in chosen:
                self._refuse_unknown(row)
            return table(parent, chosen, self.source.docs, folder or ".")
        except (RowsError, CertificateError) as error:
            raise self.source.error(line, " ".join(str(error).split())) from None

    def _refuse_unknown(self, row: dict) -> None:
        for claim in row["claims"]:
            match = _TOPIC.fullmatch(claim)
            if not match or not match[2] or match[2] not in (one["id"] for one in self._certificate(match[1])["claims"]):
                raise RowsError(f"row {row['id']} names {claim!r}, and there is no such claim")

    def draw(self, parent: Element, name: str) -> Element:
        """Append a figure: its picture, and a place for its caption."""
        self.figures += 1
        try:
            html, identifier = figure(name, self.source.docs, self.figures)
        except FigureError as error:
            about = f"the figure {name}: " if name else ""
            raise self.source.error(self._line_of_figure(name), about + str(error)) from None
        box = SubElement(parent, "figure", {"class": "picture", "id": identifier})
        SubElement(box, "div").text = self.stash(html)
        return SubElement(box, "figcaption")

    def refuse_without_caption(self, name: str, caption: Element) -> None:
        if not "".join(caption.itertext()).strip():
            line = self._line_of_figure(name)
            raise self.source.error(line, f"the figure {name} has no caption; write a sentence before the closing '///'")

    def _line_of_figure(self, name: str) -> int:
        return next((one.line for one in self.source.openings() if (one.name, one.argument) == ("figure", name)), 0)

    def _certificate(self, topic: str) -> dict:
        """The topic's certificate, loaded once for a page."""
        traces.note(f"topic:{topic}")
        if topic not in self.certificates:
            self.certificates[topic] = load(topic)
        return self.certificates[topic]

    def _read(self, opening: Opening) -> tuple[str, list[dict]]:
        """The topic and the claims that a block asks for."""
        wanted = "chapter/topic#id" if opening.name == "claim" else "chapter/topic"
        match = _TOPIC.fullmatch(opening.argument)
        if not match or bool(match[2]) != (opening.name == "claim"):
            found = repr(opening.argument) if opening.argument else "nothing"
            raise self.source.error(opening.line, f"expected '/// {opening.name} | {wanted}', found {found}", opening.end)
        topic, name = match.groups()
        try:
            claims = self._certificate(topic)["claims"]
        except CertificateError as error:
            message = f"{topic} cannot be shown: {' '.join(str(error).split())}"
            mistakes.tolerate(stopping := self.source.error(opening.line, message, opening.end))
            self.refused[opening.line] = refused.of(topic, name, stopping.format_message())
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
                anchor = self._anchor(topic, claim["id"])
                if anchor in seen:
                    message = f"{topic}#{claim['id']} would have the id of the claim shown at line {seen[anchor]}"
                    raise self.source.error(opening.line, message, opening.end)
                seen[anchor] = opening.line

    def _anchor(self, topic: str, name: str) -> str:
        """A claim's id; with the topic's name before it where another topic's claims stand on a page."""
        alone = len({other for _, other, _ in self.blocks}) == 1
        return name if alone or self.path == f"{topic}.md" else f"{topic.rpartition('/')[2]}-{name}"

    def _file(self, name: str, text: str = "") -> str:
        """The way from this page to a file beside the pages, which has to hold the text."""
        path = self.source.docs / name
        if text and not (path.is_file() and path.read_text(encoding="utf-8") == text):
            raise ClaimError(f"{self.source.docs.name}/{name} is not what was checked; run 'python -m derivations coq'")
        return posixpath.relpath(name, posixpath.dirname(self.path or "") or ".")

    def _link(self, use: str, topic: str) -> str:
        """The address of a claim that another one uses: on this page if it is shown here, else on its own."""
        match = _TOPIC.fullmatch(use) or _TOPIC.fullmatch(f"{topic}#{use}")
        if not match or not match[2]:
            raise ClaimError(f"it uses {use!r}, which names no claim")
        used, name = match.groups()
        if any(shown == used and name in (claim["id"] for claim in claims) for _, shown, claims in self.blocks):
            return f"#{self._anchor(used, name)}"
        start = posixpath.dirname(self.path or "") or "."
        return f"{posixpath.relpath(f'{used}.md', start)}#{name}"


class _Read(Preprocessor):
    """Before anything is included or parsed: read the blocks, while lines still have their numbers."""

    def __init__(self, md, extension: "PagesExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, lines):
        docs = ROOT / self.extension.getConfig("docs")
        source, pieces = Source("\n".join(lines), docs), []
        while True:
            try:
                self.extension.page = self._page(source, pieces)
                return source.lines
            except PageError as error:
                mistakes.tolerate(error)
                pieces.append(mistakes.box(error.format_message()))
                source = without(source, error, f"\ue000certified{len(pieces) - 1}\ue001")

    def _page(self, source: Source, pieces: list[str]) -> Page:
        refuse_front_matter(source)
        includes.refuse_unreadable(source)
        includes.refuse_missing(source, self.md)
        return Page(source, self.extension.getConfig("repository"), pieces)


def without(source: Source, error: PageError, instead: str) -> Source:
    """The page with something else where the mistake is. Raises the error where that would help nothing."""
    first, last = (error.span[0] and source.fence_around(error.span[0])) or error.span
    left = source.lines[first - 1 : last]
    if not first or instead[:2] in "".join(left):
        raise error
    indent = left[0][: len(left[0]) - len(left[0].lstrip())]
    return source.changed([*source.lines[: first - 1], indent + instead, *[""] * (len(left) - 1), *source.lines[last:]])


class _Notation(InlineProcessor):
    """`$...$`: a name, as MathML."""

    def __init__(self, md, extension: "PagesExtension"):
        # As in Pandoc, the dollars touch what they enclose and no digit follows, so that $5 or $10 is money.
        super().__init__(r"(?<![\\$])\$(?![\s$])((?:\\.|[^$\\])+?)(?<!\s)\$(?![\d$])", md)
        self.extension = extension

    def handleMatch(self, match, data):
        page = self.extension.page
        try:
            return page.stash(notation(match[1])), match.start(0), match.end(0)
        except MathsError as error:
            mistakes.tolerate(stopping := page.source.error(page.source.line_of(match[0]), str(error)))
            return page.stash(mistakes.box(stopping.format_message())), match.start(0), match.end(0)


class _Refused(InlineProcessor):
    r"""Display mathematics by hand: `$$`, `\(` and `\[`."""

    def __init__(self, md, extension: "PagesExtension"):
        super().__init__(r"\$\$|\\[\[(]", md)
        self.extension = extension

    def handleMatch(self, match, data):
        source = self.extension.page.source
        line = source.line_of(data[match.start() : match.start() + 20].split("\n")[0], match[0])
        error = source.error(line, f"{match[0]} opens mathematics by hand; show a claim, or name something with $...$")
        mistakes.tolerate(error)
        return self.extension.page.stash(mistakes.box(error.format_message())), match.start(0), match.end(0)


class _Block(Block):
    ARGUMENT = None

    def on_create(self, parent):
        page = self.config["extension"].page
        return page.place(parent, lambda: self.fill(page, parent, self.argument or ""))

    def fill(self, page: Page, parent: Element, argument: str) -> Element:
        return page.show(parent, self.NAME, argument)


class _DerivationBlock(_Block):
    NAME = "derivation"


class _ClaimBlock(_Block):
    NAME = "claim"


class _TrustBlock(_Block):
    NAME = "trust"

    def fill(self, page, parent, argument):
        return page.count(parent, argument)


class _SourcesBlock(_Block):
    NAME = "sources"

    def fill(self, page, parent, argument):
        return page.list_sources(parent, argument)


class _FigureBlock(_Block):
    NAME = "figure"

    caption = None  # there is none where the figure was a mistake

    def fill(self, page, parent, argument):
        self.caption = page.draw(parent, argument)
        return parent[-1]

    def on_add(self, block):
        return block if self.caption is None else self.caption

    def on_end(self, block):
        page = self.config["extension"].page
        if self.caption is not None:
            page.place(block, lambda: page.refuse_without_caption(self.argument, self.caption))


class _Restore(Postprocessor):
    """After everything: refuse relations in what the author wrote, then put the certified HTML in."""

    def __init__(self, md, extension: "PagesExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, text):
        page = self.extension.page
        prose = Prose(page.source)
        prose.feed(_CODE.sub(_blank, text))
        for at, error in reversed(prose.mistakes):
            text = text[:at] + mistakes.box(error.format_message()) + text[at:]
        return page.restore(text)


def _blank(match: re.Match) -> str:
    """As much white space, on as many lines: what follows keeps its place."""
    return _INK.sub(lambda line: " " * len(line[0]), match[0])


class Prose(HTMLParser):
    """Reads the page's HTML while claims are still tokens; raises PageError at a relation outside code, or keeps it with its place."""

    CODE = frozenset(("code", "pre", "kbd", "samp", "script", "style", "svg"))

    def __init__(self, source: Source):
        super().__init__(convert_charrefs=True)
        self.source = source
        self.depth = 0
        self.mistakes: list[tuple[int, PageError]] = []  # where in the HTML
        self.starts: list[int] = []

    def feed(self, data):
        self.starts = [0, *(match.end() for match in re.finditer("\n", data))]
        super().feed(data)
        self.close()

    def refuse(self, error: PageError) -> None:
        mistakes.tolerate(error)
        line, column = self.getpos()
        self.mistakes.append((self.starts[line - 1] + column, error))

    def handle_starttag(self, tag, attrs):
        self.depth += tag in self.CODE
        if tag == "math":
            self.refuse(self.source.error(self.source.line_of("<math"), "<math> by hand; write $...$, or show a claim"))
        for name, value in attrs:
            if name in ("alt", "title", "aria-label") and value:
                self.handle_data(value)

    def handle_endtag(self, tag):
        self.depth -= tag in self.CODE and self.depth > 0

    def handle_data(self, data):
        if self.depth:
            return
        opening = re.search(r"(?m)^\s*/{3,}.*$", data)
        if opening:
            line = self.source.line_of(opening[0].strip())
            self.refuse(self.source.error(line, f"{opening[0].strip()!r} is no block that this page's extensions know"))
        sign = relation_in(data)
        if sign:
            at = data.index(sign)
            around = (data[max(0, at - n) : at + n + 1].strip() for n in (20, 10, 5, 2))
            line = self.source.line_of(*(text for text in around if sign in text), sign)
            self.refuse(self.source.error(line, f"{sign!r} states a relation in prose; show a claim, or put code in `backticks`"))


class PagesExtension(BlocksExtension):
    """Claims, derivations, pictures and notation, for Python-Markdown."""

    def __init__(self, **options):
        self.config = {
            "docs": ["docs", "the folder of the pages, from the repository's root"],
            "repository": ["", "where the repository is browsed; scripts are linked there"],
        }
        self.page = Page(Source("", ROOT))
        super().__init__(**options)

    def extendMarkdownBlocks(self, md, block_mgr):
        for block in (_DerivationBlock, _ClaimBlock, _TrustBlock, _SourcesBlock, _FigureBlock):
            block_mgr.register(block, {"extension": self})
        # First of all, before snippets are included.
        md.preprocessors.register(_Read(md, self), "claims-read", 200)
        # After code spans (190), before backslash escapes (180).
        md.inlinePatterns.register(_Notation(md, self), "claims-notation", 186)
        md.inlinePatterns.register(_Refused(md, self), "claims-refused", 185)
        md.ESCAPED_CHARS.append("$")
        # Code on a page is included in a fence; an indented block would be a way around that.
        md.parser.blockprocessors.deregister("code")
        # Last of all, when raw HTML is back in place.
        md.postprocessors.register(_Restore(md, self), "claims-restore", -100)


def makeExtension(**options):
    """What Python-Markdown calls."""
    return PagesExtension(**options)
