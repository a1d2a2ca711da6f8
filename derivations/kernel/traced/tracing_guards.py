"""What code may not ask while it is read: things that are answered otherwise of symbols and of tensors without numbers.

Then the code would go another way than it goes with numbers, and what was read would say nothing of it.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any

import torch
from torch import Tensor

from .errors import NotRead
from .symbolic_sizes import SYMBOLS, Sizes

ASKED = ("isinstance", "issubclass", "type", "hasattr", "getattr", "str", "repr", "format", "id", "vars", "dir")
PRIVATE = {
    *("fake_mode", "fake_device", "is_compiling", "is_fake", "statically_known_true", "guard_or_true", "guard_or_false", "symbolic_shapes"),
    *("_python_dispatch", "_mode_utils", "_subclasses", "_dispatch", "overrides", "_C", "__class__", "__subclasses__", "node"),
    *("_getframe", "currentframe", "stack_trace", "settrace", "threading", "Thread", "ThreadPoolExecutor"),
    *("is_", "is_not", "catch_warnings"),
    *("numpy", "from_numpy", "data_ptr", "untyped_storage", "storage", "ctypes"),
}  # names by which code sees that it is traced, or goes round it
IS = dis.opmap["IS_OP"]
TEXTS = ("__str__", "__repr__", "__format__", "__hash__")  # and what tells one from all others


def snippets_of(run: Callable) -> list[ModuleType]:
    """The module of a function, and those of its package that it has names of."""
    found: list[ModuleType] = []
    ahead = [sys.modules[run.__module__]]
    for module in ahead:  # which grows
        if module not in found and module.__name__.startswith("snippets"):
            found.append(module)
            homes = {x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", None) for x in vars(module).values()}
            ahead += [sys.modules[name] for name in sorted(filter(None, homes)) if name in sys.modules]
    return found


def refuse_private(modules: list[ModuleType]) -> None:
    for module in modules:
        for x in list(vars(module).values()):
            code = getattr(inspect.unwrap(x), "__code__", None) if callable(x) else None
            if code is None or getattr(x, "__module__", "") != module.__name__:
                continue
            if met := names_of(code) & PRIVATE:
                raise NotRead(f"it asks how it is run, by {min(met)}")
            if asks_which(code):
                raise NotRead("it asks by `is` which thing something is: of a symbol that is answered otherwise than of a number")


def names_of(code: CodeType) -> set[str]:
    """The names that a function uses, and those within it."""
    inside = [one for one in code.co_consts if isinstance(one, CodeType)]
    return {*code.co_names, *(part for name in code.co_names for part in name.split("."))}.union(*map(names_of, inside))


def asks_which(code: CodeType) -> bool:
    """Does a function, or one within it, compare by `is`, with anything but None?"""
    steps = list(dis.get_instructions(code)) if IS in code.co_code[::2] else []  # which most have not
    here = any(one.opcode == IS and not is_none(before) for before, one in zip(steps, steps[1:]))
    return here or any(asks_which(one) for one in code.co_consts if isinstance(one, CodeType))


def is_none(step: dis.Instruction) -> bool:
    return step.opname == "LOAD_CONST" and step.argval is None


def is_asked(x: Any) -> bool:
    return any(x is one for one in (operator.is_, operator.is_not, *(getattr(builtins, name) for name in ASKED)))


@contextmanager
def nothing_asked(run: Callable, sizes: Sizes) -> Iterator[None]:
    """Within this the modules of a function refuse such questions, and have kept nothing when it ends."""
    modules = snippets_of(run)
    refuse_private(modules)
    forget(modules)
    before = [held(module) for module in modules]
    tensors = [(x, x.detach().clone()) for module in modules for x in vars(module).values() if type(x) is Tensor]
    own = [(vars(module), {name: x for name, x in vars(module).items() if name in ASKED}) for module in modules]
    aliases = [(vars(module), name, x) for module in modules for name, x in vars(module).items() if name not in ASKED and is_asked(x)]
    texts = [(kind, name, getattr(kind, name)) for kind in SYMBOLS for name in TEXTS] + [(Tensor, "__hash__", Tensor.__hash__)]
    for names, has in own:
        names.update({name: asker(getattr(builtins, name), sizes) for name in ASKED if name not in has})
    for names, name, x in aliases:
        names[name] = asker(x, sizes)
    for kind, name, how in texts:
        setattr(kind, name, text_of(how, sizes))
    for kind in SYMBOLS:
        kind.__getattr__ = absent(sizes)
    try:
        yield
    finally:
        for names, has in own:
            for name in set(ASKED) - set(has):
                names.pop(name, None)
        for names, name, x in aliases:
            names[name] = x
        for kind, name, how in texts:
            setattr(kind, name, how)
        for kind in SYMBOLS:
            delattr(kind, "__getattr__")
        forget(modules)
        changed = [x.copy_(numbers) for x, numbers in tensors if not torch.equal(x, numbers) and not (x != x).any()]
    if changed or before != [held(module) for module in modules]:
        raise NotRead("it changes what its module keeps")


def held(module: ModuleType) -> dict[str, tuple]:
    """What stands in a module, and how much each of its collections holds."""
    return {
        name: (id(x), repr(x) if isinstance(x, (list, dict, set)) else "")
        for name, x in vars(module).items()
        if name not in (*ASKED, "__builtins__")
    }


def forget(modules: list[ModuleType]) -> None:
    """What a function remembers was made of other numbers."""
    for module in modules:
        for x in list(vars(module).values()):
            if callable(clear := getattr(x, "cache_clear", None)):
                clear()


def asker(own: Callable, sizes: Sizes) -> Any:
    def asked(*arguments: Any, **keywords: Any) -> Any:
        if any(isinstance(x, (Tensor, *SYMBOLS)) for x in arguments[:2]) and not (own is isinstance and arguments[1] is Tensor):
            refuse(sizes, f"{own.__name__} of a tensor or a size")
        return own(*arguments, **keywords)

    return asked


def text_of(own: Callable, sizes: Sizes) -> Callable:
    def text(self: Any, *more: Any) -> str:
        if by_a_snippet():
            refuse(sizes, "a size as a text, or which tensor or size one is")
        return own(self, *more)

    return text


def absent(sizes: Sizes) -> Callable:
    """What is asked of a number that has it, and of a symbol that has not."""

    def missing(self: Any, name: str) -> Any:
        if not name.startswith("_") and by_a_snippet():  # for names of that kind Python and PyTorch look themselves
            refuse(sizes, f"the {name} of a size")
        raise AttributeError(name)

    return missing


def by_a_snippet() -> bool:
    """Is it code of the snippets that called, but for what stands here?"""
    frame = sys._getframe(2)
    while frame.f_code.co_filename == __file__ and frame.f_back:
        frame = frame.f_back
    return "/snippets/" in frame.f_code.co_filename


def refuse(sizes: Sizes, reason: str) -> None:
    sizes.refused = sizes.refused or NotRead(reason)
    raise sizes.refused
