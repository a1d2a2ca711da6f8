"""Proofs by induction on a size: sums of powers, reciprocals or functions of an index, such as geometric sums.

Let D(n) be the difference of the two sides at size n. If D(1) = 0 and D(n + 1) = D(n), then D(n) = 0 for every n. For this, n may occur as a
number and as the range of sums. It must not be the length of an axis, and no assumption may mention it. The proof reads the first term of
each sum and the term n + 1, so it shows that every term has a value.
"""

from __future__ import annotations

from copy import copy

from ..core.expr import Expr, free_indices, lift, named_nodes, node, node_sizes, show, walk
from ..core.operators import TRANSPARENT
from .atom_payloads import Unsupported
from .clear_denominators import clear_denominators
from .normal_form import Facts
from .tree_to_normal_form import normalize

LINEAR = (*TRANSPARENT, "add", "neg", "mul", "div", "sum", "derivative")


def list_ranges(*trees: Expr) -> list[Expr]:
    """Return the unknown sizes over which sums run."""
    sizes = [n.data[1] for tree in trees for n in walk(tree) if n.op == "sum"]
    return [size for size in dict.fromkeys(sizes) if size.op == "symbol"]


def proved_by_induction(left: Expr, right: Expr, size: Expr, facts: Facts) -> bool:
    """Return whether two scalars are proved to be equal by induction on a size. Add what is missing for the proof to the facts."""
    if any(size in named_nodes(*a.args) for a in facts.given) or has_axis(left, size) or has_axis(right, size):
        return False
    supposed = copy(facts)
    supposed.missing, difference = {}, left - right
    try:
        for e in (at_one(difference, size), increment(difference, size)):
            if e is not None and clear_denominators(normalize(e, supposed), supposed):
                return False
    except Unsupported:
        return False
    facts.missing |= supposed.missing
    return True


def has_axis(e: Expr, size: Expr) -> bool:
    """Return whether a size is the length of an axis, or the range of an open index."""
    return any(size in node_sizes(n) for n in walk(e) if n.op not in ("sum", "index")) or any(i.data[1] == size for i in free_indices(e))


def contains(e: Expr, size: Expr) -> bool:
    """Return whether a tree depends on a size."""
    return any(n == size or n.op == "sum" and n.data[1] == size for n in walk(e))


def substitute(e: Expr, old: Expr | None, new: Expr) -> Expr:
    """Return the tree with a size or an index replaced by a number or by an expression in sizes."""
    if e == old:
        return new
    if e.bound_index == old:
        return e
    return Expr(e.op, tuple(substitute(x, old, new) for x in e.args), e.shape, e.data)


def at_one(e: Expr, size: Expr) -> Expr:
    """Return the tree where a size is 1."""
    if e == size:
        return lift(1)
    if e.op == "sum" and e.data[1] == size:
        return at_one(substitute(e.args[0], e.bound_index, lift(1)), size)
    return Expr(e.op, tuple(at_one(x, size) for x in e.args), e.shape, e.data)


def increment(e: Expr, size: Expr) -> Expr | None:
    """Return e(n + 1) - e(n), where n is the size; None if e does not depend on n. Raise Unsupported if e is not linear in sums up to n."""
    if not contains(e, size):
        return None
    if not any(n.op == "sum" and n.data[1] == size for n in walk(e)):
        return substitute(e, size, size + 1) - e
    if e.op == "sum" and e.data[1] == size and not contains(e.args[0], size):
        return substitute(e.args[0], e.bound_index, size + 1)
    if e.op == "sum" and e.data[1] == size or e.op not in LINEAR:
        raise Unsupported(f"{show(e)} is not a linear combination of sums")
    parts = [increment(x, size) for x in e.args]
    if e.op == "add":
        return node("add", *(lift(0) if x is None else x for x in parts))
    changed = [x is not None for x in parts]
    if len(parts) > 1 and changed != [True, False] and (e.op != "mul" or all(changed)):
        raise Unsupported(f"{show(e)} is not a linear combination of sums")
    return Expr(e.op, tuple(old if new is None else new for old, new in zip(e.args, parts)), e.shape, e.data)
