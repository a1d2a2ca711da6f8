"""Test that a wide formula may break only before a term or a tall bracket, and that a break does not change its content."""

from xml.etree.ElementTree import fromstring

import pytest

from derivations.kernel.printing.mathml import mathml
from derivations.kernel.site.formula_layout import add_line_breaks, keep_punctuation

LONG = "abcdefghij" * 3


def pieces(latex):
    """Return the text of each piece, and whether it begins with an empty group."""
    parts = add_line_breaks(mathml(latex, display=True).replace("&ApplyFunction;", "\u2061")).split("<wbr>")
    trees = [fromstring(part) for part in parts]
    return ["".join(tree.itertext()) for tree in trees], [len(tree[0]) == 0 and tree[0].tag == "mrow" for tree in trees]


@pytest.mark.parametrize(
    "latex, expected",
    {
        "a + b": ["a+b"],
        f"{LONG} + b - c": [LONG, "+b", "−c"],
        f"-{LONG} + -b": [f"−{LONG}", "+−b"],
        rf"{LONG} \frac{{a + b}}{{c - d}}": [f"{LONG}a+bc−d"],
        rf"\sum_{{i = 1}}^{{n}} ({LONG} + b_{{i + 1}})": [f"∑i=1n({LONG}", "+bi+1)"],
        rf"{LONG} b \left(c + d\right)": [f"{LONG}b", "(c+d)"],
        rf"b \left(c + {LONG}\right)": [f"b(c+{LONG})"],
    }.items(),
)
def test_allowed_line_breaks(latex, expected):
    texts, grouped = pieces(latex)
    assert texts == expected
    assert grouped[1:] == [text[0] in "+−" for text in texts[1:]]
    assert "".join(texts) == "".join(fromstring(mathml(latex, display=True)).itertext())


def test_punctuation_stays_on_the_line_of_its_formula():
    formula, block = "<math><mi>T</mi></math>", '<math display="block"><mi>T</mi></math>'
    assert keep_punctuation(f"of {formula}, and {formula} of it.") == f'of <span class="held">{formula},</span> and {formula} of it.'
    assert keep_punctuation(f"{formula}{formula}).") == f'{formula}<span class="held">{formula}).</span>'
    assert keep_punctuation(f"{block}, {formula} <b>,</b>") == f"{block}, {formula} <b>,</b>"
