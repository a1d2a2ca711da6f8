"""Call a snippet, and reject one that changes its arguments, draws at random, changes the dtype or depends on earlier calls.

A watched call is made twice on copies of its arguments: both results have to be the same, and the snippet's module must not have changed.
At some points the snippet is also called on the same numbers in other input layouts, `LAYOUTS`, which must not change its result.
"""

from __future__ import annotations

import inspect
import pickle
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, reduce
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from .errors import Disagreement
from .input_layouts import LAYOUTS, copy_contiguous, copy_tensors

# The messages of PyTorch for an operation that it does not have in a format.
UNSUPPORTED = re.compile(r"not implemented for|doesn't handle types other than|Low precision dtypes not supported")


class Bound(inspect.BoundArguments):
    """The arguments of a call by parameter, with the positional and keyword arguments computed once."""

    @cached_property
    def args(self) -> tuple:
        return super().args

    @cached_property
    def kwargs(self) -> dict:
        return super().kwargs

    @cached_property
    def dtypes(self) -> set[torch.dtype]:
        """The dtypes of the real and complex tensors among them."""
        return {x.dtype for x in tensors((self.args, self.kwargs)) if x.is_floating_point() or x.is_complex()}


class CannotRun(Disagreement):
    """PyTorch lacks an operation of the snippet in this format."""

    code = "snippet-operation-missing"


def call(name: str, run: Callable, bound: Bound, states: dict[int, tuple] | None = None) -> Any:
    """Return a snippet's result. Raise Disagrees if it stops or changes its arguments; with `states`, also if a second call differs or the
    snippet is stateful. `states` maps the identity of each function to (the function, its state after the last watched call)."""
    if states is None:
        return call_once(name, run, bound)[1]
    before, drawn = states[id(run)][1] if id(run) in states else module_state(run), generator_states()
    given, result = call_once(name, run, bound)
    first = copy_tensors(result)
    _, second = call_once(name, run, bound)
    if generator_states() != drawn:
        raise draws_at_random(name, bound)
    if not same(given, (bound.args, bound.kwargs)) or not same(first, result):
        raise Disagreement(
            f"{name} changes its earlier result, or its arguments, when it is called again{describe_inputs(bound)}",
            code="snippet-changes-arguments",
        )
    if not same(first, second):
        raise Disagreement(f"{name} gives another result when it is called again{describe_inputs(bound)}", code="snippet-not-repeatable")
    states[id(run)] = run, module_state(run)
    if before != states[id(run)][1]:
        raise Disagreement(
            f"{name} is a stateful function: it keeps something from one call to the next{describe_inputs(bound)}",
            code="snippet-keeps-state",
        )
    return first


def call_in_layouts(name: str, run: Callable, bound: Bound, layouts: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield (the layout, the snippet's result) for the same numbers in each of these input layouts."""
    for layout in layouts:
        put, around = LAYOUTS[layout]
        try:
            yield layout, copy_tensors(call_once(name, run, bound, put, around())[1])
        except Disagreement as error:
            raise Disagreement(f"{error}, {layout}", code=error.code) from None


def is_same_value(given: Tensor | float, want: Tensor) -> bool:
    """Return whether a result has this shape and, up to rounding, this value."""
    given = torch.as_tensor(given, dtype=want.dtype).detach()
    return given.shape == want.shape and bool(torch.allclose(given, want, rtol=1e-9, atol=1e-12, equal_nan=True))


@torch.inference_mode(False)
def call_once(name: str, run: Callable, bound: Bound, copy: Callable | None = None, around: AbstractContextManager | None = None) -> tuple:
    """Call a snippet once on copies of its arguments; return (the copies, the result). `put` copies a tensor into another layout."""
    originals = bound.args, bound.kwargs
    given, drawn = copy_tensors(originals, copy or copy_contiguous), torch.get_rng_state()
    try:
        with around or nullcontext():
            result = run(*given[0], **given[1])
    except (Exception, SystemExit) as error:
        stopped = f"{name} stopped with {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        if isinstance(error, RuntimeError) and UNSUPPORTED.search(str(error)):
            raise CannotRun(stopped) from None
        raise Disagreement(stopped + describe_inputs(bound), code="snippet-stops") from None
    if not torch.equal(drawn, torch.get_rng_state()):
        torch.set_rng_state(drawn)
        raise draws_at_random(name, bound)
    if not same(given, originals):
        raise Disagreement(f"{name} changes its arguments{describe_inputs(bound)}", code="snippet-changes-arguments")
    return given, result


def draws_at_random(name: str, bound: Bound) -> Disagreement:
    """Return the error of a snippet that draws from a shared random generator."""
    return Disagreement(
        f"{name} draws from a shared random generator, or seeds it; let it take a generator of its own{describe_inputs(bound)}",
        code="snippet-draws-at-random",
    )


def generator_states() -> tuple:
    """Return the states of Python's and NumPy's shared random generators."""
    numpy = sys.modules.get("numpy")  # if it is not loaded, it has drawn nothing
    return random.getstate(), numpy and to_bytes(numpy.random.get_state())


def select_result(name: str, result: Any, which: str | None, bound: Bound) -> Any:
    """Return a snippet's result, or number `which` of several: a tensor or a number, or a tuple of these, in the dtype of its arguments.

    A snippet that is given no tensor returns numbers, or tensors of fp64 or of integers.
    """
    if which is not None:
        several = isinstance(result, tuple) or isinstance(result, Tensor) and result.dim()
        if not several or int(which) >= len(result):
            raise Disagreement(
                f"{name} gives {describe_result(result)}, in which there is no result {which}{describe_inputs(bound)}",
                code="snippet-wrong-result",
            )
        result = result[int(which)]
    given = bound.dtypes
    allowed = (reduce(torch.promote_types, given),) if given else (torch.float64, torch.int64)
    allowed += (torch.complex128,) * (torch.float64 in allowed)  # for a real claim, the imaginary part must be zero
    for part in result if isinstance(result, tuple) and result else [result]:
        if not isinstance(part, Tensor) and type(part) not in (int, float):
            raise Disagreement(
                f"{name} gives {describe_result(part)} where a tensor or a number is expected{describe_inputs(bound)}",
                code="snippet-wrong-result",
            )
        if given and not isinstance(part, Tensor):
            raise Disagreement(
                f"{name} gives the Python number {part!r}, and is given {dtype_name(allowed[0])}{describe_inputs(bound)}",
                code="snippet-wrong-dtype",
            )
        if isinstance(part, Tensor) and part.dtype not in allowed:
            expected = f"is given {dtype_name(allowed[0])}" if given else "is given no tensor"
            raise Disagreement(f"{name} gives {dtype_name(part.dtype)}, and {expected}{describe_inputs(bound)}", code="snippet-wrong-dtype")
    return result


# Comparisons -------------------------------------------------------------------------------------------------------------------


def same(a: Any, b: Any) -> bool:
    """Return whether two results or states are equal to the last bit. NaN equals NaN."""
    if a is b:
        return True
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and (torch.equal(a, b) or bool(((a == b) | (a != a) & (b != b)).all()))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b or a != a and b != b)


def module_state(run: Callable) -> dict[str, Any]:
    """Return what a function can keep between calls: the values of its module's names, as bytes that can be compared."""
    module = getattr(run, "__module__", "")
    names = {name: value for name, value in getattr(run, "__globals__", {}).items() if not name.startswith("__")}
    return {name: snapshot(value, module) for name, value in (names | {"": run}).items()}


def snapshot(x: Any, module: str) -> Any:
    """Return a value as bytes; for a function or class of the module, its defaults and attributes."""
    if isinstance(x, (FunctionType, type)) and x.__module__ == module:
        attributes = {name: value for name, value in vars(x).items() if not name.startswith("__")}
        defaults = {name: getattr(x, name, None) for name in ("__defaults__", "__kwdefaults__")}
        return {name: to_bytes(value) for name, value in (attributes | defaults).items()}
    return to_bytes(x)


def to_bytes(x: Any) -> bytes | int:
    """Return an object as bytes, or its identity if it cannot be pickled."""
    try:
        return pickle.dumps(x)
    except Exception:  # pickle raises different errors
        return id(x)


def tensors(x: Any) -> list:
    """Return all tensors in an argument."""
    if isinstance(x, Tensor):
        return [x]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
    return [y for part in parts for y in tensors(part)]


# Messages -----------------------------------------------------------------------------------------------------------


def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a dtype without `torch.`."""
    return str(dtype).removeprefix("torch.")


def describe_result(x: Any) -> str:
    """Return a phrase for a result that is not a number."""
    if isinstance(x, tuple):
        return f"a tuple of {len(x)}" if x else "nothing"
    return repr(x) if x is None or isinstance(x, bool) else f"a {type(x).__name__}"


def describe_inputs(bound: Bound) -> str:
    """Return the numbers and the shapes of tensors that a snippet was given, as the end of a message."""
    texts = [f"{parameter} {text}" for parameter, x in bound.arguments.items() if (text := describe_argument(x))]
    return f", given {', '.join(texts)}" if texts else ""


def describe_argument(x: Any) -> str:
    """Return the shape or the value of an argument as text, or ""."""
    if isinstance(x, Tensor):
        return f"of shape {tuple(x.shape)}" if x.dim() else f"= {x.item():.6g}" if not x.is_complex() else f"= {x.item()}"
    if isinstance(x, (tuple, list)):
        return " and ".join(filter(None, map(describe_argument, x)))
    return f"= {x:.6g}" if isinstance(x, (int, float)) and not isinstance(x, bool) else ""
