"""How fast a tree grows or vanishes near a limit, and the proof of it: for each operation, the lemma of prelude_limits.v by name.

Nothing here has to be trusted: Coq accepts the proof or it does not. A tree is compared with the number that grows near the limit, to a
power, times the exponential of a multiple of it.
"""

from __future__ import annotations

from fractions import Fraction
from operator import add, mul, neg, pos, truediv
from typing import NamedTuple

from ...core.expr import Expr, walk
from ...core.operators import STAND_INS
from ..algebraic_structures import NotForCoq
from . import entries
from .notation import ATOM, name_of, show

HALF = Fraction(1, 2)
STILL = (0, 0)
FIRST = (-1, 0)
FOLDED = {"add": add, "mul": mul, "neg": neg, "div": truediv, "paren": pos, "defined": pos}
CANCELS = "a limit in which what grows fastest cancels"


class Like(NamedTuple):
    """A tree, near the limit: the scale that it is like, (power, multiple in the exponent), its factor where that is a number that is
    seen, and the proof as tactics in their order."""

    scale: tuple
    value: Fraction | None
    proof: tuple

    @property
    def small(self) -> bool:
        return (self.scale[1], self.scale[0]) < STILL


class Growth:
    """Proofs about trees in which one symbol moves."""

    def __init__(self, variable: Expr, to, moving: str, given: tuple = ()):
        self.variable, self.grows, self.moving = variable, to == "oo", moving
        self.switches = [a.args[0] for a in given if a.kind == "zero_or_one"]

    def moves(self, e: Expr) -> bool:
        return any(n == self.variable for n in walk(e))

    def limit(self, e: Expr) -> list:
        """The proof of where the tree goes."""
        return [*self.settled(e).proof, "value"]

    def sign(self, sign: str, e: Expr) -> list:
        """The proof of the sign that it has near the limit."""
        found = self.like(e)
        if found.value is not None and (found.value == 0 or found.value < 0 and sign != "nonzero"):
            raise NotForCoq(f"{CANCELS}, below a fraction line or under a root")
        return [*found.proof, "not_zero" if sign == "nonzero" else "above_zero"]

    def settled(self, e: Expr) -> Like:
        """Of what does not grow, the number that it tends to."""
        found = self.like(e)
        if found.scale == STILL:
            return Like(STILL, found.value, ("settles", *found.proof, "compared", "compared"))
        if found.small:
            return Like(STILL, Fraction(0), ("vanishes", *found.proof, "compared"))
        raise NotForCoq(CANCELS)

    def like(self, e: Expr) -> Like:
        if not self.moves(e):
            return Like(STILL, folded(e), ("constant",))
        rule = RULES.get((e.op, e.data) if e.op == "function" else e.op)
        if rule is None or e.shape:
            raise NotForCoq(f"a limit of {e.data if e.op == 'function' else e.op}, for which there is no lemma")
        return rule(self, e)

    def apart(self, e: Expr) -> tuple:
        """A sum as (k, rest): a multiple of what moves, and the terms beside it."""
        if e == self.variable:
            return Fraction(1), []
        if e.op in STAND_INS:
            return self.apart(e.args[0])
        if e.op == "neg":
            k, rest = self.apart(e.args[0])
            return -k, [negative(x) for x in rest]
        if e.op == "add":
            (k, rest), (more, others) = map(self.apart, e.args)
            return k + more, rest + others
        if e.op in ("mul", "div") and "const" in (e.args[0].op, e.args[1].op) and self.moves(e):
            body, factor = e.args if e.args[1].op == "const" else e.args[::-1]
            if factor.op == "const" and not (e.op == "div" and not factor.data) and not (e.op == "div" and factor is e.args[0]):
                k, rest = self.apart(body)
                if not rest:
                    return k * factor.data if e.op == "mul" else k / factor.data, []
        return Fraction(0), [e]


def folded(e: Expr) -> Fraction | None:
    """The number that a tree is, where it is seen."""
    if e.op == "const":
        return e.data
    if e.shape or e.op not in FOLDED and (e.op, e.data) != ("function", "exp"):
        return None
    inside = [folded(x) for x in e.args]
    if None in inside:
        return None
    if e.op == "function":
        return None if inside[0] else Fraction(1)
    return None if e.op == "div" and not inside[1] else FOLDED[e.op](*inside)


def negative(e: Expr) -> Expr:
    return e.args[0] if e.op == "neg" else Expr("neg", (e,))


def summed(terms: list) -> Expr:
    found = terms[0] if terms else Expr("const", (), (), Fraction(0))
    for term in terms[1:]:
        found = Expr("add", (found, term))
    return found


def of_symbol(to: Growth, e: Expr) -> Like:
    return Like((1 if to.grows else -1, 0), Fraction(1), ("moving",))


def of_neg(to: Growth, e: Expr) -> Like:
    x = to.like(e.args[0])
    return Like(x.scale, None if x.value is None else -x.value, ("opposite", *x.proof))


def of_add(to: Growth, e: Expr) -> Like:
    x, y = map(to.like, e.args)
    if x.scale == y.scale:
        value = None if None in (x.value, y.value) else x.value + y.value
        if value == 0 and x.scale == STILL:
            try:
                return Like(FIRST, None, ("first_order", *apart(to, e), "value"))
            except NotForCoq:
                pass  # at first order there is more than this can take apart; that it vanishes is known all the same
        return Like(x.scale, value, ("alike", *x.proof, *y.proof, "compared", "compared"))
    first = x.scale[::-1] > y.scale[::-1]
    return (x if first else y)._replace(proof=("first_leads" if first else "second_leads", *x.proof, *y.proof, "compared"))


def product(x: Like, y: Like) -> Like:
    scale = (x.scale[0] + y.scale[0], x.scale[1] + y.scale[1])
    return Like(scale, None if None in (x.value, y.value) else x.value * y.value, ("product", *x.proof, *y.proof))


def inverse(x: Like) -> Like:
    if x.value == 0:
        raise NotForCoq(f"{CANCELS}, below a fraction line")
    return Like((-x.scale[0], -x.scale[1]), x.value and 1 / x.value, ("inverse", *x.proof, "not_zero"))


def of_mul(to: Growth, e: Expr) -> Like:
    return product(*map(to.like, e.args))


def of_div(to: Growth, e: Expr) -> Like:
    left, right = map(to.like, e.args)
    return product(left, inverse(right))


def of_pow(to: Growth, e: Expr) -> Like:
    """As `notation.py` writes it: a whole power, of a root if there is one, or the exponential of a logarithm."""
    base, exponent = e.args
    if exponent.op != "const" or exponent.data.denominator not in (1, 2, 4):
        return exponential(to, Expr("mul", (exponent, Expr("function", (base,), (), "log"))))
    q, found = exponent.data, to.like(base)
    for _ in range(q.denominator.bit_length() - 1):
        found = Like((found.scale[0] * HALF, found.scale[1] * HALF), found.value if found.value in (0, 1) else None, ("root", *found.proof))
    if (n := abs(q.numerator)) != 1:
        value = None if found.value is None else found.value**n
        found = Like((found.scale[0] * n, found.scale[1] * n), value, ("power", *found.proof))
    return inverse(found) if q < 0 else found


def exponential(to: Growth, x: Expr) -> Like:
    k, rest = to.apart(x)
    still = summed(rest)
    if to.grows and (k or not to.moves(still)):
        found = to.settled(still)
        return Like(
            (0, k), None if found.value != 0 else Fraction(1), (f"exponential_of {number(k)} ({to.moving}{show(still)})", *found.proof)
        )
    if to.like(x).scale[::-1] > STILL:
        for s in to.switches:
            if found := switched(to, x, s):
                return found
        raise NotForCoq("an exponential of what grows otherwise than a multiple of the number")
    found = to.settled(x)
    return Like(STILL, Fraction(1) if found.value == 0 else None, ("exponential", *found.proof))


def switched(to: Growth, x: Expr, tensor: Expr) -> Like | None:
    """Of an exponent that falls where an entry is zero and stays where it is one, or the other way round."""
    at = next((n for n in walk(x) if n == tensor or n.op == "entry" and n.args[0] == tensor), None)
    if at is None:
        return None
    (off, still), (on, other) = (to.apart(simple(replaced(x, at, Fraction(v)))) for v in (0, 1))
    if still != other or any(map(to.moves, still)) or sorted((off, on))[0] >= 0 or sorted((off, on))[1] != 0:
        return None
    s, rest = (show(at) if on == 0 else f"1 + - {show(at, ATOM)}"), summed(still)
    return Like(STILL, None, (f"exponential_switched {number(-min(off, on))} ({s}) ({to.moving}{show(rest)})", *to.settled(rest).proof))


def replaced(e: Expr, what: Expr, by: Fraction) -> Expr:
    if e == what:
        return Expr("const", (), (), by)
    return Expr(e.op, tuple(replaced(x, what, by) for x in e.args), e.shape, e.data)


def simple(e: Expr) -> Expr:
    """With numbers in place of what is made of numbers alone."""
    value = folded(e)
    return Expr("const", (), (), value) if value is not None else Expr(e.op, tuple(map(simple, e.args)), e.shape, e.data)


def expanded(to: Growth, e: Expr) -> tuple:
    """The proof of what a tree is to first order: a number, and what is added to it."""
    if not to.moves(e):
        return ("constant_1",)
    if e.op in STAND_INS:
        return expanded(to, e.args[0])
    if e.op in ("entry", "matmul"):
        return expanded(to, entries.number(e))
    found = to.like(e)
    if found.scale == FIRST:
        return ("same_order", *found.proof, "compared", "compared")
    if (found.scale[1] - FIRST[1], found.scale[0] - FIRST[0]) < STILL:
        return ("higher_order", *found.proof, "compared")
    return apart(to, e)


def apart(to: Growth, e: Expr) -> tuple:
    """The same, of an operation by what it is of."""
    parts = [step for x in e.args for step in expanded(to, x)]
    if e.op in ("add", "neg"):
        return ("sum_1" if e.op == "add" else "opposite_1", *parts)
    if e.op == "mul":
        return ("product_1", *parts, "compared")
    if e.op == "div":
        left, right = (expanded(to, x) for x in e.args)
        return ("product_1", *left, "inverse_1", *right, "compared", "not_zero", "compared")
    if (e.op, e.data) == ("function", "exp"):
        return ("exponential_1", *parts, "compared")
    raise NotForCoq(CANCELS)


def of_entry(to: Growth, e: Expr) -> Like:
    found = to.like(entries.number(e))
    return found._replace(proof=("entries", *found.proof))


def number(q: Fraction) -> str:
    return f"({q})"


def of_exp(to: Growth, e: Expr) -> Like:
    return exponential(to, e.args[0])


def of_log(to: Growth, e: Expr) -> Like:
    """Where one is added to what vanishes, like that."""
    (x,) = e.args
    found = to.like(x)
    if found.value == 1 and found.scale == STILL:
        k, rest = to.apart(x)
        one = next((term for term in rest if term.op == "const" and term.data == 1), None)
        if one is not None:
            rest = [term for term in rest if term is not one]
            g = summed([*([times(k, to.variable)] if k else []), *rest])
            small = to.like(g)
            return small._replace(proof=(f"logarithm_near_one ({to.moving}{show(g)})", *small.proof, "compared"))
    found = to.settled(x)
    return Like(STILL, None, ("logarithm", *found.proof, "above_zero"))


def times(k: Fraction, e: Expr) -> Expr:
    return e if k == 1 else Expr("neg", (e,)) if k == -1 else Expr("mul", (Expr("const", (), (), k), e))


def of_odd(name: str):
    """Of what vanishes, like that."""

    def rule(to: Growth, e: Expr) -> Like:
        found = to.like(e.args[0])
        if found.small:
            return found._replace(proof=(f"{name}_small", *found.proof, "compared"))
        if found.scale != STILL and name == "tangent":
            if not found.value:
                raise NotForCoq("a limit of the hyperbolic tangent of what grows with a sign that is not seen")
            way = "up" if found.value > 0 else "down"
            return Like(STILL, Fraction(1 if way == "up" else -1), (f"tangent_{way}", *found.proof, "compared", "lra"))
        return Like(STILL, None, (name, *to.settled(e.args[0]).proof))

    return rule


def of_cos(to: Growth, e: Expr) -> Like:
    return Like(STILL, None, ("cosine", *to.settled(e.args[0]).proof))


def of_sum(to: Growth, e: Expr) -> Like:
    found = to.like(e.args[0])
    return Like(found.scale, None, (f"summed {name_of(e.data[0])}", *found.proof))


RULES = {
    "symbol": of_symbol,
    "paren": lambda to, e: to.like(e.args[0]),
    "defined": lambda to, e: to.like(e.args[0]),
    "neg": of_neg,
    "add": of_add,
    "mul": of_mul,
    "div": of_div,
    "pow": of_pow,
    "sum": of_sum,
    "entry": of_entry,
    "matmul": of_entry,
    ("function", "exp"): of_exp,
    ("function", "log"): of_log,
    ("function", "tanh"): of_odd("tangent"),
    ("function", "sin"): of_odd("sine"),
    ("function", "cos"): of_cos,
}
