"""The conversion of `sympy.stats`: Expectation, Variance and Covariance, and their arguments.

`RandomSymbol("X")` is a random number; only what a claim states is known about it. `Normal("X", m, s)` carries its distribution.
`IndexedBase(Normal("q", 0, 1), shape=(d,))` is a vector of independent entries with this distribution, and `RandomMatrixSymbol("q", d, 1)`
a random vector without one. SymPy evaluates `E`, `variance` and `covariance` at once, and treats a random symbol as one number even when
it is summed; only their results arrive here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sympy import stats
from sympy.stats.crv_types import NormalDistribution
from sympy.stats.rv import RandomMatrixSymbol, RandomSymbol
from sympy.stats.symbolic_multivariate_probability import CrossCovarianceMatrix, ExpectationMatrix, VarianceMatrix

from ..core.constructors import E, Var
from ..core.expr import Expr, symbol
from .sympy_matrices import lengths
from .sympy_reading import Reading, Rule, Unreadable


def distribution(e: Any) -> Any:
    """Return the NormalDistribution of a random symbol, or None if it has none. Raise Unreadable for any other distribution."""
    known = getattr(e.pspace, "distribution", None)
    if known is not None and not isinstance(known, NormalDistribution):
        raise Unreadable(
            f"the distribution of {e.name}, {type(known).__name__}, is not known here: write RandomSymbol({e.name!r}), and state what "
            "is needed of it, given=[mean(...), variance(...)]",
            code="unknown-distribution",
        )
    return known


def read_random(e: Any, reading: Reading) -> Expr:
    distribution(e)
    return replace(symbol(e.name, "random"), origin=e)


def read_random_matrix(e: Any, reading: Reading) -> Expr:
    distribution(e)
    return replace(symbol(e.name, "random", lengths(e, reading)), origin=e)


def require_unconditional(e: Any, arguments: int) -> None:
    """Raise Unreadable if an operator of sympy.stats has a condition after its arguments."""
    if len(e.args) > arguments:
        raise Unreadable(f"{e} has a condition, which cannot be said here", code="unknown-distribution")


def read_expectation(e: Any, reading: Reading) -> Expr:
    require_unconditional(e, 1)
    return E(reading(e.args[0]))


def read_variance(e: Any, reading: Reading) -> Expr:
    require_unconditional(e, 1)
    return Var(reading(e.args[0]))


def read_covariance(e: Any, reading: Reading) -> Expr:
    """Return a covariance as E[x y] - E[x] E[y]."""
    require_unconditional(e, 2)
    x, y = map(reading, e.args[:2])
    return E(x * y) - E(x) * E(y)


RULES: tuple[tuple[Any, Rule], ...] = (
    (RandomMatrixSymbol, read_random_matrix),
    (RandomSymbol, read_random),
    ((stats.Expectation, ExpectationMatrix), read_expectation),
    ((stats.Variance, VarianceMatrix), read_variance),
    ((stats.Covariance, CrossCovarianceMatrix), read_covariance),
)
