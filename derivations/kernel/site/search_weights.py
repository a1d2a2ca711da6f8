"""Weigh the words of pages for search: how much each word counts in a page, a section or a claim."""

import math
import re
from collections import Counter, defaultdict

from . import tokenizer
from .search_pages import CLOSE, OPEN, IndexedPage, Record, without_marks

# The weight of a word by the field it occurs in.
PAGE = {"title": 9, "names": 9, "label": 5, "headings": 3, "lead": 2, "text": 1, "claims": 0.7}
SECTION = {"title": 6, "text": 1, "page": 0.5}
CLAIM = {"title": 6, "statement": 4, "text": 1, "page": 1}
LEAST_RARE = 0.15  # the rarity of a word that is on every page
MIDDLE = 5.0  # the sum of weights that scores half of the maximum
NAMED = {"softmax", "sqrt", "sum", "partial", "infinity", "rank", "exp", "log", "sin", "cos", "tanh", "var", "max", "min", "abs"}
LONG_NAME = 80  # letters of a name or a formula that are compared
LONGEST = 15  # letters of a product whose parts are indexed
USUAL = (80, 800)  # words of a section or claim, and of a page
FLAT = {"title", "names", "label", "statement", "page"}  # fields in which repetition adds no weight

_FORMULAS = re.compile(f"({OPEN}[^{CLOSE}]*{CLOSE})")


def count_words(text: str) -> Counter[str]:
    """Count the words of a text and of its formulas. The ends of a product count as words, so that a prefix search finds its parts."""
    counts: Counter[str] = Counter()
    for piece in _FORMULAS.split(text):
        if piece.startswith(OPEN):
            for word in tokenizer.words(tokenizer.fold_formula(piece.strip(OPEN + CLOSE))):
                counts.update({word, *_ends(word)})
        else:
            counts.update(tokenizer.words(piece))
    return counts


def _ends(word: str) -> list[str]:
    return [] if word in NAMED or len(word) > LONGEST else [word[at:] for at in range(1, len(word) - 1)]


def _pairs(text: str) -> list[str]:
    """Return neighbouring words as one word, since "layer norm" is also written LayerNorm."""
    words = tokenizer.words(re.sub(f"[{OPEN}{CLOSE}]", " ", text))
    return [a + b for a, b in zip(words, words[1:])]


def _names_in(title: str) -> list[str]:
    """Return a title and the names in it: "Rotary position embedding: RoPE" contains two."""
    return [title, *filter(None, (part.strip() for part in re.split(r"[:,;()?]+", title)))]


def _as_name(text: str) -> str:
    """Return a whole name as one word that occurs in no text, so that a query for exactly this name ranks its page first."""
    return "=" + "".join(tokenizer.words(text))[:LONG_NAME]


def weigh(record: Record) -> dict[str, float]:
    """Return the weight of each word in a record, below 1. It is stored in the record, and computed again only if its names change."""
    names = record.fields.get("names", "")
    if not record.weighed[1] or record.weighed[0] != names:
        record.weighed = names, _weigh(record)
    return record.weighed[1]


def _weigh(record: Record) -> dict[str, float]:
    """Compute the weights. A word weighs less in a long title than in a short one, and each repetition in a text weighs less than the last."""
    of_field = PAGE if record.kind == "page" else SECTION if record.kind == "section" else CLAIM
    total: dict[str, float] = defaultdict(float)
    for name, text in record.fields.items():
        if name == "names":
            _add_names(total, text.split("\n"))
            continue
        if name == "formula":
            total[_as_name(tokenizer.fold_formula(text))] = PAGE["names"]
            continue
        length = len(text.split())
        scale = 0.6 + 0.1 * length if name in FLAT else 0.6 + 0.4 * length / USUAL[record.kind == "page"]
        for word, count in count_words(text).items():
            total[word] += of_field[name] * (1 if name in FLAT else 1 + math.log(count)) / scale
        if name in ("title", "label"):
            for word in _pairs(text):
                total[word] += of_field[name] / scale
    if record.kind == "page":
        _add_names(total, _names_in(record.fields["title"]))
    elif record.kind != "section":
        total[_as_name(without_marks(record.title))] = PAGE["names"]
    return {word: weight / (weight + MIDDLE) for word, weight in total.items()}


def _add_names(total: dict[str, float], names: list[str]) -> None:
    for name in names:
        words = tokenizer.words(without_marks(name))
        for word in (*words, *_pairs(name)):
            total[word] = max(total[word], PAGE["names"] / (0.6 + 0.1 * len(words)))
        total[_as_name(without_marks(name))] = PAGE["names"]


def postings(pages: list[IndexedPage]) -> dict[str, list[tuple[int, int]]]:
    """Return for each word, in order, pairs of a record's number and the word's score there, an integer; highest scores first."""
    weighed = [[(weigh(record), record.prior) for record in page.records] for page in pages]
    page_counts = Counter(word for page in weighed for word in {word for words, _ in page for word in words})
    rarity = {word: 100 * (math.log(1 + (len(pages) - n + 0.5) / (n + 0.5)) + LEAST_RARE) for word, n in page_counts.items()}
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, (words, prior) in enumerate(record for page in weighed for record in page):
        for word, weight in words.items():
            if score := round(weight * rarity[word] * prior):
                places[word].append((number, score))
    return {word: sorted(scores, key=lambda pair: (-pair[1], pair[0])) for word, scores in sorted(places.items())}


def add_glossary_names(pages: list[IndexedPage]) -> None:
    """Add to each page the names that the glossary gives it."""
    by_url = {page.url: page.records[0] for page in pages}
    for page in pages:
        for term, url in page.glossary:
            if url in by_url:
                name, _, others = term.partition(" (")
                names = [name, *filter(None, others.rstrip(")").split(", "))]
                before = by_url[url].fields.get("names")
                by_url[url].fields["names"] = "\n".join([*([before] if before else []), *names])
