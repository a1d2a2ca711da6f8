"""The conditions on sizes and numbers that a trace relied on, and sizes as polynomials, by which many of them are decided."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.expr import Expr, show, walk
from .axes import Length, add_lengths, multiply_lengths
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
    """A relation that held at the sizes and numbers of a trace, and on which the path of the code depended."""

    left: Expr
    sign: str  # =, !=, > or >=
    right: Expr

    def __str__(self) -> str:
        return f"{show(self.left)} {self.sign} {show(self.right)}"

    @property
    def names(self) -> list[str]:
        """The symbols in it, sorted by name."""
        return sorted({n.data[0] for e in (self.left, self.right) for n in walk(e) if n.op == "symbol"})

    @property
    def of_sizes(self) -> bool:
        """Whether it is about sizes alone."""
        return all(n.data[1] == "size" for e in (self.left, self.right) for n in walk(e) if n.op == "symbol")

    @property
    def fixes(self) -> list[str]:
        """The names of the sizes that an equation ties down, so that they cannot stay symbols."""
        return self.names if self.sign == "=" and self.of_sizes and not self.holds_from(1) else []

    def holds_from(self, least: int) -> bool:
        """Return whether the relation holds, by its form, wherever every size is at least `least`."""
        try:
            difference = add_lengths(polynomial(self.left), multiply_lengths({(): -1}, polynomial(self.right)))
        except NotRead:
            return False
        if self.sign == "=":
            return not difference
        difference, negated = (shift_sizes(difference, least), shift_sizes(multiply_lengths({(): -1}, difference), least))
        if self.sign == "!=":
            return is_positive(difference) or is_positive(negated)
        return is_positive(difference) if self.sign == ">" else all(k > 0 for k in difference.values())


def shift_sizes(polynomial_: Length, least: int) -> Length:
    """Substitute size + least for each size in a polynomial."""
    shifted = [
        multiply_lengths({(): k}, *({(name,): 1, (): least} if least else {(name,): 1} for name in names))
        for names, k in polynomial_.items()
    ]
    return add_lengths(*shifted)


def is_positive(terms: Length) -> bool:
    """Return whether a polynomial in nonnegative numbers is positive by its coefficients."""
    return terms.get((), 0) > 0 and all(k > 0 for k in terms.values())


def polynomial(tree: Expr) -> Length:
    """Return a tree of sizes as a polynomial with integer coefficients; raise NotRead if it is none."""
    if tree.op == "const" and tree.data.denominator == 1:
        return {(): int(tree.data)} if tree.data else {}
    if tree.op == "symbol" and tree.data[1] == "size":
        return {(tree.data[0],): 1}
    if tree.op == "neg":
        return multiply_lengths({(): -1}, polynomial(tree.args[0]))
    if tree.op in ("add", "mul"):
        return (add_lengths if tree.op == "add" else multiply_lengths)(*map(polynomial, tree.args))
    if tree.op == "pow" and tree.args[1].op == "const" and tree.args[1].data in range(1, 9):
        return multiply_lengths(*[polynomial(tree.args[0])] * int(tree.args[1].data))
    raise NotRead(f"the size {show(tree)}")
