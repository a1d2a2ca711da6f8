"""The signs that text and formulas by hand are made of, and what of them states a relation.

Nobody can list all that looks like a sign of equality. So what may stand is listed: letters, digits and plain punctuation. Whatever else
there is, be it drawn, stacked or invisible, is refused by its name.
"""

import re
import unicodedata
from functools import lru_cache
from xml.etree.ElementTree import Element

from ..printing.names import SPOKEN

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
_SPOKEN = re.compile(rf"\b(?:{'|'.join(SPOKEN.split())})\b", re.IGNORECASE)

_GREEK = "".join(chr(code) for code in range(0x391, 0x3CA) if chr(code).isalpha()) + "ϵϑϕϱϖϰ"
# Accented letters of Latin, for names of people. Not among them are letters for clicks, some of which look like relations.
_ACCENTED = "".join(chr(code) for code in (*range(0xC0, 0x180), *range(0x1E00, 0x1F00)) if chr(code).isalpha())
_ASCII = "".join(map(chr, range(0x20, 0x7F))) + "\t\n"
_PROSE = frozenset(_ASCII + _GREEK + _ACCENTED + "–—‘’“”«»…·•×−±√∞⊤⊙⊗⊕∂∇∑∏′°§¶†‡€£©²³½¡¿↩\u00a0\u202f")

_LETTERS = frozenset("ℝℕℤℚℂℙℍℓℒℋℐℱℬℰℳℛℎℯℊℴℑℜℵℏ∅\ufe00" + "".join(map(chr, range(0x1D400, 0x1D800))))  # U+FE00: of a calligraphic letter
_SIGNS = frozenset("+-−±∓×·⋅∗*/∘∙⋆⊙⊗⊕()[]{}|‖∣⟨⟩⌈⌉⌊⌋,.;!?%′″…⋯⋮⋱∑∏∫√∂∇∞⊤⊥†‡ \u00a0\u2061\u2062\u2063")
_FORMULA = frozenset(char for char in _ASCII if char.isalnum()) | frozenset(_GREEK) | _LETTERS | _SIGNS
_ACCENTS = frozenset("ˆ˜¯˙¨\u20d7\u0332⏞⏟")  # above a letter or below it, and nowhere else

_BIG = frozenset("∑∏∫")
_DOTS = frozenset("…⋯⋮⋱.")
_DASHES = frozenset("-−")
# What a name is made of. The rest of MathML moves its parts, hides them or strikes them through.
ELEMENTS = frozenset(
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
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
    ]
)
_SCRIPTS = frozenset(["msub", "msup", "msubsup", "munder", "mover", "munderover"])
_ABOVE = frozenset(["munder", "mover", "munderover"])


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


def stray_in(text: str) -> str | None:
    """The first character that text is not made of, or None.

    >>> [char for char in "Łukasz’s é, 2 × 3 – β …" if stray_in(char)]
    []
    >>> named(stray_in("softmax(z) \u2550 z"))
    "'═' (U+2550, box drawings double horizontal)"
    """
    return next((char for char in text if char not in _PROSE), None)


def named(char: str) -> str:
    """A character as a message names it, since it may not be seen."""
    return f"{char!r} (U+{ord(char):04X}, {unicodedata.name(char, 'without a name').lower()})"


STRAY = "may be read as a relation, or not be seen at all: text is made of letters, digits and plain punctuation"


def fault_of_text(text: str) -> str:
    """What the text says or holds that text may not, to stand after it in a message; '' where there is nothing."""
    if sign := relation_in(text):
        return f"states a relation ({sign})"
    return (char := stray_in(text) or "") and f"holds {named(char)}, which {STRAY}"


def fault_of_formula(formula: Element) -> str:
    """What a formula by hand says or holds, as MathML, that a name does not; '' where there is nothing."""
    said = _said(formula)
    if found := relation_in(said) or _RELATION_WORDS.search(said) or _SPOKEN.search(_said(formula, scripts=False)):
        return f"states a relation ({found if isinstance(found, str) else found.group()}) by hand"
    return next(filter(None, (_fault_of_node(node) for node in formula.iter())), "")


def _fault_of_node(node: Element) -> str:
    if node.tag not in ELEMENTS:
        return f"makes a <{node.tag}>, which moves or hides what stands in it"
    if node.tag == "mspace" and "-" in node.get("width", "") + node.get("style", "").replace("margin-left", ""):
        return "sets signs one over another by a negative space"
    accents = node[1:] if node.tag in _ABOVE else []
    for part in node:
        allowed = _FORMULA | _ACCENTS if part in accents else _FORMULA
        if len(part) == 0 and (char := next((char for char in part.text or "" if char not in allowed), "")):
            return f"holds {named(char)}, which may be read as a relation, or not be seen at all"
    if node.tag in _SCRIPTS:
        return _fault_of_script(node)
    if node.tag in ("mfrac", "mtr") and any(_text(part) and not _names(part, _DOTS) for part in node):
        return "sets signs one over another with no letter or digit among them"
    if any(part.tag == "mtext" and (part.text or "").strip() for part in node):
        return "holds words; write them outside of the dollars"
    return ""


def _fault_of_script(node: Element) -> str:
    """Signs that are stacked make another: a dash over a dash is a sign of equality."""
    base, *others = node
    stacked = node.tag in _ABOVE and not _names(base, _BIG) or _DASHES & set(_text(base)) and not _names(base)
    if stacked or len(others) == 2 and all(_DASHES & set(_text(part)) and not _names(part) for part in others):
        return f"sets {' and '.join(repr(_text(part)) for part in node if _text(part))} one over another"
    return ""


def _names(node: Element, more: frozenset = frozenset()) -> bool:
    """Is there a letter or a digit in it, or one of some signs more?"""
    return any(char.isalnum() or char in "∂∇∞∅" or char in more for char in _text(node))


def _text(node: Element) -> str:
    return "".join(node.itertext()).strip()


def _said(formula: Element, scripts: bool = True) -> str:
    """The text of a formula, letters that stand alone joined as a reader would join them; without what is set above or below, if asked."""
    said = "".join(leaf if len(leaf) < 2 else f" {leaf} " for leaf in _leaves(formula, scripts))
    # Every space that LaTeX makes, no-break or thin, becomes a plain one.
    return " ".join(said.split())


def _leaves(node: Element, scripts: bool) -> list[str]:
    if node.tag == "mspace":
        wide = re.match(r"0\.[2-9]|[1-9]", node.get("width", ""))
        return [" "] if wide else []
    if len(node) == 0:
        return [node.text or ""]
    parts = node[:1] if node.tag in _SCRIPTS and not scripts else node
    return [leaf for part in parts for leaf in _leaves(part, scripts)]
