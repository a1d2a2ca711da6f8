"""A claim for who takes it along: as LaTeX, as plain text, and as the record that claims.json holds. Nothing is added to what its
certificate says."""

import re
from xml.etree.ElementTree import Element

from ..check.proving_witnesses import provers
from ..printing.mathml import mathml, tree_of
from . import code_verdicts

PORTABLE = {r"\coloneqq": ":="}  # what not everything that reads LaTeX knows
FORMULA = re.compile(r"\$([^$]+)\$")
APPLIED = "\u2061"  # between a function and what it is applied to; it is not seen
LIMIT = re.compile(r"\\xrightarrow\{(.*)\}", re.DOTALL)
CLOSE = "()[]{}|‖⟨⟩⌊⌋⌈⌉⋅!′/"  # signs without room around them
WRITTEN = {  # what has parts, and how these are written on a line
    "msup": "{}^{}", "msub": "{}_{}", "msubsup": "{}_{}^{}", "mfrac": "{}/{}", "mroot": "({})^(1/{})",
    "mover": "{}^{}", "munder": "{}_{}", "munderover": "{}_{}^{}",
}  # fmt: skip


def latex_of(claim: dict) -> str:
    """The whole claim, each step on a line of its own."""
    steps = [(PORTABLE.get(step["relation"], step["relation"]), step["latex"]) for step in claim["steps"]]
    if len(steps) == 1:
        return " ".join((claim["start"], *steps[0]))
    first, *others = (f"&{relation} {latex}" for relation, latex in steps)
    lines = " \\\\\n".join([f"{claim['start']} {first}", *others])
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def text_of(claim: dict) -> str:
    """The same as plain text, for who reads no LaTeX."""
    return " ".join([spelt(claim["start"]), *(_step(step["relation"], spelt(step["latex"])) for step in claim["steps"])])


def _step(relation: str, right: str) -> str:
    limit = LIMIT.fullmatch(relation)
    return f"→ {right} as {spelt(limit[1])}" if limit else f"{spelt(relation)} {right}"


def spelt(latex: str) -> str:
    r"""A formula as plain text.

    >>> spelt(r"\frac{q \cdot k}{\sqrt{d_k}}")
    '(q⋅k)/√(d_k)'
    """
    return re.sub(r"(?<=\S)([+−]) | +", lambda match: match[1] or " ", _spelt(tree_of(mathml(latex)))).strip()


def plain(text: str) -> str:
    """Words with formulas between dollars, as plain text."""
    return FORMULA.sub(lambda match: spelt(match[1]), text)


def _spelt(node: Element) -> str:
    if node.tag == "mspace" or node.tag == "mprescripts":
        return " "
    if node.tag == "mtable":
        return "[" + "; ".join(", ".join(map(_row, row)) for row in node) + "]"
    if node.tag == "msqrt":
        return f"√({_row(node)})"
    if node.tag in WRITTEN:
        return WRITTEN[node.tag].format(*map(_whole, node))
    if node.tag == "mo":
        return _sign(node)
    return _row(node) if len(node) else node.text or ""


def _row(row: Element) -> str:
    """What stands side by side; two factors with a space between them."""
    text, after = "", False
    for node in row:
        sign = node.tag in ("mo", "mspace")
        said = _spelt(node)
        bracketed = said.startswith(tuple("([{)]}"))  # an argument, or a factor that says so itself
        text += " " * (after and not sign and not bracketed) + said
        after = bool(said) and not sign
    return text.strip() if row.tag != "math" else text


def _whole(node: Element) -> str:
    """In brackets where it is more than one thing."""
    text = _spelt(node).strip()
    return text if re.fullmatch(r"[^\W_]*|\W|(√|\w+)?\([^()]*\)", text) or _closed(text) else f"({text})"


def _closed(text: str) -> bool:
    """Do the first and the last character, two brackets, belong to one another?"""
    depths, depth = [], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        depths.append(depth)
    return text[:1] in ("(", "[") and depth == 0 and 0 not in depths[:-1]


def _sign(node: Element) -> str:
    """Relations and what adds stand apart; brackets and what multiplies do not."""
    text = node.text or ""
    if text == APPLIED or text in CLOSE or node.get("form") == "prefix":
        return "" if text == APPLIED else text
    return f"{text} " if text in ",;" else text if node.get("lspace") == node.get("rspace") == "0" else f" {text} "


def record(claim: dict, *, topic: str, rank: str, number: int, page: str, anchor: str, url: str, script: str, repository: str = "") -> dict:
    """What claims.json says of a claim; `page` and `anchor` are where it stands on the site, `url` is both."""
    place = f"{script}#L{claim['line']}"
    found = {
        "id": f"{topic}#{claim['id']}",
        "title": plain(claim["title"]),
        "kind": claim["kind"],
        "rank": rank,
        "number": number,
        "latex": latex_of(claim),
        "text": text_of(claim),
        "reasons": [plain(step["reason"]) for step in claim["steps"]],
        "assumptions": [plain(one["text"]) for one in claim["assumptions"]],
        "scope": claim["scope"],
        "witnesses": [{name: plain(one[name]) for name in ("name", "verdict", "scope", "note")} for one in claim["witnesses"]],
        "proved_by": provers(claim),
        "uses": [use if "#" in use else f"{topic}#{use}" for use in claim["uses"]],
        "code": list(claim.get("code", ())),
        "code_computes": {
            "state": claim.get("computed", {}).get("state", "not asked"),
            "says": code_verdicts.verdict(claim),
            "note": code_verdicts.note(claim),
        },
        "page": page,
        "anchor": anchor,
        "url": url,
        "script": script,
        "line": int(claim["line"]),
    }
    if claim["kind"] == "refutation":
        found["counterexample"] = [spelt(one["latex"]) for one in claim["counterexample"]]
    return found | ({"source": f"{repository.rstrip('/')}/blob/main/{place}"} if repository else {})
