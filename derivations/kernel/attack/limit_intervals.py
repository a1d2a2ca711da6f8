"""How close an expression comes to what is said to be its limit, in intervals: where digits cancel, that is seen and not believed."""

from __future__ import annotations

from mpmath import iv, mp, mpf

from ..core.expr import Expr, walk
from .mpmath_evaluation import DIGITS, CannotTell, Undefined, scalar

FINE = 400  # digits: enough for exp(-800) beside 1
FAR = (mpf(10) ** 60, mpf(10) ** 30)  # further out than exp(49) is large, which a mutant of seven squared asks for
NEARER = tuple(map(mpf, (10**9, 10**6, 10**4, 800, 400, 200, 100)))  # for what has no digits left so far out
FEWEST_DIGITS = mpf(10) ** -30
SETTLED = mpf(10) ** -8  # two values of what goes to a limit
ODD = 1000  # constants further apart than this set scales of their own


def approach(e: Expr, to: Expr, variable: Expr, end, env: dict) -> tuple:
    """The distance at two places, the second nearer to the end. CannotTell where the digits do not suffice to say."""
    unit = unit_of(e, variable, end)
    found = []
    for far in (*FAR, *NEARER):
        if far in NEARER and unit is None:
            break
        x = far if far in FAR else far * unit
        x = x if end == "oo" else 1 / far if far in FAR else unit / far
        if variable.data[1] == "size":
            x = mp.ceil(x)
        gap = gap_at(e, to, variable, x, env)
        if gap is not None:
            found.append((far, gap))
        if len(found) == 2:
            break
    if len(found) < 2:
        raise CannotTell("the digits do not suffice far out")
    (far, last), (_, before) = found
    if far < FAR[0] and last > SETTLED and abs(last - before) > SETTLED * last:
        raise CannotTell("it has not settled where digits suffice")
    return before, last


def unit_of(e: Expr, variable: Expr, end):
    """By what the variable is measured, where it stands beside constants: 1/N in N*x. None where these differ much."""
    units = set()

    def look(node, parent):
        if node == variable:
            others = [a for a in parent.args if a.op == "const" and a.data] if parent is not None and parent.op in ("mul", "div") else []
            factor = abs(others[0].data) if others else 1
            units.add(1 / factor if others and parent.op == "mul" else factor)
        for a in node.args:
            look(a, node)

    look(e, None)
    if not units or max(units) > ODD * min(units):
        return None
    unit = max(units) if end == "oo" else min(units)
    return mpf(unit.numerator) / unit.denominator


def gap_at(e: Expr, to: Expr, variable: Expr, x, env: dict):
    """|e - to| at a place; None where cancelling left too few digits."""
    here = env | {variable.data[0]: int(x) if variable.data[1] == "size" else {(): x}}
    before = iv.dps
    iv.dps = FINE
    try:
        with mp.workdps(2 * DIGITS):
            gap = abs(enclosed(e, variable, iv.mpf(x), here) - iv.mpf(scalar(to, here)))
            low, high = mpf(gap.a), mpf(gap.b)
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        return None
    finally:
        iv.dps = before
    return None if not mp.isfinite(high) or high - low > FEWEST_DIGITS * (1 + low) else high


def enclosed(e: Expr, variable: Expr, x, env: dict):
    """An interval around the value. What does not move is a number."""
    if variable not in set(walk(e)):
        return iv.mpf(scalar(e, env))
    if e == variable:
        return x
    rule = RULES.get(e.op)
    if rule is None or e.op == "function" and e.data not in FUNCTIONS:
        return iv.mpf(scalar(e, env))  # a sum, a softmax, a norm: in plain numbers, of twice the digits
    return rule(e, [enclosed(a, variable, x, env) for a in e.args])


def power(e, parts):
    base, exponent = parts
    p = e.args[1]
    if p.op == "const" and p.data.denominator == 1:
        return base ** int(p.data)
    if base.a <= 0:
        raise Undefined("a root of a negative number") if base.b < 0 else ValueError
    return iv.exp(exponent * iv.log(base))


def quotient(e, parts):
    above, below = parts
    if below.a == below.b == 0:
        raise Undefined("a division by zero")
    return above / below


def function(e, parts):
    (a,) = parts
    if e.data == "log" and a.b < 0:
        raise Undefined("a logarithm of what is not positive")
    return FUNCTIONS[e.data](a)


def tanh(a):
    """In the exponential, for there is no other of intervals. Where it overflows nothing is said."""
    return 1 - 2 / (1 + iv.exp(2 * a))


FUNCTIONS = {"exp": iv.exp, "log": iv.log, "abs": abs, "cos": iv.cos, "sin": iv.sin, "tanh": tanh}
RULES = {
    "add": lambda e, parts: parts[0] + parts[1],
    "neg": lambda e, parts: -parts[0],
    "mul": lambda e, parts: parts[0] * parts[1],
    "div": quotient,
    "paren": lambda e, parts: parts[0],
    "defined": lambda e, parts: parts[0],
    "pow": power,
    "function": function,
}
