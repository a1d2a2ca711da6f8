"""The records of all claims equal the golden file, and any difference is reported."""

from copy import deepcopy

import pytest

from derivations.kernel.store import certificates
from tests import golden

PROGRAM = '"""A program."""\n\n\ndef step():\n    """Return one."""\n    return 1\n'


@pytest.fixture(scope="module")
def expected():
    return golden.golden()


@pytest.mark.parametrize("topic", certificates.topics())
def test_no_record_of_a_topic_differs_from_the_golden_file(expected, topic):
    known = {name: claim for name, claim in expected.items() if golden.topic_of(name) == topic}
    assert golden.report(known, golden.records([topic])) == ""


def test_each_topic_of_the_golden_file_is_there(expected):
    assert {golden.topic_of(name) for name in expected} <= {*certificates.topics()}


@pytest.mark.parametrize("part", ["scope", "witnesses", "assumptions", "steps"])
def test_a_changed_part_of_a_record_is_reported(expected, part):
    found = deepcopy(expected)
    name = sorted(found)[0]
    found[name][part] = "changed"
    assert golden.report(expected, found).startswith(f"1 difference from golden.jsonl:\n{name}: {part}: expected ")


def test_a_claim_that_is_gone_and_a_new_one_are_reported(expected):
    found, name = dict(expected), sorted(expected)[0]
    found[f"{name}-new"] = found.pop(name)
    assert golden.report(expected, found).count("golden file") == 2


def test_a_topic_that_is_new_differs_from_nothing(expected):
    assert golden.report(expected, expected | {"new/topic#claim": {}}) == ""


def test_a_program_is_compared_by_what_it_does():
    reworded = PROGRAM.replace("A program.", "A SymPy program.").replace("Return one.", "Give one.").replace("return 1", "return 1  # one")
    assert golden.program_digest(PROGRAM) == golden.program_digest(reworded)
    assert golden.program_digest(PROGRAM) != golden.program_digest(PROGRAM.replace("return 1", "return 2"))


def test_text_that_holds_blank_lines_is_part_of_a_program():
    text = "TEXT = '''a\n\n\nb'''\n"
    assert golden.program_digest(text) != golden.program_digest(text.replace("b", "c"))
