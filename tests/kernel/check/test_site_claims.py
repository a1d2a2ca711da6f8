"""The claims of the site: how many there are, which witnesses confirm them, and at which shapes."""

import re

import pytest

from derivations.kernel.check import runner, worker
from derivations.kernel.core import claims
from derivations.kernel.core.expr import symbols
from derivations.kernel.exact.assumption_consistency import list_size_assumptions
from derivations.kernel.store import certificates, project_files

LEAST = 35


@pytest.fixture(scope="session")
def results():
    return runner.check_all(runner.find_targets(()), fresh=False, jobs=2, progress=lambda done, more: None)


@pytest.fixture(scope="session")
def site(results):
    """Every claim's record, by topic and id."""
    return {(result.topic, r["claim"]["id"]): r["claim"] for result in results for r in result.records}


@pytest.fixture(scope="session")
def stated():
    """Every claim as its script states it, by topic and id."""
    found = {}
    for topic in certificates.topics():
        assert worker.load_script(project_files.ROOT / "derivations" / f"{topic}.py") is None
        found |= {(topic, claim.id): claim for claim in claims.LOADED[0].claims}
    return found


def by_name(claim, name):
    return next((w for w in claim["witnesses"] if w["name"] == name), None)


def test_every_claim_holds(results):
    assert [(r.topic, x["claim"]["id"], x["message"]) for r in results for x in r.records if x["verdict"] != "holds"] == []
    assert [r.problems for r in results if r.problems] == [] and all(r.holds for r in results)


def test_there_are_enough(site):
    assert len(site) >= LEAST


def test_the_ids_of_a_topic_are_unique(results, site):
    assert sum(len(r.records) for r in results) == len(site)


def test_what_is_recorded_is_what_is_stated(site, stated):
    assert site.keys() == stated.keys()
    for key, claim in stated.items():
        assert (site[key]["kind"], site[key]["line"], len(site[key]["steps"])) == (claim.kind, claim.line, len(claim.steps)), key


def test_none_is_without_the_exact_witness_but_definitions(site):
    without = {
        key: by_name(claim, "exact") for key, claim in site.items() if by_name(claim, "exact")["verdict"] not in ("proved", "refuted")
    }
    for key, record in without.items():
        assert site[key]["kind"] == "definition" and record["verdict"] == "not applicable" and "nothing to prove" in record["note"], key


def test_a_witness_that_does_not_apply_says_why(site):
    for key, claim in site.items():
        for record in claim["witnesses"]:
            assert record["verdict"] in ("proved", "refuted") or record["note"], key


def test_matrix_identities_hold_at_every_shape(site, stated):
    sized = [
        key
        for key, claim in stated.items()
        if claim.kind in ("identity", "chain") and any(s.data[1] == "size" for s in symbols(*claim.trees).values())
    ]
    assert len(sized) >= 15
    allowed = {True: "every shape that the assumptions allow", False: "every shape"}
    assert {key: site[key]["scope"] for key in sized if site[key]["scope"] != allowed[bool(list_size_assumptions(stated[key].given))]} == {}
    assert {key for key in sized if by_name(site[key], "exact")["verdict"] != "proved"} == set()


def test_a_scope_is_not_rounded_up(site, stated):
    for key, claim in stated.items():
        sympy = by_name(site[key], "sympy")
        assert sympy["scope"] != "every shape", key
        if claim.kind == "refutation":
            assert site[key]["scope"] == "exact counterexample", key
        if site[key]["scope"] == "every shape":
            assert any(s.data[1] == "size" for s in symbols(*claim.trees).values()), key


def test_what_a_claim_uses_exists_and_is_not_circular(site):
    uses = {key: [tuple(u.split("#")) if "#" in u else (key[0], u) for u in claim["uses"]] for key, claim in site.items()}
    assert {u for used in uses.values() for u in used} <= uses.keys()
    done = set()

    def settle(key, above):
        assert key not in above, f"circular: {above} {key}"
        if key not in done:
            for used in uses[key]:
                settle(used, (*above, key))
            done.add(key)

    for key in uses:
        settle(key, ())
    assert done == uses.keys()


LACKING = re.compile(
    r"\w+ may have (the Cauchy law|Student's law with \d+ degrees of freedom), which has no (mean|variance|moment of order \d+)"
)


OF_LIMITS = (
    r"the series gives \S+ as .* and \S+ is stated",
    r"the left side has no finite limit as \w+ -> (oo|0)$",
    r"the left side is undefined \(.+\), however near the limit$",
    r"the right side is undefined \(.+\)$",
)


def says_what_fails(assumption: dict) -> bool:
    """Two sides that differ, a side without a value, a limit that is another, or, of what is random, a moment that it has not."""
    needed, text = assumption["needed"], assumption["text"]
    of_a_law = re.search(r"mean|variance|moment|Gaussian", text)
    limits = any(re.search(way, needed) for way in OF_LIMITS)
    no_variance = re.search(" is (not negative|positive)", text) and re.search(
        r"would have the variance -\S+, and nothing random has", needed
    )
    return (
        bool(re.search("left [=≈] ", needed))
        or "no definite value" in needed
        or "the other assumptions leave nothing" in needed
        or bool(limits or no_variance or of_a_law and LACKING.search(needed))
    )


def test_every_assumption_says_what_fails_without_it(site):
    assumptions = [(key, assumption) for key, claim in site.items() for assumption in claim["assumptions"]]
    assert assumptions and not [(key, assumption) for key, assumption in assumptions if not says_what_fails(assumption)]


def test_what_says_too_little_of_an_assumption_is_told_apart():
    cauchy = "k may have the Cauchy law, which has no mean"
    assert says_what_fails({"text": "each entry of $k$ has a mean", "needed": cauchy})
    for text, needed in (
        ("$x$ is positive", cauchy),
        ("each entry of $k$ has a mean", "k may have no mean"),
        ("each entry of $k$ has a mean", ""),
        ("$k$ is positive", "at k = 0 the left side has no finite limit"),
        ("$k$ is positive", "the left side is undefined"),
    ):
        assert not says_what_fails({"text": text, "needed": needed})
