"""What code asked of sizes and numbers while it ran, and relied upon; and sizes as polynomials, of which much is seen at once."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.expr import Expr, show, walk
from .axes import Length, added, multiplied
from .errors import NotRead

SIGNS = {
    "Equality": "=",
    "Unequality": "!=",
    "StrictLessThan": "<",
    "LessThan": "<=",
    "StrictGreaterThan": ">",
    "GreaterThan": ">=",
}


@dataclass(frozen=True)
class Guard:
    """What was found to be so at the sizes and numbers of a trace, and was relied upon."""

    left: Expr
    sign: str  # =, !=, > or >=
    right: Expr

    def __str__(self) -> str:
        return f"{show(self.left)} {self.sign} {show(self.right)}"

    @property
    def names(self) -> list[str]:
        return sorted({n.data[0] for e in (self.left, self.right) for n in walk(e) if n.op == "symbol"})

    @property
    def of_sizes(self) -> bool:
        """Is it about sizes alone?"""
        return all(n.data[1] == "size" for e in (self.left, self.right) for n in walk(e) if n.op == "symbol")

    @property
    def fixes(self) -> list[str]:
        """The sizes that had to be what they were: their names, where it says that something has one value."""
        return self.names if self.sign == "=" and self.of_sizes and not self.holds_from(1) else []

    def holds_from(self, least: int) -> bool:
        """Is it so wherever each size is this at least?"""
        try:
            more = added(polynomial(self.left), multiplied({(): -1}, polynomial(self.right)))
        except NotRead:
            return False
        if self.sign == "=":
            return not more
        more, less = (beyond(more, least), beyond(multiplied({(): -1}, more), least))
        if self.sign == "!=":
            return positive(more) or positive(less)
        return positive(more) if self.sign == ">" else all(k > 0 for k in more.values())


def beyond(of: Length, least: int) -> Length:
    """A polynomial in sizes as one in what they are more than this."""
    terms = [multiplied({(): k}, *({(name,): 1, (): least} if least else {(name,): 1} for name in names)) for names, k in of.items()]
    return added(*terms)


def positive(of: Length) -> bool:
    return of.get((), 0) > 0 and all(k > 0 for k in of.values())


def polynomial(tree: Expr) -> Length:
    if tree.op == "const" and tree.data.denominator == 1:
        return {(): int(tree.data)} if tree.data else {}
    if tree.op == "symbol" and tree.data[1] == "size":
        return {(tree.data[0],): 1}
    if tree.op == "neg":
        return multiplied({(): -1}, polynomial(tree.args[0]))
    if tree.op in ("add", "mul"):
        return (added if tree.op == "add" else multiplied)(*map(polynomial, tree.args))
    if tree.op == "pow" and tree.args[1].op == "const" and tree.args[1].data in range(1, 9):
        return multiplied(*[polynomial(tree.args[0])] * int(tree.args[1].data))
    raise NotRead(f"the size {show(tree)}")
