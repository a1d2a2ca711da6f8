"""Where a tree has a value: Coq's division, root and logarithm have one everywhere, so what must hold is a premise of the theorem."""

from __future__ import annotations

from typing import NamedTuple

from ...core.expr import Expr
from ...core.operators import BINDERS, is_partial
from ..algebraic_structures import NotForCoq
from .notation import UNSUPPORTED, moved, name_of, show, size_of

OVERFLOW = 2**128  # from here on there is no number of the format
SIGNS = {"nonzero": "{} <> 0", "positive": "0 < {}", "nonnegative": "0 <= {}"}
SAID = SIGNS | {"in range": f"Rabs ({{}}) < {OVERFLOW}"}


class Need(NamedTuple):
    """What must hold of a number for a tree to have a value, for each place that is bound around it."""

    sign: str
    tree: Expr
    bound: tuple = ()  # (name, size), from outside in

    def shown(self) -> str:
        text = f"ex_derive {' '.join(moved(self.tree))}" if self.sign == "derivable" else SAID[self.sign].format(show(self.tree))
        for name, size in reversed(self.bound):
            text = f"(forall {name_of(name)}, ({name_of(name)} < {size_of(size)})%nat -> {text})"
        return text


def conditions(e: Expr) -> list:
    """What must hold for the tree to have a value, as Coq has it."""
    return list(dict.fromkeys(need.shown() for need in needs(e)))


def needs(e: Expr) -> list:
    """What must hold for the tree to have a value. What holds by its form is left out."""
    found = [need for x in e.args for need in needs(x)]
    if e.op == "derivative":  # near the point, too, and there is none by which to judge of a root of zero
        found = [need._replace(sign="positive") if need.sign == "nonnegative" else need for need in found]
    if e.op in BINDERS:
        found = [need._replace(bound=(e.data[:2], *need.bound)) for need in found]
    if not is_partial(e):
        return found
    name = e.data if e.op == "function" else e.op
    if name not in OWN_NEEDS:
        raise NotForCoq(f"{UNSUPPORTED.get(name, name)}, which is not stated over the reals yet")
    return found + OWN_NEEDS[name](e)


def of_quotient(e: Expr) -> list:
    return [] if surely_positive(e.args[1]) else [Need("nonzero", e.args[1])]


def of_logarithm(e: Expr) -> list:
    (x,) = e.args
    if surely_positive(x):
        return []
    if x.shape:
        raise NotForCoq("a logarithm of a tensor of which it is not seen that its entries are positive")
    return [Need("positive", x)]


def of_power(e: Expr) -> list:
    base, exponent = e.args
    if surely_positive(base):
        return []
    whole = exponent.op == "const" and exponent.data.denominator == 1
    if whole:
        return [Need("nonzero", base)] if exponent.data < 0 else []
    root = exponent.op == "const" and exponent.data > 0 and exponent.data.denominator in (2, 4)
    return [Need("nonnegative" if root else "positive", base)]


OWN_NEEDS = {  # of an operator or a function that may have no value where its arguments have one
    "derivative": lambda e: [Need("derivable", e)],
    "div": of_quotient,
    "log": of_logarithm,
    "pow": of_power,
    "rounded": lambda e: [Need("in range", e)],
}


def surely_positive(e: Expr) -> bool:
    """By its form: a positive number, a size, an exponential, and sums, products, quotients and powers of such."""
    if e.op == "const":
        return e.data > 0
    if e.op in ("paren", "defined", "sum"):  # a sum runs over one place at least
        return surely_positive(e.args[0])
    if e.op in ("add", "mul", "div"):
        return all(map(surely_positive, e.args))
    if e.op == "pow":
        return surely_positive(e.args[0])
    return e.op == "symbol" and e.data[1] == "size" or e.op == "index" or e.op == "function" and e.data == "exp"
