"""LaTeX as MathML Core, and the rejection of relations in formulas that authors type by hand."""

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from xml.etree import ElementTree

from math_core import LatexError, LatexToMathML

from .handwritten_relations import ELEMENTS, find_formula_fault, find_text_fault

_CONVERTER = LatexToMathML(fancy_error=False)

# The elements that may occur. Links, as \eqref makes them, are not among them: a page numbers its claims itself.
_ELEMENTS = ELEMENTS | {"mmultiscripts", "mprescripts", "mpadded", "mphantom", "menclose"}


class MathsError(ValueError):
    """An error in LaTeX or in a text with formulas. The message does not say where the text is."""


@lru_cache(maxsize=4096)
def mathml(latex: str, *, display: bool = False) -> str:
    """Return a LaTeX formula as a MathML element. Raise MathsError if math-core cannot convert it or makes a forbidden element.

    >>> mathml("d_k")
    '<math><msub><mi>d</mi><mi>k</mi></msub></math>'
    """
    try:
        markup = _CONVERTER.convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        # The message starts with an offset: "0: Unknown command ...".
        reason = re.sub(r"^\d+: ", "", str(error))
        raise MathsError(f"{latex!r} is not LaTeX that can be shown: {reason}") from None
    for element in tree_of(markup).iter():
        if element.tag not in _ELEMENTS:
            raise MathsError(f"{latex!r} makes a <{element.tag}>, which a formula may not hold")
    return markup


def render_notation(latex: str) -> str:
    """Return a formula that an author typed as MathML. Raise MathsError if it states a relation, since only claims may.

    The check reads the MathML, so that it does not depend on how the relation was written in LaTeX.
    """
    markup = mathml(latex)
    if fault := find_formula_fault(tree_of(markup)):
        raise MathsError(
            f"${latex}$ {fault}; relations come from claims: show one with '/// claim | chapter/topic#id', and keep $...$ for names"
        )
    return markup


def estimate_width(markup: str) -> int:
    """Return the approximate width of a formula in letters: for a table that of its widest row, for a fraction that of its wider part."""

    def width(node: ElementTree.Element) -> int:
        parts = [width(child) for child in node]
        if node.tag in ("mtable", "mfrac", "munderover", "munder", "mover"):
            return max(parts, default=0)
        return sum(parts) + len((node.text or "").strip("\u2061"))

    return width(tree_of(markup))


def render_text(text: str) -> str:
    """Return a text that the kernel wrote as HTML, with `$...$` as MathML. Raise MathsError for LaTeX that cannot be converted."""
    return _with_formulas(text, escape, mathml)


def render_author_text(text: str) -> str:
    """Return a text that an author wrote as HTML. Raise MathsError if it states a relation, since no witness has checked it."""

    def words(part: str) -> str:
        if fault := find_text_fault(part):
            raise MathsError(f"{text!r} {fault}, and only a claim's formula is checked: say it in words, or as a claim of its own")
        return escape(part)

    return _with_formulas(text, words, render_notation)


def _with_formulas(text: str, words: Callable[[str], str], formula: Callable[[str], str]) -> str:
    parts = re.split(r"(?<!\\)\$(.+?)(?<!\\)\$", text, flags=re.DOTALL)
    return "".join(formula(part) if i % 2 else words(part.replace(r"\$", "$")) for i, part in enumerate(parts))


def tree_of(markup: str) -> ElementTree.Element:
    """Return the element tree of MathML. math-core writes one named entity that XML does not know; it is replaced."""
    return ElementTree.fromstring(markup.replace("&ApplyFunction;", "\u2061"))
