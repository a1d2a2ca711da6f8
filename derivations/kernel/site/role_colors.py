"""Queries, keys, values and outputs keep one colour each: in formulas, in the names in pictures, and in code.

Colours are the style sheet's business; here each gets a class. A small letter is the name of other things as well, of an index above
all. On a page it is taken for a query, a key, a value or an output where it has entries, which no index has.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from xml.etree.ElementTree import Element

from ..printing.mathml import tree_of
from .formula_layout import written

ROLES = ("query", "key", "value", "output")
OF = {letter: role for role in ROLES for letter in (role[0], role[0].upper())}
CAPITALS = frozenset(letter for letter in OF if letter.isupper())
LOWERED = {"msub": 1, "msup": 1, "msubsup": 1, "munder": 1, "mover": 1, "munderover": 1}  # how many of its parts are not small
WORDS = {word: role for role in ROLES for word in (role, "queries" if role == "query" else f"{role}s")}

_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
_NAME = re.compile(r"\$(?:([QKVO])(?:[_^][^,]*)?|([qkvo])_[^,]*)\$")
_CODE = re.compile(rf'(?<!<span class="o">\.</span>)<span class="(n|n[a-z])">({"|".join(WORDS)})</span>')


def css(role: str) -> str:
    return f"role--{role}"


def with_role(classes: str, name: str) -> str:
    """The classes of what has a name in a picture, such as `$K_1$` or `queries`, and one for what the name stands for."""
    letter = _NAME.fullmatch(name)
    role = OF[letter[1] or letter[2]] if letter else WORDS.get(name)
    return " ".join(filter(None, (classes, css(role) if role else "")))


def coloured(html: str) -> str:
    """A page with classes for what has a role in its formulas and in its code."""
    formulas = _MATH.findall(html)
    letters = CAPITALS | {one for markup in formulas for one in with_entries(markup)}
    html = _MATH.sub(lambda match: in_formula(match[0], letters), html)
    return _CODE.sub(lambda match: f'<span class="{match[1]} {css(WORDS[match[2]])}">{match[2]}</span>', html)


@lru_cache(maxsize=8192)
def with_entries(markup: str) -> frozenset[str]:
    """The letters of a formula that have a role and something lowered beside them."""
    bases = (node[0].text for node in set_large(tree_of(markup)) if node.tag in ("msub", "msubsup"))
    return frozenset(letter for letter in bases if letter in OF)


@lru_cache(maxsize=8192)
def in_formula(markup: str, letters: frozenset[str]) -> str:
    """The formula with a class on each of these letters that is not lowered or raised itself."""
    if not any(f">{letter}<" in markup for letter in letters):
        return markup
    tree = tree_of(markup)
    for node in set_large(tree):
        if node.tag == "mi" and node.text in letters:
            node.set("class", css(OF[node.text]))
    return written(tree)


def set_large(node: Element) -> Iterator[Element]:
    """The parts of a formula, but for what is lowered or raised beside something."""
    yield node
    for child in node[: LOWERED.get(node.tag, len(node))]:
        yield from set_large(child)
