"""Carried assumptions: those that SymPy's symbols have, such as `positive=True` or the distribution of a random symbol.

A claim gets the carried assumptions that it needs, and shows them like stated ones. Those that it does not need are left out, so that the
claim is more general. The counterexample of a refutation must satisfy them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from itertools import chain, count
from typing import Any

from ..core.assumptions import Assumption, describe_assumption, gaussian, independent, mean, nonnegative, nonzero, positive, variance
from ..core.claims import Claim
from ..core.constructors import index
from ..core.expr import Expr, named_nodes
from ..errors import KernelError
from ..printing.plain_text import describe

STATED = {"positive": positive, "nonnegative": nonnegative, "nonzero": nonzero}
INDICES = ("i", "j", "l", "a", "b", "r", "s", "t")


def leaves(trees: Iterable[Expr]) -> dict[str, list[Expr]]:
    """Return the symbols of the trees by name. The list of a name has several symbols if they differ only in their origins."""
    found: dict[str, list[Expr]] = {}
    for s in named_nodes(*trees):
        if s.op == "symbol" and not any(s.origin == other.origin for other in found.setdefault(s.data[0], [])):
            found[s.data[0]].append(s)
    return found


class Origins:
    """The symbols of a derivation by name, with their origins. A name must not belong to two SymPy symbols."""

    def __init__(self) -> None:
        self.known: dict[str, list[Expr]] = {}

    def record(self, trees: Iterable[Expr]) -> None:
        """Add the symbols of the trees. Raise KernelError if a name has two origins with different assumptions."""
        found = leaves(trees)
        for name, symbols in found.items():
            known = self.known.get(name, [])
            both = known + [s for s in symbols if not any(s.origin == other.origin for other in known)]
            if len([s for s in both if s.origin is not None]) > 1:
                raise KernelError(
                    f"two SymPy symbols are called {name}: {' and '.join(wording(s) for s in both if s.origin is not None)}; "
                    "one name is one thing throughout a derivation",
                    code="ambiguous-name",
                )
            if len(both) > 1 and any(map(carried_facts, both)):
                raise KernelError(
                    f"the name {name} is used for two things: a SymPy symbol, {wording(next(s for s in both if s.origin is not None))}, "
                    f"and {describe(next(s for s in both if s.origin is None))} made by the kernel, which does not bring that along",
                    code="ambiguous-name",
                )
            self.known[name] = both


def wording(s: Expr) -> str:
    """Return what the origin of a symbol is, in words: "a positive one", "a random one with NormalDistribution(0, 1)"."""
    from .sympy_symbol_facts import described

    return described(s.origin)


def carried_facts(s: Expr) -> list[tuple[str, Any]]:
    """Return the assumptions of the SymPy symbol from which a symbol was read, as `sympy_symbol_facts.facts` does."""
    if s.origin is None:
        return []
    from .sympy_symbol_facts import facts

    return facts(s.origin)


def carried_assumptions(trees: tuple[Expr, ...], names: UsedNames) -> list[Assumption]:
    """Return all assumptions that the symbols of the trees carry: signs, independence, means, variances, normal distributions."""
    every = with_parameters(trees)
    signs = [STATED[kind](general_entry(s, names)) for s, kind, _ in all_carried_facts(every) if kind != "distribution"]
    distributions = distributed(trees)
    means = [mean(s, value) for s, (value, _) in distributions]
    variances = [variance(s, value) for s, (_, value) in distributions]
    randoms = [s for s, _ in distributions]
    joint = [independent(*randoms), *means, *variances, *(gaussian(s) for s in randoms)] if randoms else []
    return signs + joint


def all_carried_facts(trees: tuple[Expr, ...]) -> list[tuple[Expr, str, Any]]:
    """Return (symbol, kind, value) for each assumption that a symbol of the trees carries."""
    return [(s, kind, value) for found in leaves(trees).values() for s in found for kind, value in carried_facts(s)]


def distributed(trees: tuple[Expr, ...]) -> list[tuple[Expr, tuple[Expr, Expr]]]:
    """Return the random symbols that carry a distribution, each with its mean and variance."""
    return [(s, value) for s, kind, value in all_carried_facts(trees) if kind == "distribution"]


def with_parameters(trees: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return the trees and the means and variances that their random symbols carry, which may contain further symbols."""
    return (*trees, *(value for _, values in distributed(trees) for value in values))


class UsedNames:
    """The names that a derivation and a claim use, and the indices with other names that were chosen for carried assumptions.

    Indices that were chosen for earlier claims are used again.
    """

    def __init__(self, names: Container[str], trees: Iterable[Expr], earlier: Iterable[Expr] = ()) -> None:
        self.names = names
        self.here = {s.data[0] for s in named_nodes(*trees)}
        self.chosen: dict[tuple[Expr, int], Expr] = {}
        for i in earlier:
            size = i.data[1]
            self.chosen[size, sum(known == size for known, _ in self.chosen)] = i

    def index(self, size: Expr, nth: int = 0) -> Expr:
        """Return the nth index of this size that was chosen, with a name that is used for nothing else."""
        if (size, nth) not in self.chosen:
            name = next(name for name in index_names() if name not in self.here and name not in self.names)
            self.here.add(name)
            self.chosen[size, nth] = index(name, size)
        return self.chosen[size, nth]


def index_names() -> Iterable[str]:
    """Yield names for indices without end: i, j, ..., ii, jj, ll, iii, ..."""
    return chain(INDICES, (letter * times for times in count(2) for letter in "ijl"))


def general_entry(s: Expr, names: UsedNames) -> Expr:
    """Return a scalar symbol itself, and the general entry of a tensor, at indices with unused names."""
    if not s.shape:
        return s
    return s[tuple(names.index(size, s.shape[:axis].count(size)) for axis, size in enumerate(s.shape))]


def rename_index(claim: Claim, old: Expr, new: Expr) -> Claim:
    """Return the claim with another index in its assumptions."""

    def within(e: Expr) -> Expr:
        return new if e == old else replace(e, args=tuple(map(within, e.args)))

    return replace(claim, given=tuple(replace(a, args=tuple(map(within, a.args))) for a in claim.given))


def with_carried(claim: Claim, names: UsedNames) -> Claim:
    """Return the claim with its stated assumptions and those of the carried ones that it needs."""
    carried = [a for a in carried_assumptions(claim.trees, names) if a not in claim.given]
    if not carried:
        return claim
    # Imported here because only claims in SymPy's terms need it.
    from ..exact.assumption_needs import weaken_assumption
    from ..exact.counterexample_search import is_law

    full = replace(claim, given=(*claim.given, *carried))
    if claim.kind == "refutation":
        check_counterexample(full, carried)
        if not is_law(*claim.trees):
            return claim
    needed = full.given
    for a in reversed(carried):
        rest = tuple(other for other in needed if other != a)
        less = weaken_assumption(full, a, rest)
        needed = needed if a in less else less
    return replace(claim, given=needed)


def check_counterexample(claim: Claim, carried: list[Assumption]) -> None:
    """Raise KernelError if the counterexample of a refutation violates a carried assumption about a sign."""
    from ..exact.counterexample_search import is_satisfied
    from ..exact.given_values import read_values

    left, right = claim.trees[:2]
    at = read_values(claim)
    for a in carried:
        if a.kind in STATED and not is_satisfied(a, at, left, right):
            raise KernelError(
                f"the counterexample breaks what SymPy assumes: {describe_assumption(a)}. Give other values, or make the symbol with real=True "
                "alone",
                code="broken-assumption",
            )
