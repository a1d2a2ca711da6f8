"""Laws of expectation as source text, either with symbols for sizes (for sums of identically distributed terms) or entry by entry."""

from __future__ import annotations

from ..core.assumptions import Assumption, is_random
from ..core.claims import Claim
from ..core.expr import Expr, show, walk
from ..core.operators import AVERAGE_OPERATORS, TRANSPARENT
from .errors import NotForSymPy
from .python_names import quoted
from .symbol_text import Text, call, indices_of
from .tree_to_sympy import ARITHMETIC, RULES, Translation


class Moments(Translation):
    """A writer of trees with random numbers, at explicit sizes. In the program, `known` holds the assumptions about them."""

    def write(self, e: Expr) -> Text:
        if e.op in AVERAGE_OPERATORS:
            return call("known.E" if e.op == "expectation" else "known.Var", super().write(e.args[0]).as_sympy().text)
        return super().write(e)

    def symbol_value(self, e: Expr) -> str:
        if e.data[1] != "random":
            return super().symbol_value(e)
        if e.data[0] in self.values:
            raise NotForSymPy(f"a value of the random {e.data[0]}")
        return "known.random(" + ", ".join([quoted(e.data[0]), *map(self.size, e.shape)]) + ")"


class Sums(Translation):
    """A writer of trees in which every size is a symbol. In the program, a sum of random terms is a symbol with a known increment."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim, symbolic=True)
        self.summand = False  # whether the text is one summand of a sum over the index self.over
        self.over: Expr | None = None

    def write(self, e: Expr) -> Text:
        if e.op in AVERAGE_OPERATORS:
            name = ("entry_E" if self.summand else "E") if e.op == "expectation" else ("entry_Var" if self.summand else "Var")
            return call(f"known.{name}", self.write(e.args[0]).as_sympy().text)
        if e.op in TRANSPARENT:
            return self.write(e.args[0])
        if e.op in ARITHMETIC:
            return RULES[e.op](self, e)
        return self.write_summand(e) if self.summand else self.write_whole(e)

    def write_whole(self, e: Expr) -> Text:
        """Return the text of a scalar outside a sum."""
        if e.op == "matmul" and len(e.args[0].shape) == len(e.args[1].shape) == 1:
            return self.write_sum_of(e.args[0] * e.args[1], None, e.args[0].shape[0])
        if e.op == "sum":
            return self.write_sum_of(e.args[0], e.bound_index, e.data[1])
        if e.shape:
            raise NotForSymPy(f"a law about the tensor {show(e)}")
        if e.op in ("function", "symbol", "const", "imaginary"):
            return RULES[e.op](self, e)
        raise NotForSymPy(f"a law with the node '{e.op}'")

    def write_summand(self, e: Expr) -> Text:
        """Return the text of one summand: of one coordinate of a vector, or of an entry at the index of the sum."""
        if e.op == "symbol" and e.shape and e.data[1] != "random":
            raise NotForSymPy(f"a law with the fixed vector {show(e)}: its terms are not identically distributed")
        if e.op == "entry" and len(e.args) == 2 and e.args[1] == self.over and e.args[0].op == "symbol":
            return self.write_summand(e.args[0])
        if e.op in ("const", "imaginary") or e.op == "symbol" and (e.shape or e.data[1] != "random"):
            return RULES[e.op](self, e)
        raise NotForSymPy(f"a sum of {show(e)}")  # such as a random number that does not depend on the index

    def write_sum_of(self, body: Expr, over: Expr | None, size: Expr) -> Text:
        """Return the text of a sum of identically distributed terms, over an index, or over the coordinates of a vector."""
        names = {n.data[0] for n in walk(body) if n.op == "symbol" and n.data[1] == "random"}
        if len(names) > 1 and not any(names <= {x.data[0] for x in a.args} for a in self.given if a.kind == "independent"):
            raise NotForSymPy("a sum whose terms need not be alike: nothing says that the random numbers in them are independent")
        self.summand, self.over = True, over
        increment = self.write(body)
        self.summand, self.over = False, None
        return call("known.sum", increment.text, RULES[size.op](self, size).text)

    def symbol_value(self, e: Expr) -> str:
        """Return the text that makes a symbol. A random tensor is represented by one entry."""
        return f"known.random({quoted(e.data[0])})" if e.data[1] == "random" else super().symbol_value(e)


def write_assumptions(t: Translation, claim: Claim) -> str:
    """Return the claim's assumptions about random numbers as arguments of the prelude's class Moments or Sums."""

    def by_name(kind: str) -> list[str]:
        about = [a for a in claim.given if a.kind == kind]
        if indices_of(*(a.args[1] for a in about)):
            raise NotForSymPy(f"a {kind} that differs from entry to entry")
        return [f"{quoted(a.args[0].data[0])}: {t.write(a.args[1]).text}" for a in about]

    def group(a: Assumption) -> str:
        return "{" + ", ".join(quoted(x.data[0]) for x in a.args) + "}"

    found = {kind: "{" + ", ".join(by_name(kind)) + "}" for kind in ("mean", "variance") if by_name(kind)}
    exist = [f"{quoted(a.args[0].data[0])}: {int(a.args[1].data)}" for a in claim.given if a.kind == "moment"]
    found |= {"exists": "{" + ", ".join(exist) + "}"} if exist else {}
    groups = [group(a) for a in claim.given if a.kind == "independent"]
    gaussian = [quoted(x.data[0]) for a in claim.given if a.kind == "gaussian" for x in a.args]
    bits = [quoted(a.args[0].data[0]) for a in claim.given if a.kind == "zero_or_one" and is_random(a.args[0])]
    found |= {"independent": f"[{', '.join(groups)}]"} if groups else {}
    found |= {"gaussian": f"[{', '.join(gaussian)}]"} if gaussian else {}
    found |= {"bits": f"[{', '.join(bits)}]"} if bits else {}
    return ", ".join(f"{name}={text}" for name, text in found.items())
