"""Of which sizes the code itself asks something, and may go on as the answer is.

PyTorch's operations ask too: whether a size is 1, and so stretched, or how numbers lie. What they compute is the same whatever the answer:
the rule of each was tried where sizes are 1, among others. So where they alone asked, code does nothing else at a size of 1.
Where that is not certain, all is taken to be asked: by code that learns how numbers lie or whose they are, that writes to them, that hands
PyTorch what runs code of its own, and where a call fails, which may be caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd.graph import saved_tensors_hooks
from torch.fx.experimental.sym_node import SymNode
from torch.overrides import TorchFunctionMode

from .symbolic_sizes import SYMBOLS, Sizes

QUESTIONS = ("__bool__", "__int__", "__index__", "__float__")  # to which Python gets an answer that is no symbol
ENGINE = {torch.autograd.grad, torch.autograd.backward, Tensor.backward}  # which calls what code has hung on
WHOSE = {Tensor._base.__get__}  # what tells whose numbers a tensor has
# What these tell is a kind, or sizes of which it is met when they are asked something.
OPEN = {
    *(Tensor.size, Tensor.dim, Tensor.ndimension, Tensor.numel, torch.numel, Tensor.nelement, Tensor.is_floating_point, Tensor.is_complex),
    *(getattr(Tensor, name).__get__ for name in ("shape", "ndim", "dtype", "itemsize", "device", "requires_grad")),
    *(torch.is_floating_point, torch.is_complex, Tensor.__len__, Tensor.item, Tensor.__bool__, Tensor.__float__, Tensor.__int__),
    *(torch.sym_float, torch.sym_int, torch.promote_types, torch.result_type, torch._C._set_grad_enabled),
}
# Arguments that run no code of their own when PyTorch takes them.
HOLDERS = (tuple, list, dict, torch.Size, slice)
PLAIN = (int, float, complex, bool, str, type(None), type(...), torch.dtype, torch.device, torch.layout, torch.memory_format)
TENSORS = (Tensor, torch.nn.Parameter, FakeTensor)


class Asked(TorchFunctionMode):
    """Meets what code calls of PyTorch, and what it asks of sizes outside of that."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.calls = 0  # of PyTorch's functions, that run

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        self.sizes.all_asked |= not self.sizes.within and not is_plain((args, kwargs or {}))
        self.calls += 1
        try:
            out = func(*args, **(kwargs or {}))
        except BaseException:  # it goes on to the code, which may catch it, and so learns that this fails at these sizes
            self.sizes.all_asked = True
            raise
        finally:
            self.calls -= 1
        self.sizes.all_asked |= not self.sizes.within and tells(func, out)
        return out


def tells(func: Any, out: Any) -> bool:
    """May code learn of sizes by what a function of PyTorch's gives, or as it runs?"""
    return func in ENGINE or func in WHOSE or func not in OPEN and not is_made(out)


def is_made(x: Any) -> bool:
    """Is it a tensor, several of them, or a symbol, which is met when it is asked something?"""
    return isinstance(x, (Tensor, *SYMBOLS)) or isinstance(x, (tuple, list)) and bool(x) and all(map(is_made, x))


def is_plain(x: Any) -> bool:
    """Is it nothing that runs code when it is taken for an argument?"""
    if type(x) in HOLDERS:
        return all(map(is_plain, (x.start, x.stop, x.step) if type(x) is slice else x.values() if type(x) is dict else x))
    return type(x) in (*TENSORS, *SYMBOLS, *PLAIN)


@contextmanager
def watched(sizes: Sizes) -> Iterator[None]:
    """Within this it is noted of which sizes code asks something."""
    asked = Asked(sizes)
    own = [(kind, name, vars(kind)[name]) for kind in SYMBOLS for name in QUESTIONS if name in vars(kind)]
    own.append((SymNode, "expect_true", SymNode.expect_true))  # a check, which PyTorch's functions make as well
    enter = saved_tensors_hooks.__enter__
    for kind, name, how in own:
        setattr(kind, name, noting(how, asked, anywhere=kind is not SymNode))
    saved_tensors_hooks.__enter__ = hung_on(enter, sizes)  # what code hangs there is called while an operation runs
    try:
        with asked:
            yield
    finally:
        saved_tensors_hooks.__enter__ = enter
        for kind, name, how in own:
            setattr(kind, name, how)


def noting(own: Callable, asked: Asked, anywhere: bool) -> Callable:
    def answer(self: Any, *more: Any) -> Any:
        if not asked.sizes.within and (anywhere or not asked.calls):
            asked.sizes.note(self)
        return own(self, *more)

    return answer


def hung_on(own: Callable, sizes: Sizes) -> Callable:
    def entered(self: Any) -> Any:
        sizes.all_asked = True
        return own(self)

    return entered


def inside(asked: Iterable[str], sizes: Sizes) -> frozenset[str]:
    """Of the names of sizes that were asked about, those about which only PyTorch's operations did."""
    return frozenset() if sizes.all_asked else frozenset(asked) - sizes.asked
