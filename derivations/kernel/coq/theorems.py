"""The theorems for a claim: one for each of its steps that Coq can state, and one for the whole where it can state all of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.claims import Claim
from ..core.expr import Expr, free_indices
from .algebraic_structures import FIELD, REAL, SCOPES, NotForCoq
from .notation import Notation
from .proof_scripts import script
from .theorem_files import Theorem, file


@dataclass(frozen=True)
class Source:
    """A claim's Coq file: its text, or none and why not. `steps` are the steps that it proves, counted from 1."""

    text: str | None
    reason: str = ""
    steps: tuple = ()
    whole: bool = False
    scope: str = ""


def chain(claim: Claim, topic: str, notation_of: type[Notation] = Notation) -> Source:
    """A theorem for each equality that Coq can state, and one that joins them."""
    ends = [claim.start, *(s.expr for s in claim.steps)]
    steps, why = statable(ends, notation_of)
    if not steps:
        return Source(None, why[0])
    single, whole = len(claim.steps) == 1, len(steps) == len(claim.steps)
    notation = notation_of()
    texts = {k: equation(notation, ends[k - 1], ends[k]) for k in steps}
    proof = script(notation, claim)  # one proof for every step
    theorems = [Theorem("claim" if single else f"step_{k}", claim.steps[k - 1].reason, texts[k], proof) for k in steps]
    if whole and not single:
        theorems.append(Theorem("claim", "The whole", equation(notation, ends[0], ends[-1]), [f"exact: {joined(len(steps))}."]))
    trees = [e for k in steps for e in ends[k - 1 : k + 1]]
    theorems = [*before(notation, trees), *theorems]
    return Source(file(claim, topic, notation, trees, theorems), "; ".join(why), tuple(steps), whole, scope(notation))


def statable(ends: list, notation_of: type[Notation]) -> tuple:
    """The steps that Coq can state, counted from 1, and why it cannot state the others."""
    steps, why = [], []
    for k, (left, right) in enumerate(zip(ends, ends[1:]), 1):
        try:
            equation(notation_of(), left, right)
            steps.append(k)
        except NotForCoq as reason:
            why.append(f"step {k} has {reason}" if len(ends) > 2 else str(reason))
    return steps, why


def joined(last: int) -> str:
    """The steps up to the last, one after the other."""
    term = f"step_{last}"
    for k in range(last - 1, 0, -1):
        term = f"etrans step_{k} {term if k == last - 1 else f'({term})'}"
    return term


def inequality(claim: Claim, topic: str, notation_of: type[Notation] = Notation) -> Source:
    """What the right side has more is the certificate, and that is not negative."""
    if claim.start.op == "rank":
        return rank_bound(claim, topic)
    left, right = claim.start, claim.steps[0].expr
    if len(claim.because) != 1 or left.shape or claim.because[0].shape:
        raise NotForCoq("an inequality that is not between numbers")
    (certificate,) = claim.because
    notation = notation_of()
    notation.need(REAL)
    difference = equation(notation, Expr("add", (right, Expr("neg", (left,)))), certificate)
    statement = f"{notation.show(left)} <=\n  {notation.show(right)} :> R"
    theorems = [
        Theorem("certificate", "What the right side has more", difference, script(notation, claim)),
        Theorem("claim", claim.steps[0].reason, statement, [*notation.before, "rewrite -subr_ge0 certificate; nonnegative."]),
    ]
    trees = [left, right, certificate]
    return Source(file(claim, topic, notation, trees, [*before(notation, trees), *theorems]), "", (1,), True, scope(notation))


def before(notation: Notation, trees: list) -> list:
    """What is proved of the trees before the claim."""
    return [Theorem(*t) for t in notation.first_theorems(set().union(*map(free_indices, trees)))]


def scope(notation: Notation) -> str:
    return notation.scope or SCOPES[notation.level]


def rank_bound(claim: Claim, topic: str) -> Source:
    """A product through an axis of a size has at most that rank."""
    bound, (body,) = claim.steps[0].expr, claim.start.args
    if (
        bound.op not in ("const", "symbol")
        or bound.op == "symbol"
        and bound.data[1] != "size"
        or bound.op == "const"
        and bound.data.denominator != 1
    ):
        raise NotForCoq("a bound on a rank that is not a size")
    if len(claim.because) != 2:
        raise NotForCoq("a bound on a rank without a factorisation")
    first, second = claim.because
    product = Expr("matmul", (first, second), (first.shape[0], second.shape[1]))
    notation = Notation()
    notation.need(FIELD)
    shown, factored = notation.show(body), notation.show(product)
    bounded = f"(\\rank ({shown})%R <= {notation.size(bound)})%N"  # within, a product is one of numbers of the ring
    theorems = [Theorem("claim", claim.steps[0].reason, bounded, ["exact: mulmx_max_rank."])]
    if shown != factored:
        theorems = [
            Theorem("certificate", "A factorisation", f"{shown} = {factored}", script(notation, claim)),
            Theorem("claim", claim.steps[0].reason, bounded, ["rewrite certificate; exact: mulmx_max_rank."]),
        ]
    return Source(file(claim, topic, notation, [body, product], theorems), "", (1,), True, SCOPES[notation.level])


def equation(notation: Notation, left: Expr, right: Expr) -> str:
    text = f"{notation.show(left)} =\n  {notation.show(right)}"
    return text if left.shape else f"{text} :> R"
