"""Turn a formula into one line of text, which search indexes and shows."""

import re
from functools import lru_cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

FUNCTION_APPLICATION = "\u2061"  # invisible, between a function and its argument
SPACED = set("=≔≠<>≤≥≰≱→+−×⊙≈∈")
SUPERSCRIPTS = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@lru_cache(maxsize=10_000)
def to_line(markup: str) -> str:
    """Return a formula, given as MathML, as one line such as `softmax(QKᵀ/√d_k)V`."""
    text = _text_of(ElementTree.fromstring(markup.replace("&ApplyFunction;", FUNCTION_APPLICATION).replace("&nbsp;", " ")))
    text = re.sub(rf"{FUNCTION_APPLICATION}(?=[^\W_]|[√∑∂])", " ", text).replace(FUNCTION_APPLICATION, "")
    text = re.sub(r"([(\[]) | (?=[)\],])", r"\1", " ".join(text.split()))
    return re.sub(r"(^|[(\[,/] ?)− ", r"\1−", text)  # a sign, not a difference


def _text_of(node: Element) -> str:
    tag = node.tag.rpartition("}")[2]
    if tag in ("mi", "mn", "mo", "mtext"):
        return _format_token((node.text or "").strip(), tag)
    parts = _bracket_fractions(node, [_text_of(child) for child in node])
    return _FORMATS.get(tag, _join_parts)(parts) if parts else ""


def _bracket_fractions(node: Element, parts: list[str]) -> list[str]:
    """Put brackets around each fraction that is a factor: without them, the next factor would seem to belong to the denominator."""
    if node.tag.rpartition("}")[2] in _FORMATS:
        return parts
    neighbours = [None, *parts, None]
    return [
        f"({part})" if child.tag.endswith("mfrac") and (_ends_in_a_factor(before) or _begins_with_a_factor(after)) else part
        for child, before, part, after in zip(node, neighbours, parts, neighbours[2:])
    ]


def _begins_with_a_factor(text: str | None) -> bool:
    return bool(text and re.match(r"[^\W_]|[(√∑]", text))


def _ends_in_a_factor(text: str | None) -> bool:
    return bool(text and re.search(r"[\w)′ᵀ]$", text))


def _join_parts(parts: list[str]) -> str:
    """Join the parts, with a space between an index and a letter, so that the letter does not seem to belong to the index."""
    text = parts[0]
    for before, part in zip(parts, parts[1:]):
        text += " " * bool("_" in before and re.search(r"[\w²³]$", before) and re.match(r"[^\W\d_]", part)) + part
    return text


def _format_token(text: str, tag: str) -> str:
    if text in SPACED:
        return f" {text} "
    if text in ("⋅", "·"):
        return "·"
    if text == ",":
        return ", "
    return f" {text}" if tag == "mi" and len(text) > 1 else text


def _bracket(text: str, bare: str = r"[\w′]+") -> str:
    """Return the text in brackets, or unchanged if it matches `bare`, is in brackets already, or is one symbol (no letter or digit)."""
    text = text.strip()
    return text if re.fullmatch(rf"√?(?:{bare})ᵀ?|√?[(\[][^()\[\]]*[)\]]|[^\w\s]", text) else f"({text})"


def _bracket_product(text: str) -> str:
    """Return the text, in brackets unless it is one letter or one number; of a product, a root would seem to cover only the first factor."""
    return _bracket(text, r"(?:[^\W\d_](?:_\w+)?|\d+)′*")


def _add_subscript(base: str, index: str) -> str:
    return f"{base}_{_bracket(index.replace(' ', ''))}" if not base.strip().startswith("∑") else f"{base}({index.strip()}) "


def _add_superscript(base: str, exponent: str) -> str:
    exponent = exponent.strip()
    if exponent in ("⊤", "T"):
        return f"{base}ᵀ"
    compact = exponent.replace(" ", "")
    return base + (compact.translate(SUPERSCRIPTS) if re.fullmatch("−?[0-9]+", compact) else f"^{_bracket_product(exponent)}")


def _add_bounds(parts: list[str]) -> str:
    sign, below, above = (part.strip() for part in parts)
    return f"{sign}({re.sub(' = ', '=', below)}…{above}) "


def _join_rows(parts: list[str]) -> str:
    return f"[{'; '.join(part.strip() for part in parts)}]"


_FORMATS = {
    "msub": lambda parts: _add_subscript(*parts),
    "munder": lambda parts: f"{parts[0]}({parts[1].strip()}) ",
    "msup": lambda parts: _add_superscript(*parts),
    "msubsup": lambda parts: _add_superscript(_add_subscript(*parts[:2]), parts[2]),
    "mover": lambda parts: f" →({parts[1].strip()}) " if parts[0].strip() == "→" else "".join(parts),
    "munderover": _add_bounds,
    "msqrt": lambda parts: f"√{_bracket_product(''.join(parts))}",
    "mfrac": lambda parts: f"{_bracket(parts[0])}/{_bracket_product(parts[1])}",
    "mtable": _join_rows,
    "mtr": lambda parts: ", ".join(part.strip() for part in parts),
}
