r"""The values of a counterexample, which a certificate states as text, in the notation of formulas.

>>> set_values("at V = [[0, 1/2]], W_O = 2^-80, q Gaussian, Var[q] = sigma^2: left = 1, right = -1")
'at $V = \\begin{pmatrix}0 & \\frac{1}{2}\\end{pmatrix}$, $W_{O} = 2^{-80}$, $q$ Gaussian, $\\operatorname{Var}[q] = \\sigma^{2}$: left $= 1$, right $= -1$'
"""

import re

from ..printing.latex import value_latex
from ..printing.name_latex import GREEK, name_latex

_NAME = r"[A-Za-z]\w*"
_EQUATION = re.compile(rf"((?:E|Var)\[{_NAME}\]|{_NAME}) (=|≈) (.+)")
_EQUATION_AND_WORDS = re.compile(r"(\w+ = (?:\[.*\]|\S+)) (the .+)")
_LIMIT = re.compile(r"(\w+) -> (oo|0)\b")
_WORD = re.compile(rf"(?<![\w'])(?!a\b)(?:[A-Za-z](?:_\w+)?|(?:{'|'.join(sorted(GREEK))})(?:_\w+)?)(?![\w'])")  # a name among words
_PART = re.compile(rf"(?P<fraction>\d+/\d+)|(?P<power>\^-?\w+)|(?P<name>{_NAME})|[*…≈\d. ()/+-]")

_SIGNS = {"*": r"\cdot ", "…": r"\ldots ", "≈": r"{\approx}", "I": r"\mathrm{i}"}  # I is the imaginary unit


def set_values(text: str) -> str:
    """Return the text with its values as formulas between dollar signs. A part of another form stays as it is."""
    if not text.startswith("at ") or "$" in text:
        return text
    where, colon, sides = text.removeprefix("at ").partition(": ")
    return "at " + ", ".join(map(_set_item, _split(where))) + colon + ", ".join(map(_set_side, _split(sides)))


def _set_item(item: str) -> str:
    """Return `x = 1` as a formula, and the names in other words as letters."""
    if both := _EQUATION_AND_WORDS.fullmatch(item):
        return f"{_set_item(both[1])} {_LIMIT.sub(_set_limit, both[2])}"
    if not (match := _EQUATION.fullmatch(item)):
        return _WORD.sub(lambda name: f"${name_latex(name[0])}$", item)
    name, sign, value = match.groups()
    shown = _value_latex(value)
    return f"${_arithmetic_latex(name)} {_sign_latex(sign)} {shown}$" if shown else item


def _set_limit(limit: re.Match) -> str:
    return rf"${name_latex(limit[1])} \to " + {"oo": r"\infty$", "0": "0$"}[limit[2]]


def _set_side(side: str) -> str:
    match = _EQUATION.fullmatch(side)
    shown = match and _value_latex(match[3])
    return f"{match[1]} ${_sign_latex(match[2])} {shown}$" if match and shown else side


def _sign_latex(sign: str) -> str:
    return r"\approx" if sign == "≈" else sign


def _value_latex(value: str) -> str:
    """Return a number, or lists of numbers, in LaTeX; "" for anything else."""
    try:
        return value_latex(_parse(value), _arithmetic_latex)
    except ValueError:
        return ""


def _parse(value: str) -> str | tuple:
    """Return lists as tuples. Their entries stay text."""
    return tuple(map(_parse, _split(value[1:-1]))) if value[0] == "[" and value[-1] == "]" else value


def _split(text: str) -> list[str]:
    """Return the parts between the commas that are in no brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def _arithmetic_latex(text: str) -> str:
    """Return arithmetic with numbers and names in LaTeX. Raise ValueError for anything else."""
    if moment := re.fullmatch(rf"(E|Var)\[({_NAME})\]", text):
        return rf"\operatorname{{{moment[1]}}}[{name_latex(moment[2])}]"
    if not re.fullmatch(rf"(?:{_PART.pattern})+", text):
        raise ValueError(f"{text!r} is not arithmetic")
    return _PART.sub(_part_latex, text)


def _part_latex(part: re.Match) -> str:
    if part["fraction"]:
        numerator, denominator = part["fraction"].split("/")
        return rf"\frac{{{numerator}}}{{{denominator}}}"
    if part["power"]:
        return f"^{{{part['power'][1:]}}}"
    return _SIGNS.get(part[0]) or (name_latex(part["name"]) if part["name"] else part[0])
