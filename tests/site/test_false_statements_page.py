"""Tests of the page of false statements: each has its appeal, a one-line answer, a claim that refutes it, and the correct statement."""

import re
from pathlib import Path

import pytest
import torch

from snippets.attention.masks import added_weights
from snippets.order.rotary import apply_rotary
from tests.site.statement_pages import claim_kinds, statements

PAGE = Path(__file__).parents[2] / "docs" / "wrong.md"
REASON = re.compile(r"^Why it is false: [^\n]{20,95}\.$", re.M)
TRUE = re.compile(r"^What is true: [^#]*\]\([^)]+\.md[^)]*\)", re.M)

# This statement says that two things differ, so a claim that they are equal refutes it.
BY_IDENTITY = {"Several heads recover the order of words"}


def faults(page):
    wrong = []
    for statement, under in statements(page).items():
        why, _, rest = under.strip().partition("\n\n")
        found = claim_kinds(under)
        if not re.match(r"[A-Z].*\.$", why, flags=re.S):
            wrong.append(f"{statement}: why it tempts")
        if not REASON.search(rest.partition("\n\n")[0]) or under.count("Why it is false") > 1:
            wrong.append(f"{statement}: why it is false")
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
        ("For numbers this is true, and", "and", "Factors may be sorted by kind: why it tempts"),
        (
            "For numbers this is true, and if all matrices are square, the shapes fit as well.\n\n",
            "",
            "Factors may be sorted by kind: why it is false",
        ),
        ("Why it is false: matrices do not commute,", "Matrices do not commute,", "Factors may be sorted by kind: why it is false"),
        (
            "Why it is false: matrices do not commute, so",
            "Why it is false: matrices do not\ncommute, so",
            "Factors may be sorted by kind: why it is false",
        ),
        (
            "Why it is false: values take no part in the scores.",
            "Why it is false: no.",
            "Divide by the root of both widths: why it is false",
        ),
        ("/// claim | simplify/attempts#commuted\n///\n", "", "Factors may be sorted by kind: what refutes it"),
        ("simplify/attempts#commuted", "simplify/attempts#solution", "Factors may be sorted by kind: what refutes it"),
        ("heads/module#no-order", "heads/module#by-name", "Several heads recover the order of words: what refutes it"),
        ("What is true: the projections of", "The projections of", "Factors may be sorted by kind: what is true"),
        ("[between the two inputs](simplify/bilinear.md)", "between the two inputs", "Factors may be sorted by kind: what is true"),
    ],
)
def test_planted_fault_is_found(old, new, found):
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(old) == 1
    assert found in faults(page.replace(old, new))


@pytest.mark.parametrize("sign", [1, -1])
def test_rotary_scores_of_an_equal_key_fall_at_first_and_those_of_an_opposite_key_rise(sign):
    query = torch.randn(64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    scores = torch.stack([query @ apply_rotary(sign * query, distance) for distance in range(200)])
    assert (sign * scores).argmax() == 0 and sign * scores[1] < sign * scores[0]
    assert (scores.diff() > 0).any() and (scores.diff() < 0).any()


def test_minus_a_billion_equals_minus_infinity_if_a_key_is_kept_and_masks_nothing_otherwise():
    scores = 20 * torch.randn(1000, 8, generator=torch.Generator().manual_seed(0))
    keep = torch.arange(8) < 3
    assert torch.equal(added_weights(scores, keep, constant=-1e9), added_weights(scores, keep, constant=-torch.inf))
    ordinary = torch.tensor([1.0, 2.0, 3.0])
    assert torch.equal(added_weights(ordinary, torch.zeros(3, dtype=torch.bool), constant=-1e9), torch.zeros(3).softmax(-1))


def test_doubling_comes_close_to_four_for_tens_of_thousands_of_tokens():
    factor = {n: (16 * n * 512**2 + 16 * n**2 * 512) / (8 * n * 512**2 + 4 * n**2 * 512) for n in (1000, 10_000, 40_000)}
    assert factor[1000] < 3 < factor[10_000] < 3.9 < factor[40_000] < 4
