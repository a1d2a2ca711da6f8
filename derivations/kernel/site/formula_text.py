"""A formula as one line of text: what search finds and shows of it."""

import re
from functools import lru_cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

APPLIED = "\u2061"  # MathML's sign for a function that is applied
RELATIONS = set("=≔≠<>≤≥≰≱→+−×⊙≈∈")
SMALL = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@lru_cache(maxsize=10_000)
def line(markup: str) -> str:
    """The formula, given as MathML, in a line: `softmax(QKᵀ/√d_k)V`."""
    text = _of(ElementTree.fromstring(markup.replace("&ApplyFunction;", APPLIED).replace("&nbsp;", " ")))
    text = re.sub(rf"{APPLIED}(?=[^\W_]|[√∑∂])", " ", text).replace(APPLIED, "")
    text = re.sub(r"([(\[]) | (?=[)\],])", r"\1", " ".join(text.split()))
    return re.sub(r"(^|[(\[,/] ?)− ", r"\1−", text)  # of one number, not of two


def _of(node: Element) -> str:
    tag = node.tag.rpartition("}")[2]
    if tag in ("mi", "mn", "mo", "mtext"):
        return _sign((node.text or "").strip(), tag)
    parts = _factors(node, [_of(child) for child in node])
    return _JOINED.get(tag, _beside)(parts) if parts else ""


def _factors(node: Element, parts: list[str]) -> list[str]:
    """A fraction in brackets where it is one factor of several: what follows it would pass for a part of what it is divided by."""
    if node.tag.rpartition("}")[2] in _JOINED:
        return parts
    bare = [None, *parts, None]
    return [
        f"({part})" if child.tag.endswith("mfrac") and (_ends_in_a_factor(before) or _begins_with_a_factor(after)) else part
        for child, before, part, after in zip(node, bare, parts, bare[2:])
    ]


def _begins_with_a_factor(text: str | None) -> bool:
    return bool(text and re.match(r"[^\W_]|[(√∑]", text))


def _ends_in_a_factor(text: str | None) -> bool:
    return bool(text and re.search(r"[\w)′ᵀ]$", text))


def _beside(parts: list[str]) -> str:
    """One after the other; after an index a letter keeps its distance, so that it does not pass for part of it."""
    text = parts[0]
    for before, part in zip(parts, parts[1:]):
        text += " " * bool("_" in before and re.search(r"[\w²³]$", before) and re.match(r"[^\W\d_]", part)) + part
    return text


def _sign(text: str, tag: str) -> str:
    if text in RELATIONS:
        return f" {text} "
    if text in ("⋅", "·"):
        return "·"
    if text == ",":
        return ", "
    return f" {text}" if tag == "mi" and len(text) > 1 else text


def _grouped(text: str, bare: str = r"[\w′]+") -> str:
    """In brackets where it has parts."""
    text = text.strip()
    return text if re.fullmatch(rf"√?(?:{bare})ᵀ?|√?[(\[][^()\[\]]*[)\]]|[^\w\s]", text) else f"({text})"


def _one(text: str) -> str:
    """In brackets unless it is one letter or one number: of a product, only the first factor would be taken."""
    return _grouped(text, r"(?:[^\W\d_](?:_\w+)?|\d+)′*")


def _lowered(base: str, index: str) -> str:
    return f"{base}_{_grouped(index.replace(' ', ''))}" if not base.strip().startswith("∑") else f"{base}({index.strip()}) "


def _raised(base: str, exponent: str) -> str:
    exponent = exponent.strip()
    if exponent in ("⊤", "T"):
        return f"{base}ᵀ"
    small = exponent.replace(" ", "")
    return base + (small.translate(SMALL) if re.fullmatch("−?[0-9]+", small) else f"^{_one(exponent)}")


def _bounded(parts: list[str]) -> str:
    sign, below, above = (part.strip() for part in parts)
    return f"{sign}({re.sub(' = ', '=', below)}…{above}) "


def _rows(parts: list[str]) -> str:
    return f"[{'; '.join(part.strip() for part in parts)}]"


_JOINED = {
    "msub": lambda parts: _lowered(*parts),
    "munder": lambda parts: f"{parts[0]}({parts[1].strip()}) ",
    "msup": lambda parts: _raised(*parts),
    "msubsup": lambda parts: _raised(_lowered(*parts[:2]), parts[2]),
    "mover": lambda parts: f" →({parts[1].strip()}) " if parts[0].strip() == "→" else "".join(parts),
    "munderover": _bounded,
    "msqrt": lambda parts: f"√{_one(''.join(parts))}",
    "mfrac": lambda parts: f"{_grouped(parts[0])}/{_one(parts[1])}",
    "mtable": _rows,
    "mtr": lambda parts: ", ".join(part.strip() for part in parts),
}
