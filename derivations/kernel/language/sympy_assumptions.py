"""What SymPy's symbols bring along: `positive=True` and its like, and the distribution of a random symbol.

These become assumptions of a claim where it needs them, and are shown like those that are stated; where the claim holds without, they
are left out, and it says more. A refutation has to respect them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from itertools import chain, count
from typing import Any

from ..core.assumptions import Assumption, assumption_text, gaussian, independent, mean, nonnegative, nonzero, positive, variance
from ..core.claims import Claim
from ..core.expr import Expr, index, named
from ..errors import KernelError
from ..printing.plain_text import describe

STATED = {"positive": positive, "nonnegative": nonnegative, "nonzero": nonzero}
INDICES = ("i", "j", "l", "a", "b", "r", "s", "t")


def leaves(trees: Iterable[Expr]) -> dict[str, list[Expr]]:
    """The symbols of the trees by name, those that differ only in where they come from side by side."""
    found: dict[str, list[Expr]] = {}
    for s in named(*trees):
        if s.op == "symbol" and not any(s.origin == other.origin for other in found.setdefault(s.data[0], [])):
            found[s.data[0]].append(s)
    return found


class Origins:
    """The SymPy symbols that a derivation uses, by name: one name is one of them."""

    def __init__(self) -> None:
        self.met: dict[str, list[Expr]] = {}

    def refuse_two(self, trees: Iterable[Expr]) -> None:
        found = leaves(trees)
        for name, symbols in found.items():
            known = self.met.get(name, [])
            both = known + [s for s in symbols if not any(s.origin == other.origin for other in known)]
            if len([s for s in both if s.origin is not None]) > 1:
                raise KernelError(
                    f"two SymPy symbols are called {name}: {' and '.join(wording(s) for s in both if s.origin is not None)}; "
                    "one name is one thing throughout a derivation"
                )
            if len(both) > 1 and any(brings(s) for s in both):
                raise KernelError(
                    f"the name {name} is used for two things: a SymPy symbol, {wording(next(s for s in both if s.origin is not None))}, "
                    f"and {describe(next(s for s in both if s.origin is None))} made by the kernel, which does not bring that along"
                )
            self.met[name] = both


def wording(s: Expr) -> str:
    """One that is real; one that is positive; a random one with NormalDistribution(0, 1)."""
    from .sympy_symbol_facts import described

    return described(s.origin)


def brings(s: Expr) -> bool:
    return bool(brought_by(s))


def brought_by(s: Expr) -> list[tuple[str, Any]]:
    if s.origin is None:
        return []
    from .sympy_symbol_facts import facts

    return facts(s.origin)


def carried(trees: tuple[Expr, ...], taken: Taken) -> list[Assumption]:
    """All that the SymPy symbols of the trees bring along: signs, then independence, means, variances and what is Gaussian."""
    every = with_parameters(trees)
    signs = [STATED[kind](general_entry(s, taken)) for s, kind, _ in brought_along(every) if kind != "distribution"]
    distributions = distributed(trees)
    means = [mean(s, value) for s, (value, _) in distributions]
    variances = [variance(s, value) for s, (_, value) in distributions]
    randoms = [s for s, _ in distributions]
    joint = [independent(*randoms), *means, *variances, *(gaussian(s) for s in randoms)] if randoms else []
    return signs + joint


def brought_along(trees: tuple[Expr, ...]) -> list[tuple[Expr, str, Any]]:
    return [(s, kind, value) for found in leaves(trees).values() for s in found for kind, value in brought_by(s)]


def distributed(trees: tuple[Expr, ...]) -> list[tuple[Expr, tuple[Expr, Expr]]]:
    """The random symbols, each with its mean and its variance."""
    return [(s, value) for s, kind, value in brought_along(trees) if kind == "distribution"]


def with_parameters(trees: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The trees, and the means and variances of what is random in them, which may hold symbols of their own."""
    return (*trees, *(value for _, values in distributed(trees) for value in values))


class Taken:
    """The names, as they are printed, that a derivation and one of its claims use; and the indices chosen beside them.

    Those chosen for earlier claims serve again.
    """

    def __init__(self, names: Container[str], trees: Iterable[Expr], earlier: Iterable[Expr] = ()) -> None:
        self.names = names
        self.here = {s.data[0] for s in named(*trees)}
        self.chosen: dict[tuple[Expr, int], Expr] = {}
        for i in earlier:
            size = i.data[1]
            self.chosen[size, sum(known == size for known, _ in self.chosen)] = i

    def index(self, size: Expr, nth: int = 0) -> Expr:
        """The nth index that runs to this size, of a name that nothing else has."""
        if (size, nth) not in self.chosen:
            name = next(name for name in index_names() if name not in self.here and name not in self.names)
            self.here.add(name)
            self.chosen[size, nth] = index(name, size)
        return self.chosen[size, nth]


def index_names() -> Iterable[str]:
    """i, j, ..., and ii, jj, ll, iii, ... without end."""
    return chain(INDICES, (letter * times for times in count(2) for letter in "ijl"))


def general_entry(s: Expr, taken: Taken) -> Expr:
    """s itself; of a vector or a matrix any entry, at indices that nothing else is called."""
    if not s.shape:
        return s
    return s[tuple(taken.index(size, s.shape[:axis].count(size)) for axis, size in enumerate(s.shape))]


def renamed(claim: Claim, old: Expr, new: Expr) -> Claim:
    """The claim with another index in the assumptions that it carries."""

    def within(e: Expr) -> Expr:
        return new if e == old else replace(e, args=tuple(map(within, e.args)))

    return replace(claim, given=tuple(replace(a, args=tuple(map(within, a.args))) for a in claim.given))


def settled(claim: Claim, taken: Taken) -> Claim:
    """The claim under its stated assumptions, and under those of its SymPy symbols that it needs."""
    brought = [a for a in carried(claim.trees, taken) if a not in claim.given]
    if not brought:
        return claim
    from ..exact.assumption_needs import lessened
    from ..exact.counterexample_search import is_law

    full = replace(claim, given=(*claim.given, *brought))
    if claim.kind == "refutation":
        refuse_broken(full, brought)
        if not is_law(*claim.trees):
            return claim
    kept = full.given
    for a in reversed(brought):
        rest = tuple(other for other in kept if other != a)
        less = lessened(full, a, rest)
        kept = kept if a in less else less
    return replace(claim, given=kept)


def refuse_broken(claim: Claim, brought: list[Assumption]) -> None:
    from ..exact.counterexample_search import holds
    from ..exact.given_values import values_at

    left, right = claim.trees[:2]
    at = values_at(claim)
    for a in brought:
        if a.kind in STATED and not holds(a, at, left, right):
            raise KernelError(
                f"the counterexample breaks what SymPy assumes: {assumption_text(a)}. Give other values, or make the symbol with real=True "
                "alone"
            )
