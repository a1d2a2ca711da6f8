"""Proofs of claims, one function for each kind of claim.

A `prove_*` function returns why the proof fails, or ''. It raises Unsupported for unsupported expressions and ProofFailed if no search for a
counterexample is needed.
"""

from __future__ import annotations

from copy import copy
from itertools import product

from ..core.assumptions import describe_assumption
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, named_nodes, node_sizes, show, strip_brackets, walk
from ..core.operators import is_complex
from ..errors import KernelError
from ..printing.plain_text import plain, show_shape
from ..printing.script_text import script
from . import exact_evaluation, flint_numbers
from .assumption_facts import collect_facts, list_implied
from .atom_payloads import Unsupported, outer_indices, rename_polynomial
from .cancelling_logs import logarithms_cancel
from .clear_denominators import clear_denominators
from .counterexample_search import SIGNS, find_failing_sides, is_law
from .given_values import ProofFailed, compare_sides, describe_missing_value, explain_no_counterexample, explain_violation, read_values
from .growth_scales import UnknownSign
from .induction import list_ranges, proved_by_induction
from .limit_counterexamples import find_other_limit
from .matrix_inverses import inverses_cancel
from .max_facts import write_pairs_with_moduli
from .nonnegativity import DIFFERENCES, explain_doubt, find_unclear_part, is_nonnegative_by_cases, nonnegative_assumption
from .normal_form import Facts
from .order_decision import compares_positions, is_equal_in_every_order, require_equal_in_every_order, require_value_in_every_order
from .polynomial_printing import polynomial_to_tree, shorten_text, show_polynomial
from .polynomials import Polynomial, add, scale
from .series_limits import list_limit_assumptions, near_limit, take_limit
from .tree_to_normal_form import normalize

ORDERS = "both sides are equal in every order of the positions"


def find_difference(left: Expr, right: Expr, facts: Facts) -> Polynomial:
    """Return the difference of two expressions in normal form with denominators cleared; {} if they are equal.

    Expressions in which positions are compared have no normal form: raise Unsupported unless they are proved to be equal.
    """
    if compares_positions(left, right):
        require_equal_in_every_order(left, right, facts.given)
        return {}
    missing = dict(facts.missing)
    try:
        residual = find_residual(left, right, facts)
    except Unsupported:
        if not is_proved_for_sums(left, right, facts, missing):
            raise
        return {}
    if (residual or facts.missing != missing) and is_proved_for_sums(left, right, facts, missing):
        return {}
    return residual


def is_proved_for_sums(left: Expr, right: Expr, facts: Facts, missing: dict[str, str]) -> bool:
    """Return whether two scalars with sums are proved to be equal by induction on a size or in every order of the positions.

    If so, what is missing for this proof replaces what the normal form lacked; `missing` is what was missing before.
    """
    lacked, facts.missing = facts.missing, missing
    ranges = [] if left.shape else list_ranges(left, right)
    facts.other_way = next((f"induction on {show(size)}" for size in ranges if proved_by_induction(left, right, size, facts)), "")
    if not facts.other_way and any(n.op == "pow" and n.args[1].op != "const" for t in (left, right) for n in walk(t) if ranges):
        facts.other_way = ORDERS * is_equal_in_every_order(left, right, facts.given)
    if not facts.other_way:
        facts.missing = lacked
    return bool(facts.other_way)


def find_residual(left: Expr, right: Expr, facts: Facts) -> Polynomial:
    """Return the difference of two expressions in normal form, with denominators cleared; {} if they are equal."""
    for places in iterate_axis_values(left, right):
        difference = add(normalize(left, facts, places), scale(normalize(right, facts, places), -1))
        residual = clear_denominators(difference, facts)
        if residual and not any(cancel(difference, facts) for cancel in (logarithms_cancel, maxima_cancel, inverses_cancel)):
            return residual
    return {}


def maxima_cancel(difference: Polynomial, facts: Facts) -> bool:
    """Return whether a difference vanishes if each maximum of two numbers is written with an absolute value."""
    try:
        written = write_pairs_with_moduli(difference, facts)
    except Unsupported:
        return False
    return written != difference and not clear_denominators(written, facts)


def iterate_axis_values(*trees: Expr):
    """Yield every combination of positions on the axes and of free indices whose sizes are numbers. The others get no value."""
    axes = {f"axis {k}": size for k, size in enumerate(trees[0].shape)} | {i.data[0]: i.data[1] for t in trees for i in free_indices(t)}
    known = {name: size for name, size in axes.items() if size.op == "const"}
    for chosen in product(*(range(1, int(size.data) + 1) for size in known.values())):
        yield dict(zip(known, chosen))


def collect_claim_facts(claim: Claim, given: tuple) -> Facts:
    """Return the facts that may be used: the assumptions and, for a limit, what holds for its variable near the limit."""
    return collect_facts(given + list_limit_assumptions(claim.towards[0])) if claim.kind == "limit" else collect_facts(given)


def prove_equality(claim: Claim, left: Expr, right: Expr, facts: Facts) -> ProofFailed | None:
    """Return why the two sides are not proved to be equal, or None."""
    residual = find_difference(left, right, facts)
    if not residual:
        return None
    shown = shorten_text(show_polynomial(residual, left, right), 400)
    return ProofFailed(f"not proved: left - right has the normal form {shown}, and no small counterexample was found")


def prove_inequality(claim: Claim, left: Expr, right: Expr, facts: Facts) -> ProofFailed | None:
    """Return why left <= right is not proved, or None.

    The proof is a nonnegative form: a visibly nonnegative expression equal to right - left.
    """
    if left.op == "rank":
        return prove_rank(claim, left, right, facts)
    if len(claim.because) != 1 or claim.because[0].shape or claim.start.shape:
        return ProofFailed(
            "an inequality between numbers needs one certificate, because=..., a number that is visibly not negative",
            code="no-certificate",
        )
    if any(map(is_complex, claim.trees)):
        return ProofFailed("complex numbers have no order", code="not-real")
    (form,) = claim.because
    residual = find_difference(right - left, form, facts)
    if residual:
        shown = shorten_text(show_polynomial(residual, left, right), 300)
        return ProofFailed(f"right - left is not the certificate {show(form)}; they differ by {shown}", code="wrong-certificate")
    if strip_brackets(form) == strip_brackets(right - left) and not any(
        is_proved(form, facts) for is_proved in (*DIFFERENCES, is_nonnegative_by_cases)
    ):
        return ProofFailed(
            "the certificate repeats the difference of the two sides; write it as something visibly not negative",
            code="repeated-difference",
        )
    part = find_unclear_part(form, facts)
    if part is None:
        return None
    proposed = [] if part == form else [nonnegative_assumption(part)]  # that of the form is what is to be proved
    return ProofFailed(explain_doubt(form, part, facts), "sign-not-visible", proposed)


def prove_rank(claim: Claim, left: Expr, right: Expr, facts: Facts) -> ProofFailed | None:
    """Return why a bound on a rank is not proved, or None. A matrix that factors through r columns has rank at most r."""
    if len(claim.because) != 2:
        return ProofFailed("a bound on a rank needs a factorisation, because=(A, B)", code="no-certificate")
    first, second = claim.because
    product = first @ second
    if len(first.shape) != 2 or product.shape != left.args[0].shape:
        return ProofFailed(
            f"factors of shapes {show_shape(first.shape)} and {show_shape(second.shape)} do not make a matrix of shape "
            f"{show_shape(left.args[0].shape)}",
            code="mismatched-shapes",
        )
    if first.shape[1] != right:
        return ProofFailed(f"the factorisation goes through {show(first.shape[1])} columns, not {show(right)}", code="wrong-certificate")
    residual = find_difference(left.args[0], product, facts)
    if not residual:
        return None
    shown = shorten_text(show_polynomial(residual, *left.args, product), 300)
    return ProofFailed(f"{show(product)} is not {show(left.args[0])}: they differ by {shown}", code="wrong-certificate")


def prove_limit(claim: Claim, left: Expr, right: Expr, facts: Facts) -> ProofFailed | None:
    """Return why right is not proved to be the limit of left, or None. Raise ProofFailed if left has another limit, or none."""
    variable, to = claim.towards
    for a in claim.given:
        if variable in named_nodes(*a.args) and (a.kind not in SIGNS or a.args != (variable,)):
            raise Unsupported(
                f"an assumption about {show(variable)}, which moves: '{describe_assumption(a)}' is said of a point, and need not hold on the way",
                code="assumption-about-limit-variable",
            )
    if any(variable in node_sizes(n) for t in (left, right) for n in walk(t)):
        raise Unsupported(f"a limit in {show(variable)}, which is the size of a sum or a tensor here", code="unknown-limit")
    if variable in set(walk(right)):
        raise Unsupported(f"a limit that still contains {show(variable)}", code="limit-depends-on-variable")
    prefix, missing = f"as {show(variable)} -> {to}", dict(facts.missing)
    try:
        value = find_limit(left, claim.towards, facts)
    except Unsupported as error:
        if isinstance(error, UnknownSign) and (signs := find_sufficient_signs(left, right, claim.towards, facts, error)):
            facts.missing = missing
            for p in signs:
                shown = polynomial_to_tree(p, facts.near)
                facts.require(False, f"{plain(shown)} is positive (the limit depends on its sign)", f"positive({script(shown)})")
            return None
        if elsewhere := find_other_limit(left, right, claim.towards, claim.given):
            raise ProofFailed(f"false: {elsewhere}", code="false-claim") from None
        raise Unsupported(f"{prefix}: {error}", code=error.code) from None
    except KernelError as error:
        raise ProofFailed(f"{prefix}: {error}", code=error.code) from None
    residual = clear_denominators(add(value, scale(normalize(right, facts), -1)), facts)
    if not residual:
        return None
    return ProofFailed(
        f"{prefix} the series gives another limit: {shorten_text(show_polynomial(value, left, right), 300)}, not {show(right)}; "
        f"they differ by {shorten_text(show_polynomial(residual, left, right), 300)}",
        code="wrong-limit",
    )


def find_limit(left: Expr, towards: tuple, facts: Facts) -> Polynomial:
    """Return the limit of an expression as a normal form."""
    variable, to = towards
    with near_limit(facts, variable, to):
        return take_limit(normalize(left, facts), variable, to, facts)


def find_sufficient_signs(left: Expr, right: Expr, towards: tuple, facts: Facts, unknown: UnknownSign) -> list[Polynomial]:
    """Return polynomials such that right is the limit of left if all of them are positive, and each is needed; [] if none are found."""
    signs = search_signs(left, right, towards, facts, unknown, [])
    for p in signs:
        if try_signs(left, right, towards, facts, others := [q for q in signs if q is not p]) is True:
            signs = others
    return signs


def search_signs(left: Expr, right: Expr, towards: tuple, facts: Facts, unknown: UnknownSign, known: list[Polynomial]) -> list[Polynomial]:
    """Return at most three polynomials, the first of them `known`, such that right is the limit if they are positive; [] if none are found."""
    if sum(index[0] == "held" for index in outer_indices(unknown.polynomial)) > 1:
        return []  # it compares terms of sums with one another
    opened = open_indices(unknown.polynomial, left)
    for p in (opened, scale(opened, -1)):
        result = try_signs(left, right, towards, facts, signs := [*known, p])
        if result is True:
            return signs
        if isinstance(result, UnknownSign) and len(signs) < 3 and (found := search_signs(left, right, towards, facts, result, signs)):
            return found
    return []


def open_indices(p: Polynomial, left: Expr) -> Polynomial:
    """Return p with open indices in place of indices that a sum binds: what is assumed for an open index holds for each of its values."""
    taken = {i.data[0] for i in free_indices(left)}
    names = [name for name in dict.fromkeys([*(n.data[0] for n in walk(left) if n.op == "sum"), *"ijkl"]) if name not in taken]
    bound = [index for index in outer_indices(p) if index[0] == "held"]
    return rename_polynomial(p, dict(zip(bound, (("f", name) for name in names))))


def try_signs(left: Expr, right: Expr, towards: tuple, facts: Facts, signs: list[Polynomial]) -> bool | UnknownSign:
    """Return whether right is the limit of left if these polynomials are positive, or the sign on which that still depends."""
    supposed = copy(facts)
    supposed.positive, supposed.missing = [*facts.positive, *signs], {}
    try:
        difference = add(find_limit(left, towards, supposed), scale(normalize(right, supposed), -1))
        return not clear_denominators(difference, supposed) and not supposed.missing
    except UnknownSign as unknown:
        return unknown
    except KernelError:
        return False


def prove_refutation(claim: Claim, left: Expr, right: Expr, facts: Facts) -> ProofFailed | None:
    """Return why the values given are not a counterexample, or None."""
    at = read_values(claim)
    if is_law(left, right):
        return explain_law_refutation(claim, left, right, facts, at)
    sides = find_failing_sides(left, right, claim.given, claim.refuted, at)
    return None if sides else with_conclusion(explain_no_counterexample(left, right, claim.given, claim.refuted, at))


def with_conclusion(failure: ProofFailed) -> ProofFailed:
    """Return the failure and, if both sides have a value, the conclusion that the values are no counterexample."""
    if failure.code not in ("no-counterexample", "not-settled"):
        return failure
    return ProofFailed(f"{failure}; it is no counterexample", code=failure.code)


def evaluate_law_sides(claim: Claim, facts: Facts, at: dict) -> list:
    """Return both sides of a refuted law for the stated distributions, at the given sizes and numbers."""
    values = exact_evaluation.list_atom_values(at)
    places = {n[1]: k + 1 for n, k in at.items() if isinstance(n, tuple)}
    return [exact_evaluation.evaluate_polynomial(normalize(e, facts, places), values) for e in (claim.start, claim.steps[0].expr)]


def evaluate_sides(claim: Claim) -> list:
    """Return both sides of a refuted relation at the counterexample.

    Each side is a dictionary from places to entries. A place is a tuple of indices that count from 0; the place of a number is ().
    """
    at = read_values(claim)
    sides = claim.trees[:2]
    if is_law(*sides):
        return [{(): value} for value in evaluate_law_sides(claim, collect_facts(claim.given), at)]
    return [exact_evaluation.evaluate(e, at) for e in sides]


def explain_law_refutation(claim: Claim, left: Expr, right: Expr, facts: Facts, at: dict) -> ProofFailed | None:
    """Return why the values do not refute a law, or None."""
    for a in (*claim.given, *list_implied(claim.given)):
        if a.kind in (*SIGNS, "variance", "zero_or_one") and (reason := explain_violation(a, at, left, right)):
            return ProofFailed(reason, code="broken-assumption")
    try:
        sides = evaluate_law_sides(claim, facts, at)
    except KeyError as error:
        return ProofFailed(f"the value depends on {describe_missing_value(error)}, which is not stated", code="missing-value")
    if flint_numbers.certainly_violates(claim.refuted, *sides):
        return None
    first, second = ({(): side} for side in sides)
    return with_conclusion(compare_sides(claim.refuted, first, second))


def prove_definition(claim: Claim, left: Expr, right: Expr, facts: Facts) -> None:
    """Raise ProofFailed if the definition has an open index, and Unsupported if it cannot be read."""
    open_ = sorted(i.data[0] for i in free_indices(right))
    if open_:
        raise ProofFailed(
            f"{show(right)} has the open index {', '.join(open_)}, and a name holds no index: define the whole vector or matrix, such as "
            "z * g or A @ B or each(z[i]**2, i), and take its entry where the name is used, or write the sum out with total(...)",
            code="open-index",
        )
    if compares_positions(right):
        require_value_in_every_order(right, facts.given)
    else:
        normalize(right, facts)


PROOFS = {
    "identity": prove_equality,
    "chain": prove_equality,
    "law": prove_equality,
    "inequality": prove_inequality,
    "limit": prove_limit,
    "refutation": prove_refutation,
    "definition": prove_definition,
}
