"""Find a claim in the text of a script, and propose small changes to it, such as a flipped sign.

A change is a replacement of some characters. Nothing is run: the text is only parsed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

FLIPPED: dict[type[ast.operator], tuple[str, str]] = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
SIDES = ("given", "at", "because", "where")  # keywords whose values are part of what is claimed; titles, reasons and code are not


@dataclass(frozen=True)
class Edit:
    """A change to a script: the kind, the text that shows what is changed, and the characters from `start` to `end` that `new` replaces."""

    kind: str
    shown: str
    start: int
    end: int
    new: str = ""


class _Text:
    """The text of a script, with the positions of its nodes as offsets into it."""

    def __init__(self, text: str):
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position. Lines count from 1; columns count bytes, as `ast` counts them."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Return the offsets at which a node begins and ends, without the parentheses around it."""
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return start, end

    def between(self, left: ast.expr, operator: str, right: ast.expr) -> int:
        """Return the offset of the operator between two operands, which may be in parentheses."""
        return self.text.index(operator, self.span(left)[1], self.span(right)[0])

    def source(self, node: ast.expr) -> str:
        return self.text[slice(*self.span(node))]


def find_claims(text: str) -> dict[str, ast.Call]:
    """Return the calls that state claims, by id. A text that is not Python states none."""
    found: dict[str, ast.Call] = {}
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            match node.args:
                case [ast.Constant(str(id)), *_] if node.func.attr != "define":  # its first argument is a name, not an id
                    found.setdefault(id, node)
    return found


def locate_claim(text: str, id: str) -> dict[str, int] | None:
    """Return the first and the last line of a claim, counted from 1, or None if the text doesn't state it."""
    found = find_claims(text).get(id)
    return None if found is None else {"first": found.lineno, "last": found.end_lineno or found.lineno}


def propose_edits(text: str, id: str = "") -> list[dict[str, Any]]:
    """Return changes to a claim, or to all claims, that a mistake could have made, as records of `Edit`."""
    source = _Text(text)
    calls = [call for name, call in find_claims(text).items() if id in ("", name)]
    found = [
        edit
        for call in calls
        for edit in [*(e for node in _stated(call) for e in _edit_node(node, source)), *_drop_assumptions(call, source)]
    ]
    return [asdict(edit) for edit in found]


def _stated(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the nodes of what a call claims, in the order of the text."""
    parts = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg in SIDES)]
    for part in parts:
        yield from (node for node in ast.walk(part) if isinstance(node, ast.expr))


def _edit_node(node: ast.expr, source: _Text) -> Iterator[Edit]:
    """Yield the changes of one node."""
    start, end = source.span(node)
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as operator, right):
            old, new = FLIPPED[type(operator)]
            at = source.between(left, old, right)
            yield Edit("Flip a sign", source.source(node), at, at + 1, new)
        case ast.UnaryOp(ast.USub()):
            yield Edit("Flip a sign", source.source(node), start, start + 1)
        case ast.BinOp(left, ast.Div(), right) if _is_scale(right):
            at = source.between(left, "/", right)
            yield Edit("Drop the scale", source.source(node), at - source.text[:at].endswith(" "), end)
        case ast.BinOp(left, ast.MatMult(), right):
            at = source.between(left, "@", right)
            first, second = source.text[start:at].strip(), source.text[at + 1 : end].strip()
            if (swapped := f"{second} @ {first}") != source.source(node):
                yield Edit("Swap two operands", source.source(node), start, end, swapped)
        case ast.Attribute(_, "T"):
            yield Edit("Drop a transpose", source.source(node), end - len(".T"), end)


def _is_scale(node: ast.expr) -> bool:
    """Return whether a divisor is a root or a single name, as the scale of attention is."""
    return isinstance(node, ast.Name) or isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sqrt"


def _drop_assumptions(call: ast.Call, source: _Text) -> Iterator[Edit]:
    """Yield for each assumption that `given` lists the change that drops it."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "given"), None)
    if not isinstance(given, ast.List):
        return
    for place, assumption in enumerate(given.elts):
        start, end = source.span(assumption)
        if place + 1 < len(given.elts):
            end = source.span(given.elts[place + 1])[0]
        elif place:
            start = source.span(given.elts[place - 1])[1]
        yield Edit("Drop an assumption", source.source(assumption), start, end)


def replace_keyword(text: str, call: ast.Call, keyword: str, value: str) -> str:
    """Return a text with another value for a keyword of a call, on the same number of lines if the old value has one line."""
    found = next(one.value for one in call.keywords if one.arg == keyword)
    start, end = _Text(text).span(found)
    return text[:start] + value + text[end:]
