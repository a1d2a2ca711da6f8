"""Record which sizes the code itself inspects, so that its path may depend on their values.

PyTorch's operations inspect sizes as well, for example whether one is 1 and is broadcast. Their results follow the same rule whatever the
answer: each rule was compared with PyTorch at sizes of 1, among others. So if only operations inspect a size, the code does the same at size 1
as elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .symbolic_sizes import SYMBOLS, Sizes

CONVERSIONS = ("__bool__", "__int__", "__index__", "__float__")  # by which Python gets a value that is not a symbol


@contextmanager
def recorded_queries(sizes: Sizes) -> Iterator[None]:
    """Record in `sizes.asked` the sizes that code converts to truth values or numbers outside of PyTorch's operations."""
    conversions = [(kind, name, vars(kind)[name]) for kind in SYMBOLS for name in CONVERSIONS if name in vars(kind)]
    for kind, name, convert in conversions:
        setattr(kind, name, recording(convert, sizes))
    try:
        yield
    finally:
        for kind, name, convert in conversions:
            setattr(kind, name, convert)


def recording(convert: Callable, sizes: Sizes) -> Callable:
    """Return a conversion of a symbol that records its sizes first, unless an operation of PyTorch is running."""

    def converted(self: Any) -> Any:
        if not sizes.within:
            sizes.note(self)
        return convert(self)

    return converted


def inspected_by_operations_only(names: Iterable[str], sizes: Sizes) -> frozenset[str]:
    """Return the sizes among `names` that only PyTorch's operations inspected."""
    return frozenset() if sizes.all_asked else frozenset(names) - sizes.asked
