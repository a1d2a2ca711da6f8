"""Tests of the page of errata: each entry says where, shows a claim, says what is right, and says what became of the statement."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.site.statement_pages import CLAIM, claim_kinds, statements

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
# The patterns are for paragraphs on one line.
WHERE = re.compile(r"Stated in \[[^\]]+\]\(https://(?P<place>[\w.-]+\.[a-z]+/[\w./-]+)\)")
RIGHT = re.compile(r"Correction: .*\]\([\w/-]+\.md(?:#[\w-]+)?\)")
STATUS = re.compile(r"Status: (?:fixed\b|open when we looked, in November 2026\b|the (?:thread|pull request|maintainers|authors)\b).*\.")
# A refutation refutes the statement; the others prove what is right. A definition does neither.
KINDS = {"refutation", "identity", "chain", "inequality", "limit", "law"}


def faults(page):
    wrong = []
    entries = {name: [" ".join(part.split()) for part in under.strip().split("\n\n")] for name, under in statements(page).items()}
    places = {name: match["place"] for name, parts in entries.items() if (match := WHERE.match(parts[0]))}
    often = Counter(places.values())
    for name, under in statements(page).items():
        first, *_, last = entries[name]
        sentences = re.findall(r"[.;](?= |$)", re.sub(r"\]\([^)]*\)", "]", first))
        if name not in places or often[places[name]] > 1:
            wrong.append(f"{name}: where")
        if not 2 <= len(sentences) <= 5:
            wrong.append(f"{name}: what was written")
        if len(CLAIM.findall(under)) != 1 or not claim_kinds(under) <= KINDS:
            wrong.append(f"{name}: the claim")
        if sum(bool(RIGHT.match(part)) for part in entries[name]) != 1:
            wrong.append(f"{name}: what is right")
        if not STATUS.fullmatch(last):
            wrong.append(f"{name}: what became of it")
    return wrong


def test_every_entry_has_its_parts():
    page = PAGE.read_text(encoding="utf-8")
    assert len(statements(page)) >= 25
    assert faults(page) == []
    assert 4 <= len(re.findall(r"^## ", page, flags=re.M)) <= 5


def test_a_claim_of_the_page_may_refute_or_prove():
    kinds = Counter(kind for under in statements(PAGE.read_text(encoding="utf-8")).values() for kind in claim_kinds(under))
    assert kinds["refutation"] >= 5 and kinds["identity"] >= 5


def test_the_page_of_misconceptions_leads_to_this_one():
    introduction = (PAGE.parent / "wrong.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert "(errata.md)" in introduction


FIRST = "A dot product has the variance of its entries, times the width"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("Stated in [the UvA deep learning notebooks](https://github.com/phlippe/uvadlc_notebooks/issues/56).", "It is", f"{FIRST}: where"),
        ("https://github.com/phlippe/uvadlc_notebooks/issues/56", "../localhost/56", f"{FIRST}: where"),
        (
            "https://github.com/phlippe/uvadlc_notebooks/issues/56",
            "https://github.com/openai/guided-diffusion/issues/38",
            f"{FIRST}: where",
        ),
        ("scaling/variance#general-variance\n", "blocks/backward#define-p\n", f"{FIRST}: the claim"),
        ("/// claim | scaling/variance#general-variance\n///\n", "", f"{FIRST}: the claim"),
        ("Correction: the variances of", "The variances of", f"{FIRST}: what is right"),
        ("[are multiplied](scaling/variance.md#general-variance)", "are multiplied", f"{FIRST}: what is right"),
        ("Status: fixed on 4 September 2022", "It was fixed", f"{FIRST}: what became of it"),
        ("Status: fixed on 4 September 2022", "Status: well known", f"{FIRST}: what became of it"),
    ],
)
def test_planted_fault_is_found(old, new, found):
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(old) == 1
    assert found in faults(page.replace(old, new))


def test_an_entry_without_its_case_is_found():
    page = PAGE.read_text(encoding="utf-8")
    where = WHERE.search(page)
    case = page[where.end() : page.index("\n\n", where.end())]
    assert f"{FIRST}: what was written" in faults(page.replace(case, ".", 1))
