"""Error codes: errors.py lists every code that the source uses, and the source uses every listed code."""

import ast
import re
from pathlib import Path

import pytest

from derivations.kernel import errors
from derivations.kernel.errors import CODES, KernelError

FILE = Path(errors.__file__)
SOURCES = [path.read_text() for path in FILE.parent.rglob("*.py") if path != FILE]
SOURCES.append("class KernelError" + FILE.read_text().partition("class KernelError")[2])  # errors.py without the list


def texts(tree):
    """Return the texts that a syntax tree contains as constants."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def find_codes(source):
    """Return the texts that a module gives as the code of an error: `code="..."` or `error_code="..."` in a call, or `code = "..."` in a class."""
    nodes = list(ast.walk(ast.parse(source)))
    in_calls = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg in ("code", "error_code")]
    in_classes = [
        statement.value
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "code"
    ]
    choices = [[value.body, value.orelse] if isinstance(value, ast.IfExp) else [value] for value in (*in_calls, *in_classes)]
    return {part.value for parts in choices for part in parts if isinstance(part, ast.Constant) and part.value}


def unlisted(sources):
    """Return the codes that the source gives and errors.py does not list."""
    return set().union(*map(find_codes, sources)) - CODES.keys()


def unused(sources):
    """Return the codes that errors.py lists and the source does not mention."""
    return CODES.keys() - set().union(*(texts(ast.parse(source)) for source in sources))


def test_each_code_in_the_source_is_listed():
    assert unlisted(SOURCES) == set()


@pytest.mark.parametrize(
    "planted",
    [
        'raise KernelError("no", code="frobnicated")',
        'raise KernelError("no", code="vacuous" if x else "frobnicated")',
        'record.update(error_code="frobnicated")',
        'class Wrong(KernelError):\n    code = "frobnicated"',
    ],
)
def test_an_unlisted_code_is_found(planted):
    assert unlisted([*SOURCES, planted]) == {"frobnicated"}


def test_each_listed_code_is_used():
    assert unused(SOURCES) == set()


def test_an_unused_code_is_found(monkeypatch):
    monkeypatch.setitem(CODES, "frobnicated", "Something is frobnicated.")
    assert unused(SOURCES) == {"frobnicated"}


def test_a_code_is_words_and_its_meaning_a_sentence():
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", code) for code in CODES)
    assert all(meaning.endswith(".") for meaning in CODES.values())


def test_an_error_has_a_listed_code():
    assert KernelError("no", code="vacuous").code == "vacuous"
    for code in ("", "frobnicated"):
        with pytest.raises(ValueError):
            KernelError("no", code=code)
