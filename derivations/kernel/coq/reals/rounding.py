"""Compute the rounded numbers of a counterexample, for the proof. Coq checks each of them, so nothing here has to be trusted."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeGuard

from ...core.claims import Claim
from ...core.expr import Expr, symbols, walk
from ..algebraic_structures import NotForCoq

DIGITS, LOWEST = 24, -149  # of fp32: significant bits, and the exponent of the smallest positive number


def rounding_lines(claim: Claim) -> list[str]:
    """Return a proof line for each number that a rounding gives at the counterexample."""
    trees = (claim.start, claim.steps[0].expr)
    if not any(n.op == "rounded" for t in trees for n in walk(t)):
        return []
    values = Values(claim)
    for tree in trees:
        values.at(tree, {})
    return [f"rounds_near ({m})%Z ({e})%Z ({2**e if e >= 0 else f'/ {2**-e}'})." for m, e in values.rounded]


class Values:
    """The values of trees at a counterexample.

    A value is a fraction, a list of values for a tensor, or None if it is not rational.
    """

    def __init__(self, claim: Claim) -> None:
        self.given: dict[str, Any] = dict(claim.at)
        self.sizes = {
            n: int(v.data) for n, v in self.given.items() if not isinstance(v, tuple) and v.op == "const" and v.data.denominator == 1
        }
        for name, s in symbols(claim.start, claim.steps[0].expr).items():
            v: Any = self.given[name] if s.shape else None
            for size in s.shape:
                self.sizes[size.data[0] if size.op == "symbol" else ""] = len(v)
                v = v[0]
        self.rounded: dict[tuple[int, int], None] = {}  # (m, e) of each rounded number m 2^e, in order

    def at(self, e: Expr, places: dict[str, int]) -> Any:
        """Return the value of a tree, where `places` gives the bound indices. Raise NotForCoq if a rounded number is not rational."""
        args = [self.at(x, places) for x in e.args] if e.op != "sum" else []
        if e.op == "rounded":
            return self.round(args[0])
        if e.op in ("const", "index"):
            return e.data if e.op == "const" else Fraction(places[e.data[0]])
        if e.op == "symbol":
            return Fraction(self.sizes[e.data[0]]) if e.data[1] == "size" else fractions(self.given[e.data[0]])
        if e.op == "sum":
            name, size = e.data
            count = self.sizes[size.data[0]] if size.op == "symbol" else int(size.data)
            terms = [self.at(e.args[0], {**places, name: k}) for k in range(1, count + 1)]
            return None if None in terms else sum(terms, Fraction(0))
        return None if None in args or e.op not in OPERATIONS else OPERATIONS[e.op](*args)

    def round(self, x: Any) -> Fraction:
        """Return x rounded to fp32, and record it."""
        if x is None or isinstance(x, list):
            raise NotForCoq("rounding of what is no fraction at the counterexample")
        exponent = LOWEST
        while abs(x) >= Fraction(2) ** (exponent + DIGITS):
            exponent += 1
        m = round(x / Fraction(2) ** exponent)  # ties to even
        if x:
            self.rounded[m, exponent] = None
        return m * Fraction(2) ** exponent


def fractions(v: Any) -> Any:
    """Return a value of the counterexample with fractions in place of constants, and None in place of anything else."""
    return [fractions(x) for x in v] if isinstance(v, tuple) else v.data if v.op == "const" else None


def softmax_of_equals(z: list[Any]) -> list[Fraction] | None:
    """Return the softmax of a vector of equal numbers; that of others is not rational."""
    return [Fraction(1, len(z))] * len(z) if not isinstance(z[0], list) and len(set(z)) == 1 else None


def entry(base: Any, *places: Fraction) -> Any:
    """Return an entry of nested lists. Places are counted from 1."""
    for p in places:
        base = base[int(p) - 1]
    return base


def transposed(x: Any) -> list[list[Fraction]] | None:
    return [list(column) for column in zip(*x)] if is_matrix(x) else None


def matrix_product(x: Any, y: Any) -> list[list[Fraction]] | None:
    if not (is_matrix(x) and is_matrix(y)):
        return None
    return [[sum((a * b for a, b in zip(row, column)), Fraction(0)) for column in zip(*y)] for row in x]


def is_matrix(x: Any) -> TypeGuard[list[list[Fraction]]]:
    """Return whether a value is a matrix of fractions."""
    return isinstance(x, list) and all(isinstance(row, list) and all(isinstance(entry, Fraction) for entry in row) for row in x)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "paren": lambda x: x,
    "defined": lambda x: x,
    "add": lambda x, y: x + y if isinstance(x, Fraction) and isinstance(y, Fraction) else None,
    "neg": lambda x: -x if isinstance(x, Fraction) else None,
    "mul": lambda x, y: x * y if isinstance(x, Fraction) and isinstance(y, Fraction) else None,
    "div": lambda x, y: x / y if isinstance(x, Fraction) and isinstance(y, Fraction) and y else None,
    "softmax": softmax_of_equals,
    "entry": entry,
    "transpose": transposed,
    "matmul": matrix_product,
}
