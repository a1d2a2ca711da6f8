"""The trust page: its numbers are counted again here, from the certificates themselves, and each leads to the command that makes it."""

import json
from collections import Counter

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.pages import trust
from derivations.kernel.run import mutants_kept
from derivations.kernel.run.certificates import STORE, topics


@pytest.fixture(scope="module")
def claims():
    return [claim for topic in topics() for claim in json.loads((STORE / f"{topic}.json").read_text())["claims"]]


def test_kinds_and_scopes_add_up_to_the_claims_there_are(claims):
    head, rows, _ = trust.by_kind()
    assert head[0] == "kind" and rows[-1] == [
        "all",
        *(str(Counter(c["scope"] for c in claims)[scope]) for scope in head[1:-1]),
        str(len(claims)),
    ]
    kinds = Counter(c["kind"] for c in claims)
    assert {row[0]: int(row[-1]) for row in rows[:-1]} == kinds
    assert all(sum(int(cell or 0) for cell in row[1:-1]) == int(row[-1]) for row in rows)


def test_a_witness_is_counted_where_it_vouches_and_nowhere_else(claims):
    _, rows, command = trust.by_witness()
    assert command.endswith("&& python -m derivations coq")  # the one witness that `check` does not ask
    counted = {row[0]: int(row[1]) for row in rows}
    for name, shown in ("exact", "exact"), ("sympy", "SymPy"), ("torch", "PyTorch"):
        assert counted[shown] == sum(
            w["verdict"] in ("proved", "refuted", "agrees") for c in claims for w in c["witnesses"] if w["name"] == name
        )
    assert counted["claims by number of witnesses"] == sum(c["kind"] != "definition" for c in claims)


SAID = {"depends_on": "", "operators": {}, "listed": [], "hows": {}, "covers": True, "controls": 3, "failed": []}


def tried(killed, survived, alike=()):
    counts = {"killed": killed, "survived": survived, "equivalent": 2, "unclassified": 1}
    return {
        "mutants": killed + survived + 3,
        "alike": list(alike),
        "witnesses": {"exact": counts | SAID, "torch": dict.fromkeys(counts, 0) | SAID},
    }


@pytest.fixture
def two_topics(monkeypatch):
    certificates = {"a/one": [{"id": "p", "kind": "identity"}, {"id": "q", "kind": "limit"}], "a/two": [{"id": "r", "kind": "identity"}]}
    results = {"a/one": {"p": tried(5, 0), "q": tried(7, 1, ["x = y"])}, "a/two": None}
    monkeypatch.setattr(trust, "topics", lambda: sorted(certificates))
    monkeypatch.setattr(trust, "load", lambda topic: {"claims": certificates[topic]})
    monkeypatch.setattr(mutants_kept, "standing", lambda topics: {topic: results[topic] for topic in topics})


def test_mutants_are_counted_by_kind_and_witness(two_topics):
    head, rows, _ = trust.by_killer()
    assert head == ["kind", "mutants", "exact", "PyTorch"]
    assert rows == [
        ["identity", "8", "5 of 6", ""],
        ["limit", "11", "7 of 9", ""],
        ["all", "19", "12 of 15", ""],
        ["not tried on this machine: 1 topic", "", "", ""],
    ]


def test_where_no_mutant_was_tried_no_number_is_shown(two_topics, monkeypatch):
    monkeypatch.setattr(mutants_kept, "standing", dict.fromkeys)
    assert trust.by_killer()[1] == [["not tried on this machine: 2 topics", ""]]
    assert trust.by_mutant()[1] == [["not tried on this machine: 2 topics", *[""] * 6]]


def test_mutants_are_counted_by_topic_and_one_that_was_not_tried_says_so(two_topics):
    head, rows, _ = trust.by_mutant()
    assert head == ["topic", "mutants", "killed", "equivalent", "survived", "unclassified", "shown as the claim is"]
    assert rows == [
        ["a/one", "19", "12", "4", "1", "2", "1"],
        ["all", "19", "12", "4", "1", "2", "1"],
        ["not tried on this machine: 1 topic", *[""] * 6],
    ]


def test_every_number_leads_to_the_command_that_counts_it_again(page):
    soup = BeautifulSoup(page("/// trust | size\n///\n"), "html.parser")
    cells = [cell for cell in soup.select("td") if cell.get_text()[:1].isdigit()]
    assert len(cells) == len(soup.select("tbody tr")) > 5
    for cell in cells:
        target = soup.select_one(cell.a["href"])
        assert "pytest tests/kernel/test_size.py" in target.get_text()


def test_a_table_that_there_is_not_is_refused(refused):
    assert "expected '/// trust | NAME' with a name of kinds, witnesses, killed, mutants, size, found 'sizes'" in refused(
        "# A\n\n/// trust | sizes\n///\n"
    )
