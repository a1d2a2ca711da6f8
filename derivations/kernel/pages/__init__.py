r"""The Markdown extension that puts claims on pages.

    /// derivation | scaling/variance            every claim of a topic
    ///

    /// claim | scaling/variance#mean            one of them
    ///

    /// trust | kinds                            a table of the trust page
    ///

    /// sources | U                              a group of rows of docs/sources.toml, with the claims that hold them
    ///

    /// journey | scaling/variance#mean record   what one station made of a claim, for the page that follows one
    ///

    /// api | scaling                           what the snippets of a chapter offer, from their docstrings
    ///

    /// figure | scaling/variance:widths         a picture, drawn by a function of docs/figures/scaling/variance.py
    Its caption.
    ///

It reads certificates and never runs a proof, and it is an extension of Python-Markdown and nothing else, so that any
generator built on that renders the same pages. (Zensical keeps pages it rendered and does not look at certificates again:
build with `zensical build --clean`.) Mathematics in a page's own text is written `$...$` and may name things
only; a relation typed by hand stops the build, wherever it stands outside code. (In a code span `a = b` is allowed:
there it is code.)

Options in mkdocs.yml: `docs`, the folder of the pages; `repository`, the address that links to scripts begin with.

May import: `run` and `printing`. Begin with `claims.py`, which shows a certificate's claim; the class Page below is one page on its way.
"""

import posixpath
import re
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
from .api import ApiError, api
from .claims import ClaimError, render
from .figures import FigureError, figure
from .journey import PARTS, JourneyError
from .maths import MathsError, notation, relation_in
from .rows import RowsError, rows, table
from .source import Opening, PageError, Source
from .trust import TABLES

__all__ = ["PageError", "PagesExtension", "Prose", "Source", "makeExtension"]

ROOT = Path(__file__).resolve().parents[3]

_TOPIC = re.compile(r"([a-z0-9_-]+/[a-z0-9_-]+)(?:#([\w-]+))?")
_CODE = re.compile(r"<pre\b[^>]*>.*?</pre>", re.DOTALL)  # much of a page, and read faster by not reading it
_TOKEN = re.compile("\x02certified(\\d+)\x03")


class Page:
    """One page on its way through Markdown: its source, what is shown on it, and finished HTML held back."""

    def __init__(self, source: Source, repository: str = ""):
        self.source = source
        self.repository = repository
        self.pieces: list[str] = []
        self.certificates: dict[str, dict] = {}
        self.blocks: list[tuple[Opening, str, list[dict]]] = []
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

    def show(self, parent: Element, name: str, argument: str) -> Element:
        """Append the claims of one block to the tree, numbered on from the last."""
        box = SubElement(parent, "div", {"class": "claims"})
        found = [block for block in self.blocks if (block[0].name, block[0].argument) == (name, argument)]
        if not found:
            raise self.source.error(0, f"the block '{name} | {argument}' must stand on the page itself, not in an include")
        opening, topic, claims = found[0]
        for claim in claims:
            self.number += 1
            try:
                render(
                    claim,
                    box,
                    stash=self.stash,
                    number=self.number,
                    anchor=self._anchor(topic, claim["id"]),
                    script=self.certificates[topic]["script"],
                    repository=self.repository,
                    link=lambda use, topic=topic: self._link(use, topic),
                    file=self._file,
                )
            except ClaimError as error:
                raise self.source.error(opening.line, f"{topic}#{claim['id']} cannot be shown: {error}") from None
        return box

    def count(self, parent: Element, name: str) -> Element:
        """Append one of the trust page's tables, with the command that makes its numbers again."""
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

    def follow(self, parent: Element, argument: str) -> Element:
        """Append what one station made of a claim."""
        line = self.source.line_of(f"/// journey | {argument}")
        name, _, part = argument.partition(" ")
        match = _TOPIC.fullmatch(name)
        if not match or not match[2] or part not in PARTS:
            expected = f"expected '/// journey | chapter/topic#id PART' with a part of {', '.join(PARTS)}"
            raise self.source.error(line, f"{expected}, found {argument!r}")
        try:
            certificate = self._certificate(match[1])
            claims = [claim for claim in certificate["claims"] if claim["id"] == match[2]]
            if not claims:
                raise JourneyError(f"{match[1]} has no claim {match[2]!r}")
            html = PARTS[part](certificate, claims[0], self._source_link)
        except (JourneyError, CertificateError) as error:
            raise self.source.error(line, " ".join(str(error).split())) from None
        box = SubElement(parent, "div", {"class": "trust"})
        box.text = self.stash(html)
        return box

    def _source_link(self, name: str) -> str:
        """A file of the project by its path; a link, where it is said where sources are."""
        shown = f"<code>{escape(name)}</code>"
        return f"<a href='{escape(self.repository.rstrip('/'))}/blob/main/{escape(name)}'>{shown}</a>" if self.repository else shown

    def list_sources(self, parent: Element, group: str) -> Element:
        """Append the table of a group of rows, each with links to the claims that hold it."""
        line = self.source.line_of(f"/// sources | {group}".rstrip())
        path, _ = self.source.file()
        folder = posixpath.dirname(path.relative_to(self.source.docs).as_posix()) if path else ""
        try:
            chosen = rows(self.source.docs, group)
            for row in chosen:
                self._refuse_unknown(row)
            return table(parent, chosen, self.source.docs, folder or ".")
        except (RowsError, CertificateError) as error:
            raise self.source.error(line, " ".join(str(error).split())) from None

    def list_snippets(self, parent: Element, chapter: str) -> Element:
        """Append what the snippets of a chapter offer."""
        path, _ = self.source.file()
        here = path.relative_to(self.source.docs).with_suffix("").as_posix() if path else "."
        try:
            html = api(ROOT, self.source.docs, chapter, here)
        except ApiError as error:
            raise self.source.error(self.source.line_of(f"/// api | {chapter}", "/// api"), str(error)) from None
        box = SubElement(parent, "div")
        box.text = self.stash(html)
        return box

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
        if topic not in self.certificates:
            self.certificates[topic] = load(topic)
        return self.certificates[topic]

    def _read(self, opening: Opening) -> tuple[str, list[dict]]:
        """The topic and the claims that a block asks for."""
        wanted = "chapter/topic#id" if opening.name == "claim" else "chapter/topic"
        match = _TOPIC.fullmatch(opening.argument)
        if not match or bool(match[2]) != (opening.name == "claim"):
            found = repr(opening.argument) if opening.argument else "nothing"
            raise self.source.error(opening.line, f"expected '/// {opening.name} | {wanted}', found {found}")
        topic, name = match.groups()
        try:
            claims = self._certificate(topic)["claims"]
        except CertificateError as error:
            raise self.source.error(opening.line, f"{topic} cannot be shown: {' '.join(str(error).split())}") from None
        chosen = [claim for claim in claims if name in (None, claim["id"])]
        if not chosen:
            names = ", ".join(claim["id"] for claim in claims)
            raise self.source.error(opening.line, f"{topic} has no claim {name!r}; it has {names}")
        return topic, chosen

    def _refuse_twice(self) -> None:
        seen = {}
        for opening, topic, claims in self.blocks:
            for claim in claims:
                anchor = self._anchor(topic, claim["id"])
                if anchor in seen:
                    raise self.source.error(
                        opening.line, f"{topic}#{claim['id']} would have the id of the claim shown at line {seen[anchor]}"
                    )
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
        self.extension.page = Page(Source("\n".join(lines), docs), self.extension.getConfig("repository"))
        return lines


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
            raise page.source.error(page.source.line_of(match[0]), str(error)) from None


class _Refused(InlineProcessor):
    r"""Display mathematics by hand: `$$`, `\(` and `\[`."""

    def __init__(self, md, extension: "PagesExtension"):
        super().__init__(r"\$\$|\\[\[(]", md)
        self.extension = extension

    def handleMatch(self, match, data):
        source = self.extension.page.source
        line = source.line_of(data[match.start() : match.start() + 20].split("\n")[0], match[0])
        raise source.error(line, f"{match[0]} opens mathematics by hand; show a claim, or name something with $...$")


class _Block(Block):
    ARGUMENT = None

    def on_create(self, parent):
        return self.config["extension"].page.show(parent, self.NAME, self.argument or "")


class _DerivationBlock(_Block):
    NAME = "derivation"


class _ClaimBlock(_Block):
    NAME = "claim"


class _TrustBlock(_Block):
    NAME = "trust"

    def on_create(self, parent):
        extension = self.config["extension"]
        return extension.page.count(parent, self.argument or "")


class _JourneyBlock(_Block):
    NAME = "journey"

    def on_create(self, parent):
        return self.config["extension"].page.follow(parent, self.argument or "")


class _SourcesBlock(_Block):
    NAME = "sources"

    def on_create(self, parent):
        return self.config["extension"].page.list_sources(parent, self.argument or "")


class _ApiBlock(_Block):
    NAME = "api"

    def on_create(self, parent):
        return self.config["extension"].page.list_snippets(parent, self.argument or "")


class _FigureBlock(_Block):
    NAME = "figure"

    def on_create(self, parent):
        self.caption = self.config["extension"].page.draw(parent, self.argument or "")
        return parent[-1]

    def on_add(self, block):
        return self.caption

    def on_end(self, block):
        self.config["extension"].page.refuse_without_caption(self.argument, self.caption)


class _Restore(Postprocessor):
    """After everything: refuse relations in what the author wrote, then put the certified HTML in."""

    def __init__(self, md, extension: "PagesExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, text):
        page = self.extension.page
        Prose(page.source).feed(_CODE.sub("", text))
        return page.restore(text)


class Prose(HTMLParser):
    """Reads the page's HTML while claims are still tokens; raises PageError at a relation outside code."""

    CODE = frozenset(("code", "pre", "kbd", "samp", "script", "style", "svg"))

    def __init__(self, source: Source):
        super().__init__(convert_charrefs=True)
        self.source = source
        self.depth = 0

    def handle_starttag(self, tag, attrs):
        self.depth += tag in self.CODE
        if tag == "math":
            raise self.source.error(self.source.line_of("<math"), "<math> by hand; write $...$, or show a claim")
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
            raise self.source.error(line, f"{opening[0].strip()!r} is no block that this page's extensions know")
        sign = relation_in(data)
        if sign:
            at = data.index(sign)
            around = (data[max(0, at - n) : at + n + 1].strip() for n in (20, 10, 5, 2))
            line = self.source.line_of(*(text for text in around if sign in text), sign)
            raise self.source.error(line, f"{sign!r} states a relation in prose; show a claim, or put code in `backticks`")


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
        for block in (_DerivationBlock, _ClaimBlock, _TrustBlock, _JourneyBlock, _SourcesBlock, _ApiBlock, _FigureBlock):
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
