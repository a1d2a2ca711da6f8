"""LaTeX to MathML Core, and what mathematics written by hand may not say."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from html import escape
from xml.etree import ElementTree

from math_core import LatexError, LatexToMathML

_CONVERTER = LatexToMathML(fancy_error=False)

# Everything that MathML Core lays out. No links: \eqref and \ref make one, and a page numbers its claims itself.
_ELEMENTS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "msqrt",
        "mroot",
        "mfrac",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mprescripts",
        "mtable",
        "mtr",
        "mtd",
        "mpadded",
        "mphantom",
        "mstyle",
        "menclose",
    ]
)

# A character is a relation when its Unicode name holds one of these. Going by name covers the some 900 signs that a
# list of LaTeX commands would have to chase, and it sees what a macro made rather than how it was spelt.
_RELATION_NAMES = re.compile(
    r"\b(?:EQUALS?|LESS-THAN|GREATER-THAN|(?:SMALLER|LARGER) THAN|ARROWS?|HARPOON|FISH TAIL|IDENTICAL|EQUIVALEN(?:T|CE)"
    r"|CONGRUENT|PROPORTION(?:AL)?|ALMOST|ASYMPTOTICALLY|APPROXIMATELY|APPROACHES|ESTIMATES|CORRESPONDS|SIMILAR"
    r"|(?:REVERSED|NOT|MINUS|DOT|TRIPLE) TILDE|TILDE OPERATOR|HOMOTHETIC|ELEMENT|MEMBER|CONTAINS|SUBSET|SUPERSET"
    r"|SUBGROUP|PRECEDES?|SUCCEEDS?|BETWEEN|(?:LEFT|RIGHT|DOUBLE UP) TACK|TURNSTILE|MODELS|FORCES?|ASSERTION|PROVES?"
    r"|TRUE|IMAGE OF|ORIGINAL OF|MULTIMAP|PARALLEL|PERPENDICULAR|NOT DIVIDE|PITCHFORK|FORKING)\b"
)
# Used by footnotes, as a link back.
_NOT_RELATIONS = frozenset("\u21a9")
_RELATION_WORDS = re.compile(
    r"\b(?:not )?(?:equals?|equal to|iff|if and only if|implies|implied by|tends? to|converges? to|approx|approximately"
    r"|proportional|less than|greater than|at most|at least|belongs to|element of|similar to|congruent)\b",
    re.IGNORECASE,
)


class MathsError(ValueError):
    """LaTeX that cannot be shown: what is wrong with it, without a place."""


@lru_cache(maxsize=4096)
def is_relation(char: str) -> bool:
    """Whether one character claims something between its two sides, judged by its Unicode name.

    >>> [char for char in "a=+≤⊤∑→∈·" if is_relation(char)]
    ['=', '≤', '→', '∈']
    """
    if char in _NOT_RELATIONS:
        return False
    name = unicodedata.name(char, "")
    # Accents such as the arrow of a vector are combining characters, and relate nothing.
    return not name.startswith("COMBINING") and bool(_RELATION_NAMES.search(name))


def relation_in(text: str) -> str | None:
    """The first relation sign in the text, or None."""
    return next(filter(is_relation, text), None)


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
    for element in _tree(markup).iter():
        if element.tag not in _ELEMENTS:
            raise MathsError(f"{latex!r} makes a <{element.tag}>, which a formula may not hold")
    return markup


def notation(latex: str) -> str:
    """MathML for a formula typed by hand, which may name things and relate none of them.

    The check reads the MathML, so it does not matter how a relation was spelt. Raises MathsError.
    """
    markup = mathml(latex)
    said = _said(markup)
    found = relation_in(said) or _RELATION_WORDS.search(said)
    if found:
        sign = found if isinstance(found, str) else found.group()
        raise MathsError(
            f"${latex}$ states a relation ({sign}) by hand; relations come from claims: "
            "show one with '/// claim | chapter/topic#id', and keep $...$ for names"
        )
    return markup


def breadth(markup: str) -> int:
    """About how many letters wide a formula is: a table counts with its widest row, a fraction with its longer half."""

    def of(node: ElementTree.Element) -> int:
        parts = [of(child) for child in node]
        if node.tag in ("mtable", "mfrac", "munderover", "munder", "mover"):
            return max(parts, default=0)
        return sum(parts) + len((node.text or "").strip("\u2061"))

    return of(_tree(markup))


def prose(text: str) -> str:
    """Text that the kernel wrote as HTML: everything escaped, `$...$` as mathematics. Raises MathsError."""
    return _with_formulas(text, escape, mathml)


def authored(text: str) -> str:
    """Text that an author gave a claim as HTML: no more than `prose` may it state a relation, since no witness has looked at it."""

    def words(part: str) -> str:
        if sign := relation_in(part):
            raise MathsError(
                f"{text!r} states a relation ({sign}) by hand, and only a claim's formula is checked: say it in words, or as a claim of its own"
            )
        return escape(part)

    return _with_formulas(text, words, notation)


def _with_formulas(text: str, words: Callable[[str], str], formula: Callable[[str], str]) -> str:
    parts = re.split(r"(?<!\\)\$(.+?)(?<!\\)\$", text, flags=re.DOTALL)
    return "".join(formula(part) if i % 2 else words(part.replace(r"\$", "$")) for i, part in enumerate(parts))


def _tree(markup: str) -> ElementTree.Element:
    # The one named entity that math-core writes is not XML's.
    return ElementTree.fromstring(markup.replace("&ApplyFunction;", "\u2061"))


def _said(markup: str) -> str:
    """The text of a formula, letters that stand alone joined as a reader would join them."""
    leaves = (leaf.text or "" for leaf in _tree(markup).iter() if len(leaf) == 0)
    said = "".join(leaf if len(leaf) == 1 else f" {leaf} " for leaf in leaves)
    # Every space that LaTeX makes, no-break or thin, becomes a plain one.
    return " ".join(said.split())
