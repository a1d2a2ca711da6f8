"""Controls: claims rewritten into equivalent ones, which every witness that accepts the claim must accept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..core.assumptions import Assumption
from ..core.claims import Claim, Step
from ..core.constructors import paren
from ..core.expr import Expr, free_indices, symbols, walk
from ..core.operators import INDEXED
from .claim_mutants import transform_claim
from .rebuild_trees import rebuild
from .tree_mutations import build_sum


def make_controls(claim: Claim) -> list[tuple[str, Claim]]:
    """Return (name, claim) pairs. A chain is also split into its steps, and reduced to its two ends."""
    if claim.kind == "definition":
        return []
    rewrites = [
        ("brackets", add_brackets(claim)),
        ("renamed dummies", rename_indices(claim)),
        ("reordered sums", reorder_sums(claim)),
        ("a comment", replace(claim, title="Something else", steps=tuple(replace(s, reason="said otherwise") for s in claim.steps))),
    ]
    found = [(name, new) for name, new in rewrites if replace(new, title="") != replace(claim, title="")]
    if len(claim.steps) > 1:
        previous = claim.start
        for k, step in enumerate(claim.steps, 1):
            found.append(
                (f"step {k} on its own", replace(claim, start=previous, steps=(step,), code=code_about(claim, previous, step.expr)))
            )
            previous = step.expr
        found.append(("first and last", replace(claim, steps=(Step("=", previous),))))
    return found


def code_about(claim: Claim, *sides: Expr) -> tuple:
    """Return the snippet calls of a claim whose arguments have no names except those in these sides."""

    def names(x: Any) -> set[str]:
        return set().union(*map(names, x)) if isinstance(x, tuple) else set(symbols(x)) if isinstance(x, Expr) else set()

    return tuple(call for call in claim.code if names(call[1:]) <= set(symbols(*sides)))


BRACKETED = ("add", "mul", "div", "neg", "matmul", "transpose", "function", "softmax", "expectation", "variance", "sum", "each")


def add_brackets(claim: Claim) -> Claim:
    """Return the claim with brackets around every argument that can have them."""
    return in_formulas(claim, lambda e: rebuild(e, tuple(map(paren, e.args))) if e.op in BRACKETED else None)


def in_formulas(claim: Claim, change: Callable[[Expr], Expr | None]) -> Claim:
    """Return the claim with a change made in every tree; in assumptions only if they use a definition.

    The other assumptions are left alone because some of them must be about symbols.
    """
    changed = transform_claim(claim, change)
    given = tuple(new if uses_a_definition(old) else old for old, new in zip(claim.given, changed.given))
    without = tuple(new if uses_a_definition(old[0]) else old for old, new in zip(claim.without, changed.without))
    return replace(changed, given=given, without=without)


def uses_a_definition(assumption: Assumption) -> bool:
    return any(node.op == "defined" for x in assumption.args for node in walk(x))


def rename_indices(claim: Claim) -> Claim:
    """Return the claim with every index, bound or free, under another name."""

    def other(e: Expr) -> Expr:  # without `rebuild`, which would reject an entry with renamed and original indices
        data = ("dummy" + e.data[0], e.data[1]) if e.op in INDEXED else e.data
        return Expr(e.op, tuple(map(other, e.args)), e.shape, data)

    def in_code(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: in_code(y) for k, y in x.items()}
        if isinstance(x, tuple):
            return tuple(map(in_code, x))
        return other(x) if isinstance(x, Expr) else x

    def values(at: tuple) -> tuple:
        return tuple(("dummy" + name if name in free else name, value) for name, value in at)

    def assumption(a: Assumption) -> Assumption:
        return replace(a, args=tuple(map(other, a.args)))

    free = {i.data[0] for e in (claim.start, *(s.expr for s in claim.steps)) for i in free_indices(e)}
    return replace(
        claim,
        at=values(claim.at),
        without=tuple((assumption(a), values(at)) for a, at in claim.without),
        start=other(claim.start),
        steps=tuple(replace(s, expr=other(s.expr)) for s in claim.steps),
        because=tuple(map(other, claim.because)),
        code=in_code(claim.code),
        given=tuple(map(assumption, claim.given)),
    )


def reorder_sums(claim: Claim) -> Claim:
    """Return the claim with a + b as b + a, and with the two index sums of a double sum exchanged."""

    def change(e: Expr) -> Expr | None:
        if e.op == "add":
            return build_sum(e.args[1], e.args[0])
        if e.op == "sum" and e.args[0].op == "sum":
            inner = e.args[0]
            return Expr("sum", (Expr("sum", inner.args, (), e.data),), (), inner.data)
        return None

    return in_formulas(claim, change)
