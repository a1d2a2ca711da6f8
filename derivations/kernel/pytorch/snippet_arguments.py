"""Call snippets at one point of a trial: evaluate their arguments, and bring the claim's expressions into the form of their results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeGuard

import torch
from torch import Tensor

from ..core.claims import SNIPPET, Claim
from ..core.expr import Expr, free_indices, show
from . import snippet_calls
from .error_bounds import BoundedValue
from .errors import CannotDecide, Disagreement
from .evaluation import evaluate
from .trial import OUTCOME, POINT, Trial


def as_snippet_sees(x: BoundedValue, t: Trial, free: list) -> BoundedValue:
    """Return a value with the axes that a snippet sees: the points (one if it is the same at all), the free indices, the tensor's own axes."""
    lengths = {t.axes[i.data]: t.size(i.data[1]) for i in free}

    def view(y: Tensor) -> Tensor:
        y = y.expand(*(lengths.get(k, n) for k, n in enumerate(y.shape)))
        rest = [k for k in range(1, t.leading) if k not in lengths]
        y = y.permute(POINT, *rest, *(t.axes[i.data] for i in free), *range(t.leading, y.dim()))
        return y.reshape(len(y), *y.shape[1 + len(rest) :])

    if x.value.shape[OUTCOME] > 1:
        raise CannotDecide("a snippet of a random number")
    return BoundedValue(view(x.value), view(x.error))


class Call(NamedTuple):
    """A call in a claim's code: the function, its arguments by parameter, and the number of its result that is meant, if any."""

    run: Callable
    signature: inspect.Signature
    arguments: dict[str, Any]
    which: str | None


class Calls:
    """The calls of a claim's code, each parsed once, and the state of each function after its last watched call."""

    def __init__(self) -> None:
        self.read: dict[int, Call] = {}  # by the identity of (name, arguments, keywords), a tuple of the claim
        self.inner: dict[int, tuple] = {}  # (name, arguments, keywords) of a nested call, by its identity
        self.states: dict[int, tuple] = {}  # as in snippet_calls.call

    def of(self, code: tuple) -> Call:
        """Return a call, parsed."""
        if id(code) not in self.read:
            self.read[id(code)] = parse_call(*code)
        return self.read[id(code)]


class Arguments:
    """The arguments of a claim's calls at the points of one trial. Each expression is evaluated once for all points."""

    def __init__(self, t: Trial, dtype: torch.dtype = torch.float64, calls: Calls | None = None) -> None:
        self.trial, self.dtype, self.calls = t, dtype, calls or Calls()
        self.numbers: dict[int, tuple] = {}  # by the identity of a tree of the code

    def of(self, x: Expr) -> tuple[Tensor, ...]:
        """Return an expression at every point, or once if it is the same at all; in the dtype, unless it is a number or complex."""
        if id(x) not in self.numbers:
            t = self.trial
            v = as_snippet_sees(evaluate(x, t), t, sorted(free_indices(x), key=lambda i: t.axes[i.data])).value
            self.numbers[id(x)] = (v if v.dim() == 1 or v.is_complex() else v.to(self.dtype)).unbind()
        return self.numbers[id(x)]

    def at(self, x: Any, kind: Any, point: int, watched: bool) -> Any:
        """Return an argument at one point; `kind` is its parameter's annotation."""
        if is_call(x):
            if id(x) not in self.calls.inner:
                self.calls.inner[id(x)] = nested_call(x)
            return call_snippet(self.calls.inner[id(x)], self, point, watched)[0]
        if not isinstance(x, Expr):
            return x
        if x.op == "symbol" and x.data[1] == "size":
            if x.data[0] not in self.trial.sizes:
                raise Disagreement(
                    f"the size {x.data[0]} is an argument of the snippet, but does not occur in the claim", code="unused-value"
                )
            return self.trial.sizes[x.data[0]]
        value = at_one_point(self.of(x), point)
        if value.dim():
            return value
        if kind in (int, "int") and value == value.round():
            return int(value)
        return value.item() if "float" in str(kind) else value if value.is_complex() else value.to(self.dtype)


def at_one_point(x: tuple[Tensor, ...], point: int) -> Tensor:
    """Return the entry of a point, or the only entry if it is the same at all points."""
    return x[point] if len(x) > 1 else x[0]


def call_snippet(code: tuple, given: Arguments, point: int, watched: bool = False) -> tuple:
    """Return (a snippet's result at one point, its arguments). A name may end in [k], for one of several results; arguments may be calls."""
    run, bound, which = prepare_call(code, given, point, watched)
    name = code[0]
    return snippet_calls.select_result(
        name, snippet_calls.call(name, run, bound, given.calls.states if watched else None), which, bound
    ), bound


def prepare_call(code: tuple, given: Arguments, point: int, watched: bool = False) -> tuple[Callable, snippet_calls.Bound, str | None]:
    """Return (the function, its arguments at one point, the number of its result that is meant, if any)."""
    run, signature, arguments, which = given.calls.of(code)
    arguments_at_point: dict[str, Any] = {}
    for parameter, x in arguments.items():
        declared = signature.parameters[parameter]
        if declared.kind is declared.VAR_POSITIONAL:
            arguments_at_point[parameter] = tuple(given.at(y, declared.annotation, point, watched) for y in x)
        elif declared.kind is declared.VAR_KEYWORD:
            arguments_at_point[parameter] = {k: given.at(y, declared.annotation, point, watched) for k, y in x.items()}
        else:
            arguments_at_point[parameter] = given.at(x, declared.annotation, point, watched)
    return run, snippet_calls.Bound(signature, arguments_at_point), which


def is_call(x: Any) -> TypeGuard[tuple]:
    """Return whether an argument is a call of a snippet."""
    return isinstance(x, tuple) and bool(x) and isinstance(x[0], str) and x[0].startswith("snippets.")


def nested_call(x: tuple) -> tuple:
    """Return (name, arguments, keywords) of a nested call."""
    given = x[-1] if isinstance(x[-1], dict) else {}
    return x[0], x[1 : len(x) - bool(given)], given


def parse_call(name: str, arguments: tuple, keywords: dict | tuple) -> Call:
    """Return a call of a claim's code, parsed. Raise Disagrees if there is no such function, or if the arguments do not fit it."""
    module, function, which = locate_snippet(name)
    try:
        run = getattr(module, function)
    except AttributeError:
        raise Disagreement(f"there is no function {name}", code="snippet-not-found") from None
    signature = inspect.signature(run)
    try:
        bound = signature.bind(*arguments, **dict(keywords))
    except TypeError as error:
        raise Disagreement(f"{name} cannot be called so: {error}", code="wrong-arguments") from None
    return Call(run, signature, dict(bound.arguments), which)


def locate_snippet(name: str) -> tuple[ModuleType, str, str | None]:
    """Return the module, the function's name in it, and the number of the result that is meant, if any.

    Raise Disagrees if there is no such module.
    """
    matched = SNIPPET.fullmatch(name)
    try:
        if matched:
            return import_module(matched[1]), matched[2], matched[3]
    except ImportError:
        pass
    raise Disagreement(f"there is no function {name}", code="snippet-not-found")


def describe_calls(claim: Claim) -> str:
    """Return the calls of a claim with their arguments, as the end of a note."""
    called = ", ".join(dict.fromkeys(show_call(name, arguments, dict(keywords)) for name, arguments, keywords in claim.code))
    return f"; also {called}" if called else ""


def show_call(name: str, arguments: tuple, keywords: dict) -> str:
    """Return a call with its arguments as text."""
    bare, _, which = name.partition("[")
    given = [*map(show_argument, arguments), *(f"{key}={show_argument(value)}" for key, value in keywords.items())]
    return f"{bare}({', '.join(given)}){'[' * bool(which)}{which}"


def show_argument(argument: object) -> str:
    """Return an argument as text."""
    if isinstance(argument, Expr):
        return show(argument)
    if is_call(argument):
        return show_call(*nested_call(argument))
    return repr(argument)


def snippet_names(code: Iterable) -> Iterator[str]:
    """Yield the names of the snippets in a claim's code, including those of nested calls."""
    for part in code:
        if isinstance(part, str) and part.startswith("snippets."):
            yield part
        elif isinstance(part, (tuple, list)):
            yield from snippet_names(part)
        elif isinstance(part, dict):
            yield from snippet_names(part.values())
