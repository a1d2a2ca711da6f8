"""The signs that text and formulas by hand are made of, and what of them states a relation.

Nobody can list all that looks like a sign of equality. So what may stand is listed: letters, digits and plain punctuation. Whatever else
there is, be it drawn, stacked or invisible, is refused by its name.
"""

import ast
import re
import unicodedata
from functools import lru_cache
from xml.etree.ElementTree import Element

from .name_latex import FUNCTIONS, SPOKEN

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

_KNOWN = frozenset([*FUNCTIONS.split(), "fl"])  # words between two operands that a reader takes for a function, and not for a verb

_GREEK = "".join(chr(code) for code in range(0x391, 0x3CA) if chr(code).isalpha()) + "ϵϑϕϱϖϰ"
# Accented letters of Latin, for names of people. Not among them are letters for clicks, some of which look like relations.
_ACCENTED = "".join(chr(code) for code in (*range(0xC0, 0x180), *range(0x1E00, 0x1F00)) if chr(code).isalpha())
_ASCII = "".join(map(chr, range(0x20, 0x7F))) + "\t\n"
# Two dashes, one after another, are a sign of equality that was pulled apart; a bar between spaces, or without another, divides.
_RUNNING = re.compile(r"[-−–—]\s*[-−–—]|(?<!\S)\|(?!\S)")
# A colon doubled is the sign of a proportion, but in a name as C++ writes it; one with space on both sides is that of a ratio.
_PROPORTION = re.compile(r"(?<!\w):\s*:|:\s*:(?!\w)|[ \t\u00a0\u202f]:(?!\S)")
_REFERENCE = re.compile(r"^::: derivations\.[\w.]+$", re.M)  # where the reference is made from docstrings
_COMPARING = "equal equals allclose isclose assert_close assert_equal assert_allclose array_equal is_close eq ne lt le gt ge"
COMPARING = frozenset(_COMPARING.split())
_IN_CODE = re.compile(r"−\s*−|\s--?\s*-\s|\w\s*~")  # there one begins an option, and a tilde negates
_PROSE = frozenset(set(_ASCII) - set("~")) | frozenset(_GREEK + _ACCENTED + "–—‘’“”«»…·•×−±√∞⊤⊙⊗⊕∂∇∑∏′°§¶†‡€£©²³½¡¿↩\u00a0\u202f")

_LETTERS = frozenset("ℝℕℤℚℂℙℍℓℒℋℐℱℬℰℳℛℎℯℊℴℑℜℵℏ∅\ufe00" + "".join(map(chr, range(0x1D400, 0x1D800))))  # U+FE00: of a calligraphic letter
_SIGNS = frozenset("+-−±∓×·⋅∗*/∘∙⋆⊙⊗⊕()[]{}|‖∣⟨⟩⌈⌉⌊⌋,.;!?%′″…⋯⋮⋱∑∏∫√∂∇∞⊤⊥†‡ \u00a0\u2061\u2062\u2063")
_FORMULA = frozenset(char for char in _ASCII if char.isalnum()) | frozenset(_GREEK) | _LETTERS | _SIGNS
_ACCENTS = frozenset("ˆ˜¯˙¨\u20d7\u0332⏞⏟")  # above a letter or below it, and nowhere else

_BIG = frozenset("∑∏∫")
_DOTS = frozenset("…⋯⋮⋱.")
_DASHES = frozenset("-−")
_BARS = frozenset("|∣")
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
_DRAWING = _SCRIPTS | {"mfrac", "mroot"}  # all of whose parts are read
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


def running_in(text: str) -> str | None:
    """Signs of plain punctuation that together are one of a relation: two dashes with nothing between them, a bar alone. Or None."""
    return found[0] if (found := _RUNNING.search(text)) else "|" if text.count("|") % 2 else None


def proportion_in(text: str) -> str | None:
    """Colons that are read as a sign of equal ratios, or None.

    >>> [proportion_in(text) for text in ("softmax(z) :: z", "z : 1", "so: 3:1", "std::tanh")]
    ['::', ' :', None, None]
    """
    return found[0] if (found := _PROPORTION.search(_REFERENCE.sub("", text))) else None


def fault_of_text(text: str) -> str:
    """What the text says or holds that text may not, to stand after it in a message; '' where there is nothing."""
    if sign := relation_in(text) or running_in(text) or proportion_in(text):
        return f"states a relation ({sign})"
    return (char := stray_in(text) or "") and f"holds {named(char)}, which {STRAY}"


KEYWORDS = ("given", "because", "at", "without", "code", "uses", "shape")  # a span may give them several things, in brackets
NUMBERED = ("dim",)  # and this one a number: it says which axis, and nothing else is called so


def fault_of_code(text: str) -> str:
    """What a span of code says or holds that none may, to stand after it in a message; '' where there is nothing.

    It names things. The one sign in it that a relation has is that of a keyword with its value; what is more than that is a line of code,
    which stands in a file that runs.

    >>> [bool(fault_of_code(text)) for text in ("f(x, dim=-1)", "given=[...]", "bias=False", "softmax(z) = z", "x == y", "z=0")]
    [False, False, False, True, True, True]
    >>> [bool(fault_of_code(text)) for text in ("def f(z): return z", "lambda z: z", "{f(z): z}", "assert f(z)", "{'z': 1}", "import f")]
    [True, True, True, True, False, False]
    """
    if found := _IN_CODE.search(text):
        return f"states a relation ({found[0].strip()})"
    if verb := compared_in(text):
        return f"states a relation ({verb})"
    if says_of(text):
        return "says of one thing that it is another"
    if sign := relation_in(text):
        return "" if sign == "=" and is_keywords(text) else f"states a relation ({sign})"
    return (char := stray_in(text.replace("~", "").replace("|", "")) or "") and f"holds {named(char)}, which {STRAY}"


def compared_in(text: str) -> str:
    """What compares in code that is a whole expression: `in` and `is` are relations without a sign, and so is a call of what compares.

    '' where nothing does.
    """
    for written in (text, f"f({text})"):
        try:
            nodes = list(ast.walk(ast.parse(written.strip(), mode="eval")))
        except (SyntaxError, ValueError):
            continue
        return next((ast.unparse(node) for node in nodes if isinstance(node, ast.Compare) or is_comparing(node)), "")
    return ""


_SAYING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Assert, ast.AnnAssign)


def says_of(text: str) -> bool:
    """Does code say of one thing that it is another: by a definition with its body, an assertion, a table whose keys are formulas?"""
    try:
        nodes = list(ast.walk(ast.parse(text.strip())))
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, _SAYING) or is_table_of_formulas(node) for node in nodes)


def is_table_of_formulas(node: ast.AST) -> bool:
    """Is a formula a key in it, and its value what it would be? `without` is given assumptions, and values by name."""
    kinds = (ast.Constant, ast.Name)
    return isinstance(node, ast.Dict) and any(
        not isinstance(k, kinds) and not isinstance(v, ast.Dict) for k, v in zip(node.keys, node.values)
    )


def is_comparing(node: ast.AST) -> bool:
    """Is it a call, with something to compare, of a function that is known to compare: `torch.equal(x, y)`?"""
    return isinstance(node, ast.Call) and bool(node.args) and ast.unparse(node.func).rpartition(".")[2] in COMPARING


def is_keywords(text: str) -> bool:
    """Is it a call with keywords, or keywords alone, each with a value and none with a formula?"""
    for written, within in ((text, True), (f"f({text})", False)):
        try:
            call = ast.parse(written.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            continue
        signs = (ast.Compare, ast.NamedExpr, ast.Lambda)
        if isinstance(call, ast.Call) and (within or not call.args) and not any(isinstance(node, signs) for node in ast.walk(call)):
            given = [keyword for node in ast.walk(call) if isinstance(node, ast.Call) for keyword in node.keywords]
            return all(_is_given(one.arg or "", one.value, within) for one in given)
    return False


def _is_given(name: str, value: ast.expr, within: bool) -> bool:
    """Is it what a keyword is given? Outside of a call it could be read as a formula: there it is True, False, None or a text."""
    plain = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Name, ast.Attribute, ast.UnaryOp, ast.USub, ast.Load)
    if within or name in KEYWORDS and isinstance(value, (ast.Tuple, ast.List, ast.Dict, ast.Set)):
        return all(isinstance(node, plain) for node in ast.walk(value))
    if name in NUMBERED and isinstance(value, ast.UnaryOp):
        value = value.operand
    numbers = (int,) if name in NUMBERED else ()
    return isinstance(value, ast.Constant) and isinstance(value.value, (bool, str, type(None), *numbers))


def fault_of_formula(formula: Element) -> str:
    """What a formula by hand says or holds, as MathML, that a name does not; '' where there is nothing."""
    said = _said(formula)
    if found := relation_in(said) or _RELATION_WORDS.search(said) or _SPOKEN.search(_said(formula, scripts=False)):
        return f"states a relation ({found if isinstance(found, str) else found.group()}) by hand"
    if verb := _verb_in(_said(formula, scripts=False)):
        return f"says {verb!r} between two names, as a relation is said"
    return _fault_of_signs(_leaves(formula, True)) or next(filter(None, (_fault_of_node(node) for node in formula.iter())), "")


def _verb_in(said: str) -> str:
    """A word with something before it and after it, which is no function that readers know; '' where there is none."""
    between = said.split(" ")[1:-1]
    return next((word for word in between if len(word) > 1 and word.isalpha() and word not in _KNOWN), "")


def _fault_of_signs(leaves: list[str]) -> str:
    """Two minus signs running, and a bar that divides. Bars come in pairs; one alone stands within brackets, for a condition."""
    leaves = [leaf for leaf in leaves if leaf.strip(" \u00a0\u2061\u2062\u2063")]
    if any(set(pair) <= _DASHES for pair in zip(leaves, leaves[1:])):
        return "states a relation (−−) by hand"
    opened: list[str] = []
    for before, leaf in zip(["", *leaves], leaves):
        if leaf in ("[", "{", "("):
            opened.append(leaf if before and before[-1].isalpha() or leaf == "{" else "")
        elif leaf in ("]", "}", ")") and opened:
            opened.pop()
        elif leaf in _BARS and not (opened and opened[-1]) and (leaf == "∣" or leaves.count(leaf) % 2):
            return f"states a relation ({leaf}) by hand"
    return ""


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
    if "color" in node.get("style", ""):
        return "has a colour of its own, and what is coloured may not be seen; leave the colour to the page"
    if "border" in node.get("style", ""):
        return "draws a line of a table; of two lines a sign is made"
    if node.tag in _DRAWING and not all(map(_seen, node)) or node.tag in ("msqrt", "mtable") and not _seen(node):
        return "draws a line, or sets something, at what is empty; name it"
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


def _seen(node: Element) -> bool:
    """Is there something in it to read?"""
    return bool(_text(node).strip("\u00a0\u2061\u2062\u2063"))


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
