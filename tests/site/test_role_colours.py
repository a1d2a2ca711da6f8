"""Test that queries, keys, values and outputs each have a colour, and that other uses of the letters q, k, v and o have none."""

import re
from xml.etree.ElementTree import canonicalize

import pytest

from derivations.kernel.printing.mathml import mathml
from derivations.kernel.site.role_classes import add_role_classes, with_role

CLASSES = {"query": "Q", "key": "K", "value": "V", "output": "O"}


def marked(html):
    """Return each coloured text with its role."""
    return [(text, role) for role, text in re.findall(r'class="(?:\w+ )?role--(\w+)">([^<]*)<', html)]


@pytest.mark.parametrize("role, letter", CLASSES.items())
def test_capital_letter_has_its_role_in_every_formula(role, letter):
    assert marked(add_role_classes(mathml(rf"\frac{{{letter} x}}{{{letter}_1^2}}"))) == [(letter, role)] * 2


@pytest.mark.parametrize("latex", ["d_k", "W_Q", r"\sum_{k=1}^{n} x_k", "x^{V}", "k + o", r"W_K^{Q}"])
def test_subscripts_and_superscripts_have_no_role(latex):
    assert add_role_classes(mathml(latex)) == mathml(latex)


def test_small_letter_has_its_role_if_the_page_uses_its_entries():
    html = mathml("q k") + "<p>words</p>" + mathml("q_{i} d_k")
    assert marked(add_role_classes(html)) == [("q", "query"), ("q", "query")]


def test_other_html_is_unchanged():
    markup = mathml(r"\exp(Q) \le \operatorname{softmax}(S)_{ij} < 1 \& 2", display=True)
    before, _, after = add_role_classes(f"<p>a &lt; b &amp; &nbsp;c</p>{markup}").partition("</p>")
    assert before == "<p>a &lt; b &amp; &nbsp;c"
    without = re.sub(r' class="role--\w+"', "", after)
    assert without != after and canonicalize(without) == canonicalize(markup.replace("&ApplyFunction;", "\u2061"))


def test_squared_entry_has_a_role_but_a_letter_in_an_index_has_none():
    assert marked(add_role_classes(mathml("q_i^2 + k q"))) == [("q", "query")] * 2
    assert marked(add_role_classes(mathml("x_{q_1} + x^{k_1} + q + k"))) == []


def test_names_in_code_have_roles_but_methods_have_none():
    html = '<span class="n">query</span><span class="o">.</span><span class="n">values</span><span class="n">keys</span><span class="n">k</span>'
    assert marked(add_role_classes(html)) == [("query", "query"), ("keys", "key")]


@pytest.mark.parametrize(
    "name, classes",
    {"$Q$": "a role--query", "$K_1$": "a role--key", "$v_{i}$": "a role--value", "outputs": "a role--output"}.items(),
)
def test_name_in_a_picture_has_its_role(name, classes):
    assert with_role("a", name) == classes and with_role("", name) == classes[2:]


@pytest.mark.parametrize("name", ["$k$", "$K_1, V_1$", "$d_k$", "$X$", "query by key", "", "$QK$"])
def test_other_names_in_pictures_have_no_role(name):
    assert with_role("a", name) == "a"
