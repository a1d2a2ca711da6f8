"""Tests of the exercises that readers answer: each accepts right answers in any form, and rejects wrong ones."""

import tomllib
from functools import cache
from pathlib import Path

import pytest

from derivations.kernel.browser import typed_answers
from derivations.kernel.site import Source
from derivations.kernel.site.course_boxes import ANSWER
from derivations.kernel.store import certificates

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("answers")  # a file for each chapter: for each answer, right and wrong forms of it


@cache
def answers():
    """Return the page of each answer by its argument, such as "scaling/variance#fixed-query"."""
    found = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for opening in Source(path.read_text(encoding="utf-8"), ROOT / "docs", path).openings():
            if opening.name == "answer":
                found[opening.argument] = path.relative_to(ROOT / "docs").as_posix()
    return found


@cache
def forms():
    return {name: one for path in sorted(FOLDER.glob("*.toml")) for name, one in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def judge(argument, typed, folder):
    topic, id, part = ANSWER.fullmatch(argument).groups("")
    text = (ROOT / "derivations" / f"{topic}.py").read_text(encoding="utf-8")
    path = str(folder / "derivations" / f"{topic}.py")
    claim = next(one for one in certificates.load(topic)["claims"] if one["id"] == id)
    if claim["kind"] == "refutation":
        return typed_answers.judge_counterexample(path, text, id, typed)
    return typed_answers.judge_answer(path, text, id, typed, part)


def test_there_are_enough_answers_and_each_core_page_has_one():
    assert len(answers()) >= 120 and set(forms()) == set(answers())
    core = {
        path.relative_to(ROOT / "docs").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
        if path.read_text().startswith("---\nkind: core\n")
    }
    assert core - set(answers().values()) == set()
    for name, one in forms().items():
        assert len(set(one["right"])) >= 3 and len(set(one["wrong"])) >= 3 and not set(one["right"]) & set(one["wrong"]), name


@pytest.mark.parametrize("argument", forms())
def test_right_forms_are_accepted_and_wrong_ones_rejected(argument, tmp_path):
    for typed in forms()[argument]["right"]:
        found = judge(argument, typed, tmp_path)
        assert found["verdict"] == "right" and found["latex"], (typed, found["message"])
    for typed in forms()[argument]["wrong"]:
        found = judge(argument, typed, tmp_path)
        assert found["verdict"] == "wrong" and found["message"], (typed, found)


@pytest.mark.parametrize(
    "typed, written",
    [
        ("2 d", "2 * d"),
        ("d(a+b)", "d * ( a + b )"),
        ("exp(a)", "exp ( a )"),
        ("(a+b)(a-b)", "( a + b ) * ( a - b )"),
        ("d σ²", "d * sigma ** 2"),
        ("√d", "sqrt ( d )"),
        (
            "p_i (delta_ij - p_j)",
            "p [ i ] * ( delta ( i , j ) - p [ j ] )".replace("p [ i ]", "p[i]")
            .replace("delta ( i , j )", "delta(i, j)")
            .replace("p [ j ]", "p[j]"),
        ),
        ("W_K.T", "W_K.T"),
        ("a^-1", "a ** - 1"),
    ],
)
def test_what_is_typed_is_read_as_mathematics(typed, written):
    names = {"d", "a", "b", "p", "i", "j", "sigma", "W_K"}
    assert typed_answers.read_typed(typed, names).replace(" ", "") == written.replace(" ", "")


@pytest.mark.parametrize(
    "typed, message",
    [
        ("", "Type a formula"),
        ("d @", "not complete"),
        ("nothing", "no such name"),
        ("d; import os", "has no meaning"),
        ("Variance(qk)", "a variance"),
        ("'d'", "has no meaning"),
    ],
)
def test_what_cannot_be_judged_gets_a_reason(typed, message, tmp_path):
    found = judge("scaling/variance#self-variance", typed, tmp_path)
    assert found["verdict"] == "unread" and message in found["message"], found


def test_a_counterexample_must_be_values():
    for typed in ("5", "d = x", "d > 3"):
        found = judge("scaling/variance#squared-width", typed, Path("/tmp") / "answers")
        assert found["verdict"] == "unread" and found["message"], found


def test_preview_is_the_formula_or_the_reason(tmp_path):
    text = (ROOT / "derivations/scaling/variance.py").read_text(encoding="utf-8")
    path = str(tmp_path / "derivations/scaling/variance.py")
    assert typed_answers.preview_answer(path, text, "self-variance", "2d") == {"latex": "2 d", "message": ""}
    assert "not complete" in typed_answers.preview_answer(path, text, "self-variance", "2(")["message"]
