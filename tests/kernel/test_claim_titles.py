"""Each claim's title was read beside its formula (tests/claim_titles.py), and a change of either asks for another reading."""

from copy import deepcopy

import pytest

from tests import claim_titles, golden


@pytest.fixture(scope="module")
def claims():
    return golden.golden()


def test_the_table_has_each_claim_as_it_is_now(claims):
    unread = claim_titles.find_unread(claims, claim_titles.read_table())
    assert unread == [], "read these titles beside their formulas: python -m tests.claim_titles"


def test_the_table_has_nothing_but_claims(claims):
    assert claim_titles.find_superfluous(claims, claim_titles.read_table()) == []


def test_verdicts_are_known():
    assert {entry["verdict"] for entry in claim_titles.read_table().values()} <= {*claim_titles.VERDICTS}


@pytest.mark.parametrize("part", ["title", "latex", "kind"])
def test_a_changed_claim_must_be_read_again(claims, part):
    name = "scaling/variance#variance"
    table = {name: {"digest": claim_titles.digest(claims[name])}}
    changed = deepcopy(claims[name]) | {part: "changed"}
    assert claim_titles.find_unread({name: claims[name]}, table) == []
    assert claim_titles.find_unread({name: changed}, table) == [name]


def test_changed_assumptions_and_reasons_must_be_read_again(claims):
    name = "scaling/variance#variance"
    for change in ({"assumptions": []}, {"steps": claims[name]["steps"][1:]}):
        table = {name: {"digest": claim_titles.digest(claims[name])}}
        assert claim_titles.find_unread({name: claims[name] | change}, table) == [name]


def test_an_entry_without_a_claim_is_found(claims):
    assert claim_titles.find_superfluous(claims, {"no/topic#claim": {}}) == ["no/topic#claim"]
