"""Export a claim from its certificate: as LaTeX, as plain text, and as its record in claims.json."""

import re
from xml.etree.ElementTree import Element

from ..check.proving_witnesses import provers
from ..printing.mathml import mathml, tree_of
from . import code_verdict_text

PORTABLE_COMMANDS = {r"\coloneqq": ":="}  # for commands that some LaTeX programs do not know
FORMULA = re.compile(r"\$([^$]+)\$")
FUNCTION_APPLICATION = "\u2061"  # the invisible character between a function and its argument
LIMIT = re.compile(r"\\xrightarrow\{(.*)\}", re.DOTALL)
UNSPACED = "()[]{}|‖⟨⟩⌊⌋⌈⌉⋅!′/"  # signs without spaces around them
FORMATS = {  # how an element with parts is written on one line
    "msup": "{}^{}", "msub": "{}_{}", "msubsup": "{}_{}^{}", "mfrac": "{}/{}", "mroot": "({})^(1/{})",
    "mover": "{}^{}", "munder": "{}_{}", "munderover": "{}_{}^{}",
}  # fmt: skip


def to_latex(claim: dict) -> str:
    """Return the LaTeX of the whole claim, one step to a line."""
    steps = [(PORTABLE_COMMANDS.get(step["relation"], step["relation"]), step["latex"]) for step in claim["steps"]]
    if len(steps) == 1:
        return " ".join((claim["start"], *steps[0]))
    first, *others = (f"&{relation} {latex}" for relation, latex in steps)
    lines = " \\\\\n".join([f"{claim['start']} {first}", *others])
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def to_text(claim: dict) -> str:
    """Return the claim as plain text, for programs and readers that do not read LaTeX."""
    return " ".join(
        [formula_to_text(claim["start"]), *(_format_step(step["relation"], formula_to_text(step["latex"])) for step in claim["steps"])]
    )


def _format_step(relation: str, right: str) -> str:
    limit = LIMIT.fullmatch(relation)
    return f"→ {right} as {formula_to_text(limit[1])}" if limit else f"{formula_to_text(relation)} {right}"


def formula_to_text(latex: str) -> str:
    r"""Return a formula as plain text. Raise MathsError if math-core cannot read it.

    >>> formula_to_text(r"\frac{q \cdot k}{\sqrt{d_k}}")
    '(q⋅k)/√(d_k)'
    """
    return re.sub(r"(?<=\S)([+−]) | +", lambda match: match[1] or " ", _text_of_node(tree_of(mathml(latex)))).strip()


def to_plain_text(text: str) -> str:
    """Return text with formulas between dollars as plain text."""
    return FORMULA.sub(lambda match: formula_to_text(match[1]), text)


def _text_of_node(node: Element) -> str:
    if node.tag == "mspace" or node.tag == "mprescripts":
        return " "
    if node.tag == "mtable":
        return "[" + "; ".join(", ".join(map(_join_parts, row)) for row in node) + "]"
    if node.tag == "msqrt":
        return f"√({_join_parts(node)})"
    if node.tag in FORMATS:
        return FORMATS[node.tag].format(*map(_bracket, node))
    if node.tag == "mo":
        return _format_operator(node)
    return _join_parts(node) if len(node) else node.text or ""


def _join_parts(row: Element) -> str:
    """Return the children of an element side by side, with spaces between factors."""
    text, after_factor = "", False
    for node in row:
        is_sign = node.tag in ("mo", "mspace")
        part = _text_of_node(node)
        bracketed = part.startswith(tuple("([{)]}"))  # an argument, or a factor in brackets
        text += " " * (after_factor and not is_sign and not bracketed) + part
        after_factor = bool(part) and not is_sign
    return text.strip() if row.tag != "math" else text


def _bracket(node: Element) -> str:
    """Return the text of an element, in brackets if it has several parts."""
    text = _text_of_node(node).strip()
    return text if re.fullmatch(r"[^\W_]*|\W|(√|\w+)?\([^()]*\)", text) or _is_enclosed(text) else f"({text})"


def _is_enclosed(text: str) -> bool:
    """Return whether one pair of brackets encloses the whole text."""
    depths, depth = [], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        depths.append(depth)
    return text[:1] in ("(", "[") and depth == 0 and 0 not in depths[:-1]


def _format_operator(node: Element) -> str:
    """Return an operator, with spaces around relations and sums but not around brackets and products."""
    text = node.text or ""
    if text == FUNCTION_APPLICATION or text in UNSPACED or node.get("form") == "prefix":
        return "" if text == FUNCTION_APPLICATION else text
    return f"{text} " if text in ",;" else text if node.get("lspace") == node.get("rspace") == "0" else f" {text} "


def export_record(
    claim: dict, *, topic: str, rank: str, number: int, page: str, anchor: str, url: str, script: str, repository: str = ""
) -> dict:
    """Return the record of a claim for claims.json; `page` and `anchor` locate it on the site, and `url` is its full address."""
    place = f"{script}#L{claim['line']}"
    entry = {
        "id": f"{topic}#{claim['id']}",
        "title": to_plain_text(claim["title"]),
        "kind": claim["kind"],
        "rank": rank,
        "number": number,
        "latex": to_latex(claim),
        "text": to_text(claim),
        "reasons": [to_plain_text(step["reason"]) for step in claim["steps"]],
        "assumptions": [to_plain_text(one["text"]) for one in claim["assumptions"]],
        "scope": claim["scope"],
        "witnesses": [{name: to_plain_text(one[name]) for name in ("name", "verdict", "scope", "note")} for one in claim["witnesses"]],
        "proved_by": provers(claim),
        "uses": [use if "#" in use else f"{topic}#{use}" for use in claim["uses"]],
        "code": list(claim.get("code", ())),
        "code_computes": {
            "state": claim.get("computed", {}).get("state", "not asked"),
            "says": code_verdict_text.describe_verdict(claim),
            "note": code_verdict_text.describe_note(claim),
        },
        "page": page,
        "anchor": anchor,
        "url": url,
        "script": script,
        "line": int(claim["line"]),
    }
    if claim["kind"] == "refutation":
        entry["counterexample"] = [formula_to_text(binding["latex"]) for binding in claim["counterexample"]]
    return entry | ({"source": f"{repository.rstrip('/')}/blob/main/{place}"} if repository else {})
