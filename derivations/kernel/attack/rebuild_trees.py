"""Trees taken apart and rebuilt by the language's own constructors, so that shapes are checked again."""

from __future__ import annotations

from operator import is_

from ..core.expr import Expr, free_indices, node
from ..errors import KernelError


def rebuild(e: Expr, args: tuple) -> Expr:
    """The node with other arguments; KernelError where they do not fit its operator."""
    if not e.args:
        return e
    return args[0] / args[1] if e.op == "div" else node(e.op, *args, data=e.data, stated=e.shape)  # a quotient of numbers is a number


def everywhere(e: Expr, change) -> Expr:
    """The tree with change(node) in place of each node, from the leaves up. None leaves a node as it is, and parts without a change too."""
    args = tuple(everywhere(a, change) for a in e.args)
    e = e if all(map(is_, args, e.args)) else rebuild(e, args)
    changed = change(e)
    return e if changed is None else changed


def with_index(e: Expr, old: Expr, new: Expr) -> Expr:
    """The tree with something else for an index where nothing in it binds that; KernelError where the new one would be bound in its place."""
    if e == old:
        return new
    if old not in free_indices(e):
        return e
    if e.bound_index == new:
        raise KernelError(f"the index {new.data[0]} is taken")
    return rebuild(e, tuple(with_index(a, old, new) for a in e.args))


def unfolded(e: Expr) -> Expr:
    """The tree with what is defined in place of its name."""
    return everywhere(e, lambda n: n.args[0] if n.op == "defined" else None)


def slips_in(tree: Expr, slips, path: tuple = ()):
    """(operator, path, tree with one slip). Definitions are not entered: a slip in one is a slip wherever its name stands."""
    yield from ((operator, path, new) for operator, new in slips(tree))
    for k, argument in enumerate(() if tree.op == "defined" else tree.args):
        for operator, where, new in slips_in(argument, slips, path + (k,)):
            try:
                yield operator, where, rebuild(tree, tree.args[:k] + (new,) + tree.args[k + 1 :])
            except KernelError:  # ill typed
                continue
