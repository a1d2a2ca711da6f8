"""Adjust how formulas break across lines, without changing what they say."""

import re
from xml.etree import ElementTree

from ..printing.mathml import estimate_width, tree_of

NARROW = 30  # letters: the width of a phone's screen
_BEFORE_PUNCTUATION = re.compile(r'(<math(?![^>]*display="block")[^>]*>(?:(?!</math>).)*</math>)([,.;:!?)\]’”]+)', re.DOTALL)


def keep_punctuation(html: str) -> str:
    """Return the page with each inline formula kept on one line with the punctuation after it, between which browsers would break the line."""
    return _BEFORE_PUNCTUATION.sub(r'<span class="held">\1\2</span>', html)


def to_markup(tree: ElementTree.Element) -> str:
    """Return a tree as markup, with end tags for empty elements."""
    return ElementTree.tostring(tree, encoding="unicode", short_empty_elements=False)


def add_line_breaks(markup: str) -> str:
    """Return a wide formula in pieces between which a line may break: before a term, and before a bracket after a long piece.

    MathML does not break lines itself. A piece that begins with a sign has an empty group before it, which keeps the space around the sign.
    """
    if estimate_width(markup) <= NARROW:
        return markup
    pieces: list[list[ElementTree.Element]] = [[]]
    for node in tree_of(markup):
        if _begins_a_term(node) and pieces[-1]:
            pieces.append([ElementTree.Element("mrow")])
        elif _is_bracketed(node) and estimate_width(_to_inline_formula(pieces[-1])) > NARROW:
            pieces.append([])
        pieces[-1].append(node)
    return "<wbr>".join(map(_to_inline_formula, pieces)) if len(pieces) > 1 else markup


def _begins_a_term(node: ElementTree.Element) -> bool:
    """Return whether a node is a plus or minus between two terms; the sign of a single term has attributes that remove its space."""
    return node.tag == "mo" and node.text in ("+", "−") and not node.attrib


def _is_bracketed(node: ElementTree.Element) -> bool:
    """Return whether a node is a group in brackets of its own height; such a group is not broken."""
    return node.tag == "mrow" and len(node) > 1 and node[0].text == "("


def _to_inline_formula(nodes: list[ElementTree.Element]) -> str:
    math = ElementTree.Element("math", displaystyle="true")
    math.extend(nodes)
    return to_markup(math)
