"""Tests of what runs in a reader's browser, here without one: verdicts on a text, changes to a claim, and answers to requests."""

import json
import re
from pathlib import Path

import pytest

from derivations.kernel.browser import prover, requests, text_edits
from derivations.kernel.browser.language_words import describe_language
from derivations.kernel.browser.topic_files import make_topic
from derivations.kernel.store import certificates
from tests.kernel.browser.texts import SCRIPT, check, exact_verdicts, script_of

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("topic", ["scaling/variance", "softmax/jacobian", "associativity/rounding"])
def test_exact_witness_says_of_a_text_what_the_certificates_say(topic, tmp_path):
    found = prover.check_text(str(tmp_path / f"{topic}.py"), script_of(topic))
    assert found["problem"] is None
    expected = {id: (w["verdict"], w["scope"], w["note"]) for id, w in exact_verdicts(topic).items()}
    assert {one["id"]: (one["verdict"], one["scope"], one["note"]) for one in found["claims"]} == expected


def test_only_the_wanted_claims_are_checked(tmp_path):
    assert [one["id"] for one in check(tmp_path, SCRIPT, ids=["square"])["claims"]] == ["square"]
    assert [one["id"] for one in check(tmp_path, SCRIPT, lines=[7, 9])["claims"]] == ["transposed", "mean"]


def test_a_false_claim_is_rejected_with_its_counterexample_and_its_formula(tmp_path):
    (one,) = check(tmp_path, SCRIPT.replace("+ 2 * a * b", "- 2 * a * b"), ids=["square"])["claims"]
    assert one["verdict"] == "rejected" and re.search(r"at a = \S+, b = \S+: left = ", one["message"])
    assert one["latex"] == r"(a + b)^{2} = a^{2} - 2 a b + b^{2}"


@pytest.mark.parametrize(
    "text, message",
    [
        ("derivation = (", "not Python"),
        ("import nothing_of_this_name", "stopped with ModuleNotFoundError"),
        (SCRIPT.replace("X @ W)", "W @ X)", 1), "cannot be multiplied"),
        ("(" * 250 + "1" + ")" * 250, "not Python"),
        (SCRIPT + "x = a\nfor _ in range(20000): x = exp(x)\nderivation.identity('deep', x, x + 0)\n", "RecursionError"),
    ],
)
def test_a_script_with_an_error_gets_an_answer(tmp_path, text, message):
    found = check(tmp_path, text)
    said = [found["problem"]["message"]] if found["problem"] else [one["message"] for one in found["claims"]]
    assert any(message in one for one in said), said


def test_sympy_answers_too(tmp_path):
    (one,) = check(tmp_path, SCRIPT, witness="sympy", ids=["square"])["claims"]
    assert one["verdict"] == "proved" and "import" in one["source"]


def test_a_request_is_answered_as_json(tmp_path):
    asked = {"function": "check", "arguments": {"path": str(tmp_path / "a" / "b.py"), "text": SCRIPT, "ids": ["mean"]}}
    assert json.loads(requests.answer(json.dumps(asked)))["claims"][0]["verdict"] == "proved"


def test_each_name_of_the_language_has_a_sentence_that_the_editor_shows():
    words = describe_language()
    assert {"softmax", "derivation.identity"} <= {word["name"] for word in words} and all(word["summary"] for word in words)


def test_edits_are_the_mistakes_that_a_claim_allows():
    kinds = {id: {edit["kind"] for edit in text_edits.propose_edits(SCRIPT, id)} for id in ("transposed", "square", "mean", "scaled")}
    assert kinds == {
        "transposed": {"Swap two operands", "Drop a transpose"},
        "square": {"Flip a sign"},
        "mean": {"Flip a sign"},
        "scaled": {"Drop the scale", "Swap two operands"},
    }
    assumed = SCRIPT + "derivation.identity('root', sqrt(a**2), a, given=[nonnegative(a), nonnegative(b)])\n"
    dropped = [assumed[: e["start"]] + e["new"] + assumed[e["end"] :] for e in text_edits.propose_edits(assumed, "root")]
    assert [text.splitlines()[-1].partition("given=")[2] for text in dropped] == ["[nonnegative(b)])", "[nonnegative(a)])"]


def test_each_edit_of_each_claim_leaves_python_and_changes_the_text():
    count = 0
    for topic in certificates.topics():
        text = script_of(topic)
        for id in re.findall(r'derivation\.\w+\(\s*"([\w-]+)"', text):
            for edit in text_edits.propose_edits(text, id):
                edited = text[: edit["start"]] + edit["new"] + text[edit["end"] :]
                compile(edited, topic, "exec")
                assert edited != text
                count += 1
    assert count > 4000


def test_a_claim_is_located_and_a_text_that_is_no_python_has_none():
    assert text_edits.locate_claim(SCRIPT, "square") == {"first": 8, "last": 8}
    assert text_edits.locate_claim(SCRIPT, "other") is None
    assert text_edits.locate_claim("(", "square") is None and text_edits.propose_edits("(", "square") == []


def test_the_files_of_a_topic_show_the_claims_of_a_text():
    files = make_topic("softmax/some", SCRIPT)
    assert set(files) == {"derivations/softmax/some.py", "snippets/softmax/some.py", "tests/softmax/test_some.py", "docs/softmax/some.md"}
    assert files["derivations/softmax/some.py"].endswith("derivation.main()\n") and SCRIPT.strip() in files["derivations/softmax/some.py"]
    assert re.findall(r"softmax/some#([\w-]+)", files["docs/softmax/some.md"]) == ["transposed", "mean", "scaled", "square"]
    assert "{" not in files["tests/softmax/test_some.py"] and "/// figure" not in files["docs/softmax/some.md"]


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_each_example_is_what_its_title_says(path, tmp_path):
    kind = path.read_text(encoding="utf-8").partition(":")[0]
    found = check(tmp_path, path.read_text(encoding="utf-8"))
    verdicts = {one["verdict"] for one in found["claims"]}
    assert found["problem"] is None and verdicts == {{"# True": "proved", "# False": "rejected"}[kind]}


def test_there_are_a_dozen_examples_of_both_kinds():
    kinds = [path.read_text(encoding="utf-8").partition(":")[0] for path in (ROOT / "docs" / "examples").glob("*.py")]
    assert len(kinds) >= 12 and min(kinds.count("# True"), kinds.count("# False")) >= 5
