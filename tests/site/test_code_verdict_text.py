"""Tests of how pages show whether the code that a claim names was proved to compute the formula, or only compared with numbers."""

import sys

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site import code_verdict_text, trust_counts
from derivations.kernel.site.claim_formats import export_record

VARIANCE = sys.modules["site_sample_certificates"].VARIANCE  # by conftest.py
PROVED = {"state": "proved", "scope": "every shape", "seconds": 0.1}
PARTLY = PROVED | {"scope": "n = 1; n = 2", "conditions": ["c < 3", "d is not zero"], "constants": ["0.1 as 1/10"]}
UNREAD = {"state": "not read", "reason": "f: no rule for <b>erfinv</b>", "seconds": 0.1}


@pytest.mark.parametrize(
    "said, verdict, note",
    [
        (PROVED, "this code computes this formula, at every shape, for every input, rounding aside", ""),
        (
            PARTLY,
            "this code computes this formula, where n = 1; n = 2, where c < 3; d is not zero, rounding aside",
            "read as exact numbers: 0.1 as 1/10",
        ),
        (UNREAD, "the code is compared in numbers alone", "f: no rule for <b>erfinv</b>"),
        ({"state": "not named", "seconds": 0}, "", ""),
        (None, "", ""),
    ],
)
def test_verdict_and_note_in_words(said, verdict, note):
    claim = {"computed": said} if said else {}
    assert (code_verdict_text.describe_verdict(claim), code_verdict_text.describe_note(claim)) == (verdict, note)


@pytest.fixture
def shown(certificates, page):
    """Return a function that renders a claim whose code has a given verdict, and returns what its badge shows and its rows."""

    def show(said):
        claim = next(one for one in certificates["scaling/variance"]["claims"] if one["kind"] == "law")
        claim["computed"] = said
        found = BeautifulSoup(page(f"/// claim | scaling/variance#{claim['id']}\n///\n"), "html.parser").select_one(".claim__witnesses")
        rows = dict(zip((term.text.strip() for term in found.select("dt")), found.select("dd")))
        return [one.text.strip() for one in found.select("summary .claim__witness")], rows

    return show


def test_claim_shows_that_its_code_computes_it(shown):
    witnesses, rows = shown(PROVED)
    assert witnesses[-1] == "code: every shape"
    assert rows["✓ code"].text.strip() == "this code computes this formula, at every shape, for every input, rounding aside"


def test_claim_shows_why_its_code_is_not_read(shown):
    witnesses, rows = shown(UNREAD)
    assert not [witness for witness in witnesses if witness.startswith("code")]
    assert "no rule for <b>erfinv</b>" in rows["≈ code"].text and rows["≈ code"].b is None  # escaped


def test_claim_without_code_has_no_code_row(shown):
    witnesses, rows = shown({"state": "not named", "seconds": 0.0})
    assert not [witness for witness in witnesses if witness.startswith("code")] and not [name for name in rows if "code" in name]


def test_claims_json_has_the_code_verdict():
    claim = next(one for one in VARIANCE["claims"] if one["kind"] == "law") | {"computed": PROVED}
    found = export_record(claim, topic="scaling/variance", rank="claim", number=1, page="", anchor="", url="", script="")
    assert found["code_computes"] == {"state": "proved", "says": code_verdict_text.describe_verdict(claim), "note": ""}


def test_trust_page_counts_verdicts_and_lists_unread_code(page, monkeypatch):
    claims = [{"id": id_, "kind": "identity", "computed": said} for id_, said in zip("pqr", (PROVED, PARTLY, UNREAD))]
    monkeypatch.setattr(trust_counts, "topics", lambda: ["a/one"])
    monkeypatch.setattr(trust_counts, "load", lambda topic: {"claims": claims + [{"id": "s", "kind": "identity"}]})
    _, rows, command = trust_counts.count_by_code_scope()
    assert [row[1] for row in rows] == ["1", "1", "1", "3"] and command == "python -m derivations code"
    items = BeautifulSoup(page("/// trust | unread\n///\n"), "html.parser").select("ul li")
    assert len(items) == 1 and "a/one#r" in items[0].text and "no rule" in items[0].text and items[0].b is None
    del claims[2]
    assert "none; all code that a claim names is read." in page("/// trust | unread\n///\n")


def test_trust_page_reports_a_run_over_all_corrupted_snippets(page, monkeypatch):
    kept = {"code": {"commit": "a" * 40, "date": "2030-01-02", "topics": 3, "tried": 40, "left": 0}}
    monkeypatch.setattr(trust_counts.complete_run_counts, "read", lambda: kept)
    assert ["all corrupted snippets of 3 topics", "40", "0", "aaaaaaa of 2030-01-02"] in trust_counts.list_full_runs()[1]
