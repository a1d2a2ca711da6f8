"""Builds the facts that a claim's assumptions give the exact witness."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from ..core.assumptions import Assumption, is_random, nonnegative, symbol_of
from ..core.expr import Expr, free_indices, show, walk
from ..core.operators import TRANSPARENT
from ..errors import KernelError
from .index_sums import fresh_index
from .matrix_inverses import heads_of, inverse_atom
from .max_facts import holds_in_every_case
from .nonnegativity import is_visibly_nonnegative, nonnegative_assumption
from .normal_form import Facts, multiply
from .polynomials import Polynomial, add, atom, constant, scale
from .tree_to_normal_form import is_square_product, normalize, normalize_entry


def collect_facts(given: tuple) -> Facts:
    """Return the facts that the assumptions give, including which of them remain when symbols vary."""
    facts = collect_stated_facts(given)
    facts.given = given
    facts.facts_near = lambda moving: collect_stated_facts(tuple(a for a in given if holds_near(a, moving, facts)))
    return facts


def list_implied(given: tuple) -> tuple:
    """Return what the assumptions imply about numbers: the mean of what is 0 or 1 is a probability, between 0 and 1."""
    bits = {a.args[0] for a in given if a.kind == "zero_or_one"}
    chances = [a.args[1] for a in given if a.kind == "mean" and a.args[0] in bits]
    return tuple(nonnegative(x) for m in chances for x in (m, 1 - m))


def holds_near(a: Assumption, varying: frozenset, facts: Facts) -> bool:
    """Return whether an assumption that holds at a point also holds near it when the symbols with these names vary.

    It does if it does not mention them, or if it says that a continuous expression is positive or nonzero.
    """
    nodes = [n for x in a.args for n in walk(x)]
    if not any(n.op == "symbol" and n.data[0] in varying for n in nodes):
        return True
    if any(n.op in ("rounded", "rank") for n in nodes):
        return False
    if a.kind == "nonnegative":  # if it is also nonzero, it is positive
        return facts.is_nonzero(normalize(a.args[0], facts))
    return a.kind in ("positive", "nonzero", "invertible")


def collect_stated_facts(given: tuple) -> Facts:
    """Return the facts that the assumptions state."""
    facts = Facts()
    facts.decide_by_cases = holds_in_every_case
    facts.in_range = any(a.kind == "in range" for a in given)
    means: dict[str, Polynomial] = {}
    variances: dict[str, Polynomial] = {}
    gaussians: set[str] = set()

    def add_moment_order(name: str, order: float) -> None:
        """Record that a moment exists, and with it every lower one."""
        facts.moment_orders[name] = max(order, facts.moment_orders.get(name, 0))

    for a in sorted(given, key=read_later):
        if a.kind in ("positive", "nonnegative", "nonzero", "representable"):
            facts.reading_assumption = True  # an assumption holds only where its expression has a value
            for x in a.args:
                getattr(facts, a.kind).append(normalize(x, facts))
            facts.reading_assumption = False
        elif a.kind == "invertible":
            state_invertible(a.args[0], facts)
        elif a.kind == "zero_or_one":
            facts.bits.add(a.args[0].data[0])
            if is_random(a.args[0]):
                add_moment_order(a.args[0].data[0], inf)
        elif a.kind == "product":
            if any(map(is_random, a.args)):
                raise KernelError(
                    "a product of what is random is not stated: what is random has its mean and variance, and no fixed products",
                    code="random-not-allowed",
                )
            facts.products[contracted_axes(a)] = a.args[2].data
            facts.constrained |= {n.data[0] for x in a.args for n in walk(x) if n.op == "symbol"}
        elif a.kind == "independent":
            if len(names := {x.data[0] for x in a.args}) < len(a.args):
                raise KernelError(
                    "an assumption of independence names one random symbol twice: nothing but a constant is independent of itself",
                    code="independent-of-itself",
                )
            facts.independent.append(names)
        elif a.kind in ("mean", "variance"):
            table, name = means if a.kind == "mean" else variances, a.args[0].data[0]
            if name in table:
                raise KernelError(f"the {a.kind} of {name} is stated twice", code="stated-twice")
            table[name] = normalize(a.args[1], facts)
            facts.parameters.append(table[name])
            add_moment_order(name, 1 if a.kind == "mean" else 2)
        elif a.kind == "gaussian":
            gaussians |= {x.data[0] for x in a.args}
            for x in a.args:
                add_moment_order(x.data[0], inf)
        elif a.kind == "moment":
            add_moment_order(a.args[0].data[0], int(a.args[1].data))
    random_bits = {a.args[0].data[0] for a in given if a.kind == "zero_or_one" and is_random(a.args[0])}
    if misfit := sorted(random_bits & {*variances, *gaussians}):
        raise KernelError(
            f"{misfit[0]} is 0 or 1, so that its mean says all about it: state neither its variance nor that it is normally distributed",
            code="stated-twice",
        )
    for name in {*means, *variances, *gaussians, *random_bits}:
        m = means.get(name, atom(("moment", name, 1)))
        if name in random_bits:
            facts.moments[name] = partial(power_mean_of_bit, m)
            facts.nonnegative += [m, add(constant(1), scale(m, -1))]
            continue
        v = variances.get(name, add(atom(("moment", name, 2)), scale(multiply(m, m, facts), -1)))
        facts.moments[name] = make_moment_function(name, m, v, name in gaussians, facts)
        if name in gaussians and name in means and name in variances:
            facts.gaussian[name] = m, v
    return facts


def read_later(a: Assumption) -> bool:
    """Return whether an assumption may divide by, or invert, what another one is about."""
    return a.kind in ("mean", "variance") or a.kind == "invertible" and a.args[0].op != "symbol"


def state_invertible(matrix: Expr, facts: Facts) -> None:
    """Add the fact that a matrix is invertible.

    If a multiple of a matrix is invertible, the factor is not 0 and the matrix is invertible. If a product of square matrices is, both are.
    An inverse within the matrix exists, since the assumption holds only where its expression has a value.
    """
    for inner in [n for n in walk(matrix) if n.op == "inverse" and n is not matrix and not free_indices(n)]:
        state_invertible(inner.args[0], facts)
    if matrix.op in (*TRANSPARENT, "transpose", "neg", "inverse"):
        state_invertible(matrix.args[0], facts)
    elif is_square_product(matrix):
        for factor in matrix.args:
            state_invertible(factor, facts)
    elif matrix.op in ("mul", "div") and (scalars := [x for x in matrix.args if not x.shape]):
        facts.nonzero += [normalize(x, facts) for x in scalars]
        state_invertible(next(x for x in matrix.args if x.shape), facts)
    elif matrix.op == "symbol":
        name = matrix.data[0]
        facts.invertible[name] = matrix.shape[0]
        for first, second in (("entry", "inverse"), ("inverse", "entry")):
            facts.products[((first, name), 1), ((second, name), 0)] = 1
    elif matrix.shape[0].op != "const":  # the products of a matrix of known size are written out, and its inverse is not known
        row, column = fresh_index(), fresh_index()
        entry = normalize_entry(matrix, (row, column), {}, facts)
        inverted = inverse_atom(entry, (row, column), (row, column), matrix.shape[0], facts)
        facts.invertible |= dict.fromkeys(heads_of(inverted), matrix.shape[0])


def require_variances(given: tuple, facts: Facts) -> None:
    """Require that each stated variance is visibly nonnegative: from a negative variance anything would follow."""
    for a in (a for a in given if a.kind == "variance"):
        why = f"{show(a.args[1])} is not negative (it is stated to be a variance, of each entry of {show(a.args[0])})"
        facts.require(is_visibly_nonnegative(a.args[1], facts), why, nonnegative_assumption(a.args[1]))


def contracted_axes(a: Assumption) -> tuple:
    """Return the two matrices of a stated product as (head, axis that is summed over)."""
    ends = []
    for x, axis in zip(a.args, (1, 0)):
        inside, axis = (x.args[0], 1 - axis) if x.op == "transpose" else (x, min(axis, len(x.shape) - 1))
        ends.append((("entry", symbol_of(inside).data[0]), axis))
    return tuple(ends)


def power_mean_of_bit(m: Polynomial, r: int) -> Polynomial:
    """Return E[x^r] = E[x] = m for x that is 0 or 1: each of its powers is x itself."""
    return m


def make_moment_function(name: str, m: Polynomial, v: Polynomial, is_gaussian: bool, facts: Facts) -> Callable[[int], Polynomial]:
    """Return the function r -> E[x^r]: from mean and variance up to r = 2, beyond that by the Gaussian recursion or as an atom."""

    def moment(r: int) -> Polynomial:
        if r == 1:
            return m
        if r == 2:
            return add(v, multiply(m, m, facts))
        if is_gaussian:
            return add(multiply(m, moment(r - 1), facts), scale(multiply(v, moment(r - 2), facts), r - 1))
        return atom(("moment", name, r))

    return moment
