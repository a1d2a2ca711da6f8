"""The inequalities that a certificate may use without a proof of its own.

For real u, 1 + u <= exp(u). For positive u, log(u) <= u - 1. For nonnegative u, tanh(u) <= u. For positive g and p, Gibbs' inequality says that
the sum of g log(g/p) is at least the sum of g - p. Each of its terms is g (p/g - 1 - log(p/g)) + g - p, so it follows from the second.

For real vectors, the inequality of Cauchy and Schwarz says that u·v <= ‖u‖ ‖v‖, and the triangle inequality that ‖u + v‖ <= ‖u‖ + ‖v‖. Also
|a + b| <= |a| + |b|, for complex numbers too, and -|x| <= x <= |x| for real x.

While no exponent leaves the format's range, rounding to nearest changes a number by at most the unit roundoff times its absolute value.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from fractions import Fraction
from itertools import combinations, product

from ..core.constructors import absolute, exp, function, log, node
from ..core.expr import Expr, lift, strip_brackets, walk
from ..core.number_formats import FORMATS
from ..core.operators import is_complex
from .atom_payloads import Unsupported
from .clear_denominators import clear_denominators
from .normal_form import Facts
from .polynomials import add, scale
from .tree_to_normal_form import normalize


def find_gap_condition(e: Expr, facts: Facts) -> Expr | None:
    """Return what has to be nonnegative for e to be so by one of the inequalities, or None if e is not the gap of any."""
    if e.shape:
        return None
    for gap, condition in (*list_tangent_gaps(e), *list_relative_entropies(e), *list_length_gaps(e), *list_rounding_gaps(e, facts)):
        if are_equal(e, gap, facts):
            return condition
    return None


def are_equal(e: Expr, other: Expr, facts: Facts) -> bool:
    """Return whether two numbers have one normal form, and need no assumption that e alone does not need."""
    supposed = copy(facts)
    supposed.missing = {}  # what a gap needs that is tried in vain must not be asked of the author
    try:
        difference = add(normalize(e, supposed), scale(normalize(other, supposed), -1))
        return not clear_denominators(difference, supposed) and supposed.missing.keys() <= facts.missing.keys()
    except Unsupported:
        return False


def list_tangent_gaps(e: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield the gap between each exponential, logarithm or tanh among the summands of e and its tangent, with the gap's condition."""
    for term in list_summands(e):
        u = term.args[0] if term.op == "function" else lift(0)
        if (term.op, term.data) == ("function", "exp"):
            yield exp(u) - 1 - u, lift(1)
        elif (term.op, term.data) == ("function", "log"):
            yield u - 1 - log(u), lift(1)
            yield 1 / u - 1 + log(u), lift(1)
        elif (term.op, term.data) == ("function", "tanh"):
            yield u - function("tanh", u), u


def list_relative_entropies(e: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield the sum of g log(g/p) for each two g and p in logarithms of sums over one index, with the sum of g - p; p may be constant."""
    for index in dict.fromkeys(n.data for n in walk(e) if n.op == "sum"):
        inside = list_log_arguments([n for n in walk(e) if n.op == "sum" and n.data == index])
        for g, p in product(inside, (1 / index[1], *inside)):
            if g != p:
                yield node("sum", g * (log(g) - log(p)), data=index), node("sum", g - p, data=index)


def list_log_arguments(trees: list[Expr]) -> list[Expr]:
    """Return what logarithms in the trees are taken of; of a quotient, both parts."""
    arguments = [strip_brackets(n.args[0]) for tree in trees for n in walk(tree) if (n.op, n.data) == ("function", "log")]
    parts = [part for u in arguments for part in (u.args if u.op == "div" else (u,))]
    return list(dict.fromkeys(parts))


def list_length_gaps(e: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield the gaps of the inequalities of lengths: each product of two among the summands of e, each two, and each modulus and its argument."""
    terms = list(list_summands(e))
    for term in terms:
        lengths = [a for a in term.args if term.op == "mul" and is_length(a, "norm")]
        if len(lengths) == 2 and are_comparable(*lengths):
            dot = lengths[0].args[0] @ lengths[1].args[0]
            for least in (dot, -dot, absolute(dot)):
                yield term - least, lift(1)
        if is_length(term, "abs") and not is_complex(term.args[0]):
            yield term - term.args[0], lift(1)
            yield term + term.args[0], lift(1)
    for name in ("norm", "abs"):
        for a, b in combinations((term for term in terms if is_length(term, name)), 2):
            if are_comparable(a, b):
                for third in (a.args[0] + b.args[0], a.args[0] - b.args[0]):
                    yield a + b - function(name, third), lift(1)


def list_rounding_gaps(e: Expr, facts: Facts) -> Iterator[tuple[Expr, Expr]]:
    """Yield the gap of the rounding error's bound for each rounded number in an absolute value among the summands of e."""
    for term in filter(lambda term: facts.in_range and is_length(term, "abs"), list_summands(e)):
        for n in walk(term):
            if n.op == "rounded":
                unit = Fraction(1, 2 ** FORMATS[n.data].bits)
                yield unit * absolute(n.args[0]) - absolute(n - n.args[0]), lift(1)


def is_length(e: Expr, name: str) -> bool:
    """Return whether e is the length of a vector ("norm") or the absolute value of a number ("abs")."""
    return e.op == "function" and e.data == name and not e.shape


def are_comparable(a: Expr, b: Expr) -> bool:
    """Return whether the arguments of two lengths have the same shape."""
    return a.args[0].shape == b.args[0].shape


def list_summands(e: Expr) -> Iterator[Expr]:
    """Yield the summands of e without their signs."""
    e = strip_brackets(e)
    if e.op in ("add", "neg"):
        for part in e.args:
            yield from list_summands(part)
    else:
        yield e
