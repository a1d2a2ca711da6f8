"""Where a tree has a value: Coq's division, root and logarithm have one everywhere, so what must hold is a premise of the theorem."""

from __future__ import annotations

from ...core.expr import BINDERS, Expr
from .notation import ATOM, name_of, show, size_of

OVERFLOW = 2**128  # from here on there is no number of the format


def conditions(e: Expr) -> list:
    """What must hold for the tree to have a value, for each value of what it binds. What holds by its form is left out."""
    found = [c for x in e.args for c in conditions(x)]
    if e.op in BINDERS:
        name, size = name_of(e.data[0]), size_of(e.data[1])
        found = [f"(forall {name}, ({name} < {size})%nat -> {c})" for c in found]
    if e.op == "div" and not surely_positive(e.args[1]):
        found.append(f"{show(e.args[1])} <> 0")
    if e.op == "rounded":
        found.append(f"Rabs ({show(e)}) < {OVERFLOW}")
    if e.op == "pow":
        found += of_power(*e.args)
    if e.op == "function" and e.data == "log" and not e.args[0].shape and not surely_positive(e.args[0]):
        found.append(f"0 < {show(e.args[0])}")
    return list(dict.fromkeys(found))


def of_power(base: Expr, exponent: Expr) -> list:
    if surely_positive(base):
        return []
    whole = exponent.op == "const" and exponent.data.denominator == 1
    if whole:
        return [f"{show(base, ATOM)} <> 0"] if exponent.data < 0 else []
    root = exponent.op == "const" and exponent.data > 0 and exponent.data.denominator in (2, 4)
    return [f"0 {'<=' if root else '<'} {show(base)}"]


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
