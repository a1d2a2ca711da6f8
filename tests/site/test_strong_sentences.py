"""Strong sentences of introductions, practice boxes and the glossary have a basis: a link, or an entry in docs/reviewed_sentences.toml."""

from pathlib import Path

import pytest

from derivations.kernel.site import page_lint
from derivations.kernel.site.page_source import Source
from derivations.kernel.site.strong_sentences import find_faults, find_strong_sentences, read_reviewed
from derivations.kernel.store.project_files import ROOT

PAGES = [path for path in page_lint.read_pages(ROOT) if not {"coq", "sympy"} & set(path.relative_to(ROOT / "docs").parts)]
DOCS = Path("docs")
PAGE = """---
kind: core
---

# Heading with 2 numbers

{intro}

/// theorem | a/b#c
///

## A section

Every sentence here is outside the introduction, and has 3 numbers.

/// practice
{practice}
///
"""


def strong(intro="Plain.", practice="Plain.", name="a/b.md"):
    source = Source(PAGE.format(intro=intro, practice=practice), DOCS, DOCS / name)
    return [(line, sentence, word) for line, sentence, word in find_strong_sentences(source)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT / "docs").as_posix())
def test_strong_sentences_of_a_page_have_a_basis(path):
    assert [str(finding) for finding in page_lint.check_strong_sentences(ROOT, path)] == []


@pytest.mark.parametrize("word", ["never", "Every", "only", "always", "best", "fastest", "because", "Models", "2.67", "99.97 %"])
def test_strong_words_and_numbers_are_found(word):
    sentence = f"It is {word} so."
    assert strong(intro=f"Plain first. {sentence}") == [(7, sentence, word)]
    assert strong(practice=sentence) == [(17, sentence, word)]


@pytest.mark.parametrize(
    "sentence", ["It is [always](#c) so.", "The width $d_2$ and `dim=1` are names.", "It is so.", "Compare GPT-2 with it."]
)
def test_linked_and_weak_sentences_are_not_found(sentence):
    assert strong(intro=sentence, practice=sentence) == []


def test_a_link_supports_its_own_sentence_only():
    assert [sentence for _, sentence, _ in strong(intro="See [here](#c). It is always so.")] == ["It is always so."]


def test_a_reviewed_sentence_needs_no_link_and_an_unused_entry_is_reported():
    source = Source(PAGE.format(intro="It is always so.", practice="Plain."), DOCS, DOCS / "a/b.md")
    entry = {"page": "a/b.md", "text": "It is always so.", "basis": "a test"}
    assert list(find_faults(source, [entry])) == []
    assert list(find_faults(source, [entry | {"page": "a/c.md"}])) != []
    ((line, message),) = find_faults(source, [entry, entry | {"text": "It was so."}])
    assert line == 1 and "delete the entry" in message


def test_reviewed_sentences_have_a_page_a_text_and_a_basis():
    assert all({*entry} == {"page", "text", "basis"} and all(entry.values()) for entry in read_reviewed(ROOT))
