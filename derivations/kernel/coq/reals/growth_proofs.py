"""Find how fast a tree grows or vanishes near a limit, and write the proof: for each operation a lemma of prelude_limits.v.

A tree is compared with scales x^p exp(q x), where x is the number that grows without bound near the limit: the variable, or its inverse if
the variable tends to zero. Nothing here has to be trusted: Coq either accepts a proof or rejects it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import add, mul, neg, pos, truediv
from typing import NamedTuple

from ...core.assumptions import Assumption
from ...core.expr import Expr, walk
from ...core.operators import TRANSPARENT
from ..algebraic_structures import NotForCoq
from . import entries
from .notation import ATOM, name_of, show

Scale = tuple[Fraction | int, Fraction | int]  # (p, q) for x^p exp(q x)
Proof = tuple[str, ...]  # tactics in order

HALF = Fraction(1, 2)
CONSTANT: Scale = (0, 0)
FIRST_ORDER: Scale = (-1, 0)
FOLDABLE: dict[str, Callable[..., Fraction]] = {"add": add, "mul": mul, "neg": neg, "div": truediv, "paren": pos, "defined": pos}
CANCELS = "a limit in which what grows fastest cancels"


class Behaviour(NamedTuple):
    """How a tree behaves near the limit, with its proof."""

    scale: Scale
    value: Fraction | None  # the limit of tree / scale, or None if it is not a known fraction
    proof: Proof

    @property
    def small(self) -> bool:
        """Whether the scale tends to zero."""
        return (self.scale[1], self.scale[0]) < CONSTANT


class Growth:
    """Proofs about trees that depend on one variable, which tends to `target`: "oo" or zero."""

    def __init__(self, variable: Expr, target: object, function: str, given: Sequence[Assumption] = ()) -> None:
        self.variable, self.grows = variable, target == "oo"
        self.function = function  # the beginning of a Coq function of the variable
        self.switches = [a.args[0] for a in given if a.kind == "zero_or_one"]

    def depends(self, e: Expr) -> bool:
        """Return whether the tree contains the variable."""
        return any(n == self.variable for n in walk(e))

    def limit(self, e: Expr) -> list[str]:
        """Return the proof of the tree's limit. Raise NotForCoq if no lemma gives one."""
        return [*self.converging(e).proof, "value"]

    def sign(self, sign: str, e: Expr) -> list[str]:
        """Return the proof that the tree has a sign near the limit: "nonzero", or any other for "positive"."""
        found = self.behaviour(e)
        if found.value is not None and (found.value == 0 or found.value < 0 and sign != "nonzero"):
            raise NotForCoq(f"{CANCELS}, below a fraction line or under a root")
        return [*found.proof, "not_zero" if sign == "nonzero" else "above_zero"]

    def converging(self, e: Expr) -> Behaviour:
        """Return the limit of a bounded tree as a behaviour of constant scale. Raise NotForCoq if the tree grows."""
        found = self.behaviour(e)
        if found.scale == CONSTANT:
            return Behaviour(CONSTANT, found.value, ("settles", *found.proof, "compared", "compared"))
        if found.small:
            return Behaviour(CONSTANT, Fraction(0), ("vanishes", *found.proof, "compared"))
        raise NotForCoq(CANCELS)

    def behaviour(self, e: Expr) -> Behaviour:
        """Return how a number behaves near the limit. Raise NotForCoq if no lemma says so."""
        if not self.depends(e):
            return Behaviour(CONSTANT, fold_constants(e), ("constant",))
        rule = RULES.get((e.op, e.data) if e.op == "function" else e.op)
        if rule is None or e.shape:
            raise NotForCoq(f"a limit of {e.data if e.op == 'function' else e.op}, for which there is no lemma")
        return rule(self, e)

    def split_linear(self, e: Expr) -> tuple[Fraction, list[Expr]]:
        """Return (k, rest) for a sum: the coefficient of the variable, and the other terms."""
        if e == self.variable:
            return Fraction(1), []
        if e.op in TRANSPARENT:
            return self.split_linear(e.args[0])
        if e.op == "neg":
            k, rest = self.split_linear(e.args[0])
            return -k, [negate(x) for x in rest]
        if e.op == "add":
            (k, rest), (more, others) = map(self.split_linear, e.args)
            return k + more, rest + others
        if e.op in ("mul", "div") and "const" in (e.args[0].op, e.args[1].op) and self.depends(e):
            body, factor = e.args if e.args[1].op == "const" else e.args[::-1]
            if factor.op == "const" and not (e.op == "div" and not factor.data) and not (e.op == "div" and factor is e.args[0]):
                k, rest = self.split_linear(body)
                if not rest:
                    return k * factor.data if e.op == "mul" else k / factor.data, []
        return Fraction(0), [e]


def fold_constants(e: Expr) -> Fraction | None:
    """Return the value of a tree of rational constants, or None for any other tree."""
    if e.op == "const":
        return e.data
    if e.shape or e.op not in FOLDABLE and (e.op, e.data) != ("function", "exp"):
        return None
    inside = [fold_constants(x) for x in e.args]
    if None in inside:
        return None
    if e.op == "function":
        return None if inside[0] else Fraction(1)
    return None if e.op == "div" and not inside[1] else FOLDABLE[e.op](*inside)


def negate(e: Expr) -> Expr:
    return e.args[0] if e.op == "neg" else Expr("neg", (e,))


def sum_of(terms: Sequence[Expr]) -> Expr:
    result = terms[0] if terms else Expr("const", (), (), Fraction(0))
    for term in terms[1:]:
        result = Expr("add", (result, term))
    return result


def growth_of_symbol(growth: Growth, e: Expr) -> Behaviour:
    return Behaviour((1 if growth.grows else -1, 0), Fraction(1), ("moving",))


def growth_of_neg(growth: Growth, e: Expr) -> Behaviour:
    x = growth.behaviour(e.args[0])
    return Behaviour(x.scale, None if x.value is None else -x.value, ("opposite", *x.proof))


def growth_of_add(growth: Growth, e: Expr) -> Behaviour:
    x, y = map(growth.behaviour, e.args)
    if x.scale == y.scale:
        value = None if x.value is None or y.value is None else x.value + y.value
        if value == 0 and x.scale == CONSTANT:
            try:
                return Behaviour(FIRST_ORDER, None, ("first_order", *expand_operation(growth, e), "value"))
            except NotForCoq:
                pass  # the first order is out of reach, but the general rule below still shows that the sum vanishes
        return Behaviour(x.scale, value, ("alike", *x.proof, *y.proof, "compared", "compared"))
    first = x.scale[::-1] > y.scale[::-1]
    return (x if first else y)._replace(proof=("first_leads" if first else "second_leads", *x.proof, *y.proof, "compared"))


def product(x: Behaviour, y: Behaviour) -> Behaviour:
    scale = (x.scale[0] + y.scale[0], x.scale[1] + y.scale[1])
    value = None if x.value is None or y.value is None else x.value * y.value
    return Behaviour(scale, value, ("product", *x.proof, *y.proof))


def inverse(x: Behaviour) -> Behaviour:
    if x.value == 0:
        raise NotForCoq(f"{CANCELS}, below a fraction line")
    return Behaviour((-x.scale[0], -x.scale[1]), x.value and 1 / x.value, ("inverse", *x.proof, "not_zero"))


def growth_of_mul(growth: Growth, e: Expr) -> Behaviour:
    return product(*map(growth.behaviour, e.args))


def growth_of_div(growth: Growth, e: Expr) -> Behaviour:
    left, right = map(growth.behaviour, e.args)
    return product(left, inverse(right))


def growth_of_pow(growth: Growth, e: Expr) -> Behaviour:
    """Return the behaviour of a power in the form that `notation.py` gives it: an integer power of a root, or exp(exponent log(base))."""
    base, exponent = e.args
    if exponent.op != "const" or exponent.data.denominator not in (1, 2, 4):
        return exponential(growth, Expr("mul", (exponent, Expr("function", (base,), (), "log"))))
    q, found = exponent.data, growth.behaviour(base)
    for _ in range(q.denominator.bit_length() - 1):
        found = Behaviour(
            (found.scale[0] * HALF, found.scale[1] * HALF), found.value if found.value in (0, 1) else None, ("root", *found.proof)
        )
    if (n := abs(q.numerator)) != 1:
        value = None if found.value is None else found.value**n
        found = Behaviour((found.scale[0] * n, found.scale[1] * n), value, ("power", *found.proof))
    return inverse(found) if q < 0 else found


def exponential(growth: Growth, x: Expr) -> Behaviour:
    """Return the behaviour of exp(x)."""
    k, rest = growth.split_linear(x)
    others = sum_of(rest)
    if growth.grows and (k or not growth.depends(others)):
        found = growth.converging(others)
        lemma = f"exponential_of {coq_number(k)} ({growth.function}{show(others)})"
        return Behaviour((0, k), None if found.value != 0 else Fraction(1), (lemma, *found.proof))
    if growth.behaviour(x).scale[::-1] > CONSTANT:
        for s in growth.switches:
            if switched := switched_exponential(growth, x, s):
                return switched
        raise NotForCoq("an exponential of what grows otherwise than a multiple of the number")
    found = growth.converging(x)
    return Behaviour(CONSTANT, Fraction(1) if found.value == 0 else None, ("exponential", *found.proof))


def switched_exponential(growth: Growth, x: Expr, tensor: Expr) -> Behaviour | None:
    """Return the behaviour of exp(x) if x depends on an entry that is zero or one, or None if it does not have this form:

    for one of the two values x tends to minus infinity like a multiple of the variable, for the other it does not depend on the variable.
    """
    switch = next((n for n in walk(x) if n == tensor or n.op == "entry" and n.args[0] == tensor), None)
    if switch is None:
        return None
    (off, others), (on, others_on) = (growth.split_linear(simplify(replace_tree(x, switch, Fraction(v)))) for v in (0, 1))
    if others != others_on or any(map(growth.depends, others)) or min(off, on) >= 0 or max(off, on) != 0:
        return None
    s, rest = (show(switch) if on == 0 else f"1 + - {show(switch, ATOM)}"), sum_of(others)
    lemma = f"exponential_switched {coq_number(-min(off, on))} ({s}) ({growth.function}{show(rest)})"
    return Behaviour(CONSTANT, None, (lemma, *growth.converging(rest).proof))


def replace_tree(e: Expr, old: Expr, value: Fraction) -> Expr:
    """Return the tree with a number in place of every occurrence of `old`."""
    if e == old:
        return Expr("const", (), (), value)
    return Expr(e.op, tuple(replace_tree(x, old, value) for x in e.args), e.shape, e.data)


def simplify(e: Expr) -> Expr:
    """Return the tree with rational constants evaluated."""
    value = fold_constants(e)
    return Expr("const", (), (), value) if value is not None else Expr(e.op, tuple(map(simplify, e.args)), e.shape, e.data)


def expand(growth: Growth, e: Expr) -> Proof:
    """Return the proof of a tree's expansion to first order: a number plus a term of scale FIRST_ORDER."""
    if not growth.depends(e):
        return ("constant_1",)
    if e.op in TRANSPARENT:
        return expand(growth, e.args[0])
    if e.op in ("entry", "matmul"):
        return expand(growth, entries.number(e))
    found = growth.behaviour(e)
    if found.scale == FIRST_ORDER:
        return ("same_order", *found.proof, "compared", "compared")
    if (found.scale[1] - FIRST_ORDER[1], found.scale[0] - FIRST_ORDER[0]) < CONSTANT:
        return ("higher_order", *found.proof, "compared")
    return expand_operation(growth, e)


def expand_operation(growth: Growth, e: Expr) -> Proof:
    """Return the same for an operation, from the expansions of its arguments. Raise NotForCoq if there is no lemma."""
    parts = [step for x in e.args for step in expand(growth, x)]
    if e.op in ("add", "neg"):
        return ("sum_1" if e.op == "add" else "opposite_1", *parts)
    if e.op == "mul":
        return ("product_1", *parts, "compared")
    if e.op == "div":
        left, right = (expand(growth, x) for x in e.args)
        return ("product_1", *left, "inverse_1", *right, "compared", "not_zero", "compared")
    if (e.op, e.data) == ("function", "exp"):
        return ("exponential_1", *parts, "compared")
    raise NotForCoq(CANCELS)


def growth_of_entry(growth: Growth, e: Expr) -> Behaviour:
    found = growth.behaviour(entries.number(e))
    return found._replace(proof=("entries", *found.proof))


def coq_number(q: Fraction) -> str:
    return f"({q})"


def growth_of_exp(growth: Growth, e: Expr) -> Behaviour:
    return exponential(growth, e.args[0])


def growth_of_log(growth: Growth, e: Expr) -> Behaviour:
    """Return the behaviour of log(x). If x is 1 + g and g vanishes, it is that of g."""
    (x,) = e.args
    found = growth.behaviour(x)
    if found.value == 1 and found.scale == CONSTANT:
        k, rest = growth.split_linear(x)
        one = next((term for term in rest if term.op == "const" and term.data == 1), None)
        if one is not None:
            rest = [term for term in rest if term is not one]
            g = sum_of([*([times(k, growth.variable)] if k else []), *rest])
            small = growth.behaviour(g)
            return small._replace(proof=(f"logarithm_near_one ({growth.function}{show(g)})", *small.proof, "compared"))
    found = growth.converging(x)
    return Behaviour(CONSTANT, None, ("logarithm", *found.proof, "above_zero"))


def times(k: Fraction, e: Expr) -> Expr:
    return e if k == 1 else Expr("neg", (e,)) if k == -1 else Expr("mul", (Expr("const", (), (), k), e))


def growth_of_odd_function(name: str) -> Callable[[Growth, Expr], Behaviour]:
    """Return the rule for a sine or a hyperbolic tangent. If the argument vanishes, the function behaves like its argument."""

    def rule(growth: Growth, e: Expr) -> Behaviour:
        found = growth.behaviour(e.args[0])
        if found.small:
            return found._replace(proof=(f"{name}_small", *found.proof, "compared"))
        if found.scale != CONSTANT and name == "tangent":
            if not found.value:
                raise NotForCoq("a limit of the hyperbolic tangent of what grows with a sign that is not seen")
            lemma, value = ("tangent_up", 1) if found.value > 0 else ("tangent_down", -1)
            return Behaviour(CONSTANT, Fraction(value), (lemma, *found.proof, "compared", "lra"))
        return Behaviour(CONSTANT, None, (name, *growth.converging(e.args[0]).proof))

    return rule


def growth_of_cos(growth: Growth, e: Expr) -> Behaviour:
    return Behaviour(CONSTANT, None, ("cosine", *growth.converging(e.args[0]).proof))


def growth_of_sum(growth: Growth, e: Expr) -> Behaviour:
    found = growth.behaviour(e.args[0])
    return Behaviour(found.scale, None, (f"summed {name_of(e.data[0])}", *found.proof))


RULES: dict[str | tuple[str, str], Callable[[Growth, Expr], Behaviour]] = {
    "symbol": growth_of_symbol,
    "paren": lambda growth, e: growth.behaviour(e.args[0]),
    "defined": lambda growth, e: growth.behaviour(e.args[0]),
    "neg": growth_of_neg,
    "add": growth_of_add,
    "mul": growth_of_mul,
    "div": growth_of_div,
    "pow": growth_of_pow,
    "sum": growth_of_sum,
    "entry": growth_of_entry,
    "matmul": growth_of_entry,
    ("function", "exp"): growth_of_exp,
    ("function", "log"): growth_of_log,
    ("function", "tanh"): growth_of_odd_function("tangent"),
    ("function", "sin"): growth_of_odd_function("sine"),
    ("function", "cos"): growth_of_cos,
}
