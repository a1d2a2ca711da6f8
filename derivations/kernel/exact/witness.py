"""The exact witness at work on a claim: what it accepts, and everything it refuses."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from ..core.assumptions import Assumption, assumption_text
from ..core.claims import Claim, Refused, Verdict
from ..core.expr import Expr, free_indices, show, show_shape, strip, symbols, walk
from ..errors import KernelError
from ..exact import values
from .facts import facts_of
from .limits import limit
from .normal import Facts, Unknown, add, clear_denominators, scale
from .reading import read
from .search import SIGNS, Found, counterexample, example, failure, holds, is_law, shown
from .showing import show_polynomial
from .values import Undefined


class Fails(KernelError):
    """The exact witness does not accept a relation."""


def equal(left: Expr, right: Expr, facts: Facts) -> dict:
    """The difference of two expressions in normal form, denominators cleared; {} if they are equal."""
    for places in axis_values(left, right):
        residual = clear_denominators(add(read(left, facts, places), scale(read(right, facts, places), -1)), facts)
        if residual:
            return residual
    return {}


def axis_values(*trees: Expr):
    """For axes and free indices of a known size, each value; one of a symbolic size stays general."""
    axes = {f"axis {k}": size for k, size in enumerate(trees[0].shape)} | {i.data[0]: i.data[1] for t in trees for i in free_indices(t)}
    known = {name: size for name, size in axes.items() if size.op == "const"}
    for chosen in product(*(range(1, int(size.data) + 1) for size in known.values())):
        yield dict(zip(known, chosen))


RELATIONS = {"definition": (":=",), "inequality": ("<=",), "limit": ("->",), "refutation": ("!=", "!<=")}


def exact(claim: Claim) -> Verdict:
    """Prove the claim, or raise Refused with the step, the residual and a counterexample."""
    relations, many = RELATIONS.get(claim.kind, ("=",)), claim.kind not in RELATIONS
    bad_form = any(s.relation not in relations for s in claim.steps) or not claim.steps or len(claim.steps) > 1 and not many
    if bad_form or claim.kind == "definition" and (claim.start.op, claim.start.args) != ("defined", (claim.steps[0].expr,)):
        raise Refused(claim.file, claim.line, claim.id, f"its steps are not those of a claim of kind '{claim.kind}'")
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
    result = replace(verdict(claim), needed=tuple(needed(claim, a) for a in claim.given))
    if claim.given and claim.kind != "refutation" and not example(claim):
        raise Refused(
            claim.file,
            claim.line,
            claim.id,
            "no values were found at which all its assumptions hold: they may contradict each other, and then anything follows",
        )
    return result


def prove(claim: Claim, left: Expr, right: Expr, given: tuple):
    """Nothing if left and right stand in the claim's relation under the assumptions `given`; else Fails."""
    facts = facts_of(given)
    facts.near = (left, right)
    try:
        reason = PROOFS[claim.kind](claim, left, right, facts)
    except Unknown as error:
        reason = str(error)
    if facts.unstated:
        found = counterexample(left, right, given, undefined=True)
        raise Fails(
            f"used but not stated: {'; '.join(facts.unstated)}."
            + (f" Without it, {found}." if found else "")
            + f" State it with given=[{', '.join(dict.fromkeys(facts.remedies))}], or avoid needing it"
        )
    if reason:
        found = (
            None
            if claim.kind in ("limit", "refutation", "definition")
            else counterexample(left, right, given, "<=" if claim.kind == "inequality" else "=", undefined=True)
        )
        if found:
            raise Fails(
                f"false: {found}, where {show(left)} was to be {'at most' if claim.kind == 'inequality' else 'equal to'} {show(right)}"
            )
        raise Fails(reason)


def prove_equality(claim, left, right, facts):
    residual = equal(left, right, facts)
    return (
        residual
        and f"not proved: left - right has the normal form {show_polynomial(residual, left, right)[:400]}, and no small counterexample was found"
    )


def prove_inequality(claim, left, right, facts):
    if left.op == "rank":
        return prove_rank(claim, left, right, facts)
    if len(claim.because) != 1 or certificate_shape(claim):
        return "an inequality between numbers needs one certificate, because=..., a number that is visibly not negative"
    if any(n.op == "imaginary" for tree in claim.trees for n in walk(tree)):
        return "complex numbers have no order"
    (certificate,) = claim.because
    if strip(certificate) == strip(right - left):
        return "the certificate repeats the difference of the two sides; write it as something visibly not negative"
    residual = equal(right - left, certificate, facts)
    if residual:
        return f"right - left is not the certificate {show(certificate)}; they differ by {show_polynomial(residual, left, right)[:300]}"
    return (
        not visibly_nonnegative(certificate, facts)
        and f"the certificate {show(certificate)} is not visibly non-negative under the stated assumptions"
    )


def certificate_shape(claim) -> tuple:
    return claim.because[0].shape or claim.start.shape


def prove_rank(claim, left, right, facts):
    """A matrix that factors through r columns has rank at most r."""
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
        residual and f"{show(product)} is not {show(left.args[0])}: they differ by {show_polynomial(residual, *left.args, product)[:300]}"
    )


def visibly_nonnegative(e: Expr, facts: Facts) -> bool:
    """A sum or product of non-negative things, a square, an exponential, an absolute value, or what is assumed."""
    try:
        if facts.is_nonnegative(read(e, facts)):
            return True
    except Unknown:
        pass
    if e.op == "add" and any(absolute_beside(*pair) for pair in (e.args, e.args[::-1])):
        return True
    if e.op in ("add", "mul"):
        return all(visibly_nonnegative(a, facts) for a in e.args)
    if e.op in ("paren", "sum", "defined"):
        return visibly_nonnegative(e.args[0], facts)
    if e.op == "div":
        return visibly_nonnegative(e.args[0], facts) and (visibly_nonnegative(e.args[1], facts))
    if e.op == "pow":
        exponent = e.args[1]
        return (
            exponent.op == "const" and exponent.data.denominator == 1 and (exponent.data % 2 == 0 or visibly_nonnegative(e.args[0], facts))
        )
    return False


def absolute_beside(first: Expr, second: Expr) -> bool:
    """|x| + x and |x| - x are not negative."""
    first, second = strip(first), strip(second)
    return first.op == "function" and first.data == "abs" and second in (first.args[0], -first.args[0])


def prove_limit(claim, left, right, facts):
    variable, to = claim.towards
    if any(variable in set(walk(x)) and x != variable for a in claim.given for x in a.args):
        raise Unknown(f"an assumption that ties {show(variable)}, which moves, to something else")
    if any(variable in (*n.shape, *([n.data[1]] if n.op in ("index", "sum") else [])) for t in (left, right) for n in walk(t)):
        raise Unknown(f"a limit in {show(variable)}, which is the size of a sum or a tensor here")
    if variable in set(walk(right)):
        raise Unknown(f"a limit that still contains {show(variable)}")
    residual = clear_denominators(add(limit(read(left, facts), variable, to, facts), scale(read(right, facts), -1)), facts)
    return residual and f"the series gives another limit; it differs by {show_polynomial(residual, left, right)[:300]}"


def prove_refutation(claim, left, right, facts):
    at = values_at(claim)
    if is_law(left, right):
        return law_refutation_problem(claim, left, right, facts, at)
    sides = failure(left, right, claim.given, claim.refuted, at)
    return not sides and refutation_problem(claim, left, right, at)


def refutation_problem(claim, left, right, at):
    try:
        if not failure(left, right, (), claim.refuted, at):
            for e in (left, right):
                values.evaluate(e, at)
            return f"at the given values {HOLDS[claim.refuted]}: it is no counterexample"
    except Undefined as error:
        return f"a side is undefined at the given values: {error}"
    except KeyError as error:
        return f"no value is given for {missing(error)}"
    return "the counterexample breaks an assumption of the claim"


def missing(error: KeyError) -> str:
    """What a value was looked for in vain."""
    kind, *about = error.args[0] if isinstance(error.args[0], tuple) else ("name", error.args[0])
    return {"index": "the index {}", "moment": "E[{}^{}]"}.get(kind, "{}").format(*about)


HOLDS = {"=": "the two sides are equal, or not certainly different", "<=": "the left side is not certainly larger than the right"}


def law_sides(claim, facts, at):
    """Both sides of a refuted law, for the stated distributions, at the given sizes and numbers."""
    heads = {("size", n): values.number(v) for n, v in at.items() if isinstance(v, int)}
    heads |= {("entry", n): v[()] for n, v in at.items() if isinstance(v, dict)}
    return [values.polynomial_value(read(e, facts), heads) for e in (claim.start, claim.steps[0].expr)]


def sides_at(claim: Claim) -> list:
    """Both sides of what is refuted at the counterexample: their entries by place."""
    at = values_at(claim)
    sides = claim.trees[:2]
    if is_law(*sides):
        return [{(): value} for value in law_sides(claim, facts_of(claim.given), at)]
    return [values.evaluate(e, at) for e in sides]


def law_refutation_problem(claim, left, right, facts, at):
    for a in claim.given:
        if a.kind in (*SIGNS, "variance") and not holds(a, at, left, right):
            return f"the values break an assumption: {assumption_text(a)}"
    try:
        sides = law_sides(claim, facts, at)
    except KeyError as error:
        return f"the value depends on {missing(error)}, which is not stated"
    return not values.breaks(claim.refuted, *sides) and f"at the given values {HOLDS[claim.refuted]}: it is no counterexample"


def prove_definition(claim, left, right, facts):
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


def values_at(claim: Claim, at: tuple = None) -> dict:
    """Bindings as an environment for evaluation, with sizes read off the arrays' shapes."""
    at = dict(claim.at if at is None else at)
    env = {}
    named = {n.data[0]: n for tree in claim.trees for n in walk(tree) if n.op == "symbol"}
    named |= {s.data[0]: s for n in list(named.values()) for s in n.shape if s.op == "symbol"}
    for name, value in at.items():
        if name not in named:
            raise Fails(f"a value is given for {name}, which the claim does not mention")
        s = named[name]
        if s.data[1] == "random":
            raise Fails(f"{name} is random and has no value; state its distribution with given=[...]")
        if s.data[1] == "size":
            if not isinstance(value, Expr) or value.op != "const" or value.data.denominator != 1 or value.data < 1:
                raise Fails(f"the size {name} is a positive integer")
            if env.setdefault(name, int(value.data)) != value.data:  # an array may have been given before it
                raise Fails(f"the values disagree about the size {name}")
            continue
        entries = dict(flatten(value, ()))
        right_depth = entries and all(len(p) == len(s.shape) for p in entries)
        lengths = tuple(1 + max(p[k] for p in entries) for k in range(len(s.shape))) if right_depth else ()
        if not right_depth or len(entries) != product_of(lengths):
            raise Fails(f"the value of {name} is not an array of shape {show_shape(s.shape)}")
        for size, length in zip(s.shape, lengths):
            if size.op == "symbol" and env.setdefault(size.data[0], length) != length or size.op == "const" and size.data != length:
                raise Fails(f"the values disagree about the size {show(size)}")
        env[name] = entries
    missing = sorted(n for n in set(named) - set(env) if named[n].data[1] != "random")
    if missing:
        raise Fails(f"no value is given for {', '.join(missing)}")
    return env


def product_of(lengths):
    count = 1
    for n in lengths:
        count *= n
    return count


def flatten(value, place):
    if isinstance(value, tuple):
        for k, v in enumerate(value):
            yield from flatten(v, place + (k,))
    else:
        try:
            number_ = values.evaluate(value, {}).get(())
        except KeyError as error:
            raise Fails(f"a value holds {missing(error)}, which has no value itself") from None
        except Undefined as error:
            raise Fails(f"a value is undefined: {error}") from None
        if number_ is None or values.is_complex(number_):
            raise Fails(f"the value {show(value)} is not a real number")
        yield place, number_


def needed(claim: Claim, assumption: Assumption) -> str:
    """How the claim fails without the assumption; Refused if it does not."""
    rest = tuple(a for a in claim.given if a != assumption)
    unneeded = Refused(
        claim.file,
        claim.line,
        claim.id,
        f"the assumption '{assumption_text(assumption)}' is stated but not shown to be needed: without it no counterexample "
        "appears. Drop it, or give one with without={assumption: {symbol: value}}",
    )
    if still_proved(claim, rest):
        raise unneeded
    hint = dict(claim.without).get(assumption)
    ends = [claim.start, *(step.expr for step in claim.steps)]
    # The claim as a whole first: there a counterexample says most. Then step by step.
    for left, right in dict.fromkeys([(ends[0], ends[-1]), *zip(ends, ends[1:])]):
        try:
            found = at_hint(claim, left, right, rest, hint) if hint else dropped(claim, left, right, rest)
        except KernelError as error:
            raise Refused(claim.file, claim.line, claim.id, str(error)) from None
        if found:
            return str(found)
    raise unneeded


def still_proved(claim: Claim, rest: tuple) -> bool:
    """Does the exact witness prove the claim under fewer assumptions?"""
    if claim.kind == "refutation":
        return False
    facts, previous = facts_of(rest), claim.start
    try:
        for step in claim.steps:
            if PROOFS[claim.kind](claim, previous, step.expr, facts):
                return False
            previous = step.expr
    except KernelError:
        return False
    return not facts.unstated


def at_hint(claim, left, right, rest, hint):
    env = values_at(replace(claim, given=rest), hint)
    relation = "<=" if claim.kind == "inequality" else "="
    sides = failure(left, right, rest, relation, env, undefined=True)
    return sides and Found(shown(env), *sides)


def dropped(claim, left, right, rest):
    if claim.kind == "refutation" and is_law(left, right):
        return needed_to_compute(claim, rest)
    if claim.kind == "refutation":
        return None
    if claim.kind == "limit":  # the two sides are not equal anywhere; what can fail is that the expression exists
        return counterexample(left, left, rest, undefined=True) or counterexample(right, right, rest, undefined=True)
    return counterexample(left, right, rest, "<=" if claim.kind == "inequality" else "=", undefined=True)


def needed_to_compute(claim, rest):
    """A refuted law states a distribution. Without this part of it, the two sides have no definite value."""
    facts = facts_of(rest)
    try:
        law_sides(claim, facts, values_at(claim))
    except (KeyError, Unknown):
        return "the sides have no definite value"
    return facts.unstated and "the sides have no definite value"


def verdict(claim: Claim) -> Verdict:
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
    note = {
        "law": "expectation of the normal form, split by which indices coincide",
        "inequality": "the difference is visibly not negative",
    }
    return Verdict("exact", "proved", "every shape" if symbolic else "every value", note.get(claim.kind, "both sides have one normal form"))
