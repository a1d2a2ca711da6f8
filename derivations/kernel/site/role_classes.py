"""Give queries, keys, values and outputs a class each, in formulas, in pictures and in code, so that the style sheet can colour them.

Lowercase letters also name other things, above all indices. On a page, such a letter counts as a query, key, value or output if it has a
subscript somewhere, since an index has none.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from xml.etree.ElementTree import Element

from ..printing.mathml import tree_of
from .formula_layout import to_markup

ROLES = ("query", "key", "value", "output")
ROLE_OF_LETTER = {letter: role for role in ROLES for letter in (role[0], role[0].upper())}
CAPITALS = frozenset(letter for letter in ROLE_OF_LETTER if letter.isupper())
FULL_SIZE_CHILDREN = {
    "msub": 1,
    "msup": 1,
    "msubsup": 1,
    "munder": 1,
    "mover": 1,
    "munderover": 1,
}  # how many first children are of full size
ROLE_OF_WORD = {word: role for role in ROLES for word in (role, "queries" if role == "query" else f"{role}s")}

_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
_NAME = re.compile(r"\$(?:([QKVO])(?:[_^][^,]*)?|([qkvo])_[^,]*)\$")
_CODE = re.compile(rf'(?<!<span class="o">\.</span>)<span class="(n|n[a-z])">({"|".join(ROLE_OF_WORD)})</span>')


def _css_class(role: str) -> str:
    return f"role--{role}"


def with_role(classes: str, name: str) -> str:
    """Return the classes of an element of a picture, and the class of a role if its name, such as `$K_1$` or `queries`, has one."""
    letter = _NAME.fullmatch(name)
    role = ROLE_OF_LETTER[letter[1] or letter[2]] if letter else ROLE_OF_WORD.get(name)
    return " ".join(filter(None, (classes, _css_class(role) if role else "")))


def add_role_classes(html: str) -> str:
    """Return a page with the classes of roles on letters in its formulas and on names in its code."""
    formulas = _MATH.findall(html)
    letters = CAPITALS | {letter for markup in formulas for letter in _subscripted_letters(markup)}
    html = _MATH.sub(lambda match: _add_classes(match[0], letters), html)
    return _CODE.sub(lambda match: f'<span class="{match[1]} {_css_class(ROLE_OF_WORD[match[2]])}">{match[2]}</span>', html)


@lru_cache(maxsize=8192)
def _subscripted_letters(markup: str) -> frozenset[str]:
    """Return the letters of a formula that can have a role and have a subscript."""
    bases = (node[0].text for node in _full_size_nodes(tree_of(markup)) if node.tag in ("msub", "msubsup"))
    return frozenset(letter for letter in bases if letter in ROLE_OF_LETTER)


@lru_cache(maxsize=8192)
def _add_classes(markup: str, letters: frozenset[str]) -> str:
    """Return the formula with classes on the given letters, except in subscripts and superscripts."""
    if not any(f">{letter}<" in markup for letter in letters):
        return markup
    tree = tree_of(markup)
    for node in _full_size_nodes(tree):
        if node.tag == "mi" and node.text in letters:
            node.set("class", _css_class(ROLE_OF_LETTER[node.text]))
    return to_markup(tree)


def _full_size_nodes(node: Element) -> Iterator[Element]:
    """Yield the nodes of a formula outside subscripts, superscripts and limits."""
    yield node
    for child in node[: FULL_SIZE_CHILDREN.get(node.tag, len(node))]:
        yield from _full_size_nodes(child)
