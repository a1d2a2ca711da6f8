"""One call of a snippet, watched: what it is given stays as it is, and what it gives depends on nothing else.

It is called twice on copies, so that one that draws at random, keeps count of its calls, or writes to what it gave before is found out.
At some points it is called again on the same numbers given in other ways, `WAYS`, on which no result may depend.
"""

from __future__ import annotations

import ctypes
import inspect
import pickle
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property, reduce
from itertools import count
from types import BuiltinFunctionType, FunctionType, GenericAlias, ModuleType
from typing import Any

import torch
from torch import Tensor

from .errors import Disagrees

# What PyTorch says of an operation that it does not have in a format.
UNSUPPORTED = re.compile(r"not implemented for|doesn't handle types other than|Low precision dtypes not supported")
NUMBERS = frozenset((int, float, complex, bool))
PLAIN = NUMBERS | {str, bytes, type(None)}
MERSENNE = 4 * 625  # bytes: the words of a Mersenne Twister, and at which of them it is
NOT_HELD = ("__dict__", "__weakref__", "__doc__", "__slotnames__")  # of a class; the last is Python's, where an object was written down
HOLDERS = (dict, tuple, list, set, frozenset)
DULL = (ModuleType, FunctionType, BuiltinFunctionType, GenericAlias, type)  # these are asked on their own, where they are of the snippets


class Bound(inspect.BoundArguments):
    """The arguments of a call by parameter, of which is found once how they are handed on."""

    @cached_property
    def args(self) -> tuple:
        return super().args

    @cached_property
    def kwargs(self) -> dict:
        return super().kwargs

    @cached_property
    def dtypes(self) -> set[torch.dtype]:
        """Of the tensors of reals or complex numbers among them."""
        return {x.dtype for x in tensors((self.args, self.kwargs)) if x.is_floating_point() or x.is_complex()}


class CannotRun(Disagrees):
    """PyTorch has an operation of the snippet not in this format."""


def call(name: str, run: Callable, bound: Bound, watch: dict[int, tuple] | None = None) -> Any:
    """What a snippet gives. Disagrees if it stops or changes what it is given; watched, also if another call would show that it keeps,
    draws or writes to anything else. In `watch` is, by its identity, each function with what it kept at the last call that was watched."""
    if watch is None:
        return once(name, run, bound)[1]
    before, drawn = watch[id(run)][1] if id(run) in watch else kept(run), generators()
    given, result = once(name, run, bound)
    frozen = copied(result)
    _, second = once(name, run, bound)
    if generators() != drawn:
        raise Disagrees(f"{name} draws at random from a generator that is everybody's, or sets it; let it take its own{inputs(bound)}")
    if not same(given, (bound.args, bound.kwargs)) or not same(frozen, result):
        raise Disagrees(f"{name} changes what it gave before, or was given, when it is called again{inputs(bound)}")
    if not same(frozen, second):
        raise Disagrees(f"{name} gives something else when it is called again{inputs(bound)}")
    watch[id(run)] = run, kept(run)
    if not alike_still(before, watch[id(run)][1]):
        raise Disagrees(f"{name} keeps something from one call to the next, in its module or with the function{inputs(bound)}")
    return frozen


def again(name: str, run: Callable, bound: Bound, ways: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """(in which way, what a snippet gives) for each of these other ways to be given the same numbers."""
    for way in ways:
        put, around = WAYS[way]
        try:
            yield way, copied(once(name, run, bound, put, around())[1])
        except Disagrees as error:
            raise Disagrees(f"{error}, {way}") from None


def refuse_shared(name: str, run: Callable, bound: Bound) -> None:
    """Disagrees if a snippet gives something else for one tensor that is given several times than for as many that are equal."""
    for group in alike(bound.arguments):
        one = bound.arguments[group[0]]
        equal = Bound(bound.signature, bound.arguments | dict.fromkeys(group, one))
        try:
            _, apart = once(name, run, equal)
        except Disagrees:
            continue  # it need not have a value there
        copies: dict[int, Tensor] = {}
        _, together = once(name, run, equal, lambda x, made=copies: made.setdefault(id(x), contiguous(x)))
        if not nearly(apart, together):
            raise Disagrees(
                f"{name} gives something else where {', '.join(group)} are one tensor than where they are equal ones{inputs(bound)}"
            )


def alike(arguments: dict[str, Any]) -> list[list[str]]:
    """The names of tensors that have one shape and one dtype, where there are several."""
    groups: dict[tuple, list[str]] = {}
    for parameter, x in arguments.items():
        if isinstance(x, Tensor):
            groups.setdefault((x.shape, x.dtype), []).append(parameter)
    return [group for group in groups.values() if len(group) > 1]


def nearly(one: Any, other: Any) -> bool:
    """Alike but for roundings."""
    some, others = tensors(one), tensors(other)
    return same(one, other) if not some else len(some) == len(others) and all(map(is_value, some, others))


def is_value(given: Tensor | float, want: Tensor) -> bool:
    given = torch.as_tensor(given, dtype=want.dtype).detach()
    return given.shape == want.shape and bool(torch.allclose(given, want, rtol=1e-9, atol=1e-12, equal_nan=True))


@torch.inference_mode(False)
def once(name: str, run: Callable, bound: Bound, put: Callable | None = None, around: AbstractContextManager | None = None) -> tuple:
    """(what it was given, its result) of one call on copies, each tensor of which is made by `put`, within a context."""
    wanted = bound.args, bound.kwargs
    given, drawn = copied(wanted, put or contiguous), torch.get_rng_state()
    try:
        with around or nullcontext():
            result = run(*given[0], **given[1])
    except (Exception, SystemExit) as error:
        stopped = f"{name} stopped with {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        if isinstance(error, RuntimeError) and UNSUPPORTED.search(str(error)):
            raise CannotRun(stopped) from None
        raise Disagrees(stopped + inputs(bound)) from None
    if not torch.equal(drawn, torch.get_rng_state()):
        torch.set_rng_state(drawn)
        raise Disagrees(f"{name} draws at random from a generator that is everybody's, or sets it; let it take its own{inputs(bound)}")
    if not same(given, wanted):
        raise Disagrees(f"{name} changes what it is given{inputs(bound)}")
    return given, result


def generators() -> tuple:
    """The states of Python's and NumPy's generators of random numbers, which any code may draw from."""
    numpy = sys.modules.get("numpy")
    return random.getstate(), numpy and words_of(numpy.random.get_bit_generator())


def words_of(generator: Any) -> tuple:
    """The state of one of NumPy's own generators; nothing that stays alike of another. Where the usual one keeps its words, they are read
    without asking it, which takes longer."""
    kind = type(generator)
    if kind.__module__.partition(".")[0] != "numpy" or getattr(sys.modules["numpy"].random, kind.__name__, None) is not kind:
        return (object(),)
    if kind.__name__ != "MT19937":
        return id(generator), str(generator.state)
    return id(generator), ctypes.string_at(generator.ctypes.state_address, MERSENNE)


def chosen(name: str, result: Any, which: str | None, bound: Bound) -> Any:
    """What a snippet gave, or one of several results: a tensor or a number, or a tuple of these, of the dtype of what it was given.

    One that is given no tensor gives numbers, or tensors of fp64 or of integers.
    """
    if which is not None:
        several = isinstance(result, tuple) or isinstance(result, Tensor) and result.dim()
        if not several or int(which) >= len(result):
            raise Disagrees(f"{name} gives {kind_of(result)}, in which there is no result {which}{inputs(bound)}")
        result = result[int(which)]
    given = bound.dtypes
    own = (reduce(torch.promote_types, given),) if given else (torch.float64, torch.int64)
    own += (torch.complex128,) * (torch.float64 in own)  # where the claim is real, its imaginary part has to be nothing
    for part in result if isinstance(result, tuple) and result else [result]:
        if isinstance(part, Tensor) and (type(part) is not Tensor or vars(part)):
            raise Disagrees(f"{name} gives a tensor of a kind of its own, {type(part).__name__}; let it give a plain one{inputs(bound)}")
        if not isinstance(part, Tensor) and type(part) not in (int, float):
            raise Disagrees(f"{name} gives {kind_of(part)} where a tensor or a number is expected{inputs(bound)}")
        if given and not isinstance(part, Tensor):
            raise Disagrees(f"{name} gives a number of Python's, {part!r}, and is given {short(own[0])}{inputs(bound)}")
        if isinstance(part, Tensor) and part.dtype not in own:
            told = f"is given {short(own[0])}" if given else "is given no tensor"
            raise Disagrees(f"{name} gives {short(part.dtype)}, and {told}{inputs(bound)}")
    return result


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def kind_of(x: Any) -> str:
    """What something is that is no number, for a message."""
    if isinstance(x, tuple):
        return f"a tuple of {len(x)}" if x else "nothing"
    return repr(x) if x is None or isinstance(x, bool) else f"a {type(x).__name__}"


def tensors(x: Any) -> list:
    """All tensors in something that is given."""
    if isinstance(x, Tensor):
        return [x]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
    return [y for part in parts for y in tensors(part)]


def contiguous(x: Tensor) -> Tensor:
    return x.detach().clone(memory_format=torch.contiguous_format)


def strided(x: Tensor) -> Tensor:
    """The same numbers, every second one of a row, with others between them."""
    if not x.dim():
        return contiguous(x)
    between = torch.nan if x.is_floating_point() or x.is_complex() else 1
    room = torch.full((*x.shape[:-1], 2 * x.shape[-1] + 1), between, dtype=x.dtype)
    room[..., 1::2] = x.detach()
    return room[..., 1::2]


def by_columns(x: Tensor) -> Tensor:
    """The same numbers, of which those of a column lie beside one another."""
    return contiguous(x.mT).mT if x.dim() > 1 else contiguous(x)


def graded(x: Tensor) -> Tensor:
    """The same numbers, with a gradient asked for."""
    return contiguous(x).requires_grad_(has_gradient(x))


def computed(x: Tensor) -> Tensor:
    """The same numbers as the result of a layer, through which a gradient goes."""
    return graded(x).clone()


def as_parameter(x: Tensor) -> Tensor:
    """The same numbers as a layer's own."""
    return torch.nn.Parameter(contiguous(x), requires_grad=has_gradient(x))


def has_gradient(x: Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()


@contextmanager
def double_by_default() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def unwarned() -> Iterator[None]:
    """PyTorch warns of a number that is taken out of what has a gradient; a snippet may do so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


WAYS: dict[str, tuple[Callable, Callable]] = {
    "where its arguments are strided": (strided, nullcontext),
    "where its arguments lie by columns": (by_columns, nullcontext),
    "where a gradient is asked for": (graded, unwarned),
    "where a gradient goes through its arguments": (computed, unwarned),
    "where its arguments are parameters": (as_parameter, unwarned),
    "where fp64 is the default": (contiguous, double_by_default),
}


def copied(x: Any, put: Callable = contiguous) -> Any:
    """The same with storage of its own."""
    if isinstance(x, Tensor):
        return put(x)
    if isinstance(x, dict):
        return {key: copied(value, put) for key, value in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(copied(y, put) for y in x))
    return type(x)(copied(y, put) for y in x) if type(x) in (tuple, list) else x


def same(a: Any, b: Any) -> bool:
    """Alike to the last bit; NaN is like NaN."""
    if a is b:
        return True
    if type(a) in PLAIN:
        return type(a) is type(b) and (a == b or a != a and b != b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and (torch.equal(a, b) or bool(((a == b) | (a != a) & (b != b)).all()))
    return type(a) is type(b) and (a == b or a != a and b != b)


def alike_still(before: list, now: list) -> bool:
    """Alike, of what `kept` gives; most often it is at once seen that nothing changed."""
    with suppress(RuntimeError):  # tensors are not compared so
        if before == now:
            return True
    return same(before, now)


def kept(run: Callable) -> list:
    """A copy of all that a snippet could keep between calls: what its module and those that it imports from hold, with their classes and
    functions, its defaults, attributes and closure."""
    if not isinstance(run, FunctionType):
        return plain([run])
    return [held_by_function(run), *map(held_by_module, worlds(run.__globals__))]


def worlds(first: dict) -> list[dict]:
    """What a module holds, by name, and what the modules of snippets hold that it has something from."""
    found, left = {id(first): first}, [first]
    while left:
        for one in list(left.pop().values()):
            home = one.__name__ if isinstance(one, ModuleType) else getattr(one, "__module__", None) if isinstance(one, DULL) else None
            module = sys.modules.get(home) if isinstance(home, str) and home.startswith("snippets.") else None
            if module is not None and id(vars(module)) not in found:
                found[id(vars(module))] = vars(module)
                left.append(vars(module))
    return list(found.values())


def held_by_module(world: dict) -> dict:
    """What a module keeps; of its own classes and functions, what these do."""
    return {name: held_by(value, world.get("__name__")) for name, value in world.items() if not name.startswith("__")}


def held_by(value: Any, home: str | None) -> Any:
    own = isinstance(value, (FunctionType, type)) and value.__module__ == home
    if own and isinstance(value, FunctionType):
        return held_by_function(value)
    if own and isinstance(value, type):
        return {name: held_by(one, home) for name, one in vars(value).items() if name not in NOT_HELD}
    return plain(value)


def held_by_function(run: FunctionType) -> list:
    held = run.__defaults__, run.__kwdefaults__, run.__dict__, inside(run)
    return [id(run.__code__), *(plain(x, 3) if x else None for x in held)]


def inside(run: FunctionType) -> list:
    """What the closure of a function holds."""
    found = []
    for cell in run.__closure__ or ():
        with suppress(ValueError):  # nothing yet
            found.append(cell.cell_contents)
    return found


def plain(x: Any, depth: int = 4) -> Any:
    """A copy for comparing: containers and attributes down to a depth, tensors, numbers and texts; else which object it is, or its print."""
    kind = type(x)  # most are of a few kinds, which are found at once
    if kind in NUMBERS:
        return kind, x  # as True == 1
    if kind in PLAIN:
        return x
    if kind in DULL or kind in HOLDERS and not depth:
        return id(x)
    if kind in HOLDERS:
        return plain_dict(x, depth) if kind is dict else [plain(y, depth - 1) for y in x]
    if isinstance(x, Tensor):
        return x.shape, x.dtype, copied(x)
    if isinstance(x, (int, float, complex, str, bytes)):
        return kind, x
    if isinstance(x, torch.Generator):
        return plain(x.get_state())
    if isinstance(x, count):
        return repr(x)
    if isinstance(x, DULL) or not depth:
        return id(x)
    if isinstance(x, dict):
        return plain_dict(x, depth)
    if isinstance(x, (tuple, list, set, frozenset)):
        return [plain(y, depth - 1) for y in x]
    return [id(x), plain(getattr(x, "__dict__", None), depth - 1), written_down(x)]


def written_down(x: Any) -> Any:
    """All that an object of another kind holds, as far as it can be written down; of what goes on as it is asked, nothing that stays alike."""
    with suppress(Exception):
        return pickle.dumps(x)
    return object() if hasattr(type(x), "__next__") else None


def plain_dict(x: dict, depth: int) -> dict:
    return {repr(key) if isinstance(key, str) else id(key): plain(value, depth - 1) for key, value in x.items()}


def inputs(bound: Bound) -> str:
    """What a snippet was given, for a message: numbers, and the shapes of tensors."""
    texts = [f"{parameter} {text}" for parameter, x in bound.arguments.items() if (text := in_short(x))]
    return f", given {', '.join(texts)}" if texts else ""


def in_short(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"of shape {tuple(x.shape)}" if x.dim() else f"= {x.item():.6g}" if not x.is_complex() else f"= {x.item()}"
    if isinstance(x, (tuple, list)):
        return " and ".join(filter(None, map(in_short, x)))
    return f"= {x:.6g}" if isinstance(x, (int, float)) and not isinstance(x, bool) else ""
