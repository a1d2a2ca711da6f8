"""Of which sizes the code itself asks something, and may go on as the answer is.

PyTorch's operations ask too: whether a size is 1, and so stretched, or how numbers lie. What they compute is the same whatever the answer:
the rule of each was tried where sizes are 1, among others. So where they alone asked, code does nothing else at a size of 1.
Where that is not certain, all is taken to be asked: by code that learns how numbers lie, that writes to them, or that the engine of
gradients may call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import TorchFunctionMode

from .sizes import SYMBOLS, Sizes

QUESTIONS = ("__bool__", "__int__", "__index__", "__float__")  # to which Python gets an answer that is no symbol
ENGINE = {torch.autograd.grad, torch.autograd.backward, Tensor.backward}  # which calls what code has hung on
ITSELF = {Tensor.contiguous, Tensor.sum_to_size}  # which give the very tensor that they are given where nothing is to be done
# What these tell is a kind, or sizes of which it is met when they are asked something.
OPEN = {
    *(Tensor.size, Tensor.dim, Tensor.ndimension, Tensor.numel, torch.numel, Tensor.nelement, Tensor.is_floating_point, Tensor.is_complex),
    *(getattr(Tensor, name).__get__ for name in ("shape", "ndim", "dtype", "itemsize", "device", "requires_grad")),
    *(torch.is_floating_point, torch.is_complex, Tensor.__len__, Tensor.item, Tensor.__bool__, Tensor.__float__, Tensor.__int__),
    *(torch.sym_float, torch.sym_int, torch.promote_types, torch.result_type, torch._C._set_grad_enabled),
}


HOLDERS = (tuple, list, dict, torch.Size, slice)
PLAIN = (int, float, complex, bool, str, type(None), type(...), torch.dtype, torch.device, torch.layout, torch.memory_format)


class Asked(TorchFunctionMode):
    """Meets what code calls of PyTorch, and what it asks of sizes outside of that."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if not self.sizes.within and (tells(func, args, out) or not is_plain((args, kwargs or {}))):
            self.sizes.all_asked = True
        return out


def tells(func: Any, args: tuple, out: Any) -> bool:
    """May code learn of sizes by what a function of PyTorch's gives, or as it runs?"""
    return func in ENGINE or func in ITSELF and out is not args[0] or func not in OPEN and not is_made(out)


def is_made(x: Any) -> bool:
    """Is it a tensor, several of them, or a symbol, which is met when it is asked something?"""
    return isinstance(x, (Tensor, *SYMBOLS)) or isinstance(x, (tuple, list)) and bool(x) and all(map(is_made, x))


def is_plain(x: Any) -> bool:
    """Is it nothing that runs code when it is taken for an argument?"""
    if type(x) in HOLDERS:
        return all(map(is_plain, (x.start, x.stop, x.step) if type(x) is slice else x.values() if type(x) is dict else x))
    return isinstance(x, (Tensor, *SYMBOLS)) or type(x) in PLAIN


@contextmanager
def watched(sizes: Sizes) -> Iterator[None]:
    """Within this it is noted of which sizes code asks something."""
    own = [(kind, name, vars(kind)[name]) for kind in SYMBOLS for name in QUESTIONS if name in vars(kind)]
    enter = saved_tensors_hooks.__enter__
    for kind, name, how in own:
        setattr(kind, name, noting(how, sizes))
    saved_tensors_hooks.__enter__ = hung_on(enter, sizes)  # what code hangs there is called while an operation runs
    try:
        with Asked(sizes):
            yield
    finally:
        saved_tensors_hooks.__enter__ = enter
        for kind, name, how in own:
            setattr(kind, name, how)


def noting(own: Callable, sizes: Sizes) -> Callable:
    def asked(self: Any) -> Any:
        if not sizes.within:
            sizes.note(self)
        return own(self)

    return asked


def hung_on(own: Callable, sizes: Sizes) -> Callable:
    def entered(self: Any) -> Any:
        sizes.all_asked = True
        return own(self)

    return entered


def inside(asked: Iterable[str], sizes: Sizes) -> frozenset[str]:
    """Of the names of sizes that were asked about, those about which only PyTorch's operations did."""
    return frozenset() if sizes.all_asked else frozenset(asked) - sizes.asked
