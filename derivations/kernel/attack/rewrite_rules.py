"""Rewrite trees by laws of algebra, at one node or at random nodes one after the other.

Each rule is a function of a node that yields trees equal to it. Some of these laws need assumptions, and some hold at a point but not near
it. They are applied nevertheless: the claims that result may be false, and nothing here decides that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import count
from random import Random

from ..core.constructors import absolute, diff, each, exp, eye, function, index, ones, softmax, sqrt, total, where
from ..core.expr import Expr, free_indices, lift, node, operands, strip_brackets, walk
from ..core.operators import INDEXED
from ..errors import KernelError
from .rebuild_trees import rebuild, substitute_index
from .rewrite_function_rules import of_expectation, of_function, of_rounded, of_variance


def list_rewrites(e: Expr) -> list[Expr]:
    """Return the rewrites of a node."""
    rewrites: list[Expr] = []
    if e.op in RULES:
        with suppress(KernelError):  # the next rewrite is ill typed, which ends the generator
            for new in RULES[e.op](e):
                rewrites.append(new)
    return rewrites


def of_add(e: Expr) -> Iterator[Expr]:
    """Rewrite a sum of two terms."""
    a, b = e.args
    yield node("add", b, a)
    if a.op == "add":
        yield a.args[0] + (a.args[1] + b)
    if b.op == "add":
        yield (a + b.args[0]) + b.args[1]
    if a.op == b.op == "mul" and strip_brackets(a.args[0]) == strip_brackets(b.args[0]):
        yield a.args[0] * (a.args[1] + b.args[1])
    if strip_brackets(a) == strip_brackets(b):
        yield 2 * a
    if a.op == b.op == "sum" and a.data[1] == b.data[1]:
        yield Expr("sum", (a.args[0] + rename_bound_index(b, a.data).args[0],), (), a.data)
    if a.op == b.op == "matmul" and a.args[0] == b.args[0]:
        yield a.args[0] @ (a.args[1] + b.args[1])


def of_neg(e: Expr) -> Iterator[Expr]:
    """Rewrite a negative."""
    (a,) = e.args
    yield (-1) * a
    if a.op == "add":
        yield (-a.args[0]) + (-a.args[1])
    if a.op == "neg":
        yield a.args[0]
    if a.op == "mul":
        yield (-a.args[0]) * a.args[1]


def of_mul(e: Expr) -> Iterator[Expr]:
    """Rewrite a product entry by entry."""
    a, b = e.args
    yield b * a
    if a.op == "mul":
        yield a.args[0] * (a.args[1] * b)
    if a.op == "add":
        yield a.args[0] * b + a.args[1] * b
    if b.op == "add":
        yield a * b.args[0] + a * b.args[1]
    if b.op == "sum" and not e.shape and b.bound_index not in free_indices(a):
        yield Expr("sum", (a * b.args[0],), (), b.data)
    if b.op == "neg":
        yield -(a * b.args[0])
    if a.op == b.op == "function" and a.data == b.data == "exp":
        yield exp(a.args[0] + b.args[0])
    if a.op == b.op == "function" and a.data == b.data == "abs":
        yield absolute(a.args[0] * b.args[0])
    if b.op == "matmul" and not a.shape:
        yield (a * b.args[0]) @ b.args[1]
    if strip_brackets(a) == strip_brackets(b) and not a.shape:
        yield a**2


def of_div(e: Expr) -> Iterator[Expr]:
    """Rewrite a quotient."""
    a, b = e.args
    yield (1 / b) * a
    if a.op == "add":
        yield a.args[0] / b + a.args[1] / b
    if a.op == "mul" and not a.args[0].shape:
        yield a.args[0] * (a.args[1] / b)
    if strip_brackets(a) == strip_brackets(b):
        yield lift(1)
    if not a.shape:
        yield a * b**-1


def of_pow(e: Expr) -> Iterator[Expr]:
    """Rewrite a power with a constant exponent."""
    base, power = e.args
    if power.op != "const":
        return
    p = power.data
    if p.denominator == 1 and p >= 2:
        yield base * base if p == 2 else base ** (p - 1) * base
        if base.op == "mul":
            yield base.args[0] ** p * base.args[1] ** p
        if base.op == "add" and p == 2:
            a, b = base.args
            yield a**2 + 2 * (a * b) + b**2
        if base.op == "function" and base.data == "abs" and p == 2:
            yield base.args[0] ** 2
        if base.op == "function" and base.data == "exp":
            yield exp(p * base.args[0])
        if base.op == "pow" and base.args[1] == lift(Fraction(1, 2)) and p == 2:
            yield base.args[0]
        if base.op == "neg" and p == 2:
            yield base.args[0] ** 2
    if p == Fraction(1, 2):
        if base.op == "pow" and base.args[1] == lift(2):
            yield absolute(base.args[0])
            yield base.args[0]
        if base.op == "mul":
            yield sqrt(base.args[0]) * sqrt(base.args[1])


def of_sum(e: Expr) -> Iterator[Expr]:
    """Rewrite an index sum."""
    (body,), size = e.args, e.data[1]
    own = index_of(e)
    yield rename_bound_index(e, (unused_index_name(e, size), size))
    if body.op == "add":
        yield Expr("sum", body.args[:1], (), e.data) + Expr("sum", body.args[1:], (), e.data)
    if body.op == "sum":
        yield Expr("sum", (Expr("sum", body.args, (), e.data),), (), body.data)
    if body.op == "mul" and own not in free_indices(body.args[0]):
        yield body.args[0] * Expr("sum", body.args[1:], (), e.data)
    if body.op == "mul" and own not in free_indices(body.args[1]):
        yield Expr("sum", body.args[:1], (), e.data) * body.args[1]
    if own not in free_indices(body):
        yield size * body
    if body.op == "neg":
        yield -Expr("sum", body.args, (), e.data)
    if body.op == "mul" and all(a.op == "entry" and a.args[1:] == (own,) for a in body.args):
        yield body.args[0].args[0] @ body.args[1].args[0]
    for position in (size - 1, *(free_indices(body) - {own})):  # the terms up to a position, and the others
        yield total(body, own, where=own <= position) + total(body, own, where=position < own)
    first = where(substitute_index(body, own, lift(1)), lift(1) <= size)
    yield first + total(body, own, where=lift(1) < own)


def of_where(e: Expr) -> Iterator[Expr]:
    """Rewrite a scalar under a condition."""
    body, left, right = e.args
    if e.data == "<":
        yield node("where", body, left + 1, right, data="<=")
    else:
        yield node("where", body, left, right + 1, data="<")
        yield node("where", body, -right, -left, data="<=")
        yield where(body, left < right) + where(where(body, left <= right), right <= left)
    yield node("where", lift(1), left, right, data=e.data) * body
    yield body - node("where", body, right, left, data="<" if e.data == "<=" else "<=")
    if body.op in ("add", "neg"):
        yield rebuild(body, tuple(rebuild(e, (x, left, right)) for x in body.args))
    if body.op == "mul":
        yield body.args[0] * rebuild(e, (body.args[1], left, right))
    if body.op == "where":
        yield rebuild(body, (rebuild(e, (body.args[0], left, right)), *body.args[1:]))
    if body.op == "sum" and body.bound_index not in free_indices(left) | free_indices(right):
        yield Expr("sum", (rebuild(e, (body.args[0], left, right)),), (), body.data)
    if body.op == "function" and body.data == "exp":
        yield exp(rebuild(e, (body.args[0], left, right))) - node("where", lift(1), right, left, data="<" if e.data == "<=" else "<=")


def of_each(e: Expr) -> Iterator[Expr]:
    """Rewrite a tensor that is given entry by entry."""
    (body,), size = e.args, e.data[1]
    own = index_of(e)
    yield rename_bound_index(e, (unused_index_name(e, size), size))
    if body.op == "add":
        yield each(body.args[0], own) + each(body.args[1], own)
    if body.op == "neg":
        yield -each(body.args[0], own)
    if body.op == "mul" and not body.args[0].shape and own not in free_indices(body.args[0]):
        yield body.args[0] * each(body.args[1], own)
    if body.op == "mul" and body.args[0].shape == body.args[1].shape:
        yield each(body.args[0], own) * each(body.args[1], own)
    if not body.shape and own not in free_indices(body):
        yield body * ones(size)
    if body.op == "entry" and body.args[-1] == own and len(body.args) == 2 and own not in free_indices(body.args[0]):
        yield body.args[0]
    if body.op == "each" and body.data != e.data:
        yield each(body.args[0], index_of(body), own).T


def of_entry(e: Expr) -> Iterator[Expr]:
    """Rewrite an entry of a tensor."""
    tensor, at = e.args[0], e.args[1:]
    if tensor.op == "each":
        inside = substitute_index(tensor.args[0], index_of(tensor), at[0])
        yield inside[at[1:]] if inside.shape else inside
    if tensor.op == "transpose":
        yield tensor.args[0][at[::-1]]
    if tensor.op == "add":
        yield tensor.args[0][at] + tensor.args[1][at]
    if tensor.op == "neg":
        yield -tensor.args[0][at]
    if tensor.op == "mul":
        yield (tensor.args[0][at] if tensor.args[0].shape else tensor.args[0]) * (
            tensor.args[1][at] if tensor.args[1].shape else tensor.args[1]
        )
    if tensor.op == "matmul":
        a, b = tensor.args
        over = index(unused_index_name(e, a.shape[-1]), a.shape[-1])
        yield total(a[(*at[: len(a.shape) - 1], over)] * b[(over, *at[len(a.shape) - 1 :])], over)
    if tensor.op == "softmax" and len(at) == 1:
        over = index(unused_index_name(e, tensor.shape[0]), tensor.shape[0])
        yield exp(tensor.args[0][at]) / total(exp(tensor.args[0][over]), over)
    if len(at) == 1 and tensor.op == "symbol":
        over = index(unused_index_name(e, tensor.shape[0]), tensor.shape[0])
        yield total(eye(tensor.shape[0])[at[0], over] * tensor[over], over)
    if tensor.op == "eye" and at[0] != at[1]:
        yield tensor[at[::-1]]
    if tensor.op == "eye":
        yield e * e


def of_matmul(e: Expr) -> Iterator[Expr]:
    """Rewrite a matrix product."""
    a, b = e.args
    if a.op == "matmul" and len(a.args[1].shape) == 2:
        yield a.args[0] @ (a.args[1] @ b)
    if b.op == "matmul" and len(b.args[0].shape) == 2:
        yield (a @ b.args[0]) @ b.args[1]
    if a.op == "add":
        yield a.args[0] @ b + a.args[1] @ b
    if b.op == "add":
        yield a @ b.args[0] + a @ b.args[1]
    if a.op == "mul" and not a.args[0].shape:
        yield a.args[0] * (a.args[1] @ b)
    if not e.shape:
        over = index(unused_index_name(e, a.shape[0]), a.shape[0])
        yield total(a[over] * b[over], over)
        yield b @ a
    if len(a.shape) == len(b.shape) == 2:
        yield (b.T @ a.T).T
    if a.op == "eye":
        yield b
    if len(a.shape) == 2 and len(b.shape) == 1:
        row = index(unused_index_name(e, a.shape[0]), a.shape[0])
        yield each(e[row], row)
    if len(a.shape) == 2 and len(b.shape) == 1:
        yield b @ a.T


def of_transpose(e: Expr) -> Iterator[Expr]:
    """Rewrite a transpose."""
    (a,) = e.args
    if a.op == "transpose":
        yield a.args[0]
    if a.op == "matmul" and all(len(f.shape) == 2 for f in a.args):
        yield a.args[1].T @ a.args[0].T
    if a.op == "add":
        yield a.args[0].T + a.args[1].T
    if a.op == "mul" and not a.args[0].shape:
        yield a.args[0] * a.args[1].T
    if a.op == "eye":
        yield a


def of_softmax(e: Expr) -> Iterator[Expr]:
    """Rewrite the softmax of a vector."""
    if len(e.shape) == 1:
        yield softmax(e.args[0] + 2 * ones(*e.shape))
        over = index(unused_index_name(e, e.shape[0]), e.shape[0])
        yield function("exp", e.args[0]) / total(exp(e.args[0][over]), over)
        yield each(softmax(e.args[0])[over], over)


def of_derivative(e: Expr) -> Iterator[Expr]:
    """Rewrite a derivative."""
    body, by = e.args
    if by not in set(walk(body)) and by.op == "symbol":
        yield lift(0)
    if body == by:
        yield lift(1)
    if body.op in ("add", "neg"):
        yield rebuild(body, tuple(diff(a, by) for a in body.args))
    if body.op == "mul":
        a, b = body.args
        yield diff(a, by) * b + a * diff(b, by)
    if body.op == "div":
        a, b = body.args
        yield (diff(a, by) * b - a * diff(b, by)) / b**2
    if body.op == "pow" and body.args[1].op == "const":
        p = body.args[1].data
        yield p * body.args[0] ** (p - 1) * diff(body.args[0], by)
    if body.op == "function":
        a = body.args[0]
        inner = diff(a, by)
        yield {"exp": lambda: exp(a) * inner, "log": lambda: inner / a, "abs": lambda: a / absolute(a) * inner}[body.data]()
    if body.op == "sum" and index_of(body) not in free_indices(by):
        yield Expr("sum", (diff(body.args[0], by),), (), body.data)
    if body.op == "where":
        yield rebuild(body, (diff(body.args[0], by), *body.args[1:]))
    if body.op == "entry" and by.op == "entry" and len(body.args) == 2 and body.args[0] == by.args[0]:
        yield eye(body.args[0].shape[0])[body.args[1], by.args[1]]


RULES: dict[str, Callable[[Expr], Iterator[Expr]]] = {
    "add": of_add,
    "neg": of_neg,
    "mul": of_mul,
    "div": of_div,
    "pow": of_pow,
    "sum": of_sum,
    "each": of_each,
    "where": of_where,
    "entry": of_entry,
    "matmul": of_matmul,
    "transpose": of_transpose,
    "function": of_function,
    "softmax": of_softmax,
    "derivative": of_derivative,
    "rounded": of_rounded,
    "expectation": of_expectation,
    "variance": of_variance,
}


def index_of(e: Expr) -> Expr:
    """Return the index that a sum, or a tensor given entry by entry, binds."""
    bound = e.bound_index
    assert bound is not None
    return bound


def unused_index_name(e: Expr, size: Expr) -> str:
    """Return a name for an index over this size that the tree does not use. Each size has its own letter."""
    used = {part.data[0] for part in walk(e) if part.op in INDEXED}
    letter = {"n": "a", "m": "b"}.get(size.data[0], "h") if size.op == "symbol" else f"h{size.data}"
    return next(name for name in (f"{letter}_{number}" for number in count(1)) if name not in used)


def rename_bound_index(e: Expr, data: tuple) -> Expr:
    """Return a sum, or a tensor given entry by entry, with another bound index. Raise KernelError if that index is free in the body."""
    old, new = index_of(e), Expr("index", (), (), data)
    if new in free_indices(e.args[0]):
        raise KernelError(f"the index {data[0]} is taken", code="index-taken")
    return Expr(e.op, (substitute_index(e.args[0], old, new),), e.shape, data)


def rewritable_nodes(e: Expr, path: tuple = ()) -> Iterator[tuple[tuple, Expr]]:
    """Yield (path, node) for each node that a rule may change: not the variable of a derivative, nor the indices of an entry."""
    yield path, e
    for number, argument in enumerate(operands(e)):
        yield from rewritable_nodes(argument, path + (number,))


def replace_node(e: Expr, path: tuple, new: Expr) -> Expr:
    """Return the tree with another node at the end of a path. Raise KernelError if it does not fit there."""
    if not path:
        return new
    first, *rest = path
    args = list(e.args)
    args[first] = replace_node(args[first], tuple(rest), new)
    return rebuild(e, tuple(args))


def rewrite_randomly(e: Expr, generator: Random, times: int) -> Expr:
    """Apply up to `times` rewrite rules at random nodes and return the tree. A node is chosen only if a rule fits it."""
    for _ in range(times):
        choices = list(rewritable_nodes(e))
        generator.shuffle(choices)
        for path, part in choices:
            rewrites = list_rewrites(part)
            if rewrites:
                try:
                    e = replace_node(e, path, generator.choice(rewrites))
                    break
                except KernelError:
                    continue
    return e
