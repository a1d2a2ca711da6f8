r"""Split text and formulas into the words that search compares, both for the index and for queries.

The rules below are part of the index, and a reader's browser applies them to queries. So `QK^T`, `Q K^\top` and the formula on a page
become one word, and so do "masks" and "masking". A rule is a regular expression that Python and JavaScript read alike, and a replacement.
"""

import re
import unicodedata
from functools import lru_cache

# A factor of a product: a letter or several capitals, with indices, possibly transposed.
FACTOR = r"(?:[A-Z]+|[a-zα-ωΑ-Ω])(?:_[A-Za-z0-9]+)*T?"
NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"""
GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", NAMES.split()))
NO_LETTER = "(?![A-Za-z])"

# For formulas, as they are typed in LaTeX and as formula_text.py writes them.
FORMULA: list[tuple[str, str]] = [
    (r"\\(?:left|right|[bB]igg?|operatorname\*?|math[a-z]+|text|limits|displaystyle)" + NO_LETTER, ""),
    (r"\\[,;:!>]", ""),
    (r"\\(?:begin|end)\s*\{[a-z]+\}|\\\\|&", " ; "),
    (r"\\(?:top|intercal)" + NO_LETTER, "T"),
    (r"\\(?:cdot|odot|times)" + NO_LETTER, "·"),
    (r"\\(?:n?leq?|n?geq?|neq?|to|mid|coloneqq|approx|in|x?rightarrow|[lr]?Vert|[lr]?vert|q?quad|[lc]?dots)" + NO_LETTER, " = "),
    (r"\\[dt]?frac" + NO_LETTER, " "),
    *((rf"\\(?:var)?{name}{NO_LETTER}", f" {letter} ") for letter, name in GREEK.items()),
    (r"\\([A-Za-z]+)", " $1 "),
    (r"\s+([_^])", "$1"),
    (r"_\s*\{\s*([A-Za-z0-9]+)\s+([A-Za-z0-9]+)\s*\}", "_$1$2"),
    (r"_\s*\{\s*([A-Za-z0-9]+)\s*\}", "_$1"),
    (r"\.T" + NO_LETTER, "T"),
    (r"[\^]\s*[({]?\s*T\s*[)}]?" + NO_LETTER, "T"),
    (rf"(?<![A-Za-z0-9_])({FACTOR})\s*[·⋅*@⊙×]?\s*(?={FACTOR}{NO_LETTER})", "$1"),
]
# For all text.
TEXT: list[tuple[str, str]] = [
    ("√", " sqrt "),
    ("∑", " sum "),
    ("∂", " partial "),
    ("∞", " infinity "),
    (r"square root(?: of)?", "sqrt"),
    ("(?<=[a-z]{2})_(?=[a-z]{2})", " "),  # scaled_dot_product_attention, but not d_k
    ("_", ""),
    ("['’]s" + NO_LETTER, ""),
]
# A word's stem, from four letters on.
STEM: list[tuple[str, str]] = [
    (r"ies$", "y"),
    (r"([^sua]|[^i]a)s$", "$1"),
    (r"([a-z]{3}i)[sz](?:e[dr]?|ing|ation)$", "$1s"),
    (r"([a-z]{3})(?:ing|ed|ion|e)$", "$1"),
    (r"([bdfgmnprt])\1$", "$1"),
]
# Words that a reader may use for one another; each finds what the others find, with less weight.
SYNONYMS = (("derivative", "gradient", "jacobian", "slope"), ("backpropagation", "backprop", "backward"))
# Words of a question that say nothing about its topic. A query is searched without them, unless it has no other words.
QUESTION_WORDS = ["a", "an", "are", "can", "do", "does", "how", "i", "is", "of", "the", "what", "when", "which", "why"]
RULES = {"formula": FORMULA, "text": TEXT, "stem": STEM}


def _compile_rules(rules: list[tuple[str, str]]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), re.sub(r"\$(\d)", r"\\\1", instead)) for pattern, instead in rules]


_RULES = {name: _compile_rules(rules) for name, rules in RULES.items()}


def _apply_rules(name: str, text: str) -> str:
    for pattern, instead in _RULES[name]:
        text = pattern.sub(instead, text)
    return text


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the stem of a word of more than three letters."""
    return _apply_rules("stem", word) if len(word) > 3 else word


def split_words(text: str) -> list[str]:
    """Return the words of prose, or of a formula after `fold_formula`."""
    plain = _apply_rules("text", unicodedata.normalize("NFKC", text)).lower()
    return [stem(word) for word in re.findall(r"[^\W_]+", plain)]


def fold_formula(formula: str) -> str:
    """Return a formula in the form that search compares, in which a product is one word."""
    return _apply_rules("formula", unicodedata.normalize("NFKC", formula))


def find_synonyms() -> dict[str, list[str]]:
    """Return the stems that a query's stem stands for as well."""
    groups = [[stem(word) for word in words] for words in SYNONYMS]
    return {word: [other for other in group if other != word] for group in groups for word in group}
