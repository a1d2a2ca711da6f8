"""What the code of claims computes, as the code witness read it, compared with claims as they are and with changed ones."""

import re

import pytest

from derivations.kernel.browser.code_formulas import compare_code
from derivations.kernel.site.prover_files import list_code
from tests.kernel.browser.texts import script_of


def compare(topic, id, tmp_path, *changes):
    text = script_of(topic)
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return compare_code(str(tmp_path / "chapter" / "topic.py"), text, id, list_code(topic)[id])


@pytest.mark.parametrize(
    "topic", ["attention/formula", "softmax/jacobian", "scaling/variance", "order/rotary", "linear/delta", "serving/paged"]
)
def test_the_code_computes_what_the_claims_say(topic, tmp_path):
    code = list_code(topic)
    assert code
    for id in code:
        for call in compare(topic, id, tmp_path):
            assert call["verdict"] == "right" and call["sides"]["right"] and call["latex"], call
            assert re.fullmatch(r"[a-z]+/\w+\.py:\d+", call["line"])


def test_the_code_of_a_changed_claim_computes_something_else(tmp_path):
    (call,) = compare("linear/delta", "define-l", tmp_path, ("v[1, o]) ** 2, o) / 2", "v[1, o]) ** 2, o) / 3"))
    assert call["verdict"] == "wrong" and "left = " in call["message"] and call["name"] == "snippets.linear.delta.squared_error"


def test_the_code_of_a_claim_with_one_changed_side_computes_the_other_one(tmp_path):
    (call,) = compare("softmax/jacobian", "backward", tmp_path, ("p[j] * (g[j] - Sum(g[i]", "p[j] * (g[j] + Sum(g[i]"))
    assert call["verdict"] == "wrong" and call["sides"] == {"wrong": ["right side"], "right": ["left side"], "unread": []}


@pytest.mark.parametrize(
    "old, new, why",
    [
        ('through_softmax", softmax(z), g)', 'through_softmax", g, softmax(z))', "with other arguments"),
        ('jacobian.through_softmax", softmax(z), g)', 'jacobian.through_sofmax", softmax(z), g)', "no formula of this function"),
    ],
)
def test_a_call_that_was_changed_is_not_compared(old, new, why, tmp_path):
    (call,) = compare("softmax/jacobian", "backward", tmp_path, (old, new))
    assert (call["verdict"], call["latex"], call["sides"]) == ("unread", "", {}) and why in call["message"]


def test_a_claim_without_stored_formulas_is_not_compared(tmp_path):
    (call, *_) = compare_code(str(tmp_path / "chapter" / "topic.py"), script_of("blocks/merge"), "merge", [])
    assert call["verdict"] == "unread" and "stored no formula for this claim" in call["message"]


def test_a_claim_that_is_gone_has_no_code(tmp_path):
    assert compare_code(str(tmp_path / "chapter" / "topic.py"), "", "define-l", list_code("linear/delta")["define-l"]) == []
