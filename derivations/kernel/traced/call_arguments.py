"""The arguments of a traced call: tensors whose entries are the claim's expressions, sizes, numbers, and the results of nested calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from operator import add, mul, neg
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from ..core.claims import SNIPPET, Claim
from ..core.constructors import index
from ..core.expr import Expr, free_indices, lift, walk
from ..core.operators import BINDERS, INDEXED
from .axes import FRESH_NUMBERS, FixedAxis, Position, axis_of_size
from .entries import Entry
from .errors import NotRead
from .tensor_values import TensorValue
from .tracing import Trace


def substitute(e: Expr, substitutions: Mapping[Expr, Expr]) -> Expr:
    """Substitute expressions for free indices or sizes of a tree."""
    return substitute_cached(e, substitutions, {}) if substitutions else e


def substitute_cached(e: Expr, substitutions: Mapping[Expr, Expr], cache: dict[int, Expr]) -> Expr:
    """Substitute in a tree. `known` caches results by the identity of a subtree, since trees share subtrees."""
    if id(e) not in cache:
        cache[id(e)] = substitute_in_node(e, substitutions, cache)
    return cache[id(e)]


def substitute_in_node(e: Expr, substitutions: Mapping[Expr, Expr], cache: dict[int, Expr]) -> Expr:
    """Substitute in a tree that is not cached. A bound index is renamed if an expression that is put in contains it."""
    if e.op in ("index", "symbol") and e in substitutions:
        return substitutions[e]
    shape = tuple(substitutions.get(n, n) for n in e.shape)
    data = e.data
    if e.op in INDEXED:
        data = (data[0], substitutions.get(data[1], data[1]))
    if e.op in BINDERS:
        cache = {}  # inside the binder, other substitutions apply
        substitutions = {key: value for key, value in substitutions.items() if key != e.bound_index}
        bound_index = Expr("index", (), (), data)
        if any(bound_index in free_indices(value) for value in substitutions.values()):
            data = index(f"at{next(FRESH_NUMBERS)}", data[1]).data
            substitutions[bound_index] = Expr("index", (), (), data)
    args = tuple(substitute_cached(a, substitutions, cache) for a in e.args)
    unchanged = all(new is old for new, old in zip(args, e.args)) and shape == e.shape and data == e.data
    return e if unchanged else Expr(e.op, args, shape, data)


def take_entry(e: Expr, indices: tuple[Expr, ...]) -> Expr:
    """Return an entry of a tensor. An entry of an array that is written out, at constant indices, is returned itself."""
    if not e.shape:
        return e
    if e.op == "array" and all(p.op == "const" for p in indices):
        k = 0
        for p, n in zip(indices, e.shape):
            k = k * int(n.data) + int(p.data) - 1
        return e.args[k]
    if e.op == "fill":
        return lift(e.data)
    return Expr("entry", (e, *indices))


def to_kernel_index(position: Position) -> Expr:
    """Return a position along a `FixedAxis` or `SymbolicAxis` as an index of the kernel, which counts from 1."""
    return position if isinstance(position, Expr) else lift(position + 1)


def function(name: str) -> Callable[..., Any]:
    """Return the function that a claim's code names."""
    module, own = module_and_name(name)
    return getattr(module, own)


def module_and_name(name: str) -> tuple[ModuleType, str]:
    """Return the module of the function that a claim's code names, and its name there."""
    if matched := SNIPPET.fullmatch(name):
        return import_module(matched[1]), matched[2]
    raise NotRead(f"there is no function {name}")


class CallArguments:
    """The arguments of one call of a claim: the tensors that it takes, and the call as a function of them."""

    def __init__(self, claim: Claim, reading: Trace) -> None:
        self.reading, self.free = reading, claim.free
        self.tensors: list[Tensor] = []

    def call(self, name: str, arguments: tuple, keywords: dict) -> Callable[..., Any]:
        """Return a call as a function of the tensors."""
        run, matched = function(name), SNIPPET.fullmatch(name)
        result_number = matched[3] if matched else None
        bound = inspect.signature(run).bind(*arguments, **keywords)
        builders: dict[str, Callable] = {}
        for parameter, x in bound.arguments.items():
            declared = bound.signature.parameters[parameter]
            kind = str(declared.annotation)
            if declared.kind is declared.VAR_POSITIONAL:
                parts = [self.argument(y, kind) for y in x]
                builders[parameter] = lambda tensors, parts=parts: tuple(part(tensors) for part in parts)
            elif declared.kind is declared.VAR_KEYWORD:
                named = {key: self.argument(y, kind) for key, y in x.items()}
                builders[parameter] = lambda tensors, named=named: {key: part(tensors) for key, part in named.items()}
            else:
                builders[parameter] = self.argument(x, kind)

        def called(tensors: tuple) -> Any:
            given = inspect.BoundArguments(bound.signature, {p: part(tensors) for p, part in builders.items()})
            result = run(*given.args, **given.kwargs)
            return result[int(result_number)] if result_number is not None else result

        return called

    def argument(self, x: Any, kind: str) -> Callable[..., Any]:
        """Return an argument as a function of the tensors; `kind` is the text of its parameter's annotation."""
        if isinstance(x, tuple) and x and isinstance(x[0], str) and x[0].startswith("snippets."):
            keywords = x[-1] if isinstance(x[-1], dict) else {}
            return self.call(x[0], x[1 : len(x) - bool(keywords)], keywords)
        if not isinstance(x, Expr):
            return lambda tensors: x
        free = sorted(free_indices(x), key=lambda i: self.free.index(i) if i in self.free else len(self.free))
        if not x.shape and not free:
            if self.is_whole(x) and "Tensor" not in kind:
                number = self.number(x)
                return lambda tensors: number
            if "float" in kind or "int" in kind:
                real = self.reading.sizes.real(x)
                return lambda tensors: real
        return self.tensor(x, free)

    def is_whole(self, x: Expr) -> bool:
        """Return whether an expression is made of sizes and integers by sums, products and powers."""
        if x.op == "symbol":
            return x.data[1] == "size"
        if x.op == "const":
            return x.data.denominator == 1
        if x.op == "pow":
            exponent = x.args[1]
            return exponent.op == "const" and exponent.data.denominator == 1 and exponent.data >= 0 and self.is_whole(x.args[0])
        return x.op in ("add", "mul", "neg") and all(map(self.is_whole, x.args))

    def number(self, x: Expr) -> Any:
        """Return an expression that `is_whole` accepts as an int or a SymInt."""
        if x.op == "const":
            return int(x.data)
        if x.op == "symbol":
            return self.reading.sizes.size(x)
        operations: dict[str, Callable] = {"add": add, "mul": mul, "neg": neg, "pow": pow}
        return operations[x.op](*map(self.number, x.args))

    def tensor(self, x: Expr, free: list[Expr]) -> Callable[..., Any]:
        """Register a tensor for an expression: one axis for each free index, then the expression's own axes."""
        sizes, reading = self.reading.sizes, self.reading
        shape = [i.data[1] for i in free] + list(x.shape)
        axes = tuple(map(axis_of_size, shape))

        def at(p: tuple) -> Entry:
            taken = take_entry(x, tuple(map(to_kernel_index, p[len(free) :])))
            return substitute(taken, dict(zip(free, map(to_kernel_index, p[: len(free)]))))

        imaginary = any(n.op == "imaginary" for n in walk(x))
        with sizes.fake:
            tensor = torch.empty(
                [axis.n if isinstance(axis, FixedAxis) else sizes.size(n) for axis, n in zip(axes, shape)],
                dtype=torch.complex128 if imaginary else torch.float64,
            )
        reading.hold(tensor, TensorValue(axes, at))
        k = len(self.tensors)
        self.tensors.append(tensor)
        return lambda tensors: tensors[k]
