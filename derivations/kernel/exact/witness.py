"""Checks a claim with the exact witness: the proof, and everything that makes it reject a claim."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from ..core.assumptions import describe_assumption
from ..core.claims import EVERY_SHAPE, Claim, Rejected, Verdict
from ..core.expr import Expr, free_indices, show, strip_brackets, symbols
from ..errors import KernelError
from .assumption_consistency import (
    find_empty_sizes,
    find_index_only_assumption,
    find_negative_variance,
    find_pinned_value,
    find_unrelated_random,
    has_example,
    list_size_assumptions,
    suggest_size_bound,
)
from .assumption_facts import list_implied, require_variances
from .assumption_needs import find_failure, format_sizes, show_needed
from .atom_payloads import Unsupported
from .counterexample_search import LARGEST_SIZES, describe_heavy_tails, find_counterexample, list_sizes_to_try
from .given_values import ProofFailed, assumption_to_script
from .normal_form import Facts
from .order_decision import Unequal, compares_positions
from .proofs import ORDERS, PROOFS, collect_claim_facts
from .sufficient_assumptions import explain_failure

RELATIONS = {"definition": (":=",), "inequality": ("<=",), "limit": ("->",), "refutation": ("!=", "!<=")}


def exact(claim: Claim) -> Verdict:
    """Prove the claim and return the verdict. Raise Rejected with the step, the remaining difference and a counterexample if it fails."""
    try:
        return check(claim)
    except KernelError as error:
        message, code = explain_failure(claim, error, check)
        raise Rejected(claim.file, claim.line, claim.id, message, code=code) from None


def check(claim: Claim) -> Verdict:
    """Prove the claim and return the verdict, with how the claim fails without each assumption. Raise KernelError if it is rejected."""
    relations, many = RELATIONS.get(claim.kind, ("=",)), claim.kind not in RELATIONS
    has_wrong_form = any(s.relation not in relations for s in claim.steps) or not claim.steps or len(claim.steps) > 1 and not many
    if has_wrong_form or claim.kind == "definition" and (claim.start.op, claim.start.args) != ("defined", (claim.steps[0].expr,)):
        raise ProofFailed(f"its steps are not those of a claim of kind '{claim.kind}'", code="wrong-steps")
    if unrelated := find_unrelated_random(claim):
        raise ProofFailed(UNRELATED_RANDOM.format(" and ".join(map(show, unrelated))), code="unrelated-random")
    previous, ways = claim.start, []
    for k, step in enumerate(claim.steps, 1):
        where = f"step {k}: " if len(claim.steps) > 1 else ""
        try:
            if strip_brackets(previous) == strip_brackets(step.expr):
                raise ProofFailed(
                    "vacuous: both sides are the same expression already, so there is nothing to prove. "
                    "State a relation between two different expressions",
                    code="vacuous",
                )
            ways.append(prove(claim, previous, step.expr, claim.given))
        except KernelError as error:
            raise ProofFailed(where + str(error), error.code, getattr(error, "proposed", ())) from None
        previous = step.expr
    if vacuity := explain_vacuity(replace(claim, given=claim.given + list_implied(claim.given))):
        raise vacuity
    return replace(make_verdict(claim, next(filter(None, ways), "")), needed=tuple(show_needed(claim, a) for a in claim.given))


NUMBER_NOTE = " It is said of a number, of which nothing is assumed: avoid needing it"
NO_VALUES = "no values were found, with {}, at which all its assumptions hold: {}"
OPEN_INDEX = "one with an open index is made for each of its values, and two of these may contradict each other. State it of one entry, such as z[1], or "
CONTRADICTION = "they may contradict each other there. "
UNRELATED_RANDOM = (
    "{} is random and stands in no side of the claim: what is assumed of it can say anything of what is claimed. State what is meant of "
    "the sides themselves, such as nonnegative(y - x)"
)
PINNED_VALUE = (
    "its assumptions were found to leave one value only, {}: what is claimed is said of that value, and of no other. Write it in, or "
    "assume less"
)


INDICES_ONLY = (
    "the assumption '{}' is about sizes: an open index takes each of its values, up to the largest. State it of the size, as in "
    "nonnegative(30 - n) for nonnegative(30 - i)"
)


def explain_vacuity(claim: Claim) -> ProofFailed | None:
    """Return why the claim says less than it seems to, because its assumptions contradict each other or pin a value; None if they do not."""
    if not claim.given or claim.kind == "refutation":  # a refutation names values at which its assumptions hold
        return None
    if about := find_index_only_assumption(claim):
        return ProofFailed(INDICES_ONLY.format(describe_assumption(about)), code="assumption-about-index")
    if not has_example(claim):
        return ProofFailed(explain_no_example(claim), code="contradictory-assumptions")
    if sizes := find_empty_sizes(claim):
        return explain_empty_sizes(claim, sizes)
    point = find_pinned_value(claim)
    return ProofFailed(PINNED_VALUE.format(point), code="single-value") if point else None


def explain_empty_sizes(claim: Claim, sizes: dict[str, int]) -> ProofFailed:
    """Return the failure that no values were found at these sizes, with a remedy."""
    several = max(sizes.values()) > 1 and any(free_indices(x) for a in claim.given for x in a.args)
    rule = suggest_size_bound(claim, sizes)
    bound = assumption_to_script(rule) if rule else ""
    remedy = f"rule such sizes out, as in {bound}" if rule else "assume less"
    message = NO_VALUES.format(format_sizes(sizes), OPEN_INDEX + remedy if several else CONTRADICTION + remedy[0].upper() + remedy[1:])
    return ProofFailed(message, "impossible-sizes", [bound] * bool(rule))


def explain_no_example(claim: Claim) -> str:
    """Return the message that no values satisfy the assumptions, with the smallest set of assumptions that fail together."""
    message = "no values were found at which all its assumptions hold: they may contradict each other, and then anything follows"
    if about := sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size"):
        most = max(map(max, list_sizes_to_try(about, claim.given)), default=LARGEST_SIZES.get(len(about), 3))
        message = message.replace(" were found", f" were found, with sizes up to {most},")
    for count in range(1, len(claim.given) + 1):
        for some in combinations(claim.given, count):
            if not has_example(replace(claim, given=some), sides=False):
                return f"{message}. Look at " + " and ".join(f"'{describe_assumption(a)}'" for a in some)
    return f"{message}. The assumptions hold somewhere, but there a side has no value" if claim.given else message


def prove(claim: Claim, left: Expr, right: Expr, given: tuple) -> str:
    """Prove that left and right are in the claim's relation under the assumptions `given`. Raise ProofFailed if the proof fails.

    Return the way in which they were proved to be equal, if not by one normal form.
    """
    facts = collect_claim_facts(claim, given)
    facts.near = (left, right)
    if claim.kind != "refutation":  # a refutation names values, which are checked
        require_variances(given, facts)
    sizes: dict[str, int] | None = None  # at which a counterexample is likely, beside the small ones
    try:
        failure = PROOFS[claim.kind](claim, left, right, facts)
    except Unsupported as error:
        failure = ProofFailed(str(error), code=error.code)
        sizes = error.sizes if isinstance(error, Unequal) else None
    if failure:
        facts.missing |= facts.possible_independence  # independence would factor the joint moments that are left
    relation = "<=" if claim.kind == "inequality" else "="
    searched = failure and claim.kind not in ("limit", "refutation", "definition") and not facts.missing
    if searched and (found := find_counterexample(left, right, given, relation, undefined=True, sizes=sizes)):
        raise ProofFailed(
            f"false: {found}, where {show(left)} was to be {'at most' if relation == '<=' else 'equal to'} {show(right)}",
            "false-claim",
            getattr(failure, "proposed", ()),
        )
    if facts.unstated:
        raise ProofFailed(explain_unstated(claim, left, right, given, facts), "assumption-missing", facts.remedies)
    if failure:
        raise failure
    return facts.other_way


def explain_unstated(claim: Claim, left: Expr, right: Expr, given: tuple, facts: Facts) -> str:
    """Return the message that something was used without being stated, with a counterexample."""
    if facts.missing:
        found = find_failure(claim, left, right, given) or find_negative_variance(given)
    else:
        found = describe_heavy_tails(facts.required_moments)
    return (
        f"used but not stated: {'; '.join(facts.unstated)}." + f" Without it, {found}." * bool(found) + NUMBER_NOTE * (not facts.remedies)
    )


def make_verdict(claim: Claim, other_way: str = "") -> Verdict:
    """Return the verdict on a claim that was proved, if need be in another way than by one normal form."""
    scopes = {
        "definition": (
            "not applicable",
            "notation",
            "a definition has nothing to prove; its name is new, and it is defined under what is stated",
        ),
        "limit": ("proved", "limit", "series with exact coefficients"),
        "refutation": ("refuted", "exact counterexample", "both sides evaluated exactly at the counterexample"),
    }
    if claim.kind in scopes:
        return Verdict("exact", *scopes[claim.kind])
    symbolic = any(s.data[1] == "size" for s in symbols(*claim.trees).values())
    shapes = f"{EVERY_SHAPE} that the assumptions allow" if list_size_assumptions(claim.given + list_implied(claim.given)) else EVERY_SHAPE
    note = {
        "law": "expectation of the normal form, split by which indices coincide",
        "inequality": "the difference is visibly not negative",
    }
    way = ORDERS if compares_positions(*claim.trees) else other_way or "both sides have one normal form"
    return Verdict("exact", "proved", shapes if symbolic else "every value", note.get(claim.kind, way))
