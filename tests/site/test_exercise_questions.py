"""Tests of what exercises ask about a claim: a chain with a gap, and a counterexample with the assumptions to choose from."""

import sys
from xml.etree.ElementTree import Element, tostring

import pytest

from derivations.kernel.site.claim_details import ElementWriter
from derivations.kernel.site.exercise_questions import add_question, check_question, list_question

samples = sys.modules["site_sample_certificates"]  # by conftest.py


def assumption(text, needed):
    return {"latex": text, "text": text, "needed": needed}


CHAIN = samples.claim("chain", "chain", "a", samples.step("=", "b", "first"), samples.step("=", "c", "then"))
LAW = samples.claim(
    "law",
    "law",
    "a",
    samples.step("=", "b"),
    assumptions=[
        assumption("$x$ is one", "at x = 0: left = 1, right = 2"),
        assumption("$y$ is one", "at y = 0: left = 2, right = 1"),
        assumption("$z$ is one", "no value without it"),
        assumption("$u$ is one", "at y = 0: left = 2, right = 1"),
    ],
)


@pytest.mark.parametrize(
    "claim, part, message",
    [
        (CHAIN, "step 2", "no line between two others: the claim has 2 steps"),
        (CHAIN, "step 0", "no line between two others"),
        (CHAIN, "assumption 1", "the claim has 0 assumptions"),
        (LAW, "assumption 5", "the claim has 4 assumptions"),
        (LAW, "assumption 3", "no counterexample of its own: no value without it"),
        (LAW, "assumption 2", "no counterexample of its own"),
    ],
)
def test_what_cannot_be_asked_is_reported(claim, part, message):
    with pytest.raises(ValueError, match=message):
        check_question(claim, part)


def test_missing_line_is_a_gap_between_reasons():
    check_question(CHAIN, "step 1")
    lines = "\n".join(list_question(CHAIN, "step 1"))
    assert r"\boxed{?}" in lines and "&= c" in lines and "&= b" not in lines and "1. first" in lines and "2. then" in lines
    box = Element("div")
    add_question(ElementWriter(str), box, CHAIN, "step 1")
    chain, line = (tostring(part, encoding="unicode") for part in box[0])
    assert "menclose" in chain and "first" in chain and "&lt;mi&gt;b" not in chain
    assert line.startswith("<details") and "&lt;mi&gt;b" in line


def test_missing_assumption_is_asked_with_the_values_and_all_assumptions():
    check_question(LAW, "assumption 1")
    lines = "\n".join(list_question(LAW, "assumption 1"))
    assert "this fails at $x = 0$: left $= 1$, right $= 2$." in lines and "2. $y$ is one" in lines
    box = Element("div")
    add_question(ElementWriter(str), box, LAW, "assumption 1")
    choices = box.findall(".//li")
    assert [one.get("aria-label") for one in choices] == ["x is one", "y is one", "z is one", "u is one"]


def test_other_parts_show_nothing():
    box = Element("div")
    for part in ("", "left"):
        add_question(ElementWriter(str), box, CHAIN, part)
        assert len(box) == 0 and list_question(CHAIN, part) == []
