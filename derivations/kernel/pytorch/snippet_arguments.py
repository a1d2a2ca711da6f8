"""The snippets that a claim names, called at one point of a trial: their arguments, and the claim's expressions in the form of their results."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..core.claims import SNIPPET, Claim
from ..core.expr import Expr, free_indices, show
from . import snippet_calls
from .error_bounds import Value
from .errors import Disagrees, NotForTorch
from .evaluation import evaluate
from .trial import OUTCOME, POINT, Trial


def shown(x: Value, t: Trial, free: list) -> Value:
    """At every point, or once if it is the same at all: an axis for each free index, then the tensor's own."""
    lengths = {t.axes[i.data]: t.size(i.data[1]) for i in free}

    def view(y):
        y = y.expand(*(lengths.get(k, n) for k, n in enumerate(y.shape)))
        rest = [k for k in range(1, t.leading) if k not in lengths]
        y = y.permute(POINT, *rest, *(t.axes[i.data] for i in free), *range(t.leading, y.dim()))
        return y.reshape(len(y), *y.shape[1 + len(rest) :])

    if x.v.shape[OUTCOME] > 1:
        raise NotForTorch("a snippet of a random number")
    return Value(view(x.v), view(x.e))


class Call(NamedTuple):
    """A call of a claim's code as it is read: the function, its arguments by parameter, which of its results is meant, or none."""

    run: Callable
    signature: inspect.Signature
    arguments: dict[str, Any]
    which: str | None


class Calls:
    """The calls of a claim's code, each read once; and the state of each function after its last watched call."""

    def __init__(self):
        self.read: dict[int, Call] = {}  # by the identity of (name, arguments, keywords), which the claim holds
        self.inner: dict[int, tuple] = {}  # (name, arguments, keywords) of a call among arguments, by its identity
        self.states: dict[int, tuple] = {}  # as snippet_calls.call keeps it

    def of(self, code: tuple) -> Call:
        if id(code) not in self.read:
            self.read[id(code)] = read(*code)
        return self.read[id(code)]


class Given:
    """What the calls of a claim's code are given at the points of one trial. What does not depend on the point is found once."""

    def __init__(self, t: Trial, dtype: torch.dtype = torch.float64, calls: Calls | None = None):
        self.trial, self.dtype, self.calls = t, dtype, calls or Calls()
        self.numbers: dict[int, tuple] = {}  # by the identity of a tree of the code

    def of(self, x: Expr) -> tuple[Tensor, ...]:
        """An argument at every point, or once if it is the same at all; in the format, unless it is a number or complex."""
        if id(x) not in self.numbers:
            t = self.trial
            v = shown(evaluate(x, t), t, sorted(free_indices(x), key=lambda i: t.axes[i.data])).v
            self.numbers[id(x)] = (v if v.dim() == 1 or v.is_complex() else v.to(self.dtype)).unbind()
        return self.numbers[id(x)]

    def at(self, x: Any, kind: Any, point: int, watched: bool) -> Any:
        """One argument at one point, for a parameter that is annotated so."""
        if is_call(x):
            if id(x) not in self.calls.inner:
                self.calls.inner[id(x)] = parts(x)
            return call(self.calls.inner[id(x)], self, point, watched)[0]
        if not isinstance(x, Expr):
            return x
        if x.op == "symbol" and x.data[1] == "size":
            if x.data[0] not in self.trial.sizes:
                raise Disagrees(f"the size {x.data[0]} is an argument of the snippet, but does not occur in the claim")
            return self.trial.sizes[x.data[0]]
        one = here(self.of(x), point)
        if one.dim():
            return one
        if kind in (int, "int") and one == one.round():
            return int(one)
        return one.item() if "float" in str(kind) else one if one.is_complex() else one.to(self.dtype)


def here(x: tuple[Tensor, ...], point: int) -> Tensor:
    """Of what is shown at every point, or once if it is the same at all, what is at one."""
    return x[point] if len(x) > 1 else x[0]


def call(code: tuple, given: Given, point: int, watched: bool = False) -> tuple:
    """(a snippet's result at one point, its arguments). A name may end in [k], for one of several; an argument may be a call itself."""
    run, bound, which = prepared(code, given, point, watched)
    name = code[0]
    return snippet_calls.chosen(name, snippet_calls.call(name, run, bound, given.calls.states if watched else None), which, bound), bound


def prepared(code: tuple, given: Given, point: int, watched: bool = False) -> tuple[Callable, snippet_calls.Bound, str | None]:
    """(the function, its arguments at one point, which of its results is meant, or none)."""
    run, signature, arguments, which = given.calls.of(code)
    found: dict[str, Any] = {}
    for parameter, x in arguments.items():
        taken = signature.parameters[parameter]
        if taken.kind is taken.VAR_POSITIONAL:
            found[parameter] = tuple(given.at(y, taken.annotation, point, watched) for y in x)
        elif taken.kind is taken.VAR_KEYWORD:
            found[parameter] = {k: given.at(y, taken.annotation, point, watched) for k, y in x.items()}
        else:
            found[parameter] = given.at(x, taken.annotation, point, watched)
    return run, snippet_calls.Bound(signature, found), which


def is_call(x: Any) -> bool:
    return isinstance(x, tuple) and bool(x) and isinstance(x[0], str) and x[0].startswith("snippets.")


def parts(x: tuple) -> tuple:
    """(name, arguments, keywords) of a call among the arguments of another."""
    given = x[-1] if isinstance(x[-1], dict) else {}
    return x[0], x[1 : len(x) - bool(given)], given


def read(name: str, arguments: tuple, keywords: dict | tuple) -> Call:
    module, function, which = home(name)
    try:
        run = getattr(module, function)
    except AttributeError:
        raise Disagrees(f"there is no function {name}") from None
    signature = inspect.signature(run)
    try:
        bound = signature.bind(*arguments, **dict(keywords))
    except TypeError as error:
        raise Disagrees(f"{name} cannot be called so: {error}") from None
    return Call(run, signature, dict(bound.arguments), which)


def home(name: str) -> tuple[ModuleType, str, str | None]:
    """The module that a name begins with, the function's own name, and which of its results is meant, if one is. Disagrees where none is there."""
    matched = SNIPPET.fullmatch(name)
    try:
        if matched:
            return import_module(matched[1]), matched[2], matched[3]
    except ImportError:
        pass
    raise Disagrees(f"there is no function {name}")


def also(claim: Claim) -> str:
    """The calls that are compared, as the claim states them: a name alone would not say what the function is given."""
    called = ", ".join(dict.fromkeys(stated(name, arguments, dict(keywords)) for name, arguments, keywords in claim.code))
    return f"; also {called}" if called else ""


def stated(name: str, arguments: tuple, keywords: dict) -> str:
    """A call as it is written, with its expressions."""
    bare, _, which = name.partition("[")
    given = [*map(written, arguments), *(f"{key}={written(value)}" for key, value in keywords.items())]
    return f"{bare}({', '.join(given)}){'[' * bool(which)}{which}"


def written(argument: object) -> str:
    if isinstance(argument, Expr):
        return show(argument)
    if is_call(argument):
        return stated(*parts(argument))
    return repr(argument)


def names(code):
    """The snippets that are named, those among the arguments of others too."""
    for part in code:
        if isinstance(part, str) and part.startswith("snippets."):
            yield part
        elif isinstance(part, (tuple, list)):
            yield from names(part)
        elif isinstance(part, dict):
            yield from names(part.values())
