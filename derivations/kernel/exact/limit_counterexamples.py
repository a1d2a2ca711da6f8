"""Counterexamples to limits: numbers for everything but the variable at which the left side has another limit, or none.

One value of the variable proves nothing: a claim that is false there may be true near the limit. So the variable gets no value. A
counterexample is a different limit of the series at these numbers, a series that diverges, or a side that is undefined arbitrarily close
to the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import islice, product
from typing import NamedTuple

from ..core.assumptions import Assumption
from ..core.expr import Expr, free_indices, show, symbols, walk
from ..core.operators import BINDERS, INDEXED
from ..errors import KernelError
from . import exact_evaluation, flint_numbers
from .assumption_facts import collect_facts
from .atom_payloads import Unsupported
from .counterexample_search import generate_candidates, is_satisfied, select_shown_values, show_array, show_distinct
from .flint_numbers import Undefined
from .given_values import explain_violation, iterate_index_values
from .normal_form import Facts
from .series_limits import NoFiniteLimit, depends_on, expand_to_leading_term, list_limit_assumptions, near_limit, symbol_head, take_limit
from .tree_to_normal_form import normalize

MAX_TRIALS = 240
DISTANCES = [Fraction(4) ** k for k in (3, 5, 8)]  # where an expression without a value near the limit is evaluated, for the message


class EntryLimit(NamedTuple):
    """The limit of an entry at numbers for everything but the variable. If no field is set, it is not settled."""

    value: object = None
    reason: str = ""  # why there is no value arbitrarily close to the limit
    grows: bool = False


class NoValue(Exception):
    """The expression has no value arbitrarily close to the limit."""


def find_other_limit(left: Expr, right: Expr, towards: tuple, given: tuple) -> str:
    """Return, in words, numbers that satisfy the assumptions at which the left side has another limit; '' if none were found."""
    return next(
        filter(
            None, (explain_failure(left, right, towards, env, only_numbers=True) for env in generate_numbers(left, right, towards, given))
        ),
        "",
    )


def find_limit_counterexample(left: Expr, right: Expr, towards: tuple, given: tuple) -> str:
    """Return the same, also if a side has no value or the left side no limit."""
    env = next((env for env in generate_numbers(left, right, towards, given) if explain_failure(left, right, towards, env)), None)
    return explain_failure(left, right, towards, shrink(left, right, towards, given, env)) if env else ""


def shrink(left: Expr, right: Expr, towards: tuple, given: tuple, env: dict) -> dict:
    """Return the numbers after replacing entries by 0, then 1, while the claim still fails."""
    fixed = list_fixed_assumptions(given, towards)
    for target in (0, 1):
        for name, place in [(name, place) for name, v in env.items() if isinstance(v, dict) for place in v]:
            candidate = env | {name: env[name] | {place: flint_numbers.to_fmpq(target)}}
            if (
                env[name][place] not in (0, target)
                and satisfies(fixed, candidate, left, right)
                and explain_failure(left, right, towards, candidate)
            ):
                env = candidate
    return env


def generate_numbers(left: Expr, right: Expr, towards: tuple, given: tuple) -> Iterator[dict]:
    """Yield values of everything but the variable at which the assumptions hold."""
    fixed = list_fixed_assumptions(given, towards)
    if any(s.data[1] == "random" for s in symbols(left, right, *(x for a in fixed for x in a.args)).values()):
        return
    seen = set()
    for env, _ in islice(generate_candidates((left, right), fixed), MAX_TRIALS):
        env = {name: value for name, value in env.items() if name != towards[0].data[0]}
        if (key := repr(sorted(env.items(), key=repr))) not in seen and satisfies(fixed, env, left, right):
            yield env
        seen.add(key)


def list_fixed_assumptions(given: tuple, towards: tuple) -> tuple:
    """Return the assumptions that are not about the variable of the limit. Those about it hold near the limit."""
    return tuple(a for a in given if a.args != (towards[0],))


def satisfies(given: tuple[Assumption, ...], env: dict, left: Expr, right: Expr) -> bool:
    """Return whether the assumptions certainly hold at these values."""
    try:
        return all(is_satisfied(a, env, left, right) for a in given)
    except (Undefined, KeyError, KernelError):
        return False


def explain_failure(left: Expr, right: Expr, towards: tuple, env: dict, only_numbers: bool = False) -> str:
    """Return how the claim fails at these values in some entry; '' if it does not or that is not settled."""
    variable, to = towards
    for place in list_places(right, env):
        left_limit, right_value = find_entry_limit(left, towards, env, place), evaluate_entry(right, env, place)
        if (
            left_limit.value is not None
            and right_value.value is not None
            and flint_numbers.certainly_differ(left_limit.value, right_value.value)
        ):
            shown_limit, shown_right = show_distinct({(): left_limit.value}, {(): right_value.value})
            how = f"the series gives {shown_limit} as {show(variable)} -> {to}, and {shown_right} is stated"
        elif only_numbers or not (right_value.reason or left_limit.reason or left_limit.grows):
            continue
        elif left_limit.grows:
            how = f"the left side has no finite limit as {show(variable)} -> {to}"
        elif left_limit.reason:
            how = f"the left side is undefined ({left_limit.reason}), however near the limit"
        else:
            how = f"the right side is undefined ({right_value.reason})"
        return f"{describe_numbers(env, left, right)}{how}"
    return ""


def explain_limit_failure(left: Expr, right: Expr, towards: tuple, given: tuple, env: dict) -> str:
    """Return how the claim fails at values for all but the variable, for some value of each open index; '' if that is not found."""
    fixed = list_fixed_assumptions(given, towards)
    environments = (at for at in iterate_index_values(env, left, right) if satisfies(fixed, at, left, right))
    return next(filter(None, (explain_failure(left, right, towards, at) for at in environments)), "")


def explain_no_limit_failure(left: Expr, right: Expr, towards: tuple, given: tuple, env: dict) -> str:
    """Return why these values of all but the variable are no counterexample."""
    variable, to = towards
    indexed = next(iterate_index_values(env, left, right))
    for a in list_fixed_assumptions(given, towards):
        if reason := explain_violation(a, indexed, left, right):
            return reason
    place = next(list_places(right, indexed))
    left_limit, right_value = find_entry_limit(left, towards, indexed, place), evaluate_entry(right, indexed, place)
    if left_limit.value is None or right_value.value is None:
        return f"at the given values it is not settled where the left side goes as {show(variable)} -> {to}"
    shown_limit, shown_right = show_distinct({(): left_limit.value}, {(): right_value.value})
    return f"at the given values the left side goes to {shown_limit} as {show(variable)} -> {to}, and the right side is {shown_right}"


def describe_numbers(env: dict, left: Expr, right: Expr) -> str:
    """Return the values as the beginning of a message."""
    where = ", ".join(f"{name} = {show_array(v)}" for name, v in select_shown_values(env, left, right).items())
    return f"at {where} " * bool(where)


def list_places(e: Expr, env: dict) -> Iterator[tuple]:
    """Yield the places of a tensor's entries."""
    yield from product(*(range(exact_evaluation.evaluate_size(s, env)) for s in e.shape))


def evaluate_entry(right: Expr, env: dict, place: tuple) -> EntryLimit:
    """Return the value of an entry of the right side, which does not depend on the variable."""
    try:
        return EntryLimit(exact_evaluation.evaluate(right, env)[place])
    except Undefined as error:
        return EntryLimit(reason=str(error))
    except (KernelError, KeyError, OverflowError):
        return EntryLimit()


def find_entry_limit(left: Expr, towards: tuple, env: dict, place: tuple) -> EntryLimit:
    """Return the limit of an entry of the left side at these values, as far as it is settled."""
    variable, to = towards
    facts = collect_facts(list_limit_assumptions(variable))
    if has_undefined_part(left, variable, env):
        return EntryLimit(reason=explain_undefined_near(left, towards, env))
    try:
        with near_limit(facts, variable, to), raising_no_value(facts, variable, to):
            p = normalize(substitute_numbers(left, env), facts, {f"axis {k}": position + 1 for k, position in enumerate(place)})
            value = exact_evaluation.evaluate_polynomial(take_limit(p, variable, to, facts), {})
    except NoValue:
        return EntryLimit(reason=explain_undefined_near(left, towards, env))
    except NoFiniteLimit as error:
        return EntryLimit(
            grows=not facts.unstated
            and value_passes(error.coefficient, lambda v: flint_numbers.certainly_differ(v, flint_numbers.to_fmpq(0)))
        )
    except (Undefined, KeyError, OverflowError, KernelError):
        return EntryLimit()
    return EntryLimit() if facts.unstated else EntryLimit(value)


def has_undefined_part(left: Expr, variable: Expr, env: dict) -> bool:
    """Return whether a part that does not depend on the variable is undefined at these numbers."""
    for part in walk(left):
        if part.op in ("const", "symbol", "index") or variable in set(walk(part)):
            continue
        if any(("index", i.data[0]) not in env for i in free_indices(part)):
            continue
        try:
            exact_evaluation.evaluate(part, env)
        except Undefined:
            return True
        except (KernelError, KeyError, OverflowError):
            continue
    return False


@contextmanager
def raising_no_value(facts: Facts, variable: Expr, to):
    """In this context, raise NoValue when a required sign certainly does not hold near the limit.

    Everything but the variable is a number.
    """
    outer_requirement = facts.adapt_requirement

    def require_or_raise(kind: str, p: dict, because: str) -> tuple:
        leading = p
        if depends_on(p, symbol_head(variable)):
            leading = expand_to_leading_term(p, variable, to, facts)[0]
        if (
            not leading
            and kind != "nonnegative"
            or kind != "nonzero"
            and value_passes(leading, lambda v: not flint_numbers.is_complex(v) and v < 0)
        ):
            raise NoValue
        return outer_requirement(kind, p, because)

    facts.adapt_requirement = require_or_raise
    try:
        yield
    finally:
        facts.adapt_requirement = outer_requirement


def value_passes(p: dict, test) -> bool:
    """Return whether a normal form without symbols passes a test; False if it cannot be evaluated."""
    try:
        return bool(test(exact_evaluation.evaluate_polynomial(p, {})))
    except (Undefined, KeyError, OverflowError, KernelError):
        return False


def point_near_limit(towards: tuple, far: Fraction = DISTANCES[-1]) -> dict:
    """Return a value of the variable near its limit, as an environment; {} if there is no limit."""
    if not towards:
        return {}
    variable, to = towards
    return {variable.data[0]: int(far) if variable.data[1] == "size" else {(): flint_numbers.to_fmpq(far if to == "oo" else 1 / far)}}


def explain_undefined_near(left: Expr, towards: tuple, env: dict) -> str:
    """Return why the left side has no value at several points near the limit; '' if it has one or that is not settled."""
    reason = ""
    for far in DISTANCES:
        try:
            exact_evaluation.evaluate(left, env | point_near_limit(towards, far))
            return ""
        except Undefined as error:
            reason = str(error)
        except (KernelError, KeyError, OverflowError):
            return ""
    return reason


def substitute_numbers(e: Expr, env: dict) -> Expr:
    """Return the tree with the numbers that `env` gives to sizes, scalars, entries of tensors and free indices."""
    if e.op == "derivative" and any(n.op == "symbol" and n.data[0] in env for n in walk(e.args[1])):
        raise Unsupported(f"the slope by {show(e.args[1])}, for which a number stands", code="unknown-derivative")
    shape = tuple(substitute_numbers(s, env) for s in e.shape)
    if e.op == "symbol" and e.data[0] in env:
        value = env[e.data[0]]
        if e.data[1] == "size":
            return constant(Fraction(value))
        entries = {place: constant(flint_numbers.to_fraction(v)) for place, v in value.items()}
        return entries[()] if not shape else Expr("array", tuple(entries[p] for p in product(*(range(int(s.data)) for s in shape))), shape)
    if e.op == "index" and ("index", e.data[0]) in env:
        return constant(Fraction(env["index", e.data[0]] + 1))
    data = (e.data[0], substitute_numbers(e.data[1], env)) if e.op in INDEXED else e.data
    inside = {name: value for name, value in env.items() if name != ("index", e.data[0])} if e.op in BINDERS else env
    return Expr(e.op, tuple(substitute_numbers(x, inside) for x in e.args), shape, data)


def constant(value: Fraction) -> Expr:
    """Return a number as a tree."""
    return Expr("const", (), (), value)
