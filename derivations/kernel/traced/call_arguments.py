"""What a call is given: tensors of the claim's expressions, its sizes and numbers, and what other calls give."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from ..core.claims import SNIPPET, Claim
from ..core.expr import Expr, free_indices, index, lift, walk
from ..core.operators import BINDERS, INDEXED
from .axes import FRESH, Count, Place, along
from .entries import Entry
from .errors import NotRead
from .tensor_values import Value
from .tracing import Reading


def put(e: Expr, what: Mapping[Expr, Expr]) -> Expr:
    """The tree with other things in the place of free indices or sizes."""
    return replaced(e, what, {}) if what else e


def replaced(e: Expr, what: Mapping[Expr, Expr], known: dict[int, Expr]) -> Expr:
    """The same; what a part comes to is kept by the part, which may stand in several places."""
    if id(e) not in known:
        known[id(e)] = replaced_in(e, what, known)
    return known[id(e)]


def replaced_in(e: Expr, what: Mapping[Expr, Expr], known: dict[int, Expr]) -> Expr:
    if e.op in ("index", "symbol") and e in what:
        return what[e]
    shape = tuple(what.get(n, n) for n in e.shape)
    data = e.data
    if e.op in INDEXED:
        data = (data[0], what.get(data[1], data[1]))
    if e.op in BINDERS:
        own, known = e.bound_index, {}  # for within it something else is put
        what = {key: one for key, one in what.items() if key != own}
        bound = Expr("index", (), (), data)
        if any(bound in free_indices(one) for one in what.values()):  # which this binder would take for its own
            data = index(f"at{next(FRESH)}", data[1]).data
            what[own] = Expr("index", (), (), data)
    args = tuple(replaced(a, what, known) for a in e.args)
    alike = all(new is old for new, old in zip(args, e.args)) and shape == e.shape and data == e.data
    return e if alike else Expr(e.op, args, shape, data)


def entry(e: Expr, places: tuple[Expr, ...]) -> Expr:
    """An entry of a tensor; one that is written out is taken out."""
    if not e.shape:
        return e
    if e.op == "array" and all(p.op == "const" for p in places):
        k = 0
        for p, n in zip(places, e.shape):
            k = k * int(n.data) + int(p.data) - 1
        return e.args[k]
    if e.op == "fill":
        return lift(e.data)
    return Expr("entry", (e, *places))


def spot(place: Place) -> Expr:
    """A place of an axis that nothing has cut, as an index of the kernel, which counts from 1."""
    return place if isinstance(place, Expr) else lift(place + 1)


def function(name: str) -> Callable[..., Any]:
    """Return the function that a claim's code names."""
    module, own = module_and_name(name)
    return getattr(module, own)


def module_and_name(name: str) -> tuple[ModuleType, str]:
    """Return the module of the function that a claim's code names, and its name there."""
    if matched := SNIPPET.fullmatch(name):
        return import_module(matched[1]), matched[2]
    raise NotRead(f"there is no function {name}")


class Given:
    """One call of a claim, prepared: its tensors, and how it is made of them."""

    def __init__(self, claim: Claim, reading: Reading) -> None:
        self.reading, self.free = reading, claim.free
        self.tensors: list[Tensor] = []

    def call(self, name: str, arguments: tuple, keywords: dict) -> Callable[..., Any]:
        """The call as a function of the tensors."""
        run, which = function(name), SNIPPET.fullmatch(name)[3]
        bound = inspect.signature(run).bind(*arguments, **keywords)
        made: dict[str, Callable] = {}
        for parameter, x in bound.arguments.items():
            taken = bound.signature.parameters[parameter]
            kind = str(taken.annotation)
            if taken.kind is taken.VAR_POSITIONAL:
                parts = [self.argument(y, kind) for y in x]
                made[parameter] = lambda tensors, parts=parts: tuple(part(tensors) for part in parts)
            elif taken.kind is taken.VAR_KEYWORD:
                named = {key: self.argument(y, kind) for key, y in x.items()}
                made[parameter] = lambda tensors, named=named: {key: part(tensors) for key, part in named.items()}
            else:
                made[parameter] = self.argument(x, kind)

        def called(tensors: tuple) -> Any:
            again = inspect.BoundArguments(bound.signature, {p: part(tensors) for p, part in made.items()})
            result = run(*again.args, **again.kwargs)
            return result[int(which)] if which is not None else result

        return called

    def argument(self, x: Any, kind: str) -> Callable[..., Any]:
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
        """Is it made of sizes and whole numbers by sums and products?"""
        if x.op == "symbol":
            return x.data[1] == "size"
        if x.op == "const":
            return x.data.denominator == 1
        if x.op == "pow":
            exponent = x.args[1]
            return exponent.op == "const" and exponent.data.denominator == 1 and exponent.data >= 0 and self.is_whole(x.args[0])
        return x.op in ("add", "mul", "neg") and all(map(self.is_whole, x.args))

    def number(self, x: Expr) -> Any:
        if x.op == "const":
            return int(x.data)
        if x.op == "symbol":
            return self.reading.sizes.size(x)
        parts = [self.number(a) for a in x.args]
        return {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "neg": lambda a: -a, "pow": lambda a, b: a**b}[x.op](*parts)

    def tensor(self, x: Expr, free: list[Expr]) -> Callable[..., Any]:
        """A tensor with an axis for each free index, and then its own."""
        sizes, reading = self.reading.sizes, self.reading
        shape = [i.data[1] for i in free] + list(x.shape)
        axes = tuple(map(along, shape))

        def at(p: tuple) -> Entry:
            own = entry(x, tuple(map(spot, p[len(free) :])))
            return put(own, dict(zip(free, map(spot, p[: len(free)]))))

        imaginary = any(n.op == "imaginary" for n in walk(x))
        with sizes.fake:
            made = torch.empty(
                [axis.n if isinstance(axis, Count) else sizes.size(n) for axis, n in zip(axes, shape)],
                dtype=torch.complex128 if imaginary else torch.float64,
            )
        reading.hold(made, Value(axes, at))
        k = len(self.tensors)
        self.tensors.append(made)
        return lambda tensors: tensors[k]
