"""Checks a claim with the exact witness: the proof, and everything that makes it reject a claim."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product

from ..core.assumptions import Assumption, assumption_text, has_moment
from ..core.claims import EVERY, Claim, Refused, Verdict
from ..core.expr import Expr, free_indices, lift, named, own_sizes, show, strip, symbols, walk
from ..errors import KernelError
from ..printing.plain_text import show_shape
from . import exact_evaluation, log_identities
from .assumption_consistency import (
    empty_sizes,
    example,
    negative_variance,
    only_of_indices,
    pinned,
    ruled_sizes,
    ruling_out,
    strangers,
)
from .assumption_facts import facts_of, require_variances
from .atom_payloads import Unknown
from .counterexample_search import LARGEST, SIGNS, counterexample, failure, heavy_tails, is_law, of_sizes, sizes_to_try
from .denominators import clear_denominators
from .given_values import Fails, as_written, at_hint, at_these, broken, every_index, missing, problem, some_values, values_at
from .limit_counterexamples import failing_limit, fails_at, no_failure, other_limit, standing_still
from .nonnegativity import by_cases, doubt, increase, term_by_term
from .normal_form import Facts
from .polynomial_printing import in_short, show_polynomial
from .polynomials import add, scale
from .series_limits import limit, near, on_the_way
from .tree_to_normal_form import read


def equal(left: Expr, right: Expr, facts: Facts) -> dict:
    """Return the difference of two expressions in normal form with denominators cleared; {} if they are equal."""
    for places in iterate_axis_values(left, right):
        difference = add(read(left, facts, places), scale(read(right, facts, places), -1))
        residual = clear_denominators(difference, facts)
        if residual and not log_identities.cancel(difference, facts):
            return residual
    return {}


def iterate_axis_values(*trees: Expr):
    """Yield the values of axes and free indices of known size, in every combination. Those of symbolic size stay general."""
    axes = {f"axis {k}": size for k, size in enumerate(trees[0].shape)} | {i.data[0]: i.data[1] for t in trees for i in free_indices(t)}
    known = {name: size for name, size in axes.items() if size.op == "const"}
    for chosen in product(*(range(1, int(size.data) + 1) for size in known.values())):
        yield dict(zip(known, chosen))


RELATIONS = {"definition": (":=",), "inequality": ("<=",), "limit": ("->",), "refutation": ("!=", "!<=")}


def exact(claim: Claim) -> Verdict:
    """Prove the claim and return the verdict. Raise Refused with the step, the remaining difference and a counterexample if it fails."""
    relations, many = RELATIONS.get(claim.kind, ("=",)), claim.kind not in RELATIONS
    has_wrong_form = any(s.relation not in relations for s in claim.steps) or not claim.steps or len(claim.steps) > 1 and not many
    if has_wrong_form or claim.kind == "definition" and (claim.start.op, claim.start.args) != ("defined", (claim.steps[0].expr,)):
        raise Refused(claim.file, claim.line, claim.id, f"its steps are not those of a claim of kind '{claim.kind}'")
    if unrelated := strangers(claim):
        raise Refused(claim.file, claim.line, claim.id, UNRELATED_RANDOM.format(" and ".join(map(show, unrelated))))
    previous = claim.start
    for k, step in enumerate(claim.steps, 1):
        where = f"step {k}: " if len(claim.steps) > 1 else ""
        try:
            if strip(previous) == strip(step.expr):
                raise Fails(
                    "vacuous: both sides are the same expression already, so there is nothing to prove. "
                    "State a relation between two different expressions"
                )
            prove(claim, previous, step.expr, claim.given)
        except KernelError as error:
            raise Refused(claim.file, claim.line, claim.id, where + str(error)) from None
        previous = step.expr
    if vacuity := explain_vacuity(claim):
        raise Refused(claim.file, claim.line, claim.id, vacuity)
    return replace(make_verdict(claim), needed=tuple(show_needed(claim, a) for a in claim.given))


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


def explain_vacuity(claim: Claim) -> str:
    """Return why the claim says less than it seems to, because its assumptions contradict each other or pin a value; '' if they do not."""
    if not claim.given or claim.kind == "refutation":  # a refutation names values at which its assumptions hold
        return ""
    if about := only_of_indices(claim):
        return INDICES_ONLY.format(assumption_text(about))
    if not example(claim):
        return explain_no_example(claim)
    if sizes := empty_sizes(claim):
        return explain_empty_sizes(claim, sizes)
    point = pinned(claim)
    return point and PINNED_VALUE.format(point)


def explain_empty_sizes(claim: Claim, sizes: dict[str, int]) -> str:
    """Return the message that no values were found at these sizes, and a remedy."""
    several = max(sizes.values()) > 1 and any(free_indices(x) for a in claim.given for x in a.args)
    rule = ruling_out(claim, sizes)
    remedy = f"rule such sizes out, as in {as_written(rule)}" if rule else "assume less"
    return NO_VALUES.format(format_sizes(sizes), OPEN_INDEX + remedy if several else CONTRADICTION + remedy[0].upper() + remedy[1:])


def explain_no_example(claim: Claim) -> str:
    """Return the message that no values satisfy the assumptions, with the smallest set of assumptions that fail together."""
    says = "no values were found at which all its assumptions hold: they may contradict each other, and then anything follows"
    if about := sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size"):
        most = max(map(max, sizes_to_try(about, claim.given)), default=LARGEST.get(len(about), 3))
        says = says.replace(" were found", f" were found, with sizes up to {most},")
    for count in range(1, len(claim.given) + 1):
        for some in combinations(claim.given, count):
            if not example(replace(claim, given=some), sides=False):
                return f"{says}. Look at " + " and ".join(f"'{assumption_text(a)}'" for a in some)
    return f"{says}. The assumptions hold somewhere, but there a side has no value" if claim.given else says


def prove(claim: Claim, left: Expr, right: Expr, given: tuple):
    """Prove that left and right are in the claim's relation under the assumptions `given`. Raise Fails if the proof fails."""
    facts = collect_claim_facts(claim, given)
    facts.near = (left, right)
    if claim.kind != "refutation":  # a refutation names values, which are checked
        require_variances(given, facts)
    try:
        reason = PROOFS[claim.kind](claim, left, right, facts)
    except Unknown as error:
        reason = str(error)
    if reason:
        facts.missing |= facts.possible_independence  # independence would factor the joint moments that are left
    searched = reason and claim.kind not in ("limit", "refutation", "definition") and not facts.missing
    relation = "<=" if claim.kind == "inequality" else "="
    if found := searched and counterexample(left, right, given, relation, undefined=True):
        raise Fails(f"false: {found}, where {show(left)} was to be {'at most' if relation == '<=' else 'equal to'} {show(right)}")
    if facts.unstated:
        found = find_failure(claim, left, right, given) if facts.missing else heavy_tails(facts.required_moments)
        found = found or facts.missing and negative_variance(given)
        raise Fails(
            f"used but not stated: {'; '.join(facts.unstated)}."
            + (f" Without it, {found}." if found else "")
            + (f" State it with given=[{', '.join(drop_implied(facts.remedies))}], or avoid needing it" if facts.remedies else NUMBER_NOTE)
        )
    if reason:
        raise Fails(reason)


def collect_claim_facts(claim: Claim, given: tuple) -> Facts:
    """Return the facts that may be used: the assumptions and, for a limit, what holds for its variable near the limit."""
    return facts_of(given + on_the_way(claim.towards[0])) if claim.kind == "limit" else facts_of(given)


def find_failure(claim: Claim, left: Expr, right: Expr, given: tuple):
    """Return where a step fails under these assumptions or a side has no value; None or '' if nothing is found."""
    if claim.kind != "limit":
        return counterexample(left, right, given, "<=" if claim.kind == "inequality" else "=", undefined=True)
    return failing_limit(left, right, claim.towards, given) or counterexample(
        right, right, standing_still(given, claim.towards), undefined=True
    )


def drop_implied(remedies: list) -> list:
    """Return the assumptions without duplicates and without those that another one implies."""
    stronger = {
        f"{weaker}{x.removeprefix('positive')}" for x in remedies if x.startswith("positive(") for weaker in ("nonzero", "nonnegative")
    }
    return [x for x in dict.fromkeys(remedies) if x not in stronger]


def prove_equality(claim, left, right, facts):
    """Return why two sides are not equal, or a false value. The other `prove_*` functions do the same for their kinds of claims."""
    residual = equal(left, right, facts)
    return (
        residual
        and f"not proved: left - right has the normal form {in_short(show_polynomial(residual, left, right), 400)}, and no small counterexample was found"
    )


def prove_inequality(claim, left, right, facts):
    if left.op == "rank":
        return prove_rank(claim, left, right, facts)
    if len(claim.because) != 1 or certificate_shape(claim):
        return "an inequality between numbers needs one certificate, because=..., a number that is visibly not negative"
    if any(n.op == "imaginary" for tree in claim.trees for n in walk(tree)):
        return "complex numbers have no order"
    (certificate,) = claim.because
    if strip(certificate) == strip(right - left) and not any(seen(certificate, facts) for seen in (increase, by_cases, term_by_term)):
        return "the certificate repeats the difference of the two sides; write it as something visibly not negative"
    residual = equal(right - left, certificate, facts)
    if residual:
        return f"right - left is not the certificate {show(certificate)}; they differ by {in_short(show_polynomial(residual, left, right), 300)}"
    return doubt(certificate, facts)


def certificate_shape(claim) -> tuple:
    return claim.because[0].shape or claim.start.shape


def prove_rank(claim, left, right, facts):
    """Check a bound on a rank: a matrix that factors through r columns has rank at most r."""
    if len(claim.because) != 2:
        return "a bound on a rank needs a factorisation, because=(A, B)"
    first, second = claim.because
    product = first @ second
    if len(first.shape) != 2 or product.shape != left.args[0].shape:
        return (
            f"factors of shapes {show_shape(first.shape)} and {show_shape(second.shape)} do not make a matrix of shape "
            f"{show_shape(left.args[0].shape)}"
        )
    if first.shape[1] != right:
        return f"the factorisation goes through {show(first.shape[1])} columns, not {show(right)}"
    residual = equal(left.args[0], product, facts)
    return (
        residual
        and f"{show(product)} is not {show(left.args[0])}: they differ by {in_short(show_polynomial(residual, *left.args, product), 300)}"
    )


def prove_limit(claim, left, right, facts):
    variable, to = claim.towards
    for a in claim.given:
        if variable in named(*a.args) and (a.kind not in SIGNS or a.args != (variable,)):
            raise Unknown(
                f"an assumption about {show(variable)}, which moves: '{assumption_text(a)}' is said of a point, and need not hold on the way"
            )
    if any(variable in own_sizes(n) for t in (left, right) for n in walk(t)):
        raise Unknown(f"a limit in {show(variable)}, which is the size of a sum or a tensor here")
    if variable in set(walk(right)):
        raise Unknown(f"a limit that still contains {show(variable)}")
    goes = f"as {show(variable)} -> {to}"
    try:
        with near(facts, variable, to):
            found = limit(read(left, facts), variable, to, facts)
    except Unknown as error:
        if elsewhere := other_limit(left, right, claim.towards, claim.given):
            raise Fails(f"false: {elsewhere}") from None
        raise Unknown(f"{goes}: {error}") from None
    except KernelError as error:
        raise Fails(f"{goes}: {error}") from None
    residual = clear_denominators(add(found, scale(read(right, facts), -1)), facts)
    return residual and (
        f"{goes} the series gives another limit: {in_short(show_polynomial(found, left, right), 300)}, not {show(right)}; "
        f"they differ by {in_short(show_polynomial(residual, left, right), 300)}"
    )


def prove_refutation(claim, left, right, facts):
    at = values_at(claim)
    if is_law(left, right):
        return explain_law_refutation(claim, left, right, facts, at)
    sides = failure(left, right, claim.given, claim.refuted, at)
    return not sides and format_no_counterexample(problem(left, right, claim.given, claim.refuted, at))


def format_no_counterexample(reason: str) -> str:
    """Return the reason why values are no counterexample as a message."""
    return f"{reason}; it is no counterexample" if reason.startswith("at the given values") else reason


def evaluate_law_sides(claim, facts, at):
    """Return both sides of a refuted law for the stated distributions, at the given sizes and numbers."""
    heads = {("size", n): exact_evaluation.number(v) for n, v in at.items() if isinstance(v, int)}
    heads |= {("entry", n): v[()] for n, v in at.items() if isinstance(v, dict)}
    places = {n[1]: k + 1 for n, k in at.items() if isinstance(n, tuple)}
    return [exact_evaluation.polynomial_value(read(e, facts, places), heads) for e in (claim.start, claim.steps[0].expr)]


def sides_at(claim: Claim) -> list:
    """Return both sides of a refuted relation at the counterexample, as entries by place."""
    at = values_at(claim)
    sides = claim.trees[:2]
    if is_law(*sides):
        return [{(): value} for value in evaluate_law_sides(claim, facts_of(claim.given), at)]
    return [exact_evaluation.evaluate(e, at) for e in sides]


def explain_law_refutation(claim, left, right, facts, at):
    """Return why the values do not refute a law, or a false value."""
    for a in claim.given:
        if a.kind in (*SIGNS, "variance", "zero_or_one") and (reason := broken(a, at, left, right)):
            return reason
    try:
        sides = evaluate_law_sides(claim, facts, at)
    except KeyError as error:
        return f"the value depends on {missing(error)}, which is not stated"
    return not exact_evaluation.breaks(claim.refuted, *sides) and format_no_counterexample(
        at_these(claim.refuted, *({(): side} for side in sides))
    )


def prove_definition(claim, left, right, facts):
    open_ = sorted(i.data[0] for i in free_indices(right))
    if open_:
        raise Fails(
            f"{show(right)} has the open index {', '.join(open_)}, and a name holds no index: define the whole vector or matrix, such as "
            "z * g or A @ B or each(z[i]**2, i), and take its entry where the name is used, or write the sum out with total(...)"
        )
    read(right, facts)
    return ""


PROOFS = {
    "identity": prove_equality,
    "chain": prove_equality,
    "law": prove_equality,
    "inequality": prove_inequality,
    "limit": prove_limit,
    "refutation": prove_refutation,
    "definition": prove_definition,
}


def show_needed(claim: Claim, assumption: Assumption) -> str:
    """Return how the claim fails without the assumption. Raise Refused if it does not."""
    others = tuple(a for a in claim.given if a != assumption)
    hint = dict(claim.without).get(assumption)
    weaker = remaining_moments(claim, assumption, others)
    try:
        if still_proved(claim, others):
            if constrains_sizes(assumption) and (sizes := empty_sizes(replace(claim, given=others))):
                return f"with {format_sizes(sizes)} the other assumptions leave nothing"
            raise Fails(
                format_not_needed(assumption, explain_known_near_limit(claim, assumption) + "the proof goes through without it. Drop it")
            )
        if weaker and is_sufficient(claim, others + weaker):
            instead = ", ".join(map(as_written, weaker))
            raise Fails(
                format_not_needed(
                    assumption, f"it is enough that {' and '.join(map(assumption_text, weaker))}. Drop it, and state {instead} in its place"
                )
            )
        others += weaker
        found = check_hint(claim, assumption, others, hint) if hint is not None else search_without(claim, others)
    except KernelError as error:
        raise Refused(claim.file, claim.line, claim.id, str(error)) from None
    if found:
        return str(found)
    tried = (
        "the sides have the same values without it. Drop it"
        if claim.kind == "refutation"
        else "the proof does not go through without it, but no counterexample was found. Drop it, or give one with "
        f"without={{{as_written(assumption)}: {{{some_values(claim)}}}}}"
    )
    raise Refused(claim.file, claim.line, claim.id, format_not_needed(assumption, tried))


def explain_known_near_limit(claim: Claim, a: Assumption) -> str:
    """Return the remark that an assumption about the variable of a limit alone need not be stated, '' for others."""
    return f"what is so of {show(a.args[0])} near the limit is known, and " if claim.kind == "limit" and a.args == claim.towards[:1] else ""


def constrains_sizes(a: Assumption) -> bool:
    """Return whether an assumption restricts sizes."""
    return a.kind in SIGNS and of_sizes(*a.args)


def format_sizes(sizes: dict[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def format_not_needed(assumption: Assumption, tried: str) -> str:
    return f"the assumption '{assumption_text(assumption)}' is stated but not shown to be needed: {tried}"


def list_sides(claim: Claim) -> list:
    """Return pairs of sides to try: first the whole claim, where a counterexample says most, then each step."""
    ends = [claim.start, *(step.expr for step in claim.steps)]
    return list(dict.fromkeys([(ends[0], ends[-1]), *zip(ends, ends[1:])]))


def search_without(claim: Claim, rest: tuple):
    """Return a counterexample to the claim under the other assumptions, or a false value."""
    return next((found for left, right in list_sides(claim) if (found := find_failure_without(claim, left, right, rest))), None)


def check_hint(claim: Claim, assumption: Assumption, rest: tuple, hint: tuple):
    """Return the counterexample that the author gave. Raise Fails with the reason if it is none."""
    about = f"without={{...}} does not show that the assumption '{assumption_text(assumption)}' is needed: "
    if claim.kind == "limit":
        return check_limit_hint(claim, assumption, rest, hint, about)
    relation = "<=" if claim.kind == "inequality" else "="
    try:
        env = values_at(replace(claim, given=rest), hint)
    except KernelError as error:
        raise Fails(about + str(error)) from None
    for left, right in list_sides(claim):
        if found := at_hint(left, right, rest, relation, env):
            return found
    (left, right), *_ = list_sides(claim)
    here = next(every_index(env, left, right))
    reason = problem(left, right, rest, relation, here)
    held = reason.startswith("at the given values") and not broken(assumption, here, left, right)
    raise Fails(about + reason + "; the assumption holds there, so choose values that break it" * held)


def check_limit_hint(claim: Claim, assumption: Assumption, rest: tuple, hint: tuple, about: str) -> str:
    """Return the counterexample that the author gave for a limit. It gives values to everything but the variable."""
    variable, to = claim.towards
    name, sides = variable.data[0], (claim.start, claim.steps[0].expr)
    if name in dict(hint):
        raise Fails(
            f"{about}a value is given for {name}, which goes to {to}: what is so at one value of it says nothing of the limit. "
            "Give values to everything else"
        )
    try:
        env = values_at(replace(claim, given=rest), (*hint, *[(name, lift(1))] * (name in symbols(*claim.trees))))
    except KernelError as error:
        raise Fails(about + str(error)) from None
    env = {symbol: value for symbol, value in env.items() if symbol != name}
    if found := fails_at(*sides, claim.towards, rest, env):
        return found
    held = not broken(assumption, env, *sides)
    raise Fails(
        about + no_failure(*sides, claim.towards, rest, env) + "; the assumption holds there, so choose values that break it" * held
    )


def still_proved(claim: Claim, rest: tuple) -> bool:
    """Return whether the exact witness proves the claim under fewer assumptions."""
    if claim.kind == "refutation":
        return False
    facts = collect_claim_facts(claim, rest)
    require_variances(rest, facts)
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


def remaining_moments(claim: Claim, assumption: Assumption, rest: tuple) -> tuple:
    """Return assumptions that the moments exist that the claim needs, if `assumption` implies them and says more than that."""
    if assumption.kind not in ("mean", "variance", "gaussian", "moment"):
        return ()
    facts, about = facts_of(rest), {x.data[0]: x for x in assumption.args if x.op == "symbol"}
    for tree in (claim.start, *(step.expr for step in claim.steps)):
        with suppress(KernelError):
            read(tree, facts)
    less = tuple(has_moment(about[name], order) for name, order in facts.required_moments.items() if name in about)
    return tuple(a for a in less if a != assumption)


def lessened(claim: Claim, assumption: Assumption, rest: tuple) -> tuple:
    """Return the claim's assumptions with `assumption` replaced by as little of it as the claim needs."""
    choices = (rest, rest + remaining_moments(claim, assumption, rest))
    return next((given for given in choices if is_sufficient(claim, given)), (*rest, assumption))


def is_sufficient(claim: Claim, given: tuple) -> bool:
    """Return whether these assumptions are enough for the proof or, for a refuted law, to compute its sides."""
    return not explain_undefined_sides(claim, given) if claim.kind == "refutation" else still_proved(claim, given)


def find_failure_without(claim, left, right, rest):
    """Return where the relation fails under these assumptions, in words or as a counterexample, or a false value."""
    if claim.kind == "refutation" and is_law(left, right):
        return explain_undefined_sides(claim, rest)
    if claim.kind == "refutation":
        return None
    return find_failure(claim, left, right, rest) or explain_missing_moment(left, right, rest) or explain_negative_variance(rest)


def explain_negative_variance(given: tuple) -> str:
    """Return where a stated variance would be negative; '' if all are visibly nonnegative."""
    require_variances(given, facts := facts_of(given))
    return negative_variance(given) if facts.missing else ""


def explain_missing_moment(left: Expr, right: Expr, given: tuple) -> str:
    """Return distributions for which a side has no mean; '' if every moment that is used is stated to exist."""
    facts = facts_of(given)
    try:
        for side in (left, right):
            read(side, facts)
    except KernelError:
        return ""
    return heavy_tails(facts.required_moments)


def explain_undefined_sides(claim, rest):
    """Return why the sides of a refuted law have no definite value under fewer assumptions, '' if they have one."""
    facts = facts_of(rest)
    try:
        evaluate_law_sides(claim, facts, values_at(claim))
    except (KeyError, Unknown):
        return "the sides have no definite value"
    return heavy_tails(facts.required_moments) or ("the sides have no definite value" if facts.unstated else "")


def make_verdict(claim: Claim) -> Verdict:
    """Return the verdict on a claim that was proved."""
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
    shapes = f"{EVERY} that the assumptions allow" if ruled_sizes(claim.given) else EVERY
    note = {
        "law": "expectation of the normal form, split by which indices coincide",
        "inequality": "the difference is visibly not negative",
    }
    return Verdict("exact", "proved", shapes if symbolic else "every value", note.get(claim.kind, "both sides have one normal form"))
