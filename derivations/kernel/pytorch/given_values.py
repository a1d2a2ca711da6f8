"""Values that a claim gives for its symbols: those of a counterexample, or of an example that shows why an assumption is needed."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import torch

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, show, symbols
from ..core.operators import BINDERS
from .errors import Disagreement
from .evaluation import evaluate
from .trial import Trial


def bindable_names(claim: Claim) -> dict:
    """Return what a value may be given for, by name: the symbols of a claim and the free indices of its sides."""
    free = set().union(*(free_indices(e) for e in (claim.start, *(s.expr for s in claim.steps))))
    return {i.data[0]: i for i in free} | symbols(*claim.trees)


def substitute_indices(e: Expr, at: dict, sizes: dict) -> Expr:
    """Substitute the given values for the free indices of a side; raise Disagrees if an index does not take its value."""
    if e.op == "index" and e.data[0] in at:
        name, size = e.data
        value, most = at[name], sizes.get(size.data[0], 0) if size.op == "symbol" else int(size.data)
        if not isinstance(value, Expr) or value.op != "const" or value.data not in range(1, most + 1):
            raise Disagreement(f"the index {name} is given a value that it does not take", code="index-out-of-range")
        return value
    inner = {name: value for name, value in at.items() if e.op not in BINDERS or name != e.data[0]}
    return replace(e, args=tuple(substitute_indices(x, inner, sizes) for x in e.args))


def given_sizes(named: dict, at: tuple) -> dict:
    """Return the sizes that (name, value) pairs determine, as numbers or as lengths of arrays. Raise Disagrees if they contradict each other."""
    sizes: dict[str, int] = {}
    for name, value in at:
        if name not in named:
            raise Disagreement(f"a value is given for {name}, which the claim does not mention", code="unused-value")
        for size, length in axis_lengths(named[name], value):
            if (sizes.setdefault(size.data[0], length) if size.op == "symbol" else size.data) != length:
                raise Disagreement(f"the values disagree about the size {show(size)}", code="conflicting-sizes")
    return sizes


def axis_lengths(symbol: Expr, value: Any) -> list:
    """Return (size, length) for each axis of the value of a symbol; for a size, its number."""
    if symbol.op == "index":
        return []
    if symbol.data[1] == "size":
        if not isinstance(value, Expr) or value.op != "const" or value.data.denominator != 1 or value.data < 1:
            raise Disagreement(f"the size {symbol.data[0]} is a positive integer", code="not-a-size")
        return [(symbol, int(value.data))]
    leaves, lengths = flatten(value)
    if len(lengths) != len(symbol.shape) or len(leaves) != prod(lengths):
        raise Disagreement(f"the value of {symbol.data[0]} is no array with {len(symbol.shape)} axes", code="wrong-shape")
    return list(zip(symbol.shape, lengths))


def put_values(t: Trial, named: dict, at: tuple) -> None:
    """Put the given values of symbols into a trial."""
    for name, value in at:
        if named[name].op == "symbol" and named[name].data[1] != "size":
            leaves, lengths = flatten(value)
            entries = [evaluate(x, t) for x in leaves]
            t.put(named[name], *(torch.stack([y.flatten()[0] for y in part]).reshape(1, *lengths) for part in zip(*entries)))


def flatten(value: Any) -> tuple:
    """Return the leaves of nested tuples, in order, and the lengths of the tuples."""
    if not isinstance(value, tuple):
        return [value], ()
    parts = [flatten(x) for x in value]
    return [leaf for part, _ in parts for leaf in part], (len(parts), *parts[0][1]) if parts else (0,)
