"""Read the pages of a finished site for the search index: their titles, sections and claims, as readers see them."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from bs4 import BeautifulSoup, Tag

from . import formula_text

OPEN, CLOSE = "\ue000", "\ue001"  # around a formula in the text of a page

# Prior weights of records.
RANKS = {"theorem": 1.0, "claim": 0.85, "routine": 0.7}
SECTIONS = 0.5
FOR_CONTRIBUTORS = 0.3  # pages for contributors mention the topics of other pages as examples
WITHOUT_THEOREM = 0.6  # a page that only lists results ranks below one that proves one


@dataclass
class Record:
    """A place that search leads to: a page, a section or a claim."""

    kind: str
    anchor: str
    title: str
    text: str = ""
    statement: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    prior: float = 1.0
    weighed: tuple[str, dict[str, float]] = ("", {})  # the weights of its words, and the names they were computed with


@dataclass
class IndexedPage:
    """A page and the records on it; the first record is the page itself."""

    url: str
    records: list[Record]
    glossary: list[tuple[str, str]] = field(default_factory=list)  # names of concepts, and the addresses of their pages


_ARTICLE = re.compile(r"<article\b.*?</article>", re.DOTALL)
_LABEL = re.compile(r'data-md-component="header-topic">\s*<span class="md-ellipsis">(.*?)</span>', re.DOTALL)
_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
_SUBSCRIPT = re.compile(r"<sub>(\w)</sub>")  # an index in a title
_NOT_READ = re.compile(
    r'<svg\b.*?</svg>|<pre\b.*?</pre>|<a class="headerlink".*?</a>|<details class="claim__witnesses">.*?</details>'
    r'|<span class="claim__script">.*?</span>|<div class="heads".*?</figure>|<wbr ?/?>',
    re.DOTALL,
)
_HEADINGS = ("h2", "h3")
_NO_PROSE = {"claim", "claim__refused", "whole-file"}  # classes of elements that are not prose


def read_page(html: str, url: str) -> IndexedPage | None:
    """Return a page of the finished site; None if it has no article or heading."""
    html = _SUBSCRIPT.sub(r"_\1", html)
    article = _ARTICLE.search(html)
    if not article:
        return None
    markup = _NOT_READ.sub(" ", _MATH.sub(lambda match: f"{OPEN}{_escape(formula_text.to_line(match[0]))}{CLOSE}", article[0]))
    body = BeautifulSoup(markup, "html.parser")
    heading = body.h1
    if heading is None:
        return None
    title, label = _text(heading), _LABEL.search(html)
    glossary = list(_read_glossary(body, url)) if url == "glossary/" else []
    claims = [_read_claim(section, title) for section in body.find_all("section", class_="claim")]
    for element in body.find_all(lambda tag: "data-search-exclude" in tag.attrs or not _NO_PROSE.isdisjoint(tag.get("class", ()))):
        element.extract()
    heading.extract()
    sections = list(_read_sections(body, title, with_terms=url == "glossary/"))
    lead = next((text for paragraph in body.find_all("p") if (text := _text(paragraph))), "")
    page = Record("page", "", title, sections[0].text if sections and not sections[0].anchor else lead)
    page.fields = {
        "title": title,
        "label": " ".join(unescape(re.sub("<[^>]*>", "", label[1])).split()) if label else "",
        "headings": " . ".join(section.title for section in sections if section.anchor),
        "lead": lead,
        "text": " ".join(section.text for section in sections),
        "claims": " . ".join(f"{claim.title} {OPEN}{claim.statement}{CLOSE}" for claim in claims),
    }
    page.prior = 1.0 if any(claim.kind == "theorem" for claim in claims) else WITHOUT_THEOREM
    records = [page, *(section for section in sections if section.anchor), *claims]
    for record in records if url.startswith("contributing/") else ():
        record.prior *= FOR_CONTRIBUTORS
    return IndexedPage(url, records, glossary)


def without_marks(text: str) -> str:
    """Return a text without the marks around formulas."""
    return re.sub(f"[{OPEN}{CLOSE}]", "", text)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(element: Tag) -> str:
    return " ".join(element.get_text(" " if element.name in ("table", "ul", "ol", "dl", "div", "section") else "").split())


def _read_claim(section: Tag, page: str) -> Record:
    """Return the record of a claim, from its section. `page` is the title of the page."""

    def text(*classes: str) -> str:
        return " ".join(_text(element) for element in section.find_all(class_=classes))

    title, rank = text("claim__title"), section["class"][-1].removeprefix("claim--")
    rows = [without_marks(_text(row)) for row in section.find_all(class_=("claim__left", "claim__right"))]
    statement = " ".join(rows)
    kind = "theorem" if rank == "theorem" else text("claim__kind").lower()
    words = text("claim__reason", "claim__assumptions")
    record = Record(kind, str(section.get("id", "")), title or kind.capitalize(), words, statement, prior=RANKS.get(rank, RANKS["claim"]))
    record.fields = {
        "title": title,
        "statement": f"{OPEN}{statement}{CLOSE}",
        "formula": " ".join(rows[:1] + rows[1:][-1:]),
        "text": words,
        "page": page,
    }
    return record


def _read_sections(body: BeautifulSoup, page: str, with_terms: bool = False) -> Iterator[Record]:
    """Yield the text before the first heading, with an empty anchor, then each section; with `with_terms`, also the terms of lists."""
    current = Record("section", "", "")
    texts: list[str] = []
    names: list[str] = []  # of functions and classes
    for element in body.find_all(("h2", "h3", "h4", "p", "li", "dt", "dd", "td", "th", "summary", "figcaption")):
        if element.name in _HEADINGS or with_terms and element.name == "dt" and element.get("id"):
            yield _complete_section(current, texts, names, page)
            current, texts, names = Record("section", str(element.get("id", "")), _text(element), prior=SECTIONS), [], []
        elif not element.find(("p", "li", "td", "dd")):
            texts.append(_text(element))
            if element.name == "dt" and str(element.get("id", "")).startswith("snippets."):
                names.append(str(element["id"]).rpartition(".")[2])
    yield _complete_section(current, texts, names, page)


def _complete_section(record: Record, texts: list[str], names: list[str], page: str) -> Record:
    record.text = " ".join(filter(None, texts))
    record.fields = {"title": record.title, "text": record.text, "page": page} | ({"names": "\n".join(names)} if names else {})
    return record


def _read_glossary(body: BeautifulSoup, url: str) -> Iterator[tuple[str, str]]:
    """Yield the terms of the glossary, each with the address of the page that its entry links to last."""
    for entry in body.find_all("dd"):
        links = entry.find_all("a")
        term = entry.find_previous("dt")
        if links and term:
            yield _text(term), _resolve(url, str(links[-1]["href"]))


def _resolve(url: str, href: str) -> str:
    """Return the address, from the root of the site, of the page that a link on another page leads to."""
    path = posixpath.normpath(posixpath.join(url, href.partition("#")[0].removesuffix("index.html")))
    return "" if path == "." else f"{path}/"
