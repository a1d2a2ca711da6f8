r"""The Python-Markdown extension that puts claims, figures and notation on pages.

    /// derivation | scaling/variance            every claim of a topic
    ///

    /// claim | scaling/variance#mean            one claim
    ///

    /// theorem | scaling/variance#scaled        a claim that is the page's result
    ///

    /// routine | scaling/variance#gap           a claim that is folded; its title opens it
    ///

    /// trust | kinds                            a table of the trust page
    ///

    /// map                                      the graph of all claims and their uses, as a picture and as a list (graph_svg.py)
    ///

    /// sources | U                              a group of rows of docs/sources.toml, with the claims that support them
    ///

    /// journey | scaling/variance#mean record   the data of one claim at one stage, from its script to its certificate (claim_journey.py)
    ///

    /// api | scaling                            the snippets of a chapter, from their docstrings; without a chapter, a list of all
    ///

    /// figure | scaling/variance:widths         a picture, drawn by a function of docs/figures/scaling/variance.py
    Its caption.
    ///

    /// figure | softmax/temperature:weights play=temperature    a picture that a widget replaces (figure_widgets.py)

    /// sentence                                 what to say above the form for a sentence of the reader's own (model_files.py)
    ///

    /// practice                                 a box with practical advice
    /// exercise | Its name                      an exercise, with its //// solution folded inside

    //// answer | scaling/variance#mean          in an exercise: what to type as the answer, which the browser compares with the claim's last
    What the reader should type.                 expression (`#mean left`, `#mean step 2`: another one; of a refutation: a counterexample)
    ////

Mathematics in a page's own text is written `$...$` and may only name things: a relation typed by hand stops the build wherever it occurs.
A code span may contain a keyword with its value (`dim=-1`); longer code is included from a file that is tested. HTML typed by hand must be
HTML that Markdown could have produced.

Options in mkdocs.yml: `docs`, the folder of the pages; `repository`, the base address of links to scripts.
"""

import re
from pathlib import Path
from re import Match
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions.toc import slugify
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from pymdownx.blocks import BlocksExtension
from pymdownx.blocks.block import Block

from ..printing.mathml import MathsError, render_notation
from ..store.project_files import ROOT
from . import block_handlers, code_fence_lint, course_boxes, formula_layout, full_source, include_errors, page_errors, role_classes
from .front_matter import check_front_matter, check_front_matter_text
from .page import TOKEN, Page, reject_token_characters
from .page_source import PageError, Source
from .prose_checker import ProseChecker

# A heading's link to itself is hidden from those who hear the page, since its sign would be read with the heading.
HIDDEN_HEADING_LINK = ('title="Permanent link"', 'title="Permanent link" aria-hidden="true" tabindex="-1"')

_LINE_TEXT = re.compile(r"[^\n]+")
_CODE = re.compile(r"<pre\b[^>]*>.*?</pre>", re.DOTALL)  # much of a page is code; blanking it is faster than parsing it


class _PageReader(Preprocessor):
    """Reads the blocks of a page before anything is included or parsed, while lines still have their numbers."""

    def __init__(self, md: Markdown, extension: "PagesExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of the page, completed. A tolerated mistake is replaced by a box, and the page is read again without it."""
        source = Source("\n".join(lines), ROOT / self.extension.getConfig("docs"))
        pieces: list[str] = []
        reject_token_characters(source)
        try:
            check_front_matter_text(source)
        except PageError as error:
            page_errors.raise_or_report(error)
        while True:
            try:
                self.extension.page = self._read(source, pieces)
                return self._complete(source)
            except PageError as error:
                page_errors.raise_or_report(error)
                pieces.append(page_errors.render_box(error.format_message()))
                source = _replace_mistake(source, error, f"\ue000certified{len(pieces) - 1}\ue001")

    def _read(self, source: Source, pieces: list[str]) -> Page:
        check_front_matter(source)
        include_errors.reject_invalid_utf8(source)
        include_errors.reject_missing_includes(source, self.md)
        snippets = include_errors.find_preprocessor(self.md)
        code_fence_lint.reject_fence_faults(source, Path(snippets.base_path[0]) if snippets else ROOT)
        return Page(source, self.extension.getConfig("repository"), pieces)

    def _complete(self, source: Source) -> list[str]:
        """Return the lines with the imports and whole files that the page's code needs; unchanged if includes are not enabled."""
        snippets = include_errors.find_preprocessor(self.md)
        return full_source.add_imports_and_sources(source, Path(snippets.base_path[0])) if snippets else source.lines


def _replace_mistake(source: Source, error: PageError, replacement: str) -> Source:
    """Return the page with `replacement` at the lines of the mistake, or at the code fence around them, keeping the number of lines.

    Raise the error if it concerns the whole page or if these lines were replaced before.
    """
    first, last = (error.span[0] and source.fence_around(error.span[0])) or error.span
    replaced = source.lines[first - 1 : last]
    if not first or replacement[:2] in "".join(replaced):
        raise error
    indent = replaced[0][: len(replaced[0]) - len(replaced[0].lstrip())]
    return source.with_lines([*source.lines[: first - 1], indent + replacement, *[""] * (len(replaced) - 1), *source.lines[last:]])


class _PercentPattern(InlineProcessor):
    """Keeps a number and its percent sign on one line, by a space that does not break."""

    def handleMatch(self, match: Match[str], data: str) -> tuple[str, int, int]:
        return "\u00a0", match.start(0), match.end(0)


class _NotationPattern(InlineProcessor):
    """Turns `$...$`, the name of something, into MathML."""

    def __init__(self, md: Markdown, extension: "PagesExtension"):
        # As in Pandoc, the dollars touch what they enclose and no digit follows, so that $5 or $10 is money.
        super().__init__(r"(?<![\\$])\$(?![\s$])((?:\\.|[^$\\])+?)(?<!\s)\$(?![\d$])", md)
        self.extension = extension

    def handleMatch(self, match: Match[str], data: str) -> tuple[str, int, int]:
        page = self.extension.page
        try:
            return page.stash(render_notation(match[1])), match.start(0), match.end(0)
        except MathsError as error:
            token = self.extension.report(page.source.error(page.source.line_of(match[0]), str(error)))
            return token, match.start(0), match.end(0)


class _TypedMathsPattern(InlineProcessor):
    r"""Rejects display mathematics typed by hand: `$$`, `\(` and `\[`."""

    def __init__(self, md: Markdown, extension: "PagesExtension"):
        super().__init__(r"\$\$|\\[\[(]", md)
        self.extension = extension

    def handleMatch(self, match: Match[str], data: str) -> tuple[str, int, int]:
        source = self.extension.page.source
        line = source.line_of(data[match.start() : match.start() + 20].split("\n")[0], match[0])
        error = source.error(line, f"{match[0]} opens mathematics that is typed by hand; show a claim, or name something with $...$")
        return self.extension.report(error), match.start(0), match.end(0)


class _Block(Block):
    """A block of a page. A subclass gives its name; one that shows something other than claims also gives the function `fill`."""

    ARGUMENT = None

    def on_create(self, parent: Element) -> Element:
        page: Page = self.config["extension"].page
        return page.append(parent, lambda: self.fill(page, parent, self.argument or ""))

    def fill(self, page: Page, parent: Element, argument: str, /) -> Element:
        return page.append_claims(parent, self.NAME, argument)


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
    fill = staticmethod(block_handlers.add_trust_table)


class _JourneyBlock(_Block):
    NAME = "journey"
    fill = staticmethod(block_handlers.add_journey)


class _MapBlock(_Block):
    NAME = "map"
    fill = staticmethod(block_handlers.add_map)


class _SourcesBlock(_Block):
    NAME = "sources"
    fill = staticmethod(block_handlers.add_sources)


class _ApiBlock(_Block):
    NAME = "api"
    fill = staticmethod(block_handlers.add_api)


class _FigureBlock(_Block):
    NAME = "figure"

    caption: Element | None = None  # None if the figure was a mistake

    def fill(self, page: Page, parent: Element, argument: str, /) -> Element:
        self.caption = block_handlers.add_figure(page, parent, argument)
        return parent[-1]

    def on_add(self, block: Element) -> Element:
        return block if self.caption is None else self.caption

    def on_end(self, block: Element) -> None:
        page: Page = self.config["extension"].page
        if (caption := self.caption) is not None:
            page.append(block, lambda: block_handlers.check_caption(page, self.argument, caption))


class _SentenceBlock(_Block):
    NAME = "sentence"

    box: Element | None = None  # None if the block was a mistake

    def fill(self, page: Page, parent: Element, argument: str, /) -> Element:
        self.box = block_handlers.add_sentence(page, parent, argument)
        return self.box

    def on_end(self, block: Element) -> None:
        page: Page = self.config["extension"].page
        if (box := self.box) is not None:
            page.append(box, lambda: block_handlers.finish_sentence(page, box))
            form = box[-1]
            box.remove(form)
            box.insert(1, form)  # after the first paragraph; the rest of the text is read by few


class _PracticeBlock(_Block):
    NAME = "practice"
    fill = staticmethod(course_boxes.append_practice)


class _ExerciseBlock(_Block):
    NAME = "exercise"
    fill = staticmethod(course_boxes.append_exercise)


class _AnswerBlock(_Block):
    NAME = "answer"
    fill = staticmethod(course_boxes.append_answer)


class _SolutionBlock(_Block):
    NAME = "solution"
    fill = staticmethod(course_boxes.append_solution)


class _TermIds(Treeprocessor):
    """Gives each term of a definition list an id for links, its words up to the first bracket, unless the author gave one."""

    def run(self, root: Element) -> None:
        used = {element.get("id") for element in root.iter()}
        for term in root.iter("dt"):
            name = slugify("".join(term.itertext()).partition(" (")[0], "-")
            if not term.get("id") and name and name not in used and not TOKEN.search(term.text or ""):
                term.set("id", name)
                used.add(name)


class _HtmlRestorer(Postprocessor):
    """Rejects relations in the text of the author, then replaces the tokens by the HTML of claims."""

    def __init__(self, md: Markdown, extension: "PagesExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, text: str) -> str:
        page = self.extension.page
        prose = ProseChecker(page.source)
        prose.feed(_CODE.sub(_blank_out, text))
        for at, error in reversed(prose.mistakes):
            text = text[:at] + page_errors.render_box(error.format_message()) + text[at:]
        text = text.replace(*HIDDEN_HEADING_LINK)
        return formula_layout.keep_punctuation(
            role_classes.add_role_classes(page.restore(full_source.finish_code_blocks(text, page.source)))
        )


def _blank_out(match: Match[str]) -> str:
    """Return spaces of the same length and number of lines, so that positions after them do not change."""
    return _LINE_TEXT.sub(lambda line: " " * len(line[0]), match[0])


class PagesExtension(BlocksExtension):
    """Claims, derivations, pictures and notation, for Python-Markdown."""

    def __init__(self, **options: Any):
        self.config = {
            "docs": ["docs", "the folder of the pages, from the repository's root"],
            "repository": ["", "where the repository is browsed; scripts are linked there"],
        }
        self.page = Page(Source("", ROOT))
        super().__init__(**options)

    def report(self, error: PageError) -> str:
        """Raise an error about text in a paragraph, or return a token for the box that shows it."""
        page_errors.raise_or_report(error)
        return self.page.stash(page_errors.render_box(error.format_message()))

    def extendMarkdownBlocks(self, md: Markdown, block_mgr: Any) -> None:
        """Register the blocks and processors; the numbers are priorities, and a higher one runs earlier."""
        for block in _Block.__subclasses__():
            block_mgr.register(block, {"extension": self})
        # First of all, before snippets are included.
        md.preprocessors.register(_PageReader(md, self), "claims-read", 200)
        # After code spans (190), before backslash escapes (180).
        md.inlinePatterns.register(_NotationPattern(md, self), "claims-notation", 186)
        md.inlinePatterns.register(_PercentPattern(r"(?<=\d) (?=%)"), "percent", 20)
        md.inlinePatterns.register(_TypedMathsPattern(md, self), "claims-refused", 185)
        md.ESCAPED_CHARS.append("$")
        # Code on a page is included in a fence; an indented block would be a way around that.
        md.parser.blockprocessors.deregister("code")
        # After inline text and attributes are read (20, 8), and the table of contents has taken its ids (5).
        md.treeprocessors.register(_TermIds(md), "terms", 4)
        # Last of all, when raw HTML is back in place.
        md.postprocessors.register(_HtmlRestorer(md, self), "claims-restore", -100)


def makeExtension(**options: Any) -> PagesExtension:
    """Return the extension; Python-Markdown calls this."""
    return PagesExtension(**options)
