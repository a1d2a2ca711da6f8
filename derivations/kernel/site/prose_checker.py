"""Check the text of a page: its HTML may state no relation, imitate no claim, and contain only allowed elements.

It reads the finished HTML of a page while claims are still tokens, so it does not matter how Markdown was used to write it.
"""

import re
from html.parser import HTMLParser

from ..printing.handwritten_relations import (
    STRAY,
    find_code_fault,
    find_joined_signs,
    find_proportion,
    find_relation_sign,
    find_stray_character,
    is_relation,
    named,
)
from . import allowed_html, claim_lookalikes, page_errors
from .page import TOKEN
from .page_source import PageError, Source


class ProseChecker(HTMLParser):
    """A parser that finds mistakes in the HTML of a page. It raises PageError at the first, or collects them while errors are shown."""

    def __init__(self, source: Source):
        super().__init__(convert_charrefs=True)
        self.source = source
        self.mistakes: list[tuple[int, PageError]] = []  # with their positions in the HTML
        self.line_starts: list[int] = []
        self.code_depth = 0  # how many <code> elements are open
        self.code = ""  # the text of the open code span
        self.previous = ""  # the last character before the current text, on the same line
        self.after_rule = False  # whether the last thing read was an <hr>
        self.paragraph = ""
        self.bold_start = 0  # where bold text begins in the paragraph
        self.in_title = False
        self.list_depth = 0  # how many lists and tables are open
        self.list_paragraphs: list[str] = []  # paragraphs of the outermost list or table, which may together look like one row

    def feed(self, data: str) -> None:
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", data))]
        super().feed(data)
        self.close()
        self.end_paragraph()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.code_depth += tag == "code"
        self.previous = self.previous if tag in allowed_html.INLINE else ""
        if tag not in claim_lookalikes.INLINE:
            self.end_paragraph()
            self.list_depth += tag in claim_lookalikes.LISTS
            self.in_title = claim_lookalikes.is_title(tag, dict(attrs).get("class") or "")
        elif tag in claim_lookalikes.BOLD:
            self.bold_start = len(self.paragraph)
        if tag == "hr":
            if self.after_rule:
                self.reject_sign("<hr", "two horizontal rules with nothing between them look like an equals sign; write text between them")
            self.after_rule = True
        for sign, message in allowed_html.find_faults(tag, attrs, TOKEN):
            self.reject_sign(sign, message)
        for name, value in attrs:
            if name in allowed_html.READ_ATTRIBUTES and value:
                self.check_text(value)
                self.reject_lookalike(value, bold=True, title=True)

    def handle_comment(self, data: str) -> None:
        self.reject_sign("<!--", "HTML comments are not allowed, since browsers and checkers may disagree where one ends; leave it out")

    def handle_decl(self, decl: str) -> None:
        self.reject_sign("<!", "HTML declarations are not allowed; leave it out")

    def handle_pi(self, data: str) -> None:
        self.reject_sign("<?", "processing instructions are not allowed; leave it out")

    def unknown_decl(self, data: str) -> None:
        self.handle_decl(data)

    def handle_endtag(self, tag: str) -> None:
        self.previous = self.previous if tag in allowed_html.INLINE else ""
        if tag not in claim_lookalikes.INLINE:
            self.end_paragraph()
            if tag in claim_lookalikes.LISTS:
                self.end_list()
        elif tag in claim_lookalikes.BOLD and self.reject_lookalike(
            self.paragraph[self.bold_start :], bold=True, title=not self.paragraph[: self.bold_start].strip()
        ):
            self.paragraph = ""
        if tag == "code" and self.code_depth:
            self.code_depth -= 1
            if not self.code_depth:
                self.end_code()

    def handle_data(self, data: str) -> None:
        self.after_rule = self.after_rule and not data.strip()
        self.paragraph += TOKEN.sub("", data)
        if self.code_depth:
            self.code += data
            return
        self.check_text(data)

    def end_paragraph(self) -> None:
        self.reject_lookalike(self.paragraph, bold=self.in_title, title=self.in_title)
        if self.list_depth:
            self.list_paragraphs.append(self.paragraph.strip())
        self.paragraph, self.in_title = "", False

    def end_list(self) -> None:
        self.list_depth = max(0, self.list_depth - 1)
        if not self.list_depth:
            self.reject_lookalike(" · ".join(filter(None, self.list_paragraphs)))
            self.list_paragraphs = []

    def end_code(self) -> None:
        """Reject the code span that ends here if it states a relation or is a line of code."""
        code, self.code = TOKEN.sub("", self.code), ""
        if fault := find_code_fault(code):
            message = f"`{code}` {fault}, and no test runs it; show a claim, include the line from a file, or say it in words"
            self.reject(self.source.error(self.source.line_of(f"`{code}`", code), message))

    def check_text(self, data: str) -> None:
        """Reject text outside code that opens an unknown block, states a relation, or contains a sign that is not plain punctuation."""
        if opening := re.search(r"(?m)^\s*/{3,}.*$", data):
            line = self.source.line_of(opening[0].strip())
            self.reject(self.source.error(line, f"{opening[0].strip()!r} is not a block that this page's extensions know"))
        running = find_proportion(TOKEN.sub("x", data))
        data = TOKEN.sub("", data)
        running = find_joined_signs(data) or find_joined_signs(self.previous + data) or running
        if sign := find_relation_sign(data) or running or find_stray_character(data):
            at = max(0, data.find(sign))
            around = (data[max(0, at - n) : at + n + 1].strip() for n in (20, 10, 5, 2))
            line = self.source.line_of(*(text for text in around if sign in text), sign)
            fault = f"{sign!r} states a relation in prose" if running or is_relation(sign) else f"{named(sign)} {STRAY}"
            self.reject(self.source.error(line, f"{fault}; show a claim, or put code in `backticks`"))
        self.previous = data.rstrip()[-1:] or self.previous

    def reject_lookalike(self, text: str, bold: bool = False, title: bool = False) -> bool:
        """Reject text that looks like a claim, and return whether it does."""
        lookalike = claim_lookalikes.find_lookalike(text, bold, title)
        if lookalike:
            line = self.source.line_of(lookalike, *text.strip().split("\n")[:1], lookalike.split()[0])
            message = f"{lookalike!r} looks like a claim, but no witness checks it; show a claim, or say it in a sentence"
            self.reject(self.source.error(line, message))
        return bool(lookalike)

    def reject_sign(self, sign: str, message: str) -> None:
        """Reject the page at the first line that contains the sign."""
        self.reject(self.source.error(self.source.line_of(sign), message))

    def reject(self, error: PageError) -> None:
        """Raise the error, or record it at the parser's position if errors are tolerated."""
        page_errors.raise_or_report(error)
        line, column = self.getpos()
        self.mistakes.append((self.line_starts[line - 1] + column, error))
