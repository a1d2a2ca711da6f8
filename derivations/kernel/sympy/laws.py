"""Laws of expectation as text: with every size a symbol where a sum's terms are copies of one another, else entry by entry."""

from __future__ import annotations

from ..core.claims import Claim
from ..core.expr import Expr, show, walk
from ..core.operators import AVERAGES, STAND_INS
from .errors import NotForSymPy
from .python_names import quoted
from .tree_to_sympy import ARITHMETIC, RULES, Text, Translation, call, indices_of


class Moments(Translation):
    """Trees at explicit sizes in which random numbers stand; `known` is what is stated of them."""

    def write(self, e: Expr) -> Text:
        if e.op in AVERAGES:
            return call("known.E" if e.op == "expectation" else "known.Var", super().write(e.args[0]).sympys().text)
        return super().write(e)

    def made(self, e: Expr) -> str:
        if e.data[1] != "random":
            return super().made(e)
        if e.data[0] in self.values:
            raise NotForSymPy(f"a value of the random {e.data[0]}")
        return "known.random(" + ", ".join([quoted(e.data[0]), *map(self.size, e.shape)]) + ")"


class Sums(Translation):
    """Trees in which every size is a symbol. A sum of random terms is one symbol, of which the increment is known."""

    def __init__(self, claim: Claim):
        super().__init__(claim, symbolic=True)
        self.summand = False  # is what is written one summand of a sum over self.over?
        self.over = None

    def write(self, e: Expr) -> Text:
        if e.op in AVERAGES:
            name = ("entry_E" if self.summand else "E") if e.op == "expectation" else ("entry_Var" if self.summand else "Var")
            return call(f"known.{name}", self.write(e.args[0]).sympys().text)
        if e.op in STAND_INS:
            return self.write(e.args[0])
        if e.op in ARITHMETIC:
            return RULES[e.op](self, e)
        return self.write_summand(e) if self.summand else self.write_whole(e)

    def write_whole(self, e: Expr) -> Text:
        """A number."""
        if e.op == "matmul" and len(e.args[0].shape) == len(e.args[1].shape) == 1:
            return self.sum_of(e.args[0] * e.args[1], None, e.args[0].shape[0])
        if e.op == "sum":
            return self.sum_of(e.args[0], e.bound_index, e.data[1])
        if e.shape:
            raise NotForSymPy(f"a law about the tensor {show(e)}")
        if e.op in ("function", "symbol", "const", "imaginary"):
            return RULES[e.op](self, e)
        raise NotForSymPy(f"a law with the node '{e.op}'")

    def write_summand(self, e: Expr) -> Text:
        """One coordinate of a vector, or the summand at the sum's index."""
        if e.op == "symbol" and e.shape and e.data[1] != "random":
            raise NotForSymPy(f"a law with the fixed vector {show(e)}: its terms are not identically distributed")
        if e.op == "entry" and e.args[1:] == (self.over,) and e.args[0].op == "symbol":
            return self.write_summand(e.args[0])
        if e.op in ("const", "imaginary") or e.op == "symbol" and (e.shape or e.data[1] != "random"):
            return RULES[e.op](self, e)
        raise NotForSymPy(f"a sum of {show(e)}")  # also of a random number that is the same at every index

    def sum_of(self, body: Expr, over: Expr | None, size: Expr) -> Text:
        names = {n.data[0] for n in walk(body) if n.op == "symbol" and n.data[1] == "random"}
        if len(names) > 1 and not any(names <= {x.data[0] for x in a.args} for a in self.given if a.kind == "independent"):
            raise NotForSymPy("a sum whose terms need not be alike: nothing says that the random numbers in them are independent")
        self.summand, self.over = True, over
        increment = self.write(body)
        self.summand, self.over = False, None
        return call("known.sum", increment.text, RULES[size.op](self, size).text)

    def made(self, e: Expr) -> str:
        """Of a random tensor one entry, which stands for each."""
        return f"known.random({quoted(e.data[0])})" if e.data[1] == "random" else super().made(e)


def stated(t: Translation, claim: Claim) -> str:
    """What the claim states of its random numbers, as the arguments of the class that holds it."""

    def by_name(kind):
        about = [a for a in claim.given if a.kind == kind]
        if indices_of(*(a.args[1] for a in about)):
            raise NotForSymPy(f"a {kind} that differs from entry to entry")
        return [f"{quoted(a.args[0].data[0])}: {t.write(a.args[1]).text}" for a in about]

    def group(a):
        return "{" + ", ".join(quoted(x.data[0]) for x in a.args) + "}"

    found = {kind: "{" + ", ".join(by_name(kind)) + "}" for kind in ("mean", "variance") if by_name(kind)}
    exist = [f"{quoted(a.args[0].data[0])}: {int(a.args[1].data)}" for a in claim.given if a.kind == "moment"]
    found |= {"exists": "{" + ", ".join(exist) + "}"} if exist else {}
    groups = [group(a) for a in claim.given if a.kind == "independent"]
    gaussian = [quoted(x.data[0]) for a in claim.given if a.kind == "gaussian" for x in a.args]
    found |= {"independent": f"[{', '.join(groups)}]"} if groups else {}
    found |= {"gaussian": f"[{', '.join(gaussian)}]"} if gaussian else {}
    return ", ".join(f"{name}={text}" for name, text in found.items())
