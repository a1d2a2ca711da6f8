r"""The Markdown extension that puts claims on pages.

    /// derivation | scaling/variance            every claim of a topic
    ///

    /// claim | scaling/variance#mean            one of them
    ///

    /// theorem | scaling/variance#scaled        one that is the page's result
    ///

    /// routine | scaling/variance#gap           one that is folded into its name
    ///

    /// trust | kinds                            a table of the trust page
    ///

    /// map                                      how all claims rest on one another, drawn, and as a list (graph_svg.py)
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

    /// figure | softmax/temperature:weights play=temperature    one that a widget plays (widgets.py)

    /// practice                                a box: what to do differently tomorrow
    /// exercise | Its name                     an exercise, with its //// solution folded inside

It reads certificates and never runs a proof, and it is an extension of Python-Markdown and nothing else, so that any
generator built on that renders the same pages. (Zensical keeps pages it rendered and does not look at certificates again:
build with `zensical build --clean`.) Mathematics in a page's own text is written `$...$` and may name things
only; a relation typed by hand stops the build, wherever it stands. (In a code span a keyword may have its value, `dim=-1`: what is more
is a line of code, which is included from a file that runs.) HTML by hand is what Markdown makes as well, or it is refused.

A mistake stops the build with its file and line. Only while `mkdocs serve` runs it is a box in its place instead, and so is a claim
that nothing vouches for just now (page_errors.py, rejected_claims.py).

Code comes by includes of regions of `snippets/`. A region gets the imports that it needs where it stands (code_imports.py), an example
that lacks one is refused, and a page ends with its whole file (full_source.py).

Options in mkdocs.yml: `docs`, the folder of the pages; `repository`, the address that links to scripts begin with.

Each step of a claim opens to what stands behind it, cut from what was checked (step_details.py).

Search is made from the finished site (search_index.py), by any generator: from what readers see, claims with their anchors included.

What a page is made from is noted while it is rendered (page_dependencies.py). From that a server knows which pages a change concerns (incremental_build.py),
and a build which pages it need not render again (page_cache.py).

May import: `run`, `store`, `pytorch` for the names that PyTorch has, and `printing`. Begin with `claim_html.py`, which shows a certificate's claim, then
`page.py`: one page on its way through Markdown.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element

from markdown.extensions.toc import slugify
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from pymdownx.blocks import BlocksExtension
from pymdownx.blocks.block import Block

from ..printing.mathml import MathsError, notation
from ..printing.relation_signs import STRAY, fault_of_code, is_relation, named, proportion_in, relation_in, running_in, stray_in
from . import (
    allowed_html,
    block_handlers,
    claim_lookalikes,
    code_fences,
    course_boxes,
    formula_layout,
    full_source,
    page_errors,
    role_colors,
    snippet_includes,
)
from .front_matter import refuse_front_matter, refuse_stated
from .page import TOKEN, Page, refuse_tokens
from .page_source import PageError, Source

__all__ = ["PageError", "PagesExtension", "Prose", "Source", "makeExtension"]

ROOT = Path(__file__).resolve().parents[3]

_INK = re.compile(r"[^\n]+")
_CODE = re.compile(r"<pre\b[^>]*>.*?</pre>", re.DOTALL)  # much of a page, and read faster by not reading it


class _Read(Preprocessor):
    """Before anything is included or parsed: read the blocks, while lines still have their numbers."""

    def __init__(self, md, extension: "PagesExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, lines):
        docs = ROOT / self.extension.getConfig("docs")
        source, pieces = Source("\n".join(lines), docs), []
        refuse_tokens(source)
        try:
            refuse_stated(source)
        except PageError as error:
            page_errors.tolerate(error)
        while True:
            try:
                self.extension.page = self._page(source, pieces)
                return self._completed(source)
            except PageError as error:
                page_errors.tolerate(error)
                pieces.append(page_errors.box(error.format_message()))
                source = without(source, error, f"\ue000certified{len(pieces) - 1}\ue001")

    def _page(self, source: Source, pieces: list[str]) -> Page:
        refuse_front_matter(source)
        snippet_includes.refuse_unreadable(source)
        snippet_includes.refuse_missing(source, self.md)
        snippets = snippet_includes.preprocessor(self.md)
        code_fences.refuse_by_hand(source, Path(snippets.base_path[0]) if snippets else ROOT)
        return Page(source, self.extension.getConfig("repository"), pieces)

    def _completed(self, source: Source) -> list[str]:
        """The lines, with what the code on the page needs to stand on its own; as they are, where nothing is included."""
        snippets = snippet_includes.preprocessor(self.md)
        return full_source.completed(source, Path(snippets.base_path[0])) if snippets else source.lines


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
            page_errors.tolerate(stopping := page.source.error(page.source.line_of(match[0]), str(error)))
            return page.stash(page_errors.box(stopping.format_message())), match.start(0), match.end(0)


class _Refused(InlineProcessor):
    r"""Display mathematics by hand: `$$`, `\(` and `\[`."""

    def __init__(self, md, extension: "PagesExtension"):
        super().__init__(r"\$\$|\\[\[(]", md)
        self.extension = extension

    def handleMatch(self, match, data):
        source = self.extension.page.source
        line = source.line_of(data[match.start() : match.start() + 20].split("\n")[0], match[0])
        error = source.error(line, f"{match[0]} opens mathematics by hand; show a claim, or name something with $...$")
        page_errors.tolerate(error)
        return self.extension.page.stash(page_errors.box(error.format_message())), match.start(0), match.end(0)


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


class _TheoremBlock(_Block):
    NAME = "theorem"


class _RoutineBlock(_Block):
    NAME = "routine"


class _TrustBlock(_Block):
    NAME = "trust"
    fill = staticmethod(block_handlers.count)


class _JourneyBlock(_Block):
    NAME = "journey"
    fill = staticmethod(block_handlers.follow)


class _MapBlock(_Block):
    NAME = "map"
    fill = staticmethod(block_handlers.chart)


class _SourcesBlock(_Block):
    NAME = "sources"
    fill = staticmethod(block_handlers.list_sources)


class _ApiBlock(_Block):
    NAME = "api"
    fill = staticmethod(block_handlers.list_snippets)


class _FigureBlock(_Block):
    NAME = "figure"

    caption = None  # there is none where the figure was a mistake

    def fill(self, page, parent, argument):
        self.caption = block_handlers.draw(page, parent, argument)
        return parent[-1]

    def on_add(self, block):
        return block if self.caption is None else self.caption

    def on_end(self, block):
        page = self.config["extension"].page
        if self.caption is not None:
            page.place(block, lambda: block_handlers.refuse_without_caption(page, self.argument, self.caption))


class _PracticeBlock(_Block):
    NAME = "practice"
    fill = staticmethod(course_boxes.practice)


class _ExerciseBlock(_Block):
    NAME = "exercise"
    fill = staticmethod(course_boxes.exercise)


class _SolutionBlock(_Block):
    NAME = "solution"
    fill = staticmethod(course_boxes.solution)


class _Terms(Treeprocessor):
    """A term of a list of definitions has an id, so that a link can lead to it: its words up to the first bracket, unless it says one."""

    def run(self, root):
        used = {element.get("id") for element in root.iter()}
        for term in root.iter("dt"):
            name = slugify("".join(term.itertext()).partition(" (")[0], "-")
            if not term.get("id") and name and name not in used and not TOKEN.search(term.text or ""):
                term.set("id", name)
                used.add(name)


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
            text = text[:at] + page_errors.box(error.format_message()) + text[at:]
        return formula_layout.with_their_signs(role_colors.coloured(page.restore(full_source.touched(text, page.source))))


def _blank(match: re.Match) -> str:
    """As much white space, on as many lines: what follows keeps its place."""
    return _INK.sub(lambda line: " " * len(line[0]), match[0])


class Prose(HTMLParser):
    """Reads the page's HTML while claims are still tokens; raises PageError at a relation, or keeps it with its place."""

    def __init__(self, source: Source):
        super().__init__(convert_charrefs=True)
        self.source = source
        self.depth = 0
        self.mistakes: list[tuple[int, PageError]] = []  # where in the HTML
        self.starts: list[int] = []
        self.code = ""  # the span of code that is being read
        self.last = ""  # what was read before, on the same line
        self.ruled = False  # is the last that was read a rule?
        self.paragraph = ""  # all that was read of one
        self.bold = 0  # where in it what is bold begins
        self.titled = False  # is it a title?
        self.within = 0  # how many lists and tables
        self.listed: list[str] = []  # the paragraphs of a list or a table, which may make one row together

    def feed(self, data):
        self.starts = [0, *(match.end() for match in re.finditer("\n", data))]
        super().feed(data)
        self.close()
        self.end_paragraph()

    def refuse(self, error: PageError) -> None:
        page_errors.tolerate(error)
        line, column = self.getpos()
        self.mistakes.append((self.starts[line - 1] + column, error))

    def handle_starttag(self, tag, attrs):
        self.depth += tag == "code"
        self.last = self.last if tag in allowed_html.WITHIN else ""
        if tag not in claim_lookalikes.WITHIN:
            self.end_paragraph()
            self.within += tag in claim_lookalikes.LISTS
            self.titled = claim_lookalikes.is_title(tag, dict(attrs).get("class") or "")
        elif tag in claim_lookalikes.BOLD:
            self.bold = len(self.paragraph)
        if tag == "hr":
            if self.ruled:
                self.refuse_here("<hr", "two rules with nothing between them, of which a sign is made; write what they part")
            self.ruled = True
        for sign, message in allowed_html.faults(tag, attrs, TOKEN):
            self.refuse_here(sign, message)
        for name, value in attrs:
            if name in allowed_html.READ and value:
                self.handle_prose(value)
                self.refuse_posed(value, bold=True, title=True)

    def handle_comment(self, data):
        self.refuse_here("<!--", "a comment by hand, which not every reader ends where another does; leave it out")

    def handle_decl(self, decl):
        self.refuse_here("<!", "a declaration by hand; leave it out")

    def handle_pi(self, data):
        self.refuse_here("<?", "an instruction by hand; leave it out")

    unknown_decl = handle_decl

    def handle_endtag(self, tag):
        self.last = self.last if tag in allowed_html.WITHIN else ""
        if tag not in claim_lookalikes.WITHIN:
            self.end_paragraph()
            if tag in claim_lookalikes.LISTS:
                self.end_list()
        elif tag in claim_lookalikes.BOLD and self.refuse_posed(
            self.paragraph[self.bold :], bold=True, title=not self.paragraph[: self.bold].strip()
        ):
            self.paragraph = ""
        if tag == "code" and self.depth:
            self.depth -= 1
            if not self.depth:
                self.refuse_code()

    def end_paragraph(self) -> None:
        self.refuse_posed(self.paragraph, bold=self.titled, title=self.titled)
        if self.within:
            self.listed.append(self.paragraph.strip())
        self.paragraph, self.titled = "", False

    def end_list(self) -> None:
        self.within = max(0, self.within - 1)
        if not self.within:
            self.refuse_posed(" · ".join(filter(None, self.listed)))
            self.listed = []

    def refuse_posed(self, text: str, bold: bool = False, title: bool = False) -> bool:
        posed = claim_lookalikes.poses(text, bold, title)
        if posed:
            line = self.source.line_of(posed, *text.strip().split("\n")[:1], posed.split()[0])
            self.refuse(
                self.source.error(line, f"{posed!r} looks like a claim, and no witness stands behind it; show one, or say it in a sentence")
            )
        return bool(posed)

    def refuse_here(self, sign: str, message: str) -> None:
        self.refuse(self.source.error(self.source.line_of(sign), message))

    def refuse_code(self) -> None:
        code, self.code = TOKEN.sub("", self.code), ""
        if fault := fault_of_code(code):
            says = f"`{code}` {fault}, and no test runs it; show a claim, include the line of a file, or say it in words"
            self.refuse(self.source.error(self.source.line_of(f"`{code}`", code), says))

    def handle_data(self, data):
        self.ruled = self.ruled and not data.strip()
        self.paragraph += TOKEN.sub("", data)
        if self.depth:
            self.code += data
            return
        self.handle_prose(data)

    def handle_prose(self, data):
        opening = re.search(r"(?m)^\s*/{3,}.*$", data)
        if opening:
            line = self.source.line_of(opening[0].strip())
            self.refuse(self.source.error(line, f"{opening[0].strip()!r} is no block that this page's extensions know"))
        running = proportion_in(TOKEN.sub("x", data))
        data = TOKEN.sub("", data)
        running = running_in(data) or running_in(self.last + data) or running
        if sign := relation_in(data) or running or stray_in(data):
            at = max(0, data.find(sign))
            around = (data[max(0, at - n) : at + n + 1].strip() for n in (20, 10, 5, 2))
            line = self.source.line_of(*(text for text in around if sign in text), sign)
            says = f"{sign!r} states a relation in prose" if running or is_relation(sign) else f"{named(sign)} {STRAY}"
            self.refuse(self.source.error(line, f"{says}; show a claim, or put code in `backticks`"))
        self.last = data.rstrip()[-1:] or self.last


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
        for block in _Block.__subclasses__():
            block_mgr.register(block, {"extension": self})
        # First of all, before snippets are included.
        md.preprocessors.register(_Read(md, self), "claims-read", 200)
        # After code spans (190), before backslash escapes (180).
        md.inlinePatterns.register(_Notation(md, self), "claims-notation", 186)
        md.inlinePatterns.register(_Refused(md, self), "claims-refused", 185)
        md.ESCAPED_CHARS.append("$")
        # Code on a page is included in a fence; an indented block would be a way around that.
        md.parser.blockprocessors.deregister("code")
        # After inline text and attributes are read (20, 8), and the contents have taken their ids (5).
        md.treeprocessors.register(_Terms(md), "terms", 4)
        # Last of all, when raw HTML is back in place.
        md.postprocessors.register(_Restore(md, self), "claims-restore", -100)


def makeExtension(**options):
    """What Python-Markdown calls."""
    return PagesExtension(**options)
