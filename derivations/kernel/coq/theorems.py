"""Choose the theorems for a claim: one for each step that Coq can state, and one for the whole claim if Coq can state every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, strip_brackets, walk
from .algebraic_structures import FIELD, REAL, SCOPES, NotForCoq
from .notation import Notation
from .proof_scripts import write_script
from .theorem_files import Theorem, write_file


@dataclass(frozen=True)
class Source:
    """A claim's Coq file, or the reason why there is none."""

    text: str | None
    reason: str = ""  # why there is no file, or why it does not state some of the steps
    steps: tuple[int, ...] = ()  # the steps that the file states, counted from 1
    whole: bool = False  # whether the file states the whole claim
    scope: str = ""


def state_chain(claim: Claim, topic: str, notation_of: type[Notation] = Notation) -> Source:
    """Return the file of an identity, a chain or a law: a theorem for each equality that Coq can state, and one that joins them."""
    ends = [claim.start, *(s.expr for s in claim.steps)]
    steps, why = statable(ends, notation_of)
    if not steps:
        return Source(None, why[0])
    single, whole = len(claim.steps) == 1, len(steps) == len(claim.steps)
    notation = notation_of()
    texts = {k: state_equation(notation, ends[k - 1], ends[k]) for k in steps}
    proof = write_script(notation, claim)  # one proof for every step
    theorems = [Theorem("claim" if single else f"step_{k}", claim.steps[k - 1].reason, texts[k], proof) for k in steps]
    if whole and not single:
        theorems.append(Theorem("claim", "The whole", state_equation(notation, ends[0], ends[-1]), [f"exact: {join_steps(len(steps))}."]))
    trees = [e for k in steps for e in ends[k - 1 : k + 1]]
    theorems = [*preliminary(notation, trees), *theorems]
    return Source(write_file(claim, topic, notation, trees, theorems), "; ".join(why), tuple(steps), whole, scope(notation))


def statable(ends: Sequence[Expr], notation_of: type[Notation]) -> tuple[list[int], list[str]]:
    """Return the steps that Coq can state, counted from 1, and the reasons why it cannot state the others."""
    steps, why = [], []
    for k, (left, right) in enumerate(zip(ends, ends[1:]), 1):
        try:
            state_equation(notation_of(), left, right)
            steps.append(k)
        except NotForCoq as reason:
            why.append(f"step {k} has {reason}" if len(ends) > 2 else str(reason))
    return steps, why


def join_steps(last: int) -> str:
    """Return the Coq term that joins steps 1 to `last` by transitivity."""
    term = f"step_{last}"
    for k in range(last - 1, 0, -1):
        term = f"etrans step_{k} {term if k == last - 1 else f'({term})'}"
    return term


def state_inequality(claim: Claim, topic: str, notation_of: type[Notation] = Notation) -> Source:
    """Return the file of an inequality: right - left equals the nonnegative form that the claim gives, and that is not negative.

    Raise NotForCoq if the claim does not compare numbers or gives no such form.
    """
    if claim.start.op == "rank":
        return rank_bound(claim, topic)
    left, right = claim.start, claim.steps[0].expr
    if len(claim.because) != 1 or left.shape or claim.because[0].shape:
        raise NotForCoq("an inequality that is not between numbers")
    (nonnegative_form,) = claim.because
    reject_standard_gaps(nonnegative_form)
    notation = notation_of()
    notation.need(REAL)
    difference = state_equation(notation, Expr("add", (right, Expr("neg", (left,)))), nonnegative_form)
    statement = f"{notation.show(left)} <=\n  {notation.show(right)} :> R"
    theorems = [
        Theorem("certificate", "What the right side has more", difference, write_script(notation, claim)),
        Theorem("claim", claim.steps[0].reason, statement, [*notation.opening, "rewrite -subr_ge0 certificate; nonnegative."]),
    ]
    trees = [left, right, nonnegative_form]
    return Source(write_file(claim, topic, notation, trees, [*preliminary(notation, trees), *theorems]), "", (1,), True, scope(notation))


def reject_standard_gaps(form: Expr) -> None:
    """Raise NotForCoq if the sign of the form rests on an inequality that the prelude has no lemma for: Gibbs', a tangent's, a length's."""
    for n in walk(form):
        if n.op == "sum" and has_logarithm_beside(n.args[0]):
            raise NotForCoq("a sum of logarithms, whose sign rests on Gibbs' inequality")
        if n.op == "add" and is_tangent_or_length_gap(list_summands(n)):
            raise NotForCoq("a sign that rests on an inequality of exponentials, logarithms or lengths")


def has_logarithm_beside(e: Expr) -> bool:
    """Return whether a logarithm is a summand or a factor of e."""
    if e.op in ("add", "mul", "neg", "paren", "div"):
        return any(map(has_logarithm_beside, e.args))
    return (e.op, e.data) == ("function", "log")


def is_tangent_or_length_gap(summands: list[tuple[Expr, int]]) -> bool:
    """Return whether f(u) is beside u for an exponential, a logarithm or tanh, or a length or a modulus is subtracted from two terms."""
    terms = [e for e, _ in summands]
    curves = [e.args[0] for e in terms if e.op == "function" and e.data in ("exp", "log", "tanh")]
    beside_argument = any(list_summands(u)[0][0] in terms for u in curves)
    subtracted = any(e.op == "function" and e.data in ("norm", "abs") and sign < 0 for e, sign in summands)
    return beside_argument or subtracted and len(terms) > 2


def list_summands(e: Expr, sign: int = 1) -> list[tuple[Expr, int]]:
    """Return the summands of e with their signs."""
    e = strip_brackets(e)
    if e.op == "add":
        return [summand for part in e.args for summand in list_summands(part, sign)]
    return list_summands(e.args[0], -sign) if e.op == "neg" else [(e, sign)]


def preliminary(notation: Notation, trees: Sequence[Expr]) -> list[Theorem]:
    """Return the theorems about the trees that come before the claim's."""
    return [Theorem(*t) for t in notation.preliminary_theorems(set().union(*map(free_indices, trees)))]


def scope(notation: Notation) -> str:
    """Return what the theorems hold over, in words."""
    return notation.scope or SCOPES[notation.level]


def rank_bound(claim: Claim, topic: str) -> Source:
    """Return the file of a bound on a rank: the matrix is a product whose inner axis has that size. Raise NotForCoq otherwise."""
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
    bounded = f"(\\rank ({shown})%R <= {notation.size(bound)})%N"  # %R: products inside are products in the ring
    theorems = [Theorem("claim", claim.steps[0].reason, bounded, ["exact: mulmx_max_rank."])]
    if shown != factored:
        theorems = [
            Theorem("certificate", "A factorisation", f"{shown} = {factored}", write_script(notation, claim)),
            Theorem("claim", claim.steps[0].reason, bounded, ["rewrite certificate; exact: mulmx_max_rank."]),
        ]
    return Source(write_file(claim, topic, notation, [body, product], theorems), "", (1,), True, SCOPES[notation.level])


def state_equation(notation: Notation, left: Expr, right: Expr) -> str:
    """Return the statement left = right."""
    text = f"{notation.show(left)} =\n  {notation.show(right)}"
    return text if left.shape else f"{text} :> R"
