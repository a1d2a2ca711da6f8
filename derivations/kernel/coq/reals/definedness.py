"""Find the conditions under which a tree has a value.

Coq gives division, roots and logarithms a value everywhere, so these conditions become premises of the theorems.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...core.expr import Expr
from ...core.operators import BINDERS, is_partial
from ..algebraic_structures import NotForCoq
from .notation import UNSUPPORTED, function_and_point, name_of, show, size_of

OVERFLOW = 2**128  # fp32 has no numbers from here on
SIGNS = {"nonzero": "{} <> 0", "positive": "0 < {}", "nonnegative": "0 <= {}"}
CONDITIONS = SIGNS | {"in range": f"Rabs ({{}}) < {OVERFLOW}"}


class Need(NamedTuple):
    """A condition on a number, for all values of the indices that are bound around it."""

    sign: str  # a key of CONDITIONS, or "derivable"
    tree: Expr
    bound: tuple[tuple[str, Expr], ...] = ()  # (name, size) of each bound index, from outside in

    def shown(self) -> str:
        """Return the condition in Coq."""
        text = (
            f"ex_derive {' '.join(function_and_point(self.tree))}"
            if self.sign == "derivable"
            else CONDITIONS[self.sign].format(show(self.tree))
        )
        for name, size in reversed(self.bound):
            text = f"(forall {name_of(name)}, ({name_of(name)} < {size_of(size)})%nat -> {text})"
        return text


def conditions(e: Expr) -> list[str]:
    """Return the conditions under which the tree has a value, in Coq."""
    return list(dict.fromkeys(need.shown() for need in find_needs(e)))


def find_needs(e: Expr) -> list[Need]:
    """Return the conditions under which the tree has a value, without those that its form guarantees."""
    found = [need for x in e.args for need in find_needs(x)]
    if e.op == "derivative":  # must have a value near the point, too: a root of zero has no derivative
        found = [need._replace(sign="positive") if need.sign == "nonnegative" else need for need in found]
    if e.op in BINDERS:
        found = [need._replace(bound=(e.data[:2], *need.bound)) for need in found]
    if not is_partial(e):
        return found
    name = e.data if e.op == "function" else e.op
    if name not in OWN_NEEDS:
        raise NotForCoq(f"{UNSUPPORTED.get(name, name)}, which is not stated over the reals yet")
    return found + OWN_NEEDS[name](e)


def needs_of_quotient(e: Expr) -> list[Need]:
    return [] if is_surely_positive(e.args[1]) else [Need("nonzero", e.args[1])]


def needs_of_logarithm(e: Expr) -> list[Need]:
    (x,) = e.args
    if is_surely_positive(x):
        return []
    if x.shape:
        raise NotForCoq("a logarithm of a tensor of which it is not seen that its entries are positive")
    return [Need("positive", x)]


def needs_of_power(e: Expr) -> list[Need]:
    """Return the condition on the base of a power, if there is one."""
    base, exponent = e.args
    if is_surely_positive(base):
        return []
    whole = exponent.op == "const" and exponent.data.denominator == 1
    if whole:
        return [Need("nonzero", base)] if exponent.data < 0 else []
    root = exponent.op == "const" and exponent.data > 0 and exponent.data.denominator in (2, 4)
    return [Need("nonnegative" if root else "positive", base)]


# The conditions of operators and functions that may have no value where their arguments have one
OWN_NEEDS: dict[str, Callable[[Expr], list[Need]]] = {
    "derivative": lambda e: [Need("derivable", e)],
    "div": needs_of_quotient,
    "log": needs_of_logarithm,
    "pow": needs_of_power,
    "rounded": lambda e: [Need("in range", e)],
}


def is_surely_positive(e: Expr) -> bool:
    """Return whether the form of a tree shows that it is positive.

    So it is for positive numbers, sizes, indices and exponentials, and for sums, products, quotients and powers of these.
    """
    if e.op == "const":
        return e.data > 0
    if e.op in ("paren", "defined", "sum"):  # a sum has at least one term
        return is_surely_positive(e.args[0])
    if e.op in ("add", "mul", "div"):
        return all(map(is_surely_positive, e.args))
    if e.op == "pow":
        return is_surely_positive(e.args[0])
    return e.op == "symbol" and e.data[1] == "size" or e.op == "index" or e.op == "function" and e.data == "exp"
