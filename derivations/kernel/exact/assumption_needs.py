"""Shows that each assumption of a claim is needed: a counterexample without it, or an error that says that it is not."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ..core.assumptions import Assumption, describe_assumption, has_moment
from ..core.claims import Claim
from ..core.expr import Expr, lift, show, symbols
from ..errors import KernelError
from .assumption_consistency import (
    find_empty_sizes,
    find_negative_variance,
)
from .assumption_facts import collect_facts, require_variances
from .atom_payloads import Unsupported
from .counterexample_search import SIGNS, Counterexample, describe_heavy_tails, find_counterexample, has_only_sizes, is_law
from .given_values import (
    ProofFailed,
    assumption_to_script,
    explain_no_counterexample,
    explain_violation,
    find_failure_at,
    iterate_index_values,
    read_values,
    sketch_values,
)
from .limit_counterexamples import explain_limit_failure, explain_no_limit_failure, find_limit_counterexample, list_fixed_assumptions
from .normal_form import Facts
from .proofs import PROOFS, collect_claim_facts, evaluate_law_sides
from .tree_to_normal_form import normalize


def find_failure(claim: Claim, left: Expr, right: Expr, given: tuple) -> Counterexample | str | None:
    """Return where a step fails under these assumptions or a side has no value; None or '' if nothing is found."""
    if claim.kind != "limit":
        return find_counterexample(left, right, given, "<=" if claim.kind == "inequality" else "=", undefined=True)
    return find_limit_counterexample(left, right, claim.towards, given) or find_counterexample(
        right, right, list_fixed_assumptions(given, claim.towards), undefined=True
    )


def show_needed(claim: Claim, assumption: Assumption) -> str:
    """Return how the claim fails without the assumption. Raise ProofFailed if it does not."""
    others = tuple(a for a in claim.given if a != assumption)
    hint = dict(claim.without).get(assumption)
    weaker = remaining_moments(claim, assumption, others)
    if is_proved_under(claim, others):
        if rules_out := explain_ruled_out_sizes(claim, assumption, others):
            return rules_out
        raise ProofFailed(
            format_not_needed(assumption, explain_known_near_limit(claim, assumption) + "the proof goes through without it. Drop it"),
            code="assumption-not-needed",
        )
    if weaker and is_sufficient(claim, others + weaker):
        instead = ", ".join(map(assumption_to_script, weaker))
        raise ProofFailed(
            format_not_needed(
                assumption, f"it is enough that {' and '.join(map(describe_assumption, weaker))}. Drop it, and state {instead} in its place"
            ),
            code="assumption-too-strong",
        )
    others += weaker
    found = check_hint(claim, assumption, others, hint) if hint is not None else search_without(claim, others)
    if found := found or explain_ruled_out_sizes(claim, assumption, others):
        return str(found)
    if claim.kind == "refutation":
        tried, code = "the sides have the same values without it. Drop it", "assumption-not-needed"
    else:
        tried = "the proof does not go through without it, but no counterexample was found. Prove the claim without it"
        if not is_law(*claim.trees):  # what is random has no values
            tried += f", or give one with without={{{assumption_to_script(assumption)}: {{{sketch_values(claim)}}}}}"
        code = "need-not-shown"
    raise ProofFailed(format_not_needed(assumption, tried), code=code)


def explain_ruled_out_sizes(claim: Claim, assumption: Assumption, others: tuple) -> str:
    """Return that an assumption about sizes rules out some at which the other assumptions contradict each other, or ''."""
    sizes = find_empty_sizes(replace(claim, given=others)) if constrains_sizes(assumption) else None
    return f"with {format_sizes(sizes)} the other assumptions leave nothing" if sizes else ""


def explain_known_near_limit(claim: Claim, a: Assumption) -> str:
    """Return the remark that an assumption about the variable of a limit alone need not be stated, '' for others."""
    return f"what is so of {show(a.args[0])} near the limit is known, and " if claim.kind == "limit" and a.args == claim.towards[:1] else ""


def constrains_sizes(a: Assumption) -> bool:
    """Return whether an assumption restricts sizes."""
    return a.kind in SIGNS and has_only_sizes(*a.args)


def format_sizes(sizes: dict[str, int]) -> str:
    """Return sizes as text, such as "n = 2, m = 1"."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def format_not_needed(assumption: Assumption, tried: str) -> str:
    """Return the message that an assumption is not shown to be needed; `tried` says what was found."""
    return f"the assumption '{describe_assumption(assumption)}' is stated but not shown to be needed: {tried}"


def list_sides(claim: Claim) -> list[tuple[Expr, Expr]]:
    """Return pairs of sides to try: first the whole claim, where a counterexample says most, then each step."""
    ends = [claim.start, *(step.expr for step in claim.steps)]
    return list(dict.fromkeys([(ends[0], ends[-1]), *zip(ends, ends[1:])]))


def search_without(claim: Claim, others: tuple) -> Counterexample | str | None:
    """Return a counterexample to the claim under the other assumptions, or None or ''."""
    return next((found for left, right in list_sides(claim) if (found := find_failure_without(claim, left, right, others))), None)


def check_hint(claim: Claim, assumption: Assumption, others: tuple, hint: tuple) -> Counterexample | str:
    """Return the counterexample that the author gave. Raise Fails with the reason if it is none."""
    about = f"without={{...}} does not show that the assumption '{describe_assumption(assumption)}' is needed: "
    if claim.kind == "limit":
        return check_limit_hint(claim, assumption, others, hint, about)
    relation = "<=" if claim.kind == "inequality" else "="
    try:
        env = read_values(replace(claim, given=others), hint)
    except KernelError as error:
        raise ProofFailed(about + str(error), code=error.code) from None
    for left, right in list_sides(claim):
        if found := find_failure_at(left, right, others, relation, env):
            return found
    (left, right), *_ = list_sides(claim)
    indexed = next(iterate_index_values(env, left, right))
    failure = explain_no_counterexample(left, right, others, relation, indexed)
    compared = failure.code in ("no-counterexample", "not-settled")
    still_holds = compared and not explain_violation(assumption, indexed, left, right)
    remedy = "; the assumption holds there, so choose values that break it" * still_holds
    raise ProofFailed(f"{about}{failure}{remedy}", code=failure.code)


def check_limit_hint(claim: Claim, assumption: Assumption, others: tuple, hint: tuple, about: str) -> str:
    """Return the counterexample that the author gave for a limit. It gives values to everything but the variable."""
    variable, to = claim.towards
    name, sides = variable.data[0], (claim.start, claim.steps[0].expr)
    if name in dict(hint):
        raise ProofFailed(
            f"{about}a value is given for {name}, which goes to {to}: what is so at one value of it says nothing of the limit. "
            "Give values to everything else",
            code="value-not-allowed",
        )
    try:
        env = read_values(replace(claim, given=others), (*hint, *[(name, lift(1))] * (name in symbols(*claim.trees))))
    except KernelError as error:
        raise ProofFailed(about + str(error), code=error.code) from None
    env = {symbol: value for symbol, value in env.items() if symbol != name}
    if found := explain_limit_failure(*sides, claim.towards, others, env):
        return found
    still_holds = not explain_violation(assumption, env, *sides)
    raise ProofFailed(
        about
        + explain_no_limit_failure(*sides, claim.towards, others, env)
        + "; the assumption holds there, so choose values that break it" * still_holds,
        code="no-counterexample",
    )


def is_proved_under(claim: Claim, given: tuple) -> bool:
    """Return whether the exact witness proves the claim under fewer assumptions."""
    if claim.kind == "refutation":
        return False
    facts = collect_claim_facts(claim, given)
    require_variances(given, facts)
    return is_provable(claim, facts) and not facts.unstated


def is_provable(claim: Claim, facts: Facts) -> bool:
    """Return whether the proof goes through, apart from what it uses without its being stated, which `facts` then records."""
    previous = claim.start
    try:
        for step in claim.steps:
            if PROOFS[claim.kind](claim, previous, step.expr, facts):
                return False
            previous = step.expr
    except KernelError:
        return False
    return True


def remaining_moments(claim: Claim, assumption: Assumption, others: tuple) -> tuple:
    """Return assumptions that the moments exist that the claim needs, if `assumption` implies them and says more than that."""
    if assumption.kind not in ("mean", "variance", "gaussian", "moment", "zero_or_one"):
        return ()
    facts, about = collect_facts(others), {x.data[0]: x for x in assumption.args if x.op == "symbol"}
    for tree in (claim.start, *(step.expr for step in claim.steps)):
        with suppress(KernelError):
            normalize(tree, facts)
    weaker = tuple(has_moment(about[name], order) for name, order in facts.required_moments.items() if name in about)
    return tuple(a for a in weaker if a != assumption)


def weaken_assumption(claim: Claim, assumption: Assumption, others: tuple) -> tuple:
    """Return the claim's assumptions with `assumption` replaced by as little of it as the claim needs."""
    choices = (others, others + remaining_moments(claim, assumption, others))
    return next((given for given in choices if is_sufficient(claim, given)), (*others, assumption))


def is_sufficient(claim: Claim, given: tuple) -> bool:
    """Return whether these assumptions are enough for the proof or, for a refuted law, to compute its sides."""
    return not explain_undefined_sides(claim, given) if claim.kind == "refutation" else is_proved_under(claim, given)


def find_failure_without(claim: Claim, left: Expr, right: Expr, given: tuple) -> Counterexample | str | None:
    """Return where the relation fails under these assumptions, in words or as a counterexample, or None or ''."""
    if claim.kind == "refutation" and is_law(left, right):
        return explain_undefined_sides(claim, given)
    if claim.kind == "refutation":
        return None
    return find_failure(claim, left, right, given) or explain_missing_moment(left, right, given) or explain_negative_variance(given)


def explain_negative_variance(given: tuple) -> str:
    """Return where a stated variance would be negative; '' if all are visibly nonnegative."""
    require_variances(given, facts := collect_facts(given))
    return find_negative_variance(given) if facts.missing else ""


def explain_missing_moment(left: Expr, right: Expr, given: tuple) -> str:
    """Return distributions for which a side has no mean; '' if every moment that is used is stated to exist."""
    facts = collect_facts(given)
    try:
        for side in (left, right):
            normalize(side, facts)
    except KernelError:
        return ""
    return describe_heavy_tails(facts.required_moments)


def explain_undefined_sides(claim: Claim, given: tuple) -> str:
    """Return why the sides of a refuted law have no definite value under fewer assumptions, '' if they have one."""
    facts = collect_facts(given)
    try:
        evaluate_law_sides(claim, facts, read_values(claim))
    except (KeyError, Unsupported):
        return "the sides have no definite value"
    return describe_heavy_tails(facts.required_moments) or ("the sides have no definite value" if facts.unstated else "")
