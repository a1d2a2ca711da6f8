"""Write the search index of a built site.

Under MkDocs a hook calls this (search_hook.py); with other generators, `python -m derivations finish SITE` does.

A reader's browser fetches the index in parts, and only when a search starts. The first part lists the addresses of pages. For each word of
a query, the browser fetches the one file of an ordered series that contains it, with the places where the word occurs and its scores. For
the places that it shows, it fetches the files of their pages. So a query does not cost more on a larger site.

Libraries that search in the browser's memory fetch the whole index first. Pagefind, which fetches parts, reads formulas as plain text (it
does not find QK^T), and the browser downloads three to four times as much for a first query.
"""

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from ..store import project_files
from ..store.store import Store, digest
from . import formula_text, search_pages, search_weights, tokenizer
from .search_pages import IndexedPage, Record, read_page, without_marks

FOLDER = "search"
SHARD_LENGTH = 24_000  # the approximate size of a file of words, in characters


# Reading pages --------------------------------------------------------------------------------------------------------------------

STORE = Store("search", by_digest=True)  # pages as they were read, by a digest of the address, the HTML, and the modules that read it
_read: dict[str, IndexedPage | None] = {}  # the pages of the last build of this process, by the same digests
_new: set[str] = set()  # the digests of pages that are not stored yet


def read_pages(site: Path) -> list[IndexedPage]:
    """Return all pages of a site. Read only those that changed since this build or an earlier one read them."""
    modules = (sys.modules[__name__], search_pages, search_weights, formula_text, tokenizer)
    readers = [project_files.file_hash(Path(module.__file__ or "")) for module in modules]
    found = {}
    for path in sorted(site.rglob("index.html")):
        url = path.relative_to(site).as_posix().removesuffix("index.html")
        html = path.read_text(encoding="utf-8")
        key = digest(readers, url, html)
        found[key] = _read[key] if key in _read else reuse_or_read(key, html, url)
    _read.clear()
    _read.update(found)
    for page in filter(None, found.values()):
        page.records[0].fields.pop("names", None)
    return [page for page in found.values() if page]


def reuse_or_read(key: str, html: str, url: str) -> IndexedPage | None:
    """Return the stored page with this key; otherwise read it."""
    stored = STORE.get(key)
    if stored is not None:
        return stored["found"] and _page_from_json(stored["found"])
    _new.add(key)
    return read_page(html, url)


def store_pages() -> None:
    """Store the pages that were read and are not stored yet."""
    for key in _new & _read.keys():
        page = _read[key]
        STORE.put(key, {"found": page and asdict(page)})
    _new.clear()
    STORE.prune()


def _page_from_json(page: dict) -> IndexedPage:
    records = [Record(**record | {"weighed": tuple(record["weighed"])}) for record in page["records"]]
    return IndexedPage(page["url"], records, [(names, address) for names, address in page["glossary"]])


# Writing ---------------------------------------------------------------------------------------------------------------------------


def write(site: Path) -> None:
    """Write the index of a built site into it."""
    pages = read_pages(site)
    search_weights.add_glossary_names(pages)
    folder = site / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pages").mkdir(parents=True)
    files = {f"pages/{number}.json": _json(_shown_fields(page)) for number, page in enumerate(pages)}
    first_words, shards = [], list(_split(search_weights.build_postings(pages)))
    store_pages()  # after the words were weighed, since their weights are stored too
    for number, shard in enumerate(shards):
        first_words.append(next(iter(shard)))
        files[f"words{number}.json"] = _json(shard)
    version = hashlib.sha256("".join(files.values()).encode()).hexdigest()[:10]
    files["index.json"] = _json(
        {
            "version": version,
            "rules": tokenizer.RULES,
            "synonyms": tokenizer.find_synonyms(),
            "question": tokenizer.QUESTION_WORDS,
            "pages": [page.url for page in pages],
            "records": [len(page.records) for page in pages],
            "words": first_words,
        }
    )
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shown_fields(page: IndexedPage) -> list[list[str]]:
    """Return what search shows of each record: its kind, anchor, title, text and statement."""
    return [[record.kind, record.anchor, *map(without_marks, (record.title, record.text, record.statement))] for record in page.records]


def _split(postings: dict[str, list[tuple[int, int]]]) -> Iterator[dict[str, list[int]]]:
    """Yield the words in order, in parts of about LENGTH characters."""
    shard: dict[str, list[int]] = {}
    length = 0
    for word, places in postings.items():
        shard[word] = [number for place in places for number in place]
        length += len(word) + 7 * len(places)
        if length > SHARD_LENGTH:
            yield shard
            shard, length = {}, 0
    if shard:
        yield shard
