"""The detection of relations in text, in code and in formulas that authors type by hand. Only claims may state relations.

It is impossible to list everything that looks like an equals sign. Therefore the allowed characters are listed: letters, digits and plain
punctuation. Everything else, whether drawn, stacked or invisible, is an error that names the character.
"""

import ast
import re
import unicodedata
from functools import lru_cache
from xml.etree.ElementTree import Element

from .name_latex import FUNCTIONS, SPOKEN

# A character is a relation if its Unicode name contains one of these. This covers some 900 signs, and does not depend on
# the LaTeX command that produced the sign.
_RELATION_NAMES = re.compile(
    r"\b(?:EQUALS?|LESS-THAN|GREATER-THAN|(?:SMALLER|LARGER) THAN|ARROWS?|HARPOON|FISH TAIL|IDENTICAL|EQUIVALEN(?:T|CE)"
    r"|CONGRUENT|PROPORTION(?:AL)?|ALMOST|ASYMPTOTICALLY|APPROXIMATELY|APPROACHES|ESTIMATES|CORRESPONDS|SIMILAR"
    r"|(?:REVERSED|NOT|MINUS|DOT|TRIPLE) TILDE|TILDE OPERATOR|HOMOTHETIC|ELEMENT|MEMBER|CONTAINS|SUBSET|SUPERSET"
    r"|SUBGROUP|PRECEDES?|SUCCEEDS?|BETWEEN|(?:LEFT|RIGHT|DOUBLE UP) TACK|TURNSTILE|MODELS|FORCES?|ASSERTION|PROVES?"
    r"|TRUE|IMAGE OF|ORIGINAL OF|MULTIMAP|PARALLEL|PERPENDICULAR|NOT DIVIDE|PITCHFORK|FORKING)\b"
)
# The link back from a footnote.
_NOT_RELATIONS = frozenset("\u21a9")
_RELATION_WORDS = re.compile(
    r"\b(?:not )?(?:equals?|equal to|iff|if and only if|implies|implied by|tends? to|converges? to|approx|approximately"
    r"|proportional|less than|greater than|at most|at least|belongs to|element of|similar to|congruent)\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(rf"\b(?:{'|'.join(SPOKEN.split())})\b", re.IGNORECASE)

_KNOWN = frozenset([*FUNCTIONS.split(), "fl"])  # words that a reader takes for a function, even between two operands

_GREEK = "".join(chr(code) for code in range(0x391, 0x3CA) if chr(code).isalpha()) + "ϵϑϕϱϖϰ"
# Accented Latin letters, for names of people. Letters for clicks are left out, because some look like relations.
_ACCENTED = "".join(chr(code) for code in (*range(0xC0, 0x180), *range(0x1E00, 0x1F00)) if chr(code).isalpha())
_ASCII = "".join(map(chr, range(0x20, 0x7F))) + "\t\n"
# Two dashes in a row look like an equals sign. A bar between spaces, or without a partner, looks like "divides".
_RUNNING = re.compile(r"[-−–—]\s*[-−–—]|(?<!\S)\|(?!\S)")
# A double colon looks like a proportion, except inside a C++ name. A colon with spaces on both sides looks like a ratio.
_PROPORTION = re.compile(r"(?<!\w):\s*:|:\s*:(?!\w)|[ \t\u00a0\u202f]:(?!\S)")
_REFERENCE = re.compile(r"^::: derivations\.[\w.]+$", re.M)  # an instruction of mkdocstrings
_COMPARING = "equal equals allclose isclose assert_close assert_equal assert_allclose array_equal is_close eq ne lt le gt ge"
COMPARING = frozenset(_COMPARING.split())
_IN_CODE = re.compile(r"−\s*−|\s--?\s*-\s|\w\s*~")  # in code a double dash starts an option, and a tilde negates
_PROSE = frozenset(set(_ASCII) - set("~")) | frozenset(_GREEK + _ACCENTED + "–—‘’“”«»…·•×−±√∞⊤⊙⊗⊕∂∇∑∏′°§¶†‡€£©²³½¡¿↩\u00a0\u202f")

_LETTERS = frozenset("ℝℕℤℚℂℙℍℓℒℋℐℱℬℰℳℛℎℯℊℴℑℜℵℏ∅\ufe00" + "".join(map(chr, range(0x1D400, 0x1D800))))  # U+FE00 selects a calligraphic form
_SIGNS = frozenset("+-−±∓×·⋅∗*/∘∙⋆⊙⊗⊕()[]{}|‖∣⟨⟩⌈⌉⌊⌋,.;!?%′″…⋯⋮⋱∑∏∫√∂∇∞⊤⊥†‡ \u00a0\u2061\u2062\u2063")
_FORMULA = frozenset(char for char in _ASCII if char.isalnum()) | frozenset(_GREEK) | _LETTERS | _SIGNS
_ACCENTS = frozenset("ˆ˜¯˙¨\u20d7\u0332⏞⏟")  # allowed only above or below a letter

_BIG = frozenset("∑∏∫")
_DOTS = frozenset("…⋯⋮⋱.")
_DASHES = frozenset("-−")
_BARS = frozenset("|∣")
# The MathML elements that may occur. The others can move, hide or strike out their contents.
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
_DRAWING = _SCRIPTS | {"mfrac", "mroot"}  # elements none of whose parts may be empty
_ABOVE = frozenset(["munder", "mover", "munderover"])


@lru_cache(maxsize=4096)
def is_relation(char: str) -> bool:
    """Return whether a character is a relation sign, judged by its Unicode name.

    >>> [char for char in "a=+≤⊤∑→∈·" if is_relation(char)]
    ['=', '≤', '→', '∈']
    """
    if char in _NOT_RELATIONS:
        return False
    name = unicodedata.name(char, "")
    # Accents, such as the arrow above a vector, are combining characters and no relations.
    return not name.startswith("COMBINING") and bool(_RELATION_NAMES.search(name))


def find_relation_sign(text: str) -> str | None:
    """Return the first relation sign in the text, or None."""
    return next(filter(is_relation, text), None)


def find_stray_character(text: str) -> str | None:
    """Return the first character that may not occur in text, or None.

    >>> [char for char in "Łukasz’s é, 2 × 3 – β …" if stray_in(char)]
    []
    >>> named(stray_in("softmax(z) \u2550 z"))
    "'═' (U+2550, box drawings double horizontal)"
    """
    return next((char for char in text if char not in _PROSE), None)


def named(char: str) -> str:
    """Return a character with its code and its Unicode name, since it may be invisible."""
    return f"{char!r} (U+{ord(char):04X}, {unicodedata.name(char, 'without a name').lower()})"


STRAY = "may be read as a relation, or not be seen at all: text is made of letters, digits and plain punctuation"


def find_joined_signs(text: str) -> str | None:
    """Return punctuation that together looks like a relation, such as two dashes in a row or a single bar, or None."""
    return found[0] if (found := _RUNNING.search(text)) else "|" if text.count("|") % 2 else None


def find_proportion(text: str) -> str | None:
    """Return colons that look like a ratio or a proportion, or None.

    >>> [proportion_in(text) for text in ("softmax(z) :: z", "z : 1", "so: 3:1", "std::tanh")]
    ['::', ' :', None, None]
    """
    return found[0] if (found := _PROPORTION.search(_REFERENCE.sub("", text))) else None


def find_text_fault(text: str) -> str:
    """Return what is wrong with a text, as the predicate of a sentence ("states a relation (=)"), or '' if nothing is."""
    if sign := find_relation_sign(text) or find_joined_signs(text) or find_proportion(text):
        return f"states a relation ({sign})"
    return (char := find_stray_character(text) or "") and f"holds {named(char)}, which {STRAY}"


KEYWORDS = ("given", "because", "at", "without", "code", "uses", "shape")  # keywords whose value may be a list, a tuple or a dictionary
NUMBERED = ("dim",)  # keywords whose value may be a number


def find_code_fault(text: str) -> str:
    """Return what is wrong with an inline code span, as the predicate of a sentence, or '' if nothing is.

    A code span may name things and pass keyword arguments. Anything that states more belongs in a file that runs.

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
    if sign := find_relation_sign(text):
        return "" if sign == "=" and is_keywords(text) else f"states a relation ({sign})"
    return (char := find_stray_character(text.replace("~", "").replace("|", "")) or "") and f"holds {named(char)}, which {STRAY}"


def compared_in(text: str) -> str:
    """Return the first comparison in code that is an expression, or ''. `in`, `is` and calls such as `torch.equal(x, y)` count."""
    for written in (text, f"f({text})"):
        try:
            nodes = list(ast.walk(ast.parse(written.strip(), mode="eval")))
        except (SyntaxError, ValueError):
            continue
        return next((ast.unparse(node) for node in nodes if isinstance(node, ast.Compare) or is_comparing(node)), "")
    return ""


_SAYING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Assert, ast.AnnAssign)


def says_of(text: str) -> bool:
    """Return whether code states an equality by a definition with a body, an assertion, or a dictionary whose keys are formulas."""
    try:
        nodes = list(ast.walk(ast.parse(text.strip())))
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, _SAYING) or is_table_of_formulas(node) for node in nodes)


def is_table_of_formulas(node: ast.AST) -> bool:
    """Return whether a dictionary maps a formula to a value. Nested dictionaries, as `without` takes them, are allowed."""
    kinds = (ast.Constant, ast.Name)
    return isinstance(node, ast.Dict) and any(
        not isinstance(k, kinds) and not isinstance(v, ast.Dict) for k, v in zip(node.keys, node.values)
    )


def is_comparing(node: ast.AST) -> bool:
    """Return whether a node calls a comparing function with arguments, as `torch.equal(x, y)` does."""
    return isinstance(node, ast.Call) and bool(node.args) and ast.unparse(node.func).rpartition(".")[2] in COMPARING


def is_keywords(text: str) -> bool:
    """Return whether code is a call with keyword arguments, or only these, and no value is a formula."""
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
    """Return whether a keyword may have this value. Outside a call, `name=value` could be a formula, so that only literals are allowed."""
    plain = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Name, ast.Attribute, ast.UnaryOp, ast.USub, ast.Load)
    if within or name in KEYWORDS and isinstance(value, (ast.Tuple, ast.List, ast.Dict, ast.Set)):
        return all(isinstance(node, plain) for node in ast.walk(value))
    if name in NUMBERED and isinstance(value, ast.UnaryOp):
        value = value.operand
    numbers = (int,) if name in NUMBERED else ()
    return isinstance(value, ast.Constant) and isinstance(value.value, (bool, str, type(None), *numbers))


def find_formula_fault(formula: Element) -> str:
    """Return what is wrong with a formula that an author typed, as the predicate of a sentence, or '' if nothing is."""
    said = _said(formula)
    if found := find_relation_sign(said) or _RELATION_WORDS.search(said) or _SPOKEN.search(_said(formula, scripts=False)):
        return f"states a relation ({found if isinstance(found, str) else found.group()}) by hand"
    if verb := _verb_in(_said(formula, scripts=False)):
        return f"says {verb!r} between two names, as a relation is said"
    return _fault_of_signs(_leaves(formula, True)) or next(filter(None, (_fault_of_node(node) for node in formula.iter())), "")


def _verb_in(said: str) -> str:
    """Return a word between two operands that is not the name of a known function, or ''."""
    between = said.split(" ")[1:-1]
    return next((word for word in between if len(word) > 1 and word.isalpha() and word not in _KNOWN), "")


def _fault_of_signs(leaves: list[str]) -> str:
    """Return what is wrong with dashes and bars: two dashes in a row, or a bar without a partner, except for a condition in brackets."""
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
    """Return what is wrong with one MathML element, or ''."""
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
    """Return what is wrong with an element that stacks signs, or ''. Two stacked dashes look like an equals sign."""
    base, *others = node
    stacked = node.tag in _ABOVE and not _names(base, _BIG) or _DASHES & set(_text(base)) and not _names(base)
    if stacked or len(others) == 2 and all(_DASHES & set(_text(part)) and not _names(part) for part in others):
        return f"sets {' and '.join(repr(_text(part)) for part in node if _text(part))} one over another"
    return ""


def _names(node: Element, more: frozenset = frozenset()) -> bool:
    """Return whether the element contains a letter, a digit, or one of the signs in `more`."""
    return any(char.isalnum() or char in "∂∇∞∅" or char in more for char in _text(node))


def _seen(node: Element) -> bool:
    """Return whether the element contains anything visible."""
    return bool(_text(node).strip("\u00a0\u2061\u2062\u2063"))


def _text(node: Element) -> str:
    return "".join(node.itertext()).strip()


def _said(formula: Element, scripts: bool = True) -> str:
    """Return the text of a formula with separate letters joined into words, with or without sub- and superscripts."""
    said = "".join(leaf if len(leaf) < 2 else f" {leaf} " for leaf in _leaves(formula, scripts))
    # All kinds of spaces become plain ones.
    return " ".join(said.split())


def _leaves(node: Element, scripts: bool) -> list[str]:
    if node.tag == "mspace":
        wide = re.match(r"0\.[2-9]|[1-9]", node.get("width", ""))
        return [" "] if wide else []
    if len(node) == 0:
        return [node.text or ""]
    parts = node[:1] if node.tag in _SCRIPTS and not scripts else node
    return [leaf for part in parts for leaf in _leaves(part, scripts)]
