"""Integer linear forms in indices and sizes, and conjunctions of conditions that such forms are not negative.

A form is (constant, ((variable, coefficient), ...)), with the variables sorted and no coefficient 0. A condition is a form that is at least 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from math import gcd

Form = tuple[int, tuple[tuple[str, int], ...]]

ONE: Form = (1, ())


class Undecided(Exception):
    """Raised when the procedure for comparisons of positions does not apply, or ends without an answer. The message says why."""


def make_form(constant: int, coefficients: Mapping[str, int]) -> Form:
    """Return a form with these coefficients."""
    return constant, tuple(sorted((v, c) for v, c in coefficients.items() if c))


def number_form(k: int) -> Form:
    """Return the form that is a number."""
    return k, ()


def variable(name: str) -> Form:
    """Return the form that is a variable."""
    return 0, ((name, 1),)


def add_forms(a: Form, b: Form, times: int = 1) -> Form:
    """Return a + times * b."""
    coefficients = dict(a[1])
    for v, c in b[1]:
        coefficients[v] = coefficients.get(v, 0) + times * c
    return make_form(a[0] + times * b[0], coefficients)


def subtract_forms(a: Form, b: Form) -> Form:
    """Return a - b."""
    return add_forms(a, b, -1)


def negate_form(a: Form) -> Form:
    """Return -a."""
    return subtract_forms((0, ()), a)


def coefficient(form: Form, name: str) -> int:
    """Return the coefficient of a variable."""
    return next((c for v, c in form[1] if v == name), 0)


def without_variable(form: Form, name: str) -> Form:
    """Return the form without the term of a variable."""
    return form[0], tuple(x for x in form[1] if x[0] != name)


def substitute(form: Form, mapping: Mapping[str, Form]) -> Form:
    """Return the form with variables replaced by forms, all at once."""
    if not any(v in mapping for v, _ in form[1]):
        return form
    result = (form[0], tuple(x for x in form[1] if x[0] not in mapping))
    for v, c in form[1]:
        if v in mapping:
            result = add_forms(result, mapping[v], c)
    return result


def form_value(form: Form, env: Mapping[str, int]) -> int:
    """Return the value of a form."""
    return form[0] + sum(c * env[v] for v, c in form[1])


def solve_for_unit(form: Form) -> tuple[str, Form] | None:
    """Return (variable, its value) where the form is 0 and a variable has the coefficient 1 or -1; None if none has."""
    for v, c in reversed(form[1]):
        if abs(c) == 1:
            rest = without_variable(form, v)
            return v, negate_form(rest) if c == 1 else rest
    return None


# Conditions


def at_most(a: Form, b: Form) -> Form:
    """Return the condition a <= b."""
    return subtract_forms(b, a)


def less(a: Form, b: Form) -> Form:
    """Return the condition a < b."""
    return subtract_forms(at_most(a, b), ONE)


def negate_condition(condition: Form) -> Form:
    """Return the condition that a condition does not hold, over the integers."""
    return subtract_forms((-1, ()), condition)


def is_satisfiable(conditions: Iterable[Form]) -> bool:
    """Return False only if no integers satisfy the conditions. True may be wrong, since the elimination is over the rationals."""
    return _is_satisfiable(frozenset(conditions))


def is_implied(conditions: Iterable[Form], condition: Form) -> bool:
    """Return True only if a condition holds wherever the conditions hold."""
    return not is_satisfiable([*conditions, negate_condition(condition)])


@lru_cache(maxsize=200_000)
def _is_satisfiable(conditions: frozenset) -> bool:
    """Eliminate one variable by Fourier and Motzkin's method, and tighten the result to integers."""
    constants: dict[tuple, int] = {}  # the strictest condition for each list of coefficients
    for form in conditions:
        constant, items = divide_by_common_factor(form)
        if not items:
            if constant < 0:
                return False
        elif items not in constants or constant < constants[items]:
            constants[items] = constant
    if not constants:
        return True
    kept = [(constant, items) for items, constant in constants.items()]
    return is_satisfiable(eliminate(kept, cheapest_variable(kept)))


def divide_by_common_factor(form: Form) -> Form:
    """Return the same condition on integers with coprime coefficients; the constant is rounded down."""
    factor = gcd(*(c for _, c in form[1])) if form[1] else 0
    return form if factor <= 1 else (form[0] // factor, tuple((v, c // factor) for v, c in form[1]))


def cheapest_variable(conditions: Collection[Form]) -> str:
    """Return the variable whose elimination adds the fewest conditions."""
    signs: dict[str, tuple[int, int]] = {}
    for _, items in conditions:
        for v, c in items:
            up, down = signs.get(v, (0, 0))
            signs[v] = (up + (c > 0), down + (c < 0))
    return min(signs, key=lambda v: (signs[v][0] * signs[v][1] - sum(signs[v]), v))


def eliminate(conditions: Iterable[Form], v: str) -> list[Form]:
    """Return what the conditions imply for the other variables, over the rationals: each lower bound is at most each upper bound."""
    conditions = list(conditions)
    lower = [f for f in conditions if coefficient(f, v) > 0]
    upper = [f for f in conditions if coefficient(f, v) < 0]
    both = [add_forms(add_forms((0, ()), a, -coefficient(b, v)), b, coefficient(a, v)) for a in lower for b in upper]
    return [*(f for f in conditions if not coefficient(f, v)), *both]


def project(conditions: Iterable[Form], names: Iterable[str]) -> list[Form]:
    """Return the conditions under which there are integers for the names. Raise Undecided unless their coefficients are 1 or -1.

    With such coefficients, the bounds of a variable are integers, so that the elimination over the rationals is exact.
    """
    result = list(conditions)
    for v in names:
        if any(abs(coefficient(f, v)) > 1 for f in result):
            raise Undecided("a bound on an index is a quotient")
        result = eliminate(result, v)
    return result
