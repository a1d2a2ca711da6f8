"""Tests of the page of false statements: each has its appeal, a one-line answer, a claim that refutes it, and the correct statement."""

import re
from functools import cache
from pathlib import Path

import pytest

from derivations.kernel.store.certificates import load

PAGE = Path(__file__).parents[2] / "docs" / "wrong.md"
CLAIM = re.compile(r"^/// claim \| ([\w/-]+)#([\w-]+)\n///$", re.M)
REASON = re.compile(r"^Why not: [^\n]{20,95}\.$", re.M)
TRUE = re.compile(r"^What is true: [^#]*\]\([^)]+\.md[^)]*\)", re.M)

# This statement says that two things differ, so a claim that they are equal refutes it.
BY_IDENTITY = {"Several heads recover the order of words"}


@cache
def kinds(topic):
    return {claim["id"]: claim["kind"] for claim in load(topic)["claims"]}


def statements(page):
    """Return the page's statements, each with the text below it."""
    parts = re.split(r"^### (.+)\n", re.sub(r"^## .*\n", "", page, flags=re.M), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def faults(page):
    wrong = []
    for statement, under in statements(page).items():
        why, _, rest = under.strip().partition("\n\n")
        found = {kinds(topic)[name] for topic, name in CLAIM.findall(under)}
        if not re.match(r"[A-Z].*\.$", why, flags=re.S):
            wrong.append(f"{statement}: why it tempts")
        if not REASON.search(rest.partition("\n\n")[0]) or under.count("Why not") > 1:
            wrong.append(f"{statement}: why not")
        if ("identity" if statement in BY_IDENTITY else "refutation") not in found:
            wrong.append(f"{statement}: what refutes it")
        if not TRUE.search(rest):
            wrong.append(f"{statement}: what is true")
    return wrong


def test_every_statement_is_refuted_and_corrected():
    page = PAGE.read_text(encoding="utf-8")
    assert len(statements(page)) >= 20 and statements(page).keys() >= BY_IDENTITY
    assert faults(page) == []
    assert 2 <= page.count("\n/// figure | ") <= 4


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("With numbers they may, and", "and", "Factors may be sorted by kind: why it tempts"),
        ("With numbers they may, and with all factors square the shapes agree.\n\n", "", "Factors may be sorted by kind: why not"),
        ("Why not: matrices do not commute,", "Matrices do not commute,", "Factors may be sorted by kind: why not"),
        ("Why not: matrices do not commute, so", "Why not: matrices do not\ncommute, so", "Factors may be sorted by kind: why not"),
        ("Why not: values take no part in scores.", "Why not: no.", "Divide by the root of both widths: why not"),
        ("/// claim | simplify/attempts#commuted\n///\n", "", "Factors may be sorted by kind: what refutes it"),
        ("simplify/attempts#commuted", "simplify/attempts#solution", "Factors may be sorted by kind: what refutes it"),
        ("heads/module#no-order", "heads/module#by-name", "Several heads recover the order of words: what refutes it"),
        ("What is true: both weights merge", "Both weights merge", "Factors may be sorted by kind: what is true"),
        ("[between the two inputs](simplify/bilinear.md)", "between the two inputs", "Factors may be sorted by kind: what is true"),
    ],
)
def test_planted_fault_is_found(old, new, found):
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(old) == 1
    assert found in faults(page.replace(old, new))
