"""The assumptions of SymPy symbols in the terms of the claim language."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.stats.rv import RandomSymbol

from ..core.expr import Expr, lift
from .from_sympy import convert
from .sympy_scalars import sign_of
from .sympy_stats import distribution


def facts(origin: Any) -> list[tuple[str, Any]]:
    """Return the assumptions of a SymPy symbol: (sign, None), or ("distribution", (mean, variance))."""
    label = origin.label if isinstance(origin, sp.IndexedBase) else origin
    if isinstance(label, RandomSymbol):
        known = distribution(label)
        return [("distribution", (convert(known.mean), squared(known.std)))] if known is not None else []
    if not isinstance(label, sp.Symbol):
        return []  # a matrix: SymPy assumes nothing about its entries
    sign = sign_of(label)
    return [(sign, None)] if sign not in ("", "size") else []


def described(origin: Any) -> str:
    """Return in words what a SymPy symbol is, as "a positive one"."""
    label = origin.label if isinstance(origin, sp.IndexedBase) else origin
    shape = f" of shape {origin.shape}" if getattr(origin, "shape", ()) else ""
    if isinstance(label, RandomSymbol):
        return f"a random one{shape} with {distribution(label) or 'no distribution of its own'}"
    return f"a {sign_of(label) or 'real'} one{shape}" if isinstance(label, sp.Symbol) else f"a matrix{shape}"


def squared(deviation: Any) -> Expr:
    """Return the variance for a standard deviation."""
    return lift(convert(deviation).data ** 2) if deviation.is_Rational else convert(deviation) ** 2
