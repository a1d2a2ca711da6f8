"""LaTeX to MathML Core, and what mathematics written by hand may not say."""

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from xml.etree import ElementTree

from math_core import LatexError, LatexToMathML

from .relation_signs import ELEMENTS, fault_of_formula, fault_of_text

_CONVERTER = LatexToMathML(fancy_error=False)

# Everything that MathML Core lays out. No links: \eqref and \ref make one, and a page numbers its claims itself.
_ELEMENTS = ELEMENTS | {"mmultiscripts", "mprescripts", "mpadded", "mphantom", "menclose"}


class MathsError(ValueError):
    """LaTeX that cannot be shown: what is wrong with it, without a place."""


@lru_cache(maxsize=4096)
def mathml(latex: str, *, display: bool = False) -> str:
    """The formula as a MathML element. Raises MathsError for what math-core does not know.

    >>> mathml("d_k")
    '<math><msub><mi>d</mi><mi>k</mi></msub></math>'
    """
    try:
        markup = _CONVERTER.convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        # The library puts the offset first: "0: Unknown command ...".
        reason = re.sub(r"^\d+: ", "", str(error))
        raise MathsError(f"{latex!r} is not LaTeX that can be shown: {reason}") from None
    for element in tree_of(markup).iter():
        if element.tag not in _ELEMENTS:
            raise MathsError(f"{latex!r} makes a <{element.tag}>, which a formula may not hold")
    return markup


def notation(latex: str) -> str:
    """MathML for a formula typed by hand, which may name things and relate none of them.

    The check reads the MathML, so it does not matter how a relation was spelt. Raises MathsError.
    """
    markup = mathml(latex)
    if fault := fault_of_formula(tree_of(markup)):
        raise MathsError(
            f"${latex}$ {fault}; relations come from claims: show one with '/// claim | chapter/topic#id', and keep $...$ for names"
        )
    return markup


def breadth(markup: str) -> int:
    """About how many letters wide a formula is: a table counts with its widest row, a fraction with its longer half."""

    def of(node: ElementTree.Element) -> int:
        parts = [of(child) for child in node]
        if node.tag in ("mtable", "mfrac", "munderover", "munder", "mover"):
            return max(parts, default=0)
        return sum(parts) + len((node.text or "").strip("\u2061"))

    return of(tree_of(markup))


def prose(text: str) -> str:
    """Text that the kernel wrote as HTML: everything escaped, `$...$` as mathematics. Raises MathsError."""
    return _with_formulas(text, escape, mathml)


def authored(text: str) -> str:
    """Text that an author gave a claim as HTML: no more than `prose` may it state a relation, since no witness has looked at it."""

    def words(part: str) -> str:
        if fault := fault_of_text(part):
            raise MathsError(f"{text!r} {fault}, and only a claim's formula is checked: say it in words, or as a claim of its own")
        return escape(part)

    return _with_formulas(text, words, notation)


def _with_formulas(text: str, words: Callable[[str], str], formula: Callable[[str], str]) -> str:
    parts = re.split(r"(?<!\\)\$(.+?)(?<!\\)\$", text, flags=re.DOTALL)
    return "".join(formula(part) if i % 2 else words(part.replace(r"\$", "$")) for i, part in enumerate(parts))


def tree_of(markup: str) -> ElementTree.Element:
    """The tree of a formula. The one named entity that math-core writes is not XML's."""
    return ElementTree.fromstring(markup.replace("&ApplyFunction;", "\u2061"))
