"""Trace a call of a snippet operation by operation: PyTorch runs it on tensors without numbers, and a rule reads each result."""

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
from ..exact.assumption_facts import collect_facts
from ..exact.atom_payloads import Unsupported
from ..exact.normal_form import Facts
from ..exact.tree_to_normal_form import normalize
from .axes import Axis, FixedAxis, axis_length
from .entries import Entry, Masked, is_always_defined
from .errors import NeedsNumericSize, NotRead
from .integer_dtypes import check_fits_dtype
from .operation_rules import Call, find_rule
from .size_conditions import Guard
from .symbolic_sizes import Sizes, find_current_line, symbolic_math_functions
from .tensor_values import TensorValue

MAX_ENTRIES = 4096  # of a tensor of numbers
MAX_CONDITIONS, MAX_OPERATIONS = 40, 4000  # of one call: a loop that conditions control may never end


class InPlace(Exception):
    """A tensor was written to; the call is traced again, with each write replaced by a new tensor."""


class Trace(TorchDispatchMode):
    """The trace of one call: what each tensor is as mathematics, and under which conditions."""

    def __init__(self, sizes: Sizes, given: tuple[Assumption, ...], largest: bool = False, names: Iterable[str] = ()) -> None:
        super().__init__()
        self.sizes, self.given, self.largest = sizes, given, largest
        self.names = frozenset(names)  # of the claim's symbols, which new symbols must avoid
        self.values: dict[int, tuple[Tensor, TensorValue, tuple]] = {}  # by identity: the tensor, its value, its storage and version
        self.inplace_views: Counter[int] = Counter()  # views in place, by storage: PyTorch counts each as a write, after it is done
        self.versions: Counter[int] = Counter()  # by storage: the version when a tensor of it was last used; a new view has this version
        self.conditions: list[str] = []  # under which the code computes what was read, as text
        self.assumptions: list[Assumption] = []  # those of them that the normal form can use
        self.opaque: set[str] = set()  # the names of unknown numbers
        self.unknowns = count()
        self.first_error: Exception | None = None  # the first operation that was not read; the code may have caught the error
        self.operation_count = 0  # the number of operations so far
        self.formulas: list[Expr | None] = []  # what the code computes, for each result that equals a side
        self.line = ""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        self.sizes.within += 1
        try:
            self.operation_count += 1
            if self.operation_count > MAX_OPERATIONS:
                raise NotRead(f"more than {MAX_OPERATIONS} operations")
            return self.operation(func, args, kwargs or {})
        except Exception as error:
            self.first_error = self.first_error or error
            if isinstance(error, NotRead):
                self.line = self.line or find_current_line("snippets")
            raise
        finally:
            self.sizes.within -= 1

    def operation(self, func: Any, args: tuple, kwargs: dict) -> Any:
        """Run an operation on tensors without numbers, and read its result."""
        name = str(func).removeprefix("aten.")
        if func.namespace == "prim" or name == "promote_types.default":  # these inspect types, not entries
            return func(*args, **kwargs)
        if name == "_local_scalar_dense.default":
            return self.to_python(self.value(args[0]))
        if torch.Tag.inplace_view in func.tags:  # changes the axes of this tensor, and no entry
            name = name.replace("_.", ".")
        elif func._schema.is_mutable:
            raise InPlace(name)
        if name.startswith("squeeze"):  # the number of axes depends on which sizes are 1, and code can inspect it
            self.sizes.note(*args[0].shape)
        rule, values = find_rule(name), (self.as_values(args), self.as_values(kwargs))
        out = func(*args, **kwargs)
        self.hold(out, rule(Call(self, out, args), *values[0], **values[1]))
        if torch.Tag.inplace_view in func.tags:
            self.inplace_views[out.untyped_storage()._cdata] += 1
        return out

    def facts(self) -> Facts:
        """Return the facts that the normal form may use: the claim's assumptions, and the conditions so far."""
        return collect_facts((*self.given, *self.assumptions))

    def as_values(self, x: Any) -> Any:
        """Return arguments with a `TensorValue` for each tensor."""
        if isinstance(x, Tensor):
            return self.value(x)
        if isinstance(x, dict):
            return {key: self.as_values(y) for key, y in x.items()}
        return type(x)(map(self.as_values, x)) if type(x) in (tuple, list) else x

    def hold(self, out: Any, value: Any) -> None:
        """Store the traced value of a PyTorch result, or of each tensor in a tuple or list of results.

        Raise `NeedsNumericSize` if an axis of the value has another length than the same axis of the result.
        """
        if isinstance(out, (tuple, list)):
            for tensor, tensor_value in zip(out, value):
                self.hold(tensor, tensor_value)
        elif isinstance(out, Tensor) and value is not None:
            if [axis_length(axis) for axis in value.axes] != [self.sizes.length(n) for n in out.shape]:
                raise NeedsNumericSize(f"other axes than PyTorch gives, which takes sizes for numbers: {list(map(str, out.shape))}")
            layout, version = layout_and_version(out)
            self.values[id(out)] = (
                out,
                check_fits_dtype(self, out.dtype, value),
                (layout, version, self.versions[layout[0]], self.inplace_views[layout[0]]),
            )

    def value(self, x: Tensor) -> TensorValue:
        """Return the value of a tensor. Raise NotRead if it was changed without an operation, or if no rule made it."""
        if id(x) in self.values:
            _, value, (old_layout, old_version, writes, turned) = self.values[id(x)]
            layout, version = layout_and_version(x)
            if layout != old_layout or version != old_version and version - writes not in range(self.inplace_views[layout[0]] - turned + 1):
                self.sizes.reject_fixed()  # which changes the layout
                raise NotRead("a tensor that was made another without an operation, as by .data")
            self.versions[layout[0]] = max(version, self.versions[layout[0]])
            return value
        if type(x) is Tensor or type(x) is torch.nn.Parameter:
            return self.written(x)
        raise NotRead("a tensor that no rule made")

    def written(self, x: Tensor) -> TensorValue:
        """Return the value of a tensor of numbers that are written in the code."""
        if x.numel() > MAX_ENTRIES or x.is_complex():
            raise NotRead(f"a tensor of {x.numel()} numbers of {x.dtype}")
        with no_dispatch():
            numbers = x.tolist()

        def at(p: tuple) -> Entry:
            entries: Any = numbers
            for position in p:
                entries = entries[position]
            return entries if isinstance(entries, bool) else self.entry(entries)

        return TensorValue(tuple(FixedAxis(n) for n in x.shape), at)

    def entry(self, x: Any) -> Entry:
        """Return a number, or minus infinity, as an entry."""
        if x == -float("inf"):
            return Masked(lift(0), lift(0))
        return self.sizes.tree(x)

    def to_python(self, value: TensorValue) -> Any:
        """Return a tensor without axes as a number or truth value of Python, as `item` does."""
        e = value.at(())
        if not isinstance(e, (bool, Expr)):
            raise NotRead("the value of an infinity is asked for")
        if isinstance(e, Expr) and e.op == "const":
            return int(e.data) if e.data.denominator == 1 else float(e.data)
        return e if isinstance(e, bool) else self.sizes.real(e)

    def decide_or_assume(self, test: str, e: Expr) -> bool:
        """Return whether a number is 'positive', 'nonnegative' or 'nonzero'. If that is not decided, assume it, as a condition."""
        try:
            answer = decide(test, e, *self.normal(e))
            if answer is not None:
                return answer
        except Unsupported:
            pass
        if self.opaque & set(symbols(e)):
            raise NotRead("a comparison with the largest of what moves")
        if len(self.assumptions) >= MAX_CONDITIONS:
            raise NotRead(f"more than {MAX_CONDITIONS} conditions")
        self.assumptions.append(Assumption(test, (e,)))
        self.add_condition(f"{show(e)} {WORDS[test]}")
        return True

    def needs(self, e: Entry) -> None:
        """Record as conditions what an entry needs to have a value."""
        for part in (e.keep, e.value) if isinstance(e, Masked) else [e] if isinstance(e, Expr) else []:
            if not is_always_defined(part):
                try:
                    self.normal(part)
                except Unsupported as error:
                    raise NotRead(f"whether {show(part)} has a value: {error}") from None

    def normal(self, e: Expr) -> tuple[dict, Facts]:
        """Return the normal form of e and the facts used. What e needs to have a value becomes a condition, unless it is known."""
        facts = self.facts()
        facts.near = (e,)
        p = normalize(e, facts)
        for condition in list_conditions(facts):
            self.add_condition(condition)
        return p, facts

    def guarded(self, guard: Guard) -> None:
        """Record a guard about numbers as a condition, unless it is known to hold."""
        difference = guard.left - guard.right
        if guard.sign == "=":
            self.add_condition(str(guard))
        elif not self.decide_or_assume({"!=": "nonzero", ">": "positive", ">=": "nonnegative"}[guard.sign], difference):
            raise NotRead(f"it was read where {guard}, which never holds")

    def add_condition(self, condition: str) -> None:
        """Record a condition as text."""
        if condition not in self.conditions:
            self.conditions.append(condition)

    def unknown(self, axes: tuple[Axis, ...], kind: str = "some") -> TensorValue:
        """Return a tensor of new, unknown real numbers; a proof with them holds whatever they are."""
        name = next(name for k in self.unknowns for name in [f"{kind}{k}"] if not any(used.startswith(name) for used in self.names))
        self.opaque.add(name)

        def at(p: tuple) -> Entry:
            numbers, indices = split_position(p)
            symbol_name = name + "".join(f"p{k}" for k in numbers)
            self.opaque.add(symbol_name)
            tensor = symbol(symbol_name, "real", tuple(i.data[1] for i in indices))
            return tensor[tuple(indices)] if indices else tensor

        return TensorValue(axes, at)


def list_conditions(facts: Facts) -> list[str]:
    """Return what was used without being stated. Raise NotRead if that is something false of a number, which no assumption states."""
    if impossible := [condition for condition, stated in facts.missing.items() if not stated]:
        raise NotRead(f"it would need that {impossible[0]}")
    return facts.unstated


def decide(test: str, e: Expr, p: dict, facts: Facts) -> bool | None:
    """Return whether the number with normal form p is positive, nonnegative or nonzero, or None if that is not decided."""
    if {"positive": facts.is_positive, "nonnegative": facts.is_nonnegative, "nonzero": facts.is_nonzero}[test](p):
        return True
    minus = normalize(lift(-1) * e, facts)
    is_false = {"positive": facts.is_nonnegative, "nonnegative": facts.is_positive, "nonzero": lambda _: False}[test](minus)
    return False if is_false or not p and test != "nonnegative" else None


def layout_and_version(x: Tensor) -> tuple:
    """Return the layout of a tensor (storage, shape, strides, offset) and its version, which tell whether it was changed."""
    # The SymPy expressions, not the symbols: comparing these would add guards.
    steps = [getattr(getattr(n, "node", None), "expr", n) for n in (*x.shape, *x.stride(), x.storage_offset())]
    return (x.untyped_storage()._cdata, *steps), 0 if x.is_inference() else x._version


def split_position(position: Any) -> tuple[list[int], list[Expr]]:
    """Return the numbers and the indices in a position."""
    if isinstance(position, Expr):
        return [], [position]
    if isinstance(position, tuple):
        parts = [split_position(part) for part in position]
        return [k for numbers, _ in parts for k in numbers], [i for _, indices in parts for i in indices]
    return [position], []


WORDS = {"positive": "is positive", "nonnegative": "is not negative", "nonzero": "is not zero"}


@contextmanager
def quiet() -> Iterator[None]:
    """Silence PyTorch's log of calls that it cannot trace; the witness reports the reason itself."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def run_traced(run: Callable[..., Any], tensors: list[Tensor], reading: Trace) -> Any:
    """Run a call and read its operations. If it writes to a tensor, trace it again with each write replaced by a new tensor."""
    with quiet(), reading.sizes.fake, symbolic_math_functions(reading.sizes):
        before = dict(reading.values)
        try:
            return run_completely(run, tensors, reading)
        except InPlace:
            reading.sizes.all_asked = True  # whether two tensors share storage may depend on their sizes
            reading.values, reading.first_error, reading.operation_count = before, None, 0
            del reading.conditions[:], reading.assumptions[:]
            for record in (reading.opaque, reading.inplace_views, reading.versions):
                record.clear()
        try:
            return run_completely(torch.func.functionalize(run, remove="mutations"), tensors, reading)
        except InPlace as error:
            raise NotRead(f"a tensor that the call was given, or that it keeps, is written to ({error})") from None


def run_completely(run: Callable[..., Any], tensors: list[Tensor], reading: Trace) -> Any:
    """Run a call; raise if any operation was not read, even if the code caught the error, since with numbers it would take another path."""
    try:
        with reading:
            result = run(*tensors)
    except Exception as error:
        raise reading.first_error or error from None
    if reading.first_error:
        raise reading.first_error
    return result
