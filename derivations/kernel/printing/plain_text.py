"""Expression trees as plain text, for messages and terminals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .latex import ATOM, WORDS, Printer, Tree, format_to_show, is_indicator, is_root, split_conditions, split_each

SIGNS = {"=": "=", "<=": "≤", "!=": "≠", "!<=": "≰", ":=": ":=", "->": "→"}


class Plain(Printer):
    """A printer for terminals and messages."""

    def show(self, e: Tree, least: int = 0) -> str:
        bracketed = e.op in ("sum", "each", "where") or e.op == "derivative" and least < 5  # these print brackets themselves
        return super().show(e, 0 if bracketed else least)

    def brackets(self, text: str, pair: str = "()") -> str:
        return f"({text})"

    def word(self, e: Tree) -> str:
        below = f"_{format_}" if (format_ := format_to_show(e)) else ""
        return f"{WORDS[e.op]}{below}({self.show(e.args[0])})"

    def const(self, e: Tree) -> str:
        return str(e.data)

    def imaginary(self, e: Tree) -> str:
        return "I"

    def symbol(self, e: Tree) -> str:
        return e.data[0]

    def defined(self, e: Tree) -> str:
        return e.data[0]

    def index(self, e: Tree) -> str:
        return e.data[0]

    def mul(self, e: Tree) -> str:
        return f"{self.show(e.args[0], 3)}*{self.show(e.args[1], 4)}"

    def matmul(self, e: Tree) -> str:
        return f"{self.show(e.args[0], 3)} @ {self.show(e.args[1], 4)}"

    def div(self, e: Tree) -> str:
        return f"{self.show(e.args[0], 4)}/{self.show(e.args[1], 5)}"

    def pow(self, e: Tree) -> str:
        base, exponent = e.args
        if is_root(e):
            return f"sqrt({self.show(base)})"
        return f"{self.show(base, ATOM)}^{self.show(exponent, ATOM)}"

    def transpose(self, e: Tree) -> str:
        return f"{self.show(e.args[0], ATOM)}ᵀ"

    def inverse(self, e: Tree) -> str:
        return f"{self.show(e.args[0], ATOM)}⁻¹"

    def eye(self, e: Tree) -> str:
        return f"eye({self.show(e.shape[0])})"

    def fill(self, e: Tree) -> str:
        return f"{'ones' if e.data else 'zeros'}({', '.join(map(self.show, e.shape))})"

    def rows(self, rows: list[list[str]], is_matrix: bool) -> str:
        return "[" + ", ".join(f"[{', '.join(row)}]" if is_matrix else row[0] for row in rows) + "]"

    def sum(self, e: Tree) -> str:
        body, conditions = split_conditions(e.args[0])
        return f"sum({', '.join([self.show(body), f'{e.data[0]} = 1..{self.show(e.data[1])}', *map(self.condition, conditions)])})"

    def condition(self, e: Tree) -> str:
        return f"{self.show(e.args[1])} {e.data} {self.show(e.args[2])}"

    def where(self, e: Tree) -> str:
        return f"[{self.condition(e)}]" if is_indicator(e) else f"where({self.show(e.args[0])}, {self.condition(e)})"

    def each(self, e: Tree) -> str:
        body, indices = split_each(e)
        return f"each({self.show(body)}, {', '.join(f'{name} = 1..{self.show(size)}' for name, size in indices)})"

    def entry(self, e: Tree) -> str:
        return f"{self.show(e.args[0], ATOM)}[{', '.join(self.show(i) for i in e.args[1:])}]"

    def function(self, e: Tree) -> str:
        return f"{e.data}({self.show(e.args[0])})"

    def expectation(self, e: Tree) -> str:
        return f"E[{self.show(e.args[0])}]"

    def derivative(self, e: Tree) -> str:
        return f"d({self.show(e.args[0])})/d({self.show(e.args[1])})"


def plain(e: Any) -> str:
    """Return an expression as plain text, and anything else as Python prints it."""
    return Plain().show(e) if hasattr(e, "op") else str(e)


def show_shape(shape: Iterable[Any]) -> str:
    """Return a shape as plain text: "(n, d)"."""
    return f"({', '.join(map(plain, shape))})"


def describe(s: Tree) -> str:
    """Return what a symbol, an index or a definition is, in words."""
    if s.op == "index":
        return f"an index up to {plain(s.data[1])}"
    if s.op == "defined":
        return f"a definition, {plain(s.args[0])}"
    what = f"tensor of shape {show_shape(s.shape)}" if s.shape else "real number"
    return {"size": "a size", "random": f"a random {what}"}.get(s.data[1], f"a {what}")
