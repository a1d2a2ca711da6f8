"""What search finds: a built site, read page by page, and the index that a reader's browser asks. Under MkDocs a hook writes it (search_hook.py);
after another generator `python -m derivations finish SITE` does.

The index is made to be asked in parts. Nothing of it is fetched before somebody searches. Then it is a list of the pages' addresses, and for
each word that is typed the one file in which that word lies in order, with the places where it stands and what it weighs there; of the
places that are shown, a page's own file says what to show. So a query costs the same on a site that is many times as large.

No library does this here. Those that search in the browser's memory fetch all of the index first. Pagefind, which asks in parts too, reads
no formulas, and its WebAssembly needs a weaker content policy than the pages have.
"""

import hashlib
import json
import math
import posixpath
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import unescape
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from ..store import project_files
from ..store.store import Store, digest
from . import formula_text, tokenizer

FOLDER = "search"
LENGTH = 24_000  # letters, about, of a file of words
OPEN, CLOSE = "\ue000", "\ue001"  # around a formula in a text that is being read

# What a word weighs where it stands: in a page, in one of its sections, in a claim.
PAGE = {"title": 9, "names": 9, "label": 5, "headings": 3, "lead": 2, "text": 1, "claims": 0.7}
SECTION = {"title": 6, "text": 1, "page": 0.5}
CLAIM = {"title": 6, "statement": 4, "text": 1, "page": 1}
RANKS = {"theorem": 1.0, "claim": 0.85, "routine": 0.7}
TO_CONTRIBUTORS = 0.3  # their pages speak of the examples of others
WITHOUT_THEOREM = 0.7  # a page that lists, beside one that proves
SECTIONS = 0.5
LEAST_RARE = 0.15  # what a word on every page counts for still
MIDDLE = 5.0  # what weighs half of the most that anything can
NAMED = {"softmax", "sqrt", "sum", "partial", "infinity", "rank", "exp", "log", "sin", "cos", "tanh", "var", "max", "min", "abs"}
LONG_NAME = 80  # letters of a name, or of a formula, that are compared
LONGEST = 15  # letters of a product that is looked into
USUAL = (80, 800)  # words of a section or of what is said of a claim, and of a page
FLAT = {"title", "names", "label", "statement", "page"}  # where a word that stands twice says no more


@dataclass
class Record:
    """A place that search leads to: a page, a section, a claim."""

    kind: str
    anchor: str
    title: str
    text: str = ""
    statement: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    prior: float = 1.0
    weighed: tuple[str, dict[str, float]] = ("", {})  # what its words weigh, under these names


@dataclass
class Found:
    """A page with what is on it; the page itself is the first record."""

    url: str
    records: list[Record]
    glossary: list[tuple[str, str]] = field(default_factory=list)  # names, and the addresses that they lead to


# Reading a page ------------------------------------------------------------------------------------------------------------

_ARTICLE = re.compile(r"<article\b.*?</article>", re.DOTALL)
_LABEL = re.compile(r'data-md-component="header-topic">\s*<span class="md-ellipsis">(.*?)</span>', re.DOTALL)
_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
_LOW = re.compile(r"<sub>(\w)</sub>")  # an index in a title
_NOT_READ = re.compile(
    r'<svg\b.*?</svg>|<pre\b.*?</pre>|<a class="headerlink".*?</a>|<details class="claim__witnesses">.*?</details>'
    r'|<span class="claim__script">.*?</span>|<div class="heads".*?</figure>|<wbr ?/?>',
    re.DOTALL,
)
_HEADINGS = ("h2", "h3")
_PIECES = re.compile(f"({OPEN}[^{CLOSE}]*{CLOSE})")
_ASIDE = {"claim", "claim__refused", "whole-file"}  # classes of what is no prose


def read(html: str, url: str) -> Found | None:
    """A page of the finished site; None where there is nothing to read."""
    html = _LOW.sub(r"_\1", html)
    article = _ARTICLE.search(html)
    if not article:
        return None
    markup = _NOT_READ.sub(" ", _MATH.sub(lambda match: f"{OPEN}{_escaped(formula_text.line(match[0]))}{CLOSE}", article[0]))
    body = BeautifulSoup(markup, "html.parser")
    heading = body.h1
    if heading is None:
        return None
    title, label = _text(heading), _LABEL.search(html)
    glossary = list(_glossary(body, url)) if url == "glossary/" else []
    claims = [_claim(section, title) for section in body.find_all("section", class_="claim")]
    for one in body.find_all(lambda one: "data-search-exclude" in one.attrs or not _ASIDE.isdisjoint(one.get("class", ()))):
        one.extract()
    heading.extract()
    sections = list(_sections(body, title, with_terms=url == "glossary/"))
    lead = next((text for one in body.find_all("p") if (text := _text(one))), "")
    page = Record("page", "", title, sections[0].text if sections and not sections[0].anchor else lead)
    page.fields = {
        "title": title,
        "label": " ".join(unescape(re.sub("<[^>]*>", "", label[1])).split()) if label else "",
        "headings": " . ".join(one.title for one in sections if one.anchor),
        "lead": lead,
        "text": " ".join(one.text for one in sections),
        "claims": " . ".join(f"{one.title} {OPEN}{one.statement}{CLOSE}" for one in claims),
    }
    page.prior = 1.0 if any(one.kind == "theorem" for one in claims) else WITHOUT_THEOREM
    records = [page, *(one for one in sections if one.anchor), *claims]
    for record in records if url.startswith("contributing/") else ():
        record.prior *= TO_CONTRIBUTORS
    return Found(url, records, glossary)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(element: Tag) -> str:
    return " ".join(element.get_text(" " if element.name in ("table", "ul", "ol", "dl", "div", "section") else "").split())


def _shown(text: str) -> str:
    """A text without the marks around formulas."""
    return re.sub(f"[{OPEN}{CLOSE}]", "", text)


def _claim(section: Tag, page: str) -> Record:
    """A claim, from the box that shows it."""

    def text(*classes: str) -> str:
        return " ".join(_text(one) for one in section.find_all(class_=classes))

    title, rank = text("claim__title"), section["class"][-1].removeprefix("claim--")
    rows = [_shown(_text(one)) for one in section.find_all(class_=("claim__left", "claim__right"))]
    statement = " ".join(rows)
    kind = "theorem" if rank == "theorem" else text("claim__kind").lower()
    record = Record(kind, section.get("id", ""), title or kind.capitalize(), "", statement, prior=RANKS.get(rank, RANKS["claim"]))
    words = text("claim__reason", "claim__assumptions")
    record.fields = {
        "title": title,
        "statement": f"{OPEN}{statement}{CLOSE}",
        "formula": " ".join(rows[:1] + rows[1:][-1:]),
        "text": words,
        "page": page,
    }
    record.text = words
    return record


def _sections(body: BeautifulSoup, page: str, with_terms: bool = False) -> Iterator[Record]:
    """What stands before the first heading, with no anchor, and then under each; and under each term of a list of definitions."""
    current, texts = Record("section", "", ""), []
    for one in body.find_all(("h2", "h3", "h4", "p", "li", "dt", "dd", "td", "th", "summary", "figcaption")):
        if one.name in _HEADINGS or with_terms and one.name == "dt" and one.get("id"):
            yield _finished(current, texts, page)
            current, texts = Record("section", one.get("id", ""), _text(one), prior=SECTIONS), []
        elif not one.find(("p", "li", "td", "dd")):
            texts.append(_text(one))
    yield _finished(current, texts, page)


def _finished(record: Record, texts: list[str], page: str) -> Record:
    record.text = " ".join(filter(None, texts))
    record.fields = {"title": record.title, "text": record.text, "page": page}
    return record


def _glossary(body: BeautifulSoup, url: str) -> Iterator[tuple[str, str]]:
    """Names, and the page that each leads to."""
    for entry in body.find_all("dd"):
        links = entry.find_all("a")
        if links:
            yield _text(entry.find_previous("dt")), _resolved(url, links[-1]["href"])


def _resolved(url: str, href: str) -> str:
    """The address of a page, from the root, to which a link on another leads."""
    path = posixpath.normpath(posixpath.join(url, href.partition("#")[0].removesuffix("index.html")))
    return "" if path == "." else f"{path}/"


# Weighing words -----------------------------------------------------------------------------------------------------------


def counted(text: str) -> Counter[str]:
    """The words of a text and of its formulas. Of a product each end is a word too, so that a part of it is found by how it begins."""
    found: Counter[str] = Counter()
    for piece in _PIECES.split(text):
        if piece.startswith(OPEN):
            for word in tokenizer.words(tokenizer.folded(piece.strip(OPEN + CLOSE))):
                found.update({word, *_ends(word)})
        else:
            found.update(tokenizer.words(piece))
    return found


def _ends(word: str) -> list[str]:
    return [] if word in NAMED or len(word) > LONGEST else [word[at:] for at in range(1, len(word) - 1)]


def pairs(text: str) -> list[str]:
    """Neighbours as one word, since "layer norm" is also LayerNorm."""
    found = tokenizer.words(re.sub(f"[{OPEN}{CLOSE}]", " ", text))
    return [a + b for a, b in zip(found, found[1:])]


def names_in(title: str) -> list[str]:
    """What a title calls its page: "Rotary position embedding: RoPE" has two names in it, besides itself."""
    return [title, *filter(None, (part.strip() for part in re.split(r"[:,;()?]+", title)))]


def as_name(text: str) -> str:
    """A whole name as one word, which no other text has: who asks for just that means what has this name."""
    return "=" + "".join(tokenizer.words(text))[:LONG_NAME]


def weights(record: Record) -> dict[str, float]:
    """What each word weighs in a record, below one; kept, since its names alone may be other ones later."""
    names = record.fields.get("names", "")
    if not record.weighed[1] or record.weighed[0] != names:
        record.weighed = names, _weights(record)
    return record.weighed[1]


def _weights(record: Record) -> dict[str, float]:
    """A word in a long title weighs less than one in a short, and in a text the tenth time less than the first."""
    of = PAGE if record.kind == "page" else SECTION if record.kind == "section" else CLAIM
    total: dict[str, float] = defaultdict(float)
    for name, text in record.fields.items():
        if name == "names":
            _add_names(total, text.split("\n"))
            continue
        if name == "formula":
            total[as_name(tokenizer.folded(text))] = PAGE["names"]
            continue
        counts = counted(text)
        length = len(text.split())
        long = 0.6 + 0.1 * length if name in FLAT else 0.6 + 0.4 * length / USUAL[record.kind == "page"]
        for word, count in counts.items():
            total[word] += of[name] * (1 if name in FLAT else 1 + math.log(count)) / long
        if name in ("title", "label"):
            for word in pairs(text):
                total[word] += of[name] / long
    if record.kind == "page":
        _add_names(total, names_in(record.fields["title"]))
    elif record.kind != "section":
        total[as_name(_shown(record.title))] = PAGE["names"]
    return {word: weight / (weight + MIDDLE) for word, weight in total.items()}


def _add_names(total: dict[str, float], names: list[str]) -> None:
    for name in names:
        found = tokenizer.words(_shown(name))
        for word in (*found, *pairs(name)):
            total[word] = max(total[word], PAGE["names"] / (0.6 + 0.1 * len(found)))
        total[as_name(_shown(name))] = PAGE["names"]


def postings(pages: list[Found]) -> dict[str, list[tuple[int, int]]]:
    """For each word, in order, the records that have it, by number, with a whole number that says what it weighs there; heaviest first."""
    weighed = [[(weights(record), record.prior) for record in page.records] for page in pages]
    among = Counter(word for page in weighed for word in {word for words, _ in page for word in words})
    rare = {word: 100 * (math.log(1 + (len(pages) - n + 0.5) / (n + 0.5)) + LEAST_RARE) for word, n in among.items()}
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, (words, prior) in enumerate(record for page in weighed for record in page):
        for word, weight in words.items():
            if score := round(weight * rare[word] * prior):
                found[word].append((number, score))
    return {word: sorted(places, key=lambda one: (-one[1], one[0])) for word, places in sorted(found.items())}


def name_pages(pages: list[Found]) -> None:
    """What the glossary calls a page is one of its names."""
    by_url = {page.url: page.records[0] for page in pages}
    for page in pages:
        for names, url in page.glossary:
            if url in by_url:
                name, _, others = names.partition(" (")
                said = [name, *filter(None, others.rstrip(")").split(", "))]
                before = by_url[url].fields.get("names")
                by_url[url].fields["names"] = "\n".join([*([before] if before else []), *said])


# Writing ------------------------------------------------------------------------------------------------------------------

STORE = Store("search", by_digest=True)  # what was read of a page, by a digest of its address, its HTML, and what reads it
_read: dict[str, Found | None] = {}  # the same of the last build of this process
_new: set[str] = set()  # those keys that are not stored yet


def gather(site: Path) -> list[Found]:
    """Return all pages of a site. Read only those that changed since this build or an earlier one read them."""
    readers = [project_files.file_hash(Path(module.__file__ or "")) for module in (sys.modules[__name__], formula_text, tokenizer)]
    found = {}
    for path in sorted(site.rglob("index.html")):
        url = path.relative_to(site).as_posix().removesuffix("index.html")
        html = path.read_text(encoding="utf-8")
        key = digest(readers, url, html)
        found[key] = _read[key] if key in _read else stored_or_read(key, html, url)
    _read.clear()
    _read.update(found)
    for page in filter(None, found.values()):
        page.records[0].fields.pop("names", None)
    return [page for page in found.values() if page]


def stored_or_read(key: str, html: str, url: str) -> Found | None:
    stored = STORE.get(key)
    if stored is not None:
        return stored["found"] and made(stored["found"])
    _new.add(key)
    return read(html, url)


def remember() -> None:
    """Store what was read and is not stored yet."""
    for key in _new & _read.keys():
        page = _read[key]
        STORE.put(key, {"found": page and asdict(page)})
    _new.clear()
    STORE.prune()


def made(page: dict) -> Found:
    records = [Record(**record | {"weighed": tuple(record["weighed"])}) for record in page["records"]]
    return Found(page["url"], records, [(names, address) for names, address in page["glossary"]])


def write(site: Path) -> None:
    """Write the index of a built site into it."""
    pages = gather(site)
    name_pages(pages)
    folder = site / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pages").mkdir(parents=True)
    files = {f"pages/{number}.json": _json(_said(page)) for number, page in enumerate(pages)}
    begins, shards = [], list(_shards(postings(pages)))
    remember()  # with what its words weigh
    for number, shard in enumerate(shards):
        begins.append(next(iter(shard)))
        files[f"words{number}.json"] = _json(shard)
    version = hashlib.sha256("".join(files.values()).encode()).hexdigest()[:10]
    files["index.json"] = _json(
        {
            "version": version,
            "rules": tokenizer.RULES,
            "pages": [page.url for page in pages],
            "records": [len(page.records) for page in pages],
            "words": begins,
        }
    )
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _said(page: Found) -> list[list[str]]:
    """What is shown of each place: its kind, anchor, title, text and statement."""
    return [[one.kind, one.anchor, *map(_shown, (one.title, one.text, one.statement))] for one in page.records]


def _shards(postings: dict[str, list[tuple[int, int]]]) -> Iterator[dict[str, list[int]]]:
    """The words in order, cut where a file is long enough."""
    shard: dict[str, list[int]] = {}
    length = 0
    for word, places in postings.items():
        shard[word] = [number for place in places for number in place]
        length += len(word) + 7 * len(places)
        if length > LENGTH:
            yield shard
            shard, length = {}, 0
    if shard:
        yield shard
