"""The snippets that a claim names, called at one point of a trial: their arguments, and the claim's expressions in the form of their results."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType

import torch

from ..core.claims import SNIPPET, Claim
from ..core.expr import Expr, free_indices, show
from . import calling
from .errors import Disagrees, NotForTorch
from .evaluate import evaluate
from .rounding import Value
from .trial import OUTCOME, Trial, at_point


def shown(x: Value, t: Trial, free: list) -> Value:
    """At one point: an axis for each free index, then the tensor's own."""

    def view(y):
        y = y.expand(
            *(
                t.size(next(i.data[1] for i in free if t.axes[i.data] == k)) if k in {t.axes[i.data] for i in free} else n
                for k, n in enumerate(y.shape)
            )
        )
        rest = [k for k in range(t.leading) if k not in {t.axes[i.data] for i in free}]
        y = y.permute(*rest, *(t.axes[i.data] for i in free), *range(t.leading, y.dim()))
        return y.reshape(y.shape[len(rest) :])

    if x.v.shape[OUTCOME] > 1:
        raise NotForTorch("a snippet of a random number")
    return Value(view(x.v), view(x.e))


def call(
    name: str, arguments: tuple, keywords: dict, t: Trial, point: int, dtype: torch.dtype = torch.float64, watched: bool = False
) -> tuple:
    """(a snippet's result at one point, its arguments). A name may end in [k], for one of several; an argument may be a call itself."""
    run, bound, which = prepared(name, arguments, keywords, t, point, dtype, watched)
    return calling.chosen(name, calling.call(name, run, bound, watched), which, bound), bound


def prepared(
    name: str, arguments: tuple, keywords: dict, t: Trial, point: int, dtype: torch.dtype = torch.float64, watched: bool = False
) -> tuple:
    """(the function, its arguments at one point, which of its results is meant, or none)."""
    module, function, which = home(name)
    try:
        run = getattr(module, function)
    except AttributeError:
        raise Disagrees(f"there is no function {name}") from None
    try:
        bound = inspect.signature(run).bind(*arguments, **keywords)
    except TypeError as error:
        raise Disagrees(f"{name} cannot be called so: {error}") from None

    def argument(x, kind):
        if isinstance(x, tuple) and x and isinstance(x[0], str) and x[0].startswith("snippets."):
            given = x[-1] if isinstance(x[-1], dict) else {}
            return call(x[0], x[1 : len(x) - bool(given)], given, t, point, dtype, watched)[0]
        if not isinstance(x, Expr):
            return x
        if x.op == "symbol" and x.data[1] == "size":
            return t.sizes[x.data[0]]
        value = evaluate(x, t)
        one = shown(Value(*(at_point(y, point) for y in value)), t, sorted(free_indices(x), key=lambda i: t.axes[i.data])).v
        if one.dim() == 0 and kind in (int, "int") and one == one.round():
            return int(one)
        return one.item() if one.dim() == 0 and "float" in str(kind) else one if one.is_complex() else one.to(dtype)

    for parameter, x in bound.arguments.items():
        taken = bound.signature.parameters[parameter]
        if taken.kind is taken.VAR_POSITIONAL:
            bound.arguments[parameter] = tuple(argument(y, taken.annotation) for y in x)
        elif taken.kind is taken.VAR_KEYWORD:
            bound.arguments[parameter] = {k: argument(y, taken.annotation) for k, y in x.items()}
        else:
            bound.arguments[parameter] = argument(x, taken.annotation)
    return run, bound, which


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
    if isinstance(argument, tuple) and argument and isinstance(argument[0], str) and argument[0].startswith("snippets."):
        name, *rest = argument
        keywords = rest.pop() if rest and isinstance(rest[-1], dict) else {}
        return stated(name, tuple(rest), keywords)
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
