"""Controls: claims rewritten so that nothing that matters has changed. A witness that refuses one is a pedant."""

from __future__ import annotations

from dataclasses import replace

from ..core.assumptions import Assumption
from ..core.claims import Claim, Step
from ..core.expr import Expr, free_indices, paren, symbols, walk
from ..core.operators import INDEXED
from .claim_mutants import on_trees
from .rebuild_trees import rebuild
from .tree_mutations import plus


def controls(claim: Claim) -> list:
    """(name, claim): each must still be accepted. A chain is also split into its steps, and cut short to its ends."""
    if claim.kind == "definition":
        return []
    made = [
        ("brackets", bracketed(claim)),
        ("renamed dummies", renamed(claim)),
        ("reordered sums", reordered(claim)),
        ("a comment", replace(claim, title="Something else", steps=tuple(replace(s, reason="said otherwise") for s in claim.steps))),
    ]
    found = [(name, new) for name, new in made if replace(new, title="") != replace(claim, title="")]
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
    """What of a claim's code is given nothing but what these sides speak of."""

    def names(x) -> set:
        return set().union(*map(names, x)) if isinstance(x, tuple) else set(symbols(x)) if isinstance(x, Expr) else set()

    return tuple(one for one in claim.code if names(one[1:]) <= set(symbols(*sides)))


BRACKETED = ("add", "mul", "div", "neg", "matmul", "transpose", "function", "softmax", "expectation", "variance", "sum", "each")


def bracketed(claim: Claim) -> Claim:
    """Brackets around every argument that can have them."""
    return in_formulas(claim, lambda e: rebuild(e, tuple(map(paren, e.args))) if e.op in BRACKETED else None)


def in_formulas(claim: Claim, change) -> Claim:
    """A change in every tree but the assumptions, of which some are about symbols only; in those that speak of a definition, too."""
    changed = on_trees(claim, change)
    given = tuple(new if speaks_of_a_definition(old) else old for old, new in zip(claim.given, changed.given))
    without = tuple(new if speaks_of_a_definition(old[0]) else old for old, new in zip(claim.without, changed.without))
    return replace(changed, given=given, without=without)


def speaks_of_a_definition(assumption: Assumption) -> bool:
    return any(node.op == "defined" for x in assumption.args for node in walk(x))


def renamed(claim: Claim) -> Claim:
    """Every index variable under another name."""

    def other(e):  # not by rebuilding: an entry would be checked against indices of which some are renamed and some not yet
        data = ("dummy" + e.data[0], e.data[1]) if e.op in INDEXED else e.data
        return Expr(e.op, tuple(map(other, e.args)), e.shape, data)

    def in_code(x):
        if isinstance(x, dict):
            return {k: in_code(y) for k, y in x.items()}
        if isinstance(x, tuple):
            return tuple(map(in_code, x))
        return other(x) if isinstance(x, Expr) else x

    def places(at):
        return tuple(("dummy" + name if name in open_ else name, value) for name, value in at)

    def assumed(a):
        return replace(a, args=tuple(map(other, a.args)))

    open_ = {i.data[0] for e in (claim.start, *(s.expr for s in claim.steps)) for i in free_indices(e)}
    return replace(
        claim,
        at=places(claim.at),
        without=tuple((assumed(a), places(at)) for a, at in claim.without),
        start=other(claim.start),
        steps=tuple(replace(s, expr=other(s.expr)) for s in claim.steps),
        because=tuple(map(other, claim.because)),
        code=in_code(claim.code),
        given=tuple(map(assumed, claim.given)),
    )


def reordered(claim: Claim) -> Claim:
    """a + b as b + a, and a double sum over its indices in the other order."""

    def change(e):
        if e.op == "add":
            return plus(e.args[1], e.args[0])
        if e.op == "sum" and e.args[0].op == "sum":
            inner = e.args[0]
            return Expr("sum", (Expr("sum", inner.args, (), e.data),), (), inner.data)

    return in_formulas(claim, change)
