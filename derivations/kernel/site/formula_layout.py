"""Formulas as they were made for a page, changed in how they look alone: wide ones get places where a line may end."""

import re
from xml.etree import ElementTree

from ..printing.mathml import breadth, tree_of

NARROW = 30  # letters: as wide as a telephone
_BEFORE_A_SIGN = re.compile(r'(<math(?![^>]*display="block")[^>]*>(?:(?!</math>).)*</math>)([,.;:!?)\]’”]+)', re.DOTALL)


def with_their_signs(html: str) -> str:
    """A page on which no line begins with the comma that follows a formula: browsers would end a line before it."""
    return _BEFORE_A_SIGN.sub(r'<span class="held">\1\2</span>', html)


def written(tree: ElementTree.Element) -> str:
    return ElementTree.tostring(tree, encoding="unicode", short_empty_elements=False)


def in_pieces(markup: str) -> str:
    """The same formula, and where it is wide, in pieces between which a line may end: before a term, and before a bracket that follows much.

    MathML has no lines of its own. A piece that begins with its sign has an empty group before it, which keeps the room around the sign.
    """
    if breadth(markup) <= NARROW:
        return markup
    pieces: list[list[ElementTree.Element]] = [[]]
    for node in tree_of(markup):
        if begins_a_term(node) and pieces[-1]:
            pieces.append([ElementTree.Element("mrow")])
        elif is_bracket(node) and breadth(inline(pieces[-1])) > NARROW:
            pieces.append([])
        pieces[-1].append(node)
    return "<wbr>".join(map(inline, pieces)) if len(pieces) > 1 else markup


def begins_a_term(node: ElementTree.Element) -> bool:
    """Is it a plus or a minus between two terms? The sign of one term has room on neither side, and says so."""
    return node.tag == "mo" and node.text in ("+", "−") and not node.attrib


def is_bracket(node: ElementTree.Element) -> bool:
    """Is it something in brackets as high as itself, which stay together?"""
    return node.tag == "mrow" and len(node) > 1 and node[0].text == "("


def inline(nodes: list[ElementTree.Element]) -> str:
    math = ElementTree.Element("math", displaystyle="true")
    math.extend(nodes)
    return written(math)
