"""Reads an expression tree as a sum of terms in which positions are compared.

Each rule keeps the value of the expression. `Reader.lacking` lists what the rules could not show: that a divisor is not 0, that a position is
on its axis, or that an exponent is not negative.

An exponential, or another function, is an opaque atom: a stored sum with a slot for each place in it. Two of them are one atom only if their
arguments were decided to be equal at every shape. A function of an argument that is given by cases is split into the same cases: if the
argument is a where c holds and b elsewhere, the function is f(a) where c holds and f(b) elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import NamedTuple

from ..core.assumptions import Assumption
from ..core.expr import Expr, free_indices, show, symbols, walk
from ..core.operators import differentiation_symbol, is_partial, is_position
from .guarded_polynomials import Steps
from .linear_forms import (
    ONE,
    Form,
    Undecided,
    add_forms,
    at_most,
    is_implied,
    is_satisfiable,
    less,
    negate_condition,
    negate_form,
    number_form,
    project,
    substitute,
    subtract_forms,
    variable,
    without_variable,
)
from .order_terms import Sum, Term, are_written_alike, fresh_name, make_term, multiply_sums, restrict_sum, scale_sum
from .position_polynomials import form_polynomial, number_polynomial, substitute_forms
from .rational_numbers import Fraction

MOST_WAYS = 100  # of filling the slots of a stored function
MOST_FACTORS = 6  # the largest power that is multiplied out
FUNCTIONS = ("exp", "cos", "sin", "tanh", "abs")  # defined for every real number
INVERSES = ("inverse", "positive inverse")
ROOT = "root"  # the beginning of the names of roots


class Scope(NamedTuple):
    """Where a node stands: what its indices are, the range of each variable, and the conditions that hold there."""

    places: Mapping[Expr, Form]
    spans: Mapping[str, Form]  # the largest value of each variable; the smallest is 1
    here: tuple[Form, ...] = ()

    def under(self, *conditions: Form) -> Scope:
        """Return the scope in which these conditions hold, too."""
        return self._replace(here=(*self.here, *conditions))

    def binding(self, e: Expr, place: Form) -> Scope:
        """Return the scope in which the index that a node binds has a value."""
        assert e.bound_index is not None
        return self._replace(places={**self.places, e.bound_index: place})

    def with_variable(self, name: str, last: Form) -> Scope:
        """Return the scope with a variable that runs from 1 to a size."""
        return self._replace(spans={**self.spans, name: last}).under(*span_conditions(name, last))


def span_conditions(name: str, last: Form) -> list[Form]:
    """Return the conditions that a variable lies between 1 and a size."""
    return [at_most(ONE, variable(name)), at_most(variable(name), last)]


def read_position(e: Expr, places: Mapping[Expr, Form]) -> Form:
    """Return the value of a position: a sum of indices, sizes and integers."""
    if e.op == "index" and e not in places:
        raise Undecided(f"the index {show(e)} is bound outside the definition that uses it")
    if e.op == "index":
        return places[e]
    if e.op in ("const", "symbol"):
        return read_size(e)
    parts = [read_position(x, places) for x in e.args]
    if e.op == "mul":
        number, other = parts if e.args[0].op == "const" else parts[::-1]
        return add_forms((0, ()), other, number[0])
    return add_forms(parts[0], parts[1]) if e.op == "add" else negate_form(parts[0]) if e.op == "neg" else parts[0]


def read_size(size: Expr) -> Form:
    """Return a size as a form."""
    return number_form(int(size.data)) if size.op == "const" else variable(size.data[0])


@dataclass
class Stored:
    """The argument of an opaque function: a sum with slots, and for each slot the kind of what fills it, and what stood there at first."""

    terms: Sum
    kinds: tuple
    forms: tuple


class Reader:
    """A reader of the sides of one claim, with the functions that it has met.

    `find_nonzero` decides whether a sum is 0 wherever conditions hold, as `order_decision.find_nonzero_coefficient` does.
    """

    def __init__(self, trees: Iterable[Expr], given: Iterable[Assumption], find_nonzero: Callable):
        trees = list(trees)
        self.find_nonzero, self.steps = find_nonzero, Steps()
        self.sizes = frozenset(name for name, s in symbols(*trees).items() if s.data[1] == "size")
        self.bases = frozenset(n.args[0] for t in trees for n in walk(t) if n.op == "pow" and n.args[1].op != "const")
        free = {i for t in trees for i in free_indices(t)}
        spans = {i.data[0]: read_size(i.data[1]) for i in free}
        self.outer = Scope({i: variable(i.data[0]) for i in free}, {})
        self.size_conditions = [*(at_most(ONE, variable(n)) for n in sorted(self.sizes)), *read_size_assumptions(given)]
        for name, last in spans.items():
            self.outer = self.outer.with_variable(name, last)
        self.stored: dict[str, list[Stored]] = {}
        self.lacking: list[str] = []
        self.nonzero_arguments = [a.args[0] for a in given if a.kind in ("nonzero", "positive")]

    @property
    def region(self) -> list[Form]:
        """The conditions that hold of sizes and open indices."""
        return [*self.size_conditions, *self.outer.here]

    def read_entry_of(self, e: Expr, places: tuple[Form, ...], scope: Scope) -> Sum:
        """Return the entry of a tensor at these places. Raise Undecided if a node has no rule."""
        rule = RULES.get(e.op)
        if rule is None:
            raise Undecided(f"{show(e)} stands beside a comparison of positions")
        return rule(self, e, places, scope)

    def read(self, e: Expr, scope: Scope) -> Sum:
        """Return a scalar as a sum."""
        return self.read_entry_of(e, (), scope)

    def sum_over(self, size: Expr, scope: Scope, body: Callable[[Form, Scope], Sum]) -> Sum:
        """Return the sum of a body over a fresh index that runs to a size."""
        name, last = fresh_name(), read_size(size)
        terms = body(variable(name), scope.with_variable(name, last))
        return [replace(t, bound=(name, *t.bound), least=t.least.union(span_conditions(name, last))) for t in terms]

    def require(self, holds: bool, what: str) -> None:
        """Record that something was not shown."""
        if not holds and what not in self.lacking:
            self.lacking.append(what)

    # Functions

    def apply(self, name: str, terms: Sum, scope: Scope) -> Sum:
        """Return a function of a sum: a case for each condition on indices that are not bound in the sum."""
        terms = [t for t in terms if t.polynomial]
        condition = next((f for t in terms for f in sorted(t.equal) if not mentions(f, t.bound)), None)
        if condition:
            return [t for case in ("=", ">", "<") for t in self.apply_in_case(name, terms, scope, condition, case)]
        condition = next((f for t in terms for f in sorted(t.least) if not mentions(f, t.bound)), None)
        if condition:
            cases = ((condition, "holds"), (negate_condition(condition), "holds"))
            return [t for form, case in cases for t in self.apply_in_case(name, terms, scope, form, case)]
        return self.exponential(terms, scope) if name == "exp" else self.store(name, terms, scope)

    def exponential(self, terms: Sum, scope: Scope) -> Sum:
        """Return the exponential of a sum: the product of one exponential for the terms with each kind of atoms."""
        groups: dict[tuple, Sum] = {}
        for t in terms:
            groups.setdefault(tuple(head for head, _ in t.atoms), []).append(t)
        result = [make_term()]
        for group in groups.values():
            result = multiply_sums(result, self.store("exp", group, scope))
        return result

    def apply_in_case(self, name: str, terms: Sum, scope: Scope, form: Form, case: str) -> Sum:
        """Return a function of a sum where the form is 0, positive, negative, or at least 0 ("holds")."""
        self.steps.count()
        equal = [form] if case == "=" else []
        least = {"=": [], ">": [subtract_forms(form, ONE)], "<": [subtract_forms(negate_form(form), ONE)], "holds": [form]}[case]
        conditions = [*least, *equal, *map(negate_form, equal)]
        inside = [
            replace(t, least=t.least - {*least}, equal=t.equal - {*equal})
            for t in terms
            if is_satisfiable([*t.least, *t.equal, *map(negate_form, t.equal), *conditions])
        ]
        return restrict_sum(self.apply(name, inside, scope.under(*conditions)), least, equal)

    def store(self, name: str, terms: Sum, scope: Scope) -> Sum:
        """Return the atom of a function: of a stored one if its argument is equal at every shape, otherwise of a new one.

        Each place without a bound index, and what a bound index is compared with, is a slot: exp(S[j, j]) and exp(S[i, j]) are one
        function at different places.
        """
        slots = Slots(self.sizes)
        frozen = [slots.freeze(t) for t in terms]
        region = [*self.size_conditions, *self.outer.here]
        for v in sorted({v for form in slots.forms for v, _ in form[1]} - self.sizes):
            region += span_conditions(v, scope.spans[v])
        known = self.stored.setdefault(name, [])
        for number, other in enumerate(known):
            for places in slots.ways_to_fill(other):
                filled = fill(other.terms, places)
                if are_written_alike(terms, filled) or self.is_zero([*(t.renamed() for t in terms), *scale_sum(filled, -1)], region):
                    return [make_term(atoms=[((name, number), places)])]
        known.append(Stored(frozen, tuple(slots.kinds), tuple(slots.forms)))
        return [make_term(atoms=[((name, len(known) - 1), tuple(slots.forms))])]

    def argument(self, atom: tuple) -> Sum:
        """Return the argument of a function's atom."""
        (name, number), places = atom
        return fill(self.stored[name][number].terms, places)

    def is_zero(self, terms: Sum, region: list[Form]) -> bool:
        """Return whether a sum is decided to be 0 wherever conditions hold."""
        try:
            return self.find_nonzero(terms, region, self.steps) is None
        except Undecided:
            return False

    # Signs

    def is_positive(self, terms: Sum, conditions: list[Form]) -> bool:
        """Return whether every term is a positive number where it is not 0, and one of them is not 0 wherever the conditions hold."""
        try:
            some = any(not t.equal and all(is_implied(conditions, f) for f in project(t.least, t.bound)) for t in terms)
        except Undecided:
            return False
        return some and all(map(has_positive_factors, terms))

    def is_nonzero(self, terms: Sum, conditions: list[Form]) -> bool:
        """Return whether a sum is known not to be 0 where the conditions hold: it is positive, or stated to be positive or not 0."""
        if self.is_positive(terms, conditions):
            return True
        return any(
            self.is_zero([*(t.renamed() for t in terms), *scale_sum(self.read(x, self.outer), -1)], conditions)
            for x in self.nonzero_arguments
            if not free_indices(x) - set(self.outer.places)
        )

    def invert(self, terms: Sum, scope: Scope, what: Expr) -> Sum:
        """Return 1 divided by a sum."""
        if len(terms) == 1 and (t := terms[0]) == make_term(dict(t.polynomial)) and dict(t.polynomial).keys() == {()}:
            return [make_term(number_polynomial(1 / Fraction(dict(t.polynomial)[()])))]
        conditions = [*self.size_conditions, *self.outer.here, *scope.here]
        positive = self.is_positive(terms, conditions)
        self.require(positive or self.is_nonzero(terms, conditions), f"{show(what)} is not zero (it is divided by)")
        return self.store("positive inverse" if positive else "inverse", terms, scope)


def has_positive_factors(t: Term) -> bool:
    """Return whether the polynomial and the atoms of a term are positive. Indices and sizes are."""
    positive = (head[0] in ("exp", "positive inverse") or head[0].startswith(ROOT) for head, _ in t.atoms)
    return all(c > 0 for _, c in t.polynomial) and all(positive)


def mentions(form: Form, names: Iterable[str]) -> bool:
    """Return whether a form contains one of the variables."""
    return any(v in names for v, _ in form[1])


def fill(terms: Sum, places: Iterable[Form]) -> Sum:
    """Return a stored sum with its slots filled."""
    mapping = {slot_name(k): f for k, f in enumerate(places)}
    return [t.renamed().put(mapping) for t in terms]


def slot_name(k: int) -> str:
    """Return the name of a slot of a stored sum."""
    return f"~slot{k}"


class Slots:
    """The slots of one sum: what stands in each, and its kind. Two slots of one kind may hold the same things."""

    def __init__(self, sizes: frozenset[str]) -> None:
        self.sizes, self.forms, self.kinds = sizes, [], []  # type: ignore[var-annotated]

    def take(self, kind: tuple, form: Form) -> Form:
        """Return a new slot for what stands at a place."""
        self.forms.append(form)
        self.kinds.append(kind)
        return variable(slot_name(len(self.forms) - 1))

    def freeze(self, t: Term) -> Term:
        """Return a term with slots in place of what does not depend on its bound indices."""
        atoms = tuple(
            (head, tuple(f if mentions(f, t.bound) else self.take((head, axis), f) for axis, f in enumerate(places)))
            for head, places in t.atoms
        )
        values = sorted({v for monomial, _ in t.polynomial for v, _ in monomial} - self.sizes - set(t.bound))
        worth = {v: self.take(("value",), variable(v)) for v in values}
        numbered = {v: variable(f"~{k:02}") for k, v in enumerate(t.bound)}  # sorts the conditions of equal sums alike
        least, equal = (
            frozenset(self.freeze_condition(f, t.bound) for f in sorted(forms, key=lambda f: substitute(f, numbered)))
            for forms in (t.least, t.equal)
        )
        return Term(t.bound, least, equal, tuple(substitute_forms(dict(t.polynomial), worth).items()), atoms)

    def freeze_condition(self, form: Form, bound: tuple) -> Form:
        """Return a condition with a slot for what its bound indices are compared with, unless that consists of sizes."""
        rest = form
        for v in bound:
            rest = without_variable(rest, v)
        if all(v in self.sizes for v, _ in rest[1]):
            return form
        return add_forms(subtract_forms(form, rest), self.take(("condition",), rest))

    def ways_to_fill(self, stored: Stored) -> list[tuple[Form, ...]]:
        """Return ways to fill the slots of a stored sum with what stands here, the most likely one first. Numbers may also stay in them."""
        choices = []
        for wanted, first in zip(stored.kinds, stored.forms):
            same = [f for kind, f in zip(self.kinds, self.forms) if kind == wanted]
            choices.append(list(dict.fromkeys([*same, *([first] if all(v in self.sizes for v, _ in first[1]) else [])])))
        likely = [tuple(self.forms)] if stored.kinds == tuple(self.kinds) else []
        return list(dict.fromkeys([*likely, *(product(*choices) if prod(map(len, choices)) <= MOST_WAYS else ())]))


def read_size_assumptions(given: Iterable[Assumption]) -> list[Form]:
    """Return the conditions on sizes that the assumptions state by linear forms."""
    conditions = []
    for a in given:
        if a.kind in ("positive", "nonnegative") and is_position(a.args[0]) and not free_indices(a.args[0]):
            form = read_position(a.args[0], {})
            conditions.append(subtract_forms(form, ONE) if a.kind == "positive" else form)
    return conditions


# A rule for each operator


def read_symbol(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    name, kind = e.data
    if kind == "size":
        return [make_term(form_polynomial(variable(name)))]
    if kind != "real":
        raise Undecided(f"{show(e)} is {kind}, and stands beside a comparison of positions")
    return [make_term(atoms=[(("power", name), (ONE,)) if e in reader.bases else (("entry", name), places)])]


def read_index(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    return [make_term(form_polynomial(read_position(e, scope.places)))]


def read_defined(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    return reader.read_entry_of(e.args[0], places, scope._replace(places={}))


def read_arguments(reader: Reader, e: Expr, places: tuple, scope: Scope) -> list[Sum]:
    """Return the arguments of an entrywise operator; scalars have no places."""
    return [reader.read_entry_of(x, places if x.shape else (), scope) for x in e.args]


def read_sum_of_two(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    left, right = read_arguments(reader, e, places, scope)
    return left + right


def read_quotient(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    above, below = read_arguments(reader, e, places, scope)
    return multiply_sums(above, reader.invert(below, scope, e.args[1]))


def read_power(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    base, exponent = e.args
    if exponent.op != "const":
        return read_symbolic_power(reader, e, scope)
    below, power = reader.read(base, scope), exponent.data
    if abs(power.numerator) > MOST_FACTORS:
        raise Undecided(f"the power {show(e)} is too high to be multiplied out")
    if power.denominator != 1:
        below = read_root(reader, base, power.denominator, below, scope)
    factor = reader.invert(below, scope, base) if power < 0 else below
    result = [make_term()]
    for _ in range(abs(power.numerator)):
        result = multiply_sums(result, factor)
    return result


def read_root(reader: Reader, base: Expr, degree: int, below: Sum, scope: Scope) -> Sum:
    """Return a root of a positive number, as an opaque function for each degree."""
    if not reader.is_positive(below, [*reader.region, *scope.here]):
        raise Undecided(f"{show(base)}, of which a root is taken, is not seen to be positive")
    return reader.store(f"{ROOT} {degree}", below, scope)


def read_symbolic_power(reader: Reader, e: Expr, scope: Scope) -> Sum:
    """Return a power of a scalar symbol or of a number whose exponent is a position, and not negative unless the base is not 0."""
    base, exponent = e.args
    if not is_position(exponent) or base.op not in ("const", "symbol") or base.op == "symbol" and base.data[1] != "real":
        raise Undecided(f"the power {show(e)}: its base is no symbol or number, or its exponent no position")
    form = read_position(exponent, scope.places)
    conditions = [*reader.region, *scope.here]
    is_natural = is_implied(conditions, form)
    below = [make_term(atoms=[(("power", base.data[0]), (ONE,))])] if base.op == "symbol" else reader.read(base, scope)
    reader.require(is_natural or bool(below) and reader.is_nonzero(below, conditions), f"{show(exponent)} is not negative in {show(e)}")
    return (
        [make_term(atoms=[(("power", base.data if base.op == "const" else base.data[0]), (form,))])] if form != (0, ()) else [make_term()]
    )


def read_matmul(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    left, right = e.args
    split = len(left.shape) - 1

    def body(inner: Form, scope: Scope) -> Sum:
        first = reader.read_entry_of(left, (*places[:split], inner), scope)
        return multiply_sums(first, reader.read_entry_of(right, (inner, *places[split:]), scope))

    return reader.sum_over(left.shape[-1], scope, body)


def read_sum(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    def body(inner: Form, scope: Scope) -> Sum:
        return reader.read(e.args[0], scope.binding(e, inner))

    return reader.sum_over(e.data[1], scope, body)


def read_each(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    return reader.read_entry_of(e.args[0], places[1:], scope.binding(e, places[0]))


def read_where(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    body, left, right = e.args
    compare = at_most if e.data == "<=" else less
    condition = compare(read_position(left, scope.places), read_position(right, scope.places))
    return restrict_sum(reader.read(body, scope.under(condition)), [condition])


def read_entry(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    """Return an entry. Every entry of the tensor needs a value, so one at any place is read, too."""
    tensor = e.args[0]
    if any(map(is_partial, walk(tensor))):
        anywhere = scope
        names = [fresh_name() for _ in tensor.shape]
        for name, size in zip(names, tensor.shape):
            anywhere = anywhere.with_variable(name, read_size(size))
        reader.read_entry_of(tensor, tuple(map(variable, names)), anywhere)
    return reader.read_entry_of(tensor, tuple(read_position(i, scope.places) for i in e.args[1:]), scope)


def read_eye(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    difference = subtract_forms(*places)
    if difference[1]:
        return [make_term(equal=[difference])]
    return [] if difference[0] else [make_term()]


def read_function(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    if e.data not in FUNCTIONS:
        raise Undecided(f"{show(e)} stands beside a comparison of positions")
    return reader.apply(e.data, reader.read_entry_of(e.args[0], places, scope), scope)


def read_softmax(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    (scores,) = e.args

    def exponential(last: Form, scope: Scope) -> Sum:
        return reader.apply("exp", reader.read_entry_of(scores, (*places[:-1], last), scope), scope)

    below = reader.sum_over(scores.shape[-1], scope, exponential)
    return multiply_sums(exponential(places[-1], scope), reader.invert(below, scope, scores))


def read_derivative(reader: Reader, e: Expr, places: tuple, scope: Scope) -> Sum:
    body, by = e.args
    target = differentiation_symbol(by)
    if target in reader.bases:
        raise Undecided(f"{show(e)} is the derivative of a power whose exponent is a position")
    where = tuple(read_position(i, scope.places) for i in by.args[1:])
    return differentiate_sum(reader, reader.read(body, scope), ("entry", target.data[0]), where)


def differentiate_sum(reader: Reader, terms: Sum, head: tuple, where: tuple[Form, ...]) -> Sum:
    """Return the derivative of a sum by one entry, by the rules for products, exponentials and reciprocals."""
    result: Sum = []
    for t in terms:
        for k, (other, places) in enumerate(t.atoms):
            rest = [replace(t, atoms=t.atoms[:k] + t.atoms[k + 1 :])]
            if other == head:
                result += restrict_sum(rest, equal=[subtract_forms(a, b) for a, b in zip(places, where)])
            elif other[0] in reader.stored:
                inner = differentiate_sum(reader, reader.argument((other, places)), head, where)
                if inner:
                    result += multiply_sums(multiply_sums(rest, differentiate_function(other, places)), inner)
    return [t for t in result if all(form[1] or not form[0] for form in t.equal)]


def differentiate_function(head: tuple, places: tuple) -> Sum:
    """Return the derivative of an exponential or a reciprocal by its argument."""
    if head[0] == "exp":
        return [make_term(atoms=[(head, places)])]
    if head[0] in INVERSES:
        return [make_term(number_polynomial(-1), [(head, places)] * 2)]
    raise Undecided(f"a derivative of {head[0]} stands beside a comparison of positions")


RULES: dict[str, Callable[[Reader, Expr, tuple, Scope], Sum]] = {
    "const": lambda reader, e, places, scope: [make_term(number_polynomial(e.data))] if e.data else [],
    "symbol": read_symbol,
    "index": read_index,
    "defined": read_defined,
    "paren": lambda reader, e, places, scope: reader.read_entry_of(e.args[0], places, scope),
    "add": read_sum_of_two,
    "neg": lambda reader, e, places, scope: scale_sum(reader.read_entry_of(e.args[0], places, scope), -1),
    "mul": lambda reader, e, places, scope: multiply_sums(*read_arguments(reader, e, places, scope)),
    "div": read_quotient,
    "pow": read_power,
    "matmul": read_matmul,
    "transpose": lambda reader, e, places, scope: reader.read_entry_of(e.args[0], places[::-1], scope),
    "eye": read_eye,
    "fill": lambda reader, e, places, scope: [make_term(number_polynomial(e.data))] if e.data else [],
    "sum": read_sum,
    "each": read_each,
    "where": read_where,
    "entry": read_entry,
    "function": read_function,
    "softmax": read_softmax,
    "derivative": read_derivative,
}
