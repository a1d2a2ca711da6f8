"""The records of all claims are those of the golden file, and a difference is noticed."""

from copy import deepcopy

import pytest

from tests import golden

PROGRAM = '"""A program."""\n\n\ndef step():\n    """Return one."""\n    return 1\n'


@pytest.fixture(scope="module")
def expected():
    return golden.golden()


def test_no_record_differs_from_the_golden_file(expected):
    assert golden.report(expected, golden.records()) == ""


@pytest.mark.parametrize("part", ["scope", "witnesses", "assumptions", "steps"])
def test_a_changed_part_of_a_record_is_reported(expected, part):
    found = deepcopy(expected)
    name = sorted(found)[0]
    found[name][part] = "changed"
    assert golden.report(expected, found).startswith(f"1 difference from golden.jsonl:\n{name}: {part}: expected ")


def test_a_claim_that_is_gone_and_a_new_one_are_reported(expected):
    found = dict(expected)
    found["new/topic#claim"] = found.pop(sorted(found)[0])
    assert golden.report(expected, found).count("golden file") == 2


def test_a_program_is_compared_by_what_it_does():
    reworded = PROGRAM.replace("A program.", "A SymPy program.").replace("Return one.", "Give one.").replace("return 1", "return 1  # one")
    assert golden.program_digest(PROGRAM) == golden.program_digest(reworded)
    assert golden.program_digest(PROGRAM) != golden.program_digest(PROGRAM.replace("return 1", "return 2"))


def test_text_that_holds_blank_lines_is_part_of_a_program():
    text = "TEXT = '''a\n\n\nb'''\n"
    assert golden.program_digest(text) != golden.program_digest(text.replace("b", "c"))
