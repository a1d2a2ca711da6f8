"""A call of a snippet, met operation by operation: PyTorch runs it on tensors without numbers, and each result is read by a rule."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import torch
from torch import Tensor
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from ..core.assumptions import Assumption
from ..core.expr import Expr, lift, show, symbol, symbols
from ..exact.assumption_facts import facts_of
from ..exact.atom_payloads import Unknown
from ..exact.normal_form import Facts
from ..exact.tree_to_normal_form import read
from .axes import Axis, Count, length
from .entries import Entry, Masked, plain
from .errors import NotRead, Sized
from .integer_dtypes import fitting
from .operation_rules import Call, rule_of
from .size_conditions import Guard
from .symbolic_sizes import Sizes, functions_of_numbers, line_of
from .tensor_values import Value

MOST = 4096  # entries of a tensor of numbers
MOST_SUPPOSED, MOST_MET = 40, 4000  # conditions of one call, and operations: a loop that these decide may never end


class InPlace(Exception):
    """A tensor was written to: the call is read again with each write made a new tensor."""


class Reading(TorchDispatchMode):
    """What each tensor of a call is, as mathematics."""

    def __init__(self, sizes: Sizes, given: tuple[Assumption, ...], largest: bool = False, names: Iterable[str] = ()) -> None:
        super().__init__()
        self.sizes, self.given, self.largest = sizes, given, largest
        self.names = frozenset(names)  # those that the claim has: nothing that is made here takes one
        self.values: dict[int, tuple[Tensor, Value, tuple]] = {}  # the tensor, what it is, and where its numbers would lie
        self.turned: Counter[int] = Counter()  # views in place, by where the numbers lie: PyTorch counts each as a write, once it is over
        self.writes: Counter[int] = Counter()  # as counted there when a tensor was last met: a view has the count once it is made
        self.conditions: list[str] = []  # under which what was read is what the code computes
        self.supposed: list[Assumption] = []  # the same, as far as the normal form knows of them
        self.opaque: set[str] = set()  # names of numbers of which nothing is known
        self.unknowns = count()
        self.refused: Exception | None = None  # the first operation that was not read, which the code may have caught
        self.met = 0  # operations
        self.line = ""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        self.sizes.within += 1
        try:
            self.met += 1
            if self.met > MOST_MET:
                raise NotRead(f"more than {MOST_MET} operations")
            return self.operation(func, args, kwargs or {})
        except Exception as error:
            self.refused = self.refused or error
            if isinstance(error, NotRead):
                self.line = self.line or line_of("snippets")
            raise
        finally:
            self.sizes.within -= 1

    def operation(self, func: Any, args: tuple, kwargs: dict) -> Any:
        name = str(func).removeprefix("aten.")
        if func.namespace == "prim" or name == "promote_types.default":  # which asks of what kind a tensor is, and not what stands in it
            return func(*args, **kwargs)
        if name == "_local_scalar_dense.default":
            return self.taken_out(self.value(args[0]))
        if torch.Tag.inplace_view in func.tags:  # which changes the axes of this one tensor, and no entry
            name = name.replace("_.", ".")
        elif func._schema.is_mutable:
            raise InPlace(name)
        if name.startswith("squeeze"):  # of which code has the number of axes, which depends on which sizes are 1
            self.sizes.note(*args[0].shape)
        meaning, before = rule_of(name), (self.as_values(args), self.as_values(kwargs))
        out = func(*args, **kwargs)
        self.hold(out, meaning(Call(self, out, args), *before[0], **before[1]))
        if torch.Tag.inplace_view in func.tags:
            self.turned[out.untyped_storage()._cdata] += 1
        return out

    def facts(self) -> Facts:
        """What the normal form may use: what the claim assumes, and what was supposed on the way."""
        return facts_of((*self.given, *self.supposed))

    def as_values(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return self.value(x)
        if isinstance(x, dict):
            return {key: self.as_values(y) for key, y in x.items()}
        return type(x)(map(self.as_values, x)) if type(x) in (tuple, list) else x

    def hold(self, out: Any, value: Any) -> None:
        """Keep what a result is. Its axes have the lengths that PyTorch says."""
        if isinstance(out, (tuple, list)):
            for one, other in zip(out, value):
                self.hold(one, other)
        elif isinstance(out, Tensor) and value is not None:
            if [length(axis) for axis in value.axes] != [self.sizes.length(n) for n in out.shape]:
                raise Sized(f"other axes than PyTorch gives, which takes sizes for numbers: {list(map(str, out.shape))}")
            where, written = home(out)
            self.values[id(out)] = out, fitting(self, out.dtype, value), (where, written, self.writes[where[0]], self.turned[where[0]])

    def value(self, x: Tensor) -> Value:
        if id(x) in self.values:
            _, value, (before, first, writes, turned) = self.values[id(x)]
            where, written = home(x)
            if where != before or written != first and written - writes not in range(self.turned[where[0]] - turned + 1):
                raise NotRead("a tensor that was made another without an operation, as by .data")
            self.writes[where[0]] = max(written, self.writes[where[0]])
            return value
        if type(x) is Tensor or type(x) is torch.nn.Parameter:
            return self.written(x)
        raise NotRead("a tensor that no rule made")

    def written(self, x: Tensor) -> Value:
        """A tensor of numbers that the code has written."""
        if x.numel() > MOST or x.is_complex():
            raise NotRead(f"a tensor of {x.numel()} numbers of {x.dtype}")
        with no_dispatch():
            numbers = x.tolist()

        def at(p: tuple) -> Entry:
            here: Any = numbers
            for place in p:
                here = here[place]
            return here if isinstance(here, bool) else self.entry(here)

        return Value(tuple(Count(n) for n in x.shape), at)

    def entry(self, x: Any) -> Entry:
        """A number as an entry; minus infinity is one too."""
        if x == -float("inf"):
            return Masked(lift(0), lift(0))
        return self.sizes.tree(x)

    def taken_out(self, value: Value) -> Any:
        """A number or a truth value that Python asks for."""
        e = value.at(())
        if not isinstance(e, (bool, Expr)):
            raise NotRead("the value of an infinity is asked for")
        if isinstance(e, Expr) and e.op == "const":
            return int(e.data) if e.data.denominator == 1 else float(e.data)
        return e if isinstance(e, bool) else self.sizes.real(e)

    def decided(self, test: str, e: Expr) -> bool:
        """Whether a number is 'positive', 'nonnegative' or 'nonzero', where that is seen; what is not seen is a condition."""
        try:
            found = seen(test, e, *self.normal(e))
            if found is not None:
                return found
        except Unknown:
            pass
        if self.opaque & set(symbols(e)):
            raise NotRead("a comparison with the largest of what moves")
        if len(self.supposed) >= MOST_SUPPOSED:
            raise NotRead(f"more than {MOST_SUPPOSED} conditions")
        self.supposed.append(Assumption(test, (e,)))
        self.suppose(f"{show(e)} {WORDS[test]}")
        return True

    def needs(self, e: Entry) -> None:
        """That a number has a value is a condition, unless it is seen to have one."""
        for one in (e.keep, e.value) if isinstance(e, Masked) else [e] if isinstance(e, Expr) else []:
            if not plain(one):
                try:
                    self.normal(one)
                except Unknown as error:
                    raise NotRead(f"whether {show(one)} has a value: {error}") from None

    def normal(self, e: Expr) -> tuple[dict, Facts]:
        """The normal form, and what it knows. What e needs to have a value, unless it is seen, is a condition."""
        facts = self.facts()
        facts.near = (e,)
        p = read(e, facts)
        for condition in facts.unstated:
            self.suppose(condition)
        return p, facts

    def guarded(self, guard: Guard) -> None:
        """What Python asked of a number, as a condition, unless it is seen to be so."""
        less = guard.left - guard.right
        if guard.sign == "=":
            self.suppose(str(guard))
        elif not self.decided({"!=": "nonzero", ">": "positive", ">=": "nonnegative"}[guard.sign], less):
            raise NotRead(f"it was read where {guard}, which never holds")

    def suppose(self, condition: str) -> None:
        if condition not in self.conditions:
            self.conditions.append(condition)

    def unknown(self, axes: tuple[Axis, ...], kind: str = "some") -> Value:
        """New real numbers, one for each place, of which nothing is known: what is shown holds whatever they are."""
        name = next(name for k in self.unknowns for name in [f"{kind}{k}"] if not any(one.startswith(name) for one in self.names))
        self.opaque.add(name)

        def at(p: tuple) -> Entry:
            fixed, moving = told(p)
            here = name + "".join(f"p{k}" for k in fixed)
            self.opaque.add(here)
            whole = symbol(here, "real", tuple(i.data[1] for i in moving))
            return whole[tuple(moving)] if moving else whole

        return Value(axes, at)


def seen(test: str, e: Expr, p: dict, facts: Facts) -> bool | None:
    """Whether a number is so by its normal form, or None where that is not seen."""
    if {"positive": facts.is_positive, "nonnegative": facts.is_nonnegative, "nonzero": facts.is_nonzero}[test](p):
        return True
    minus = read(lift(-1) * e, facts)
    no = {"positive": facts.is_nonnegative, "nonnegative": facts.is_positive, "nonzero": lambda _: False}[test](minus)
    return False if no or not p and test != "nonnegative" else None


def home(x: Tensor) -> tuple:
    """Where the numbers of a tensor lie, how it goes through them, and how often they were written: where that is another, so is the tensor."""
    steps = [
        getattr(getattr(n, "node", None), "expr", n) for n in (*x.shape, *x.stride(), x.storage_offset())
    ]  # which asks nothing of sizes
    return (x.untyped_storage()._cdata, *steps), 0 if x.is_inference() else x._version


def told(place: Any) -> tuple[list[int], list[Expr]]:
    """The numbers and the indices of a place."""
    if isinstance(place, Expr):
        return [], [place]
    if isinstance(place, tuple):
        parts = [told(one) for one in place]
        return [k for fixed, _ in parts for k in fixed], [i for _, moving in parts for i in moving]
    return [place], []


WORDS = {"positive": "is positive", "nonnegative": "is not negative", "nonzero": "is not zero"}


@contextmanager
def quiet() -> Iterator[None]:
    """PyTorch writes down each call that it cannot trace; here that is a reason, and is kept."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def traced(run: Callable[..., Any], tensors: list[Tensor], reading: Reading) -> Any:
    """What a call gives, its operations read. Where it writes to a tensor, that is another one from there on."""
    with quiet(), reading.sizes.fake, functions_of_numbers(reading.sizes):
        before = dict(reading.values)
        try:
            return in_full(run, tensors, reading)
        except InPlace:
            reading.sizes.all_asked = True  # whether two tensors share their numbers depends on how these lie
            reading.values, reading.refused, reading.met = before, None, 0
            del reading.conditions[:], reading.supposed[:]
            for counted in (reading.opaque, reading.turned, reading.writes):
                counted.clear()
        try:
            return in_full(torch.func.functionalize(run, remove="mutations"), tensors, reading)
        except InPlace as error:
            raise NotRead(f"a tensor that the call was given, or that it keeps, is written to ({error})") from None


def in_full(run: Callable[..., Any], tensors: list[Tensor], reading: Reading) -> Any:
    """What a call gives, if all that it met was read: code that catches an error goes another way than it would with numbers."""
    try:
        with reading:
            result = run(*tensors)
    except Exception as error:
        raise reading.refused or error from None
    if reading.refused:
        raise reading.refused
    return result
