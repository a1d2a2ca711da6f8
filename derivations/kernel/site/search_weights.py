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
MIN_RARITY = 0.15  # the rarity of a word that occurs on every page
HALF_SCORE_WEIGHT = 5.0  # the sum of weights that gives half of the maximal score
FUNCTION_NAMES = {"softmax", "sqrt", "sum", "partial", "infinity", "rank", "exp", "log", "sin", "cos", "tanh", "var", "max", "min", "abs"}
MAX_NAME_LENGTH = 80  # letters of a name or a formula that are compared
MAX_PRODUCT_LENGTH = 15  # letters of a product whose parts are indexed
USUAL_LENGTHS = (80, 800)  # numbers of words in a section or claim, and in a page
FIELDS_WITHOUT_REPETITION = {"title", "names", "label", "statement", "page"}  # fields in which repetition adds no weight

_FORMULAS = re.compile(f"({OPEN}[^{CLOSE}]*{CLOSE})")


def count_words(text: str) -> Counter[str]:
    """Count the words of a text and of its formulas. The ends of a product count as words, so that a prefix search finds its parts."""
    counts: Counter[str] = Counter()
    for piece in _FORMULAS.split(text):
        if piece.startswith(OPEN):
            for word in tokenizer.split_words(tokenizer.fold_formula(piece.strip(OPEN + CLOSE))):
                counts.update({word, *_find_ends(word)})
        else:
            counts.update(tokenizer.split_words(piece))
    return counts


def _find_ends(word: str) -> list[str]:
    return [] if word in FUNCTION_NAMES or len(word) > MAX_PRODUCT_LENGTH else [word[at:] for at in range(1, len(word) - 1)]


def _join_pairs(text: str) -> list[str]:
    """Return neighbouring words as one word, since "layer norm" is also written LayerNorm."""
    words = tokenizer.split_words(re.sub(f"[{OPEN}{CLOSE}]", " ", text))
    return [a + b for a, b in zip(words, words[1:])]


def _split_names(title: str) -> list[str]:
    """Return a title and the names in it: "Rotary position embedding: RoPE" contains two."""
    return [title, *filter(None, (part.strip() for part in re.split(r"[:,;()?]+", title)))]


def _to_name_word(text: str) -> str:
    """Return a whole name as one word that occurs in no text, so that a query for exactly this name ranks its page first."""
    return "=" + "".join(tokenizer.split_words(text))[:MAX_NAME_LENGTH]


def weigh_words(record: Record) -> dict[str, float]:
    """Return the weight of each word in a record, below 1. It is stored in the record, and computed again only if its names change."""
    names = record.fields.get("names", "")
    if not record.weighed[1] or record.weighed[0] != names:
        record.weighed = names, _compute_weights(record)
    return record.weighed[1]


def _compute_weights(record: Record) -> dict[str, float]:
    """Compute the weights. A word weighs less in a long title than in a short one, and each repetition in a text weighs less than the last."""
    of_field = PAGE if record.kind == "page" else SECTION if record.kind == "section" else CLAIM
    total: dict[str, float] = defaultdict(float)
    for name, text in record.fields.items():
        if name == "names":
            _add_names(total, text.split("\n"))
            continue
        if name == "formula":
            total[_to_name_word(tokenizer.fold_formula(text))] = PAGE["names"]
            continue
        length = len(text.split())
        scale = 0.6 + 0.1 * length if name in FIELDS_WITHOUT_REPETITION else 0.6 + 0.4 * length / USUAL_LENGTHS[record.kind == "page"]
        for word, count in count_words(text).items():
            total[word] += of_field[name] * (1 if name in FIELDS_WITHOUT_REPETITION else 1 + math.log(count)) / scale
        if name in ("title", "label"):
            for word in _join_pairs(text):
                total[word] += of_field[name] / scale
    if record.kind == "page":
        _add_names(total, _split_names(record.fields["title"]))
    elif record.kind != "section":
        total[_to_name_word(without_marks(record.title))] = PAGE["names"]
    return {word: weight / (weight + HALF_SCORE_WEIGHT) for word, weight in total.items()}


def _add_names(total: dict[str, float], names: list[str]) -> None:
    for name in names:
        words = tokenizer.split_words(without_marks(name))
        for word in (*words, *_join_pairs(name)):
            total[word] = max(total[word], PAGE["names"] / (0.6 + 0.1 * len(words)))
        total[_to_name_word(without_marks(name))] = PAGE["names"]


def build_postings(pages: list[IndexedPage]) -> dict[str, list[tuple[int, int]]]:
    """Return for each word, in order, pairs of a record's number and the word's score there, an integer; highest scores first."""
    weighed = [[(weigh_words(record), record.prior) for record in page.records] for page in pages]
    page_counts = Counter(word for page in weighed for word in {word for words, _ in page for word in words})
    rarity = {word: 100 * (math.log(1 + (len(pages) - n + 0.5) / (n + 0.5)) + MIN_RARITY) for word, n in page_counts.items()}
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
