"""Tests of the trust page: the test counts its numbers again from the certificates, and each number has the command that computes it."""

from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.pytorch import trial_sizes
from derivations.kernel.site import trust_counts
from derivations.kernel.store import fuzz_results, mutant_results
from derivations.kernel.store.certificates import topics
from derivations.kernel.store.coq_results import load

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def claims():
    return [claim for topic in topics() for claim in load(topic)["claims"]]  # with Coq's verdicts, as the page shows them


def test_kinds_and_scopes_add_up_to_all_claims(claims):
    head, rows, _ = trust_counts.count_by_kind()
    assert head[0] == "kind" and rows[-1] == [
        "all",
        *(str(Counter(c["scope"] for c in claims)[scope]) for scope in head[1:-1]),
        str(len(claims)),
    ]
    kinds = Counter(c["kind"] for c in claims)
    assert {row[0]: int(row[-1]) for row in rows[:-1]} == kinds
    assert all(sum(int(cell or 0) for cell in row[1:-1]) == int(row[-1]) for row in rows)


def test_witness_is_counted_only_where_it_vouches(claims):
    _, rows, command = trust_counts.count_by_witness()
    assert command.endswith("&& python -m derivations coq")  # the one witness that `check` does not ask
    counted = {row[0]: int(row[1]) for row in rows}
    for name, shown in ("exact", "exact"), ("sympy", "SymPy"), ("torch", "PyTorch"):
        assert counted[shown] == sum(
            w["verdict"] in ("proved", "refuted", "agrees") for c in claims for w in c["witnesses"] if w["name"] == name
        )
    assert counted["claims by number of witnesses"] == sum(c["kind"] != "definition" for c in claims)


def test_summary_says_which_witnesses_this_build_ran_and_what_the_last_complete_attacks_found(claims):
    _, rows, _ = trust_counts.summarize()
    found = {row[0]: row[1:] for row in rows}
    assert found["claims on this site"] == [str(len(claims)), "all accepted"]
    asked = {w["name"] for claim in claims for w in claim["witnesses"] if w["verdict"] != "not applicable"}
    assert (found["Coq"] == ["", "not run in this build"]) == ("coq" not in asked)
    assert found["PyTorch"][1] == "agrees in numbers" and int(found["PyTorch"][0]) > 900
    for label, tried, faults, commit in trust_counts.list_full_runs()[1]:
        assert found[label] == [tried, f"{'no' if faults == '0' else faults} faults in the last complete run, at {commit}"]


def test_summary_says_that_a_witness_did_not_run(monkeypatch):
    witnesses = [{"name": "exact", "verdict": "proved"}, {"name": "sympy", "verdict": "not applicable"}]
    monkeypatch.setattr(trust_counts, "load_all_claims", lambda: {"a/b#c": {"witnesses": witnesses}})
    found = {row[0]: row[1:] for row in trust_counts.summarize()[1]}
    assert found["exact"][0] == "1" and found["SymPy"] == ["", "not run in this build"]


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
    monkeypatch.setattr(trust_counts, "topics", lambda: sorted(certificates))
    monkeypatch.setattr(trust_counts, "load", lambda topic: {"claims": certificates[topic]})
    monkeypatch.setattr(mutant_results, "get_topics", lambda topics: {topic: results[topic] for topic in topics})


def test_mutants_are_counted_by_kind_and_by_witness(two_topics):
    head, rows, _ = trust_counts.count_killed_mutants()
    assert head == ["kind", "mutants", "exact", "PyTorch"]
    assert rows == [
        ["identity", "8", "5 of 6", ""],
        ["limit", "11", "7 of 9", ""],
        ["all", "19", "12 of 15", ""],
        ["not tried on this machine: 1 topic", "", "", ""],
    ]


def test_no_number_is_shown_without_mutants(two_topics, monkeypatch):
    monkeypatch.setattr(mutant_results, "get_topics", dict.fromkeys)
    assert trust_counts.count_killed_mutants()[1] == [["not tried on this machine: 2 topics", ""]]
    assert trust_counts.count_mutants()[1] == [["not tried on this machine: 2 topics", *[""] * 6]]


def test_mutants_are_counted_by_topic_and_missing_runs_are_named(two_topics):
    head, rows, _ = trust_counts.count_mutants()
    assert head == ["topic", "mutants", "killed", "equivalent", "survived", "unclassified", "shown as the claim is"]
    assert rows == [
        ["a/one", "19", "12", "4", "1", "2", "1"],
        ["all", "19", "12", "4", "1", "2", "1"],
        ["not tried on this machine: 1 topic", *[""] * 6],
    ]


COUNTED = {
    "seed": 4,
    "claims": 5,
    "witnesses": {"exact": {"true, accepted": 2, "false, refused": 3}, "torch": {"true, accepted": 1}},
    "families": {"sums": {"true": 2, "false": 1}, "limits": {"false": 2}},
    "faulty": {"exact, sums": 1, "print, sums": 1},
}


def test_random_claims_are_counted_by_witness_and_family(monkeypatch):
    monkeypatch.setattr(fuzz_results, "get", lambda: COUNTED)
    head, rows, command = trust_counts.count_random_claims()
    assert head == ["asked", "random claims", "accepted", "refused", "not applicable", "too slow", "broke"]
    assert rows[0] == ["exact, true claims", "2", "2", "0", "0", "0", "0"] and rows[1][1:4] == ["3", "0", "3"]
    assert rows[-1][1] == "5" and command == "python -m derivations fuzz --seed 4 --claims 5"
    _, rows, _ = trust_counts.count_by_family()
    assert rows == [["limits", "0", "2", "0", "0"], ["sums", "2", "1", "0", "2"], ["all", "2", "3", "0", "2"]]


def test_no_number_is_shown_without_random_claims(monkeypatch):
    monkeypatch.setattr(fuzz_results, "get", lambda: None)
    for table in (trust_counts.count_random_claims, trust_counts.count_by_family):
        assert table()[1][0][0] == "not tried on this machine" and not any("".join(table()[1][0][1:]))


def test_complete_runs_name_their_commit(page, monkeypatch):
    kept = {"date": "2026-01-02", "tried": 5, "commit": "0123456789"}
    monkeypatch.setattr(
        trust_counts.complete_run_counts,
        "read",
        lambda: {"mutants": kept | {"claims": 2, "left": 0}, "fuzz": kept | {"seed": 1, "faults": 3}},
    )
    _, rows, _ = trust_counts.list_full_runs()
    assert rows == [
        ["all mutants of 2 claims", "5", "0", "0123456 of 2026-01-02"],
        ["random claims of seed 1", "5", "3", "0123456 of 2026-01-02"],
    ]
    monkeypatch.setattr(trust_counts.complete_run_counts, "read", dict)
    assert "none was recorded" in page("/// trust | runs\n///\n")


def test_every_number_has_its_command(page):
    soup = BeautifulSoup(page("/// trust | size\n///\n"), "html.parser")
    cells = [cell for cell in soup.select("td") if cell.get_text()[:1].isdigit()]
    assert len(cells) == len(soup.select("tbody tr")) > 5
    for cell in cells:
        target = soup.select_one(cell.a["href"])
        assert "pytest tests/kernel/test_code_size.py" in target.get_text()


def test_unknown_table_is_rejected(refused):
    assert (
        "a name of summary, kinds, witnesses, code, killed, mutants, random, families, runs, size, alone, open, unread, found 'sizes'"
        in refused("# A\n\n/// trust | sizes\n///\n")
    )


PROOF, AGREES, SILENT = (
    {"name": name, "verdict": verdict} for name, verdict in (("exact", "proved"), ("torch", "agrees"), ("sympy", "not applicable"))
)


def test_claims_with_one_proof_are_listed_with_links(page, monkeypatch):
    certificates = {
        "a/one": [
            {"id": "p", "kind": "identity", "witnesses": [PROOF, SILENT, AGREES]},
            {"id": "q", "kind": "limit", "witnesses": [PROOF, PROOF]},
        ],
        "a/two": [
            {"id": "r", "kind": "definition", "witnesses": [SILENT, AGREES]},
            {"id": "s", "kind": "law", "witnesses": [PROOF, AGREES]},
        ],
    }
    monkeypatch.setattr(trust_counts, "topics", lambda: sorted(certificates))
    monkeypatch.setattr(trust_counts, "load", lambda topic: {"claims": certificates[topic]})
    links = BeautifulSoup(page("/// trust | alone\n///\n"), "html.parser").select("ul li a")
    assert [link.text for link in links] == ["a/one#p", "a/two#s"]
    assert all(link["href"].endswith(f"{name}.md#{id_}") for link, name, id_ in zip(links, ("a/one", "a/two"), "ps"))
    certificates["a/one"][0]["witnesses"] = certificates["a/two"][1]["witnesses"] = [PROOF, PROOF]
    assert "none; each claim has two proofs or more." in page("/// trust | alone\n///\n")


def test_claims_that_coq_does_not_prove_are_listed_with_reasons(page, monkeypatch):
    monkeypatch.setattr(trust_counts.coq_open_claims, "read_reasons", lambda: {"b/two#q": "a reason", "a/one#p": "another"})
    items = BeautifulSoup(page("/// trust | open\n///\n"), "html.parser").select("ul li")
    assert [item.text for item in items] == ["a/one#p: another", "b/two#q: a reason"] and items[0].a["href"].endswith("a/one.md#p")
    monkeypatch.setattr(trust_counts.coq_open_claims, "read_reasons", dict)
    assert "none; Coq proves all that it can state." in page("/// trust | open\n///\n")


# A rounding, bounds whose sign SymPy cannot determine, and a limit that it does not find.
ALONE = [
    "unit-roundoff",
    "monotone",
    "halving",
    "exact-products",
    "exact-products-fp16",
    "above",
    "below",
    "bounded",
    "order",
    "zeros",
    "swapped",
    "moved",
    "fp8",
    "projection",
    "largest-threshold",
    "winner",
    "most-entropy",
    "relative-entropy",
    "maximum",
    "at-least",
    "reach",
    "stream-bounded",
]


def test_few_claims_have_only_one_proof_besides_coq(claims):
    def proofs(claim):
        return [w["name"] for w in claim["witnesses"] if w["verdict"] in ("proved", "refuted") and w["name"] != "coq"]

    assert [claim["id"] for claim in claims if claim["kind"] != "definition" and len(proofs(claim)) < 2] == ALONE


def test_page_states_the_actual_sizes_of_code_trials():
    page = " ".join((ROOT / "docs/trust-details.md").read_text(encoding="utf-8").split())
    for sizes in (trial_sizes.SPREAD, trial_sizes.LONG):
        *most, last = (f"{size:,}" for size in sizes)
        assert f"at {', '.join(most)} and {last}" in page
    assert f"beyond {max(trial_sizes.LONG):,}" in page and f"beyond {max(trial_sizes.COUNTS):,}" in page
