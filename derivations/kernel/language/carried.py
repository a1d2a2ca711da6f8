"""What SymPy's symbols bring along: `positive=True` and its like, and the distribution of a random symbol.

These become assumptions of a claim where it needs them, and are shown like those that are stated; where the claim holds without, they
are left out, and it says more. A refutation has to respect them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..core.assumptions import Assumption, assumption_text, gaussian, independent, mean, nonnegative, nonzero, positive, variance
from ..core.claims import Claim
from ..core.expr import Expr, describe, index, named
from ..errors import KernelError

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
        self.refuse_entries(found)

    def refuse_entries(self, found: dict[str, list[Expr]]) -> None:
        """x_1 and the first entry of x would look alike, and to SymPy be one symbol."""
        for name, symbols in found.items():
            base, _, place = name.rpartition("_")
            if place.isdigit() and any(s.shape for s in self.met.get(base, [])) and any(s.origin is not None for s in symbols):
                raise KernelError(f"the SymPy symbol {name} looks like an entry of {base}; choose another name, or write {base}[{place}]")


def wording(s: Expr) -> str:
    """One that is real; one that is positive; a random one with NormalDistribution(0, 1)."""
    from .sympy_facts import described

    return described(s.origin)


def brings(s: Expr) -> bool:
    return bool(brought_by(s))


def brought_by(s: Expr) -> list[tuple[str, Any]]:
    if s.origin is None:
        return []
    from .sympy_facts import facts

    return facts(s.origin)


def carried(trees: tuple[Expr, ...]) -> list[Assumption]:
    """All that the SymPy symbols of the trees bring along: signs, then independence, means, variances and what is Gaussian."""
    signs, randoms, means, variances = [], [], [], []
    taken = {s.data[0] for s in named(*trees)}
    for symbols in leaves(trees).values():
        for s in symbols:
            for kind, value in brought_by(s):
                if kind == "distribution":
                    randoms.append(s)
                    means.append(mean(s, value[0]))
                    variances.append(variance(s, value[1]))
                else:
                    signs.append(STATED[kind](general_entry(s, taken)))
    joint = [independent(*randoms), *means, *variances, *(gaussian(s) for s in randoms)] if randoms else []
    return signs + joint


def general_entry(s: Expr, taken: set[str]) -> Expr:
    """s itself; of a vector or a matrix any entry, at indices that nothing else is called."""
    if not s.shape:
        return s
    free = iter(name for name in INDICES if name not in taken)
    return s[tuple(index(next(free), size) for size in s.shape)]


def settled(claim: Claim) -> Claim:
    """The claim under its stated assumptions, and under those of its SymPy symbols that it needs."""
    brought = [a for a in carried(claim.trees) if a not in claim.given]
    if not brought:
        return claim
    from ..exact.witness import is_law, needed_to_compute, still_proved  # asked only here: stating a claim needs no witness

    if claim.kind == "refutation" and not is_law(*claim.trees):
        refuse_broken(claim, brought)
        return claim
    full = replace(claim, given=(*claim.given, *brought))
    kept = full.given
    for a in reversed(brought):
        rest = tuple(other for other in kept if other != a)
        needed = needed_to_compute(full, rest) if claim.kind == "refutation" else not still_proved(claim, rest)
        kept = kept if needed else rest
    return replace(claim, given=kept)


def refuse_broken(claim: Claim, brought: list[Assumption]) -> None:
    from ..exact.search import holds
    from ..exact.witness import values_at

    left, right = claim.trees[:2]
    at = values_at(claim)
    for a in brought:
        if a.kind in STATED and not holds(a, at, left, right):
            raise KernelError(
                f"the counterexample breaks what SymPy assumes: {assumption_text(a)}. Give other values, or make the symbol with real=True "
                "alone"
            )
