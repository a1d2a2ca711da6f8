"""Change nodes of a tree and rebuild the tree with the language's constructors, which check the shapes again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import is_

from ..core.expr import Expr, free_indices, node
from ..errors import KernelError


def rebuild(e: Expr, args: tuple) -> Expr:
    """Return the node with other arguments. Raise KernelError if they do not fit its operator."""
    if not e.args:
        return e
    return args[0] / args[1] if e.op == "div" else node(e.op, *args, data=e.data, stated=e.shape)  # a quotient of numbers is a number


def transform_tree(e: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Return the tree with `change(node)` in place of each node, from the leaves up, or the node itself where `change` returns None.

    Subtrees without a change stay the same objects.
    """
    args = tuple(transform_tree(a, change) for a in e.args)
    e = e if all(map(is_, args, e.args)) else rebuild(e, args)
    changed = change(e)
    return e if changed is None else changed


def substitute_index(e: Expr, old: Expr, new: Expr) -> Expr:
    """Return the tree with another index or a number in place of a free index. Raise KernelError if the new index would be bound."""
    if e == old:
        return new
    if old not in free_indices(e):
        return e
    if e.bound_index == new:
        raise KernelError(f"the index {new.data[0]} is taken", code="index-taken")
    return rebuild(e, tuple(substitute_index(a, old, new) for a in e.args))


def unfold_definitions(e: Expr) -> Expr:
    """Return the tree with each defined name replaced by its definition."""
    return transform_tree(e, lambda n: n.args[0] if n.op == "defined" else None)


def mutate_nodes(
    tree: Expr, node_mutations: Callable[[Expr], Iterable[tuple[str, Expr]]], path: tuple = ()
) -> Iterator[tuple[str, tuple, Expr]]:
    """Yield (name of the mutation, path, tree) for each mutation of one node of the tree.

    `node_mutations(node)` yields (name, new node). Trees that would be ill typed are left out. So are the bodies of definitions, because a
    definition has to be mutated everywhere.
    """
    yield from ((operator, path, new) for operator, new in node_mutations(tree))
    for k, argument in enumerate(() if tree.op == "defined" else tree.args):
        for operator, where, new in mutate_nodes(argument, node_mutations, path + (k,)):
            try:
                yield operator, where, rebuild(tree, tree.args[:k] + (new,) + tree.args[k + 1 :])
            except KernelError:  # ill typed
                continue
