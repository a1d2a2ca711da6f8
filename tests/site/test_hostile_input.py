"""Test pages whose certificates hold hostile text in rarely used fields, and pages with unclosed blocks or missing targets."""

import re

import pytest
from bs4 import BeautifulSoup

CLAIM = "/// claim | scaling/variance#{}\n///\n"
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><b>x</b>',
    "javascript:alert(1)",
    "&lt;script&gt;",
    "]]><svg/onload=alert(1)>",
    "<!-- --><style>*{display:none}</style>",
    "$<script>$",
]
ALLOWED = {"section", "header", "span", "a", "div", "details", "summary", "dl", "dt", "dd", "ul", "li", "code", "math", "pre", "wbr"}


def claim_of(certificates, id):
    return next(one for one in certificates["scaling/variance"]["claims"] if one["id"] == id)


TEXTS = {
    "the name of a witness": lambda one, text: one["witnesses"][0].update(name=text),
    "the note of a witness": lambda one, text: one["witnesses"][0].update(note=text),
    "the scope of a witness": lambda one, text: one["witnesses"][0].update(scope=text),
    "the scope": lambda one, text: one.update(scope=text),
    "the title": lambda one, text: one.update(title=text),
    "a reason": lambda one, text: one["steps"][0].update(reason=text),
    "an assumption": lambda one, text: one["assumptions"][0].update(text=text),
    "what fails without it": lambda one, text: one["assumptions"][0].update(needed=text),
    "a value of the counterexample": lambda one, text: one.update(counterexample=[{"latex": text}]),
    "what a bound rests on": lambda one, text: one.update(because=[text]),
    "a step": lambda one, text: one["steps"][0].update(latex=text),
    "a relation": lambda one, text: one["steps"][0].update(relation=text),
    "a use": lambda one, text: one.update(uses=[text]),
    "a use of another topic": lambda one, text: one.update(uses=[f"simplify/bilinear#{text}"]),
    "the kind": lambda one, text: one.update(kind=text),
    "the program of a witness": lambda one, text: one["witnesses"][1].update(source=f"def claim():\n    0\n    x = {text!r}"),
    "a verdict": lambda one, text: one["witnesses"][0].update(verdict=text),
    "the line": lambda one, text: one.update(line=text),
    "the id": lambda one, text: one.update(id=text),
}


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("field", TEXTS)
def test_certificate_fields_never_become_markup(field, text, certificates, page):
    """The text is shown escaped, or the page is rejected with its file and line."""
    for id in ("mean", "same"):
        one = claim_of(certificates, id)
        one["assumptions"] = one["assumptions"] or [{"latex": "q", "text": "x", "needed": "y"}]
        TEXTS[field](one, text)
    try:
        html = page("/// derivation | scaling/variance\n///\n")
    except Exception as error:
        assert type(error).__name__ == "PageError", repr(error)
        assert re.match(r"docs/notes/page\.md:1: ", error.format_message()) and "\n" not in error.format_message()
        return
    found = BeautifulSoup(html, "html.parser")
    outside = {element.name for element in found.find_all(True) if not element.find_parent("math")} - ALLOWED
    assert outside == set(), outside
    assert not {name for element in found.find_all(True) for name in element.attrs if name.startswith("on") or name == "style"}
    assert not [link for link in found.find_all("a") if "javascript:" in link.get("href", "")]


@pytest.mark.parametrize("field", ["topic", "script", "title"])
@pytest.mark.parametrize("text", HOSTILE[:3])
def test_fields_of_the_whole_certificate_never_become_markup(field, text, certificates, page):
    certificates["scaling/variance"][field] = text
    try:
        html = page(CLAIM.format("mean"), repository="https://example.org/a/b/")
    except Exception as error:
        assert type(error).__name__ == "PageError", repr(error)
        return
    found = BeautifulSoup(html, "html.parser")
    assert {element.name for element in found.find_all(True) if not element.find_parent("math")} <= ALLOWED
    assert not {name for element in found.find_all(True) for name in element.attrs if name.startswith("on")}


OPEN = {
    "a claim at the end of the page": "Text\n\n/// claim | scaling/variance#mean",
    "a claim before a heading": "/// claim | scaling/variance#mean\n\n# Title\n",
    "a claim in another block": "//// details | More\n/// claim | scaling/variance#mean\n////\n",
    "a block around claims": "//// details | More\n/// claim | scaling/variance#mean\n///\n",
    "two claims, one open": "/// claim | scaling/variance#mean\n\n/// claim | scaling/variance#variance\n///\n",
    "closed by too many": "/// claim | scaling/variance#mean\n////\n",
}


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_unclosed_block_is_rejected_with_its_line(text, refused):
    assert re.match(r"docs/notes/page\.md:\d+: ", refused(text))


ASKED = [
    "/// claim | scaling/variance#<b>x</b>\n///\n",
    "/// claim | scaling/variance#mean#mean\n///\n",
    "/// claim | scaling/none#mean\n///\n",
    "/// derivation | <script>/x\n///\n",
    "/// derivation | kernel/claims\n///\n",
    "/// claim | #mean\n///\n",
    "/// claim | scaling/variance#Mean\n///\n",
    "/// claim | Scaling/Variance#mean\n///\n",
    "/// derivation |\n///\n",
]


@pytest.mark.parametrize("text", ASKED)
def test_missing_targets_are_rejected_with_their_line(text, refused):
    assert refused(f"# Title\n\n{text}").startswith("docs/notes/page.md:3: ")


def test_claim_in_list_or_quotation_is_shown_or_rejected(page):
    """Markdown may take a block there for text; the block must not appear on the page as text."""
    for text in ("- /// claim | scaling/variance#mean\n  ///\n", "> /// claim | scaling/variance#mean\n> ///\n"):
        try:
            html = page(text)
        except Exception as error:
            assert type(error).__name__ == "PageError", repr(error)
        else:
            assert "section" in html and "///" not in html
