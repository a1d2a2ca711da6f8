"""Closed forms of the two sides of a refutation, where they have one: fractions, roots, logarithms, powers of e."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from ..core.claims import Claim
from ..core.constructors import array, exp
from ..core.expr import Expr, lift
from ..core.operators import INDEXED
from ..errors import KernelError
from . import flint_numbers
from .assumption_facts import collect_facts
from .atom_payloads import instantiate
from .counterexample_search import is_law
from .exact_evaluation import evaluate
from .flint_numbers import certainly_differ
from .given_values import read_values
from .polynomial_printing import polynomial_to_tree
from .polynomials import Polynomial
from .proofs import evaluate_sides
from .tree_to_normal_form import normalize_entry


def evaluate_closed_sides(claim: Claim) -> list[dict]:
    """Return both sides at the counterexample, as entries by place: an expression of numbers if there is one, else the computed value."""
    if is_law(*claim.trees[:2]):
        return evaluate_sides(claim)
    env = read_values(claim)
    return [evaluate_closed_side(claim, side, env, entries) for side, entries in zip(claim.trees, evaluate_sides(claim))]


def evaluate_closed_side(claim: Claim, side: Expr, env: dict, entries: dict) -> dict:
    """Return the closed forms of a side, whose computed values are `entries`.

    `env` is the counterexample as the exact witness evaluates it.
    """
    known = {name: array(value) for name, value in claim.at}
    known |= {name: lift(k) for name, k in env.items() if isinstance(name, str) and isinstance(k, int)}
    at_values = substitute_values(side, known, {name[1]: k + 1 for name, k in env.items() if isinstance(name, tuple)})
    return {place: closed_form_or_value(at_values, place, value) for place, value in entries.items()}


def substitute_values(e: Expr, known: dict[str, Expr], places: dict[str, int]) -> Expr:
    """Return the tree with values for its symbols, its sizes, and its open indices, which count from 1."""
    if e.op == "symbol" and e.data[0] in known:
        return known[e.data[0]]
    if e.op == "index" and e.data[0] in places:
        return lift(places[e.data[0]])
    data = e.data
    if e.op in INDEXED:
        data = (e.data[0], substitute_values(e.data[1], known, {}))
        places = {name: k for name, k in places.items() if name != e.data[0]}
    return Expr(
        e.op, tuple(substitute_values(a, known, places) for a in e.args), tuple(substitute_values(s, known, {}) for s in e.shape), data
    )


def closed_form_or_value(e: Expr, place: tuple[int, ...], value):
    """Return the closed form of an entry if it has one whose value does not differ from the computed one, otherwise that.

    A rational is one.
    """
    if isinstance(value, flint_numbers.fmpq):
        return value
    try:
        form = to_closed_form(normalize_entry(e, tuple(("c", k + 1) for k in place), {}, collect_facts(())))
        return value if certainly_differ(evaluate(form, {})[()], value) else form
    except (KernelError, RecursionError, ArithmeticError, KeyError):
        return value


def to_closed_form(p: Polynomial) -> Expr:
    """Return a normal form without symbols as an expression, over one denominator if all its terms share it."""
    numerator, denominator = split_denominator(p)
    return (
        tidy(polynomial_to_tree(numerator)) / tidy(polynomial_to_tree(denominator)) if denominator else tidy(polynomial_to_tree(numerator))
    )


def split_denominator(p: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return (numerator, denominator) with whole coefficients; the denominator is {} if the terms do not share one."""
    shared = set.intersection(*(set(factors) for _, factors in p)) if p else set()
    for factor in shared:
        (head, indices), power = factor
        if head[0] == "sum" and power == -1:
            numerator = {(bound, tuple(f for f in factors if f != factor)): c for (bound, factors), c in p.items()}
            denominator = dict(instantiate(head[-1], indices))
            coefficients = [*numerator.values(), *denominator.values()]
            times = Fraction(lcm(*(int(c.denominator) for c in coefficients)), gcd(*(int(c.numerator) for c in coefficients)))
            return {term: c * times for term, c in numerator.items()}, {term: c * times for term, c in denominator.items()}
    return p, {}


def tidy(e: Expr) -> Expr:
    """Return e with powers of exponentials as exponentials, and fractions times something as something over a number."""
    e = Expr(e.op, tuple(map(tidy, e.args)), e.shape, e.data)
    if e.op == "paren":
        return e.args[0]
    if e.op == "pow" and e.args[0].op == "function" and e.args[0].data == "exp" and e.args[1].op == "const":
        return exp(multiply_by_number(e.args[1].data, e.args[0].args[0]))
    if e.op == "mul" and e.args[0].op == "const":
        return multiply_by_number(e.args[0].data, e.args[1])
    return e


def multiply_by_number(number: Fraction, e: Expr) -> Expr:
    """Return number * e with the number's denominator below the fraction line."""
    numerator, denominator = int(number.numerator), int(number.denominator)
    if e.op == "const":
        return lift(Fraction(numerator, denominator) * Fraction(int(e.data.numerator), int(e.data.denominator)))
    product = e if numerator == 1 else lift(numerator) * e
    return product if denominator == 1 else product / denominator
