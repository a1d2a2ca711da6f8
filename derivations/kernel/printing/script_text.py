"""Expression trees as Python, so that an author can copy what a message suggests."""

from __future__ import annotations

from .latex import ATOM, WORDS, Tree, format_to_show, is_root, split_conditions, split_each
from .plain_text import Plain

NAMES = {"abs": "absolute"}  # functions whose constructor has another name
CONSTRUCTORS = WORDS | {"rounded": "rounded"}  # constructors of the operators that are printed as a word


class Script(Plain):
    """A printer that uses the names that scripts import."""

    def show(self, e: Tree, least: int = 0) -> str:
        return super().show(e, 0 if e.op == "inverse" else least)

    def const(self, e: Tree) -> str:
        return str(e.data) if e.data.denominator == 1 else f"Fraction({e.data.numerator}, {e.data.denominator})"

    def pow(self, e: Tree) -> str:
        base, exponent = e.args
        return f"sqrt({self.show(base)})" if is_root(e) else f"{self.show(base, ATOM)}**{self.show(exponent, ATOM)}"

    def transpose(self, e: Tree) -> str:
        return f"{self.show(e.args[0], ATOM)}.T"

    def inverse(self, e: Tree) -> str:
        return f"inverse({self.show(e.args[0])})"

    def rows(self, rows: list[list[str]], is_matrix: bool) -> str:
        return f"array({super().rows(rows, is_matrix)})"

    def sum(self, e: Tree) -> str:
        body, conditions = split_conditions(e.args[0])
        shown = ", ".join(map(self.condition, conditions))
        where = f", where={shown}" if len(conditions) == 1 else f", where=[{shown}]" if conditions else ""
        return f"total({self.show(body)}, {e.data[0]}{where})"

    def where(self, e: Tree) -> str:
        return f"where({self.show(e.args[0])}, {self.condition(e)})"

    def each(self, e: Tree) -> str:
        body, indices = split_each(e)
        return f"each({', '.join([self.show(body), *(name for name, _ in indices)])})"

    def function(self, e: Tree) -> str:
        return f"{NAMES.get(e.data, e.data)}({self.show(e.args[0])})"

    def expectation(self, e: Tree) -> str:
        return f"E({self.show(e.args[0])})"

    def derivative(self, e: Tree) -> str:
        return f"diff({self.show(e.args[0])}, {self.show(e.args[1])})"

    def word(self, e: Tree) -> str:
        format_ = f', "{name}"' if (name := format_to_show(e)) else ""
        return f"{CONSTRUCTORS[e.op]}({self.show(e.args[0])}{format_})"

    def neg(self, e: Tree) -> str:
        return f"-{self.show(e.args[0], 5)}"  # in Python a minus binds tighter than a product

    def mul(self, e: Tree) -> str:
        return f"{self.show(e.args[0], 3)}*{self.show(e.args[1], 5)}"  # Python reads a*b/c as (a*b)/c

    def matmul(self, e: Tree) -> str:
        return f"{self.show(e.args[0], 3)} @ {self.show(e.args[1], 5)}"


def script(e: Tree) -> str:
    """Return an expression as a script writes it."""
    return Script().show(e)
