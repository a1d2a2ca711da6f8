"""Tests of citations: each links to the entry of the bibliography that it names, and each entry is cited."""

import re
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIBLIOGRAPHY = "bibliography.md"
DATED = "errata.md"  # says when a thread was closed and links to it

ENTRY = re.compile(r"^(?P<name>[^\s:].*?) \{ #(?P<key>[\w-]+) \}\n:   (?P<body>(?:.+\n)+)\n    (?P<taken>.+)$", re.M)
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<up>(?:\.\./)*)bibliography\.md(?:#(?P<key>[\w-]+))?\)")
FENCE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)
YEAR = re.compile(r"\b(?:18\d\d|19\d\d|20[0-3]\d)\b")


def pages(root):
    found = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.md"))}
    return found.pop(BIBLIOGRAPHY), found


def entries(bibliography):
    return {match["key"]: match["name"] for match in ENTRY.finditer(bibliography)}


def malformed(bibliography, cited):
    """Return entries without an anchor or without the list of what is taken from them, duplicate keys, and keys with a wrong year."""
    terms = re.findall(r"^(.+)\n:   ", bibliography, flags=re.M)
    keys = [match["key"] for match in ENTRY.finditer(bibliography)]
    whole = {match[0].partition("\n")[0] for match in ENTRY.finditer(bibliography)}
    wrong = [term for term in terms if term not in whole] + [key for key in keys if keys.count(key) > 1]
    return wrong + [
        key
        for key, name in entries(bibliography).items()
        if not key.startswith("source-") and not re.fullmatch(rf".+ \({key[-4:]}\)", name)
    ]


def dangling(bibliography, cited):
    """Return links that lead to no entry, and links that name a year but not exactly their entry."""
    known = entries(bibliography)
    return [
        f"{page}: {link['text']}"
        for page, text in cited.items()
        for link in LINK.finditer(text)
        if link["key"]
        and (link["key"] not in known or (YEAR.search(link["text"]) and known[link["key"]] != " ".join(link["text"].split())))
    ]


def uncited(bibliography, cited):
    """Return the entries that no page cites."""
    used = {link["key"] for text in cited.values() for link in LINK.finditer(text)}
    return sorted(entries(bibliography).keys() - used)


def by_hand(bibliography, cited):
    """Return years outside links to the bibliography: citations without a link."""
    return [f"{page}: {year}" for page, text in cited.items() if page != DATED for year in YEAR.findall(FENCE.sub("", LINK.sub("", text)))]


def unsorted(bibliography, cited):
    """Return the works that stand behind one with a later name. The texts that the site grew out of stand before all works."""
    names = [name for key, name in entries(bibliography).items() if not key.startswith("source-")]
    plain = [unicodedata.normalize("NFKD", name).encode("ascii", "ignore").lower() for name in names]
    return [name for name, one, next_ in zip(names[1:], plain, plain[1:]) if next_ < one]


CHECKS = malformed, dangling, uncited, by_hand, unsorted


@pytest.mark.parametrize("check", CHECKS)
def test_site_has_no_citation_faults(check):
    bibliography, cited = pages(ROOT / "docs")
    assert len(entries(bibliography)) > 40
    assert check(bibliography, cited) == []


GOOD = """# Bibliography

Doe and Roe (1999) { #doe-1999 }
:   J. Doe and R. Roe. *On
    Sums.*

    The sum.

A post { #source-p }
:   A blog post from 2020.

    The idea.
"""
PAGES = {
    "a/b.md": "A sum, in `1999`.\n\n[Doe and\nRoe (1999)](../bibliography.md#doe-1999) add.\n",
    "c.md": "[A post](bibliography.md#source-p)\n",
}


def test_correct_citations_pass():
    assert entries(GOOD) == {"doe-1999": "Doe and Roe (1999)", "source-p": "A post"}
    assert [check(GOOD, PAGES) for check in CHECKS] == [[]] * 5


@pytest.mark.parametrize(
    ("check", "old", "new", "found"),
    [
        (malformed, " { #doe-1999 }", "", ["Doe and Roe (1999)"]),
        (malformed, "\n    The sum.\n", "", ["Doe and Roe (1999) { #doe-1999 }"]),
        (malformed, "#source-p", "#doe-1999", ["doe-1999"] * 3),
        (malformed, "(1999) {", "(1998) {", ["doe-1999"]),
        (dangling, "#doe-1999)", "#doe-1998)", ["a/b.md: Doe and\nRoe (1999)"]),
        (dangling, "Roe (1999)]", "Roe (1998)]", ["a/b.md: Doe and\nRoe (1998)"]),
        (uncited, "[A post](bibliography.md#source-p)", "A post", ["source-p"]),
        (by_hand, "A sum", "A sum (Poe, 2001)", ["a/b.md: 2001"]),
        (unsorted, "# Bibliography\n", "# Bibliography\n\nPoe (2001) { #poe-2001 }\n:   A work.\n\n    An idea.\n", ["Doe and Roe (1999)"]),
        (by_hand, "A sum", "A sum, by [Poe (1899)](../c.md)", ["a/b.md: 1899"]),
    ],
)
def test_planted_fault_is_found(check, old, new, found):
    assert any(old in text for text in [GOOD, *PAGES.values()])
    assert check(GOOD.replace(old, new), {page: text.replace(old, new) for page, text in PAGES.items()}) == found
