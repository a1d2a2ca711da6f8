"""Decides whether the nonnegative form of an inequality is visibly nonnegative, part by part."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ..core.expr import Expr, lift, show, strip_brackets, walk
from ..printing.script_text import script
from .atom_payloads import Unsupported
from .normal_form import Facts
from .polynomials import scale
from .standard_inequalities import are_equal, find_gap_condition
from .tree_to_normal_form import normalize


def is_visibly_nonnegative(e: Expr, facts: Facts) -> bool:
    """Return whether e is built from squares, exponentials, absolute values and assumptions by operations that preserve signs."""
    return find_unclear_part(e, facts) is None


def find_unclear_part(e: Expr, facts: Facts) -> Expr | None:
    """Return the smallest part of e that is not visibly nonnegative, or None if e is."""
    if sign_is_known(e, facts):
        return None
    if is_maximum_minus_entry(e) or any(is_proved(e, facts) for is_proved in DIFFERENCES):
        return None
    if e.op == "add":
        return find_unclear_summand(e, facts)
    if e.op in ("mul", "div"):
        return first_not_none(find_unclear_part(a, facts) for a in e.args)
    if e.op in ("paren", "sum", "defined", "where"):  # where its condition fails, `where` is 0
        return find_unclear_part(e.args[0], facts)
    if e.op == "function" and e.data == "norm":
        return None
    if e.op == "variance":  # its argument is real: otherwise reading it fails
        return None
    if e.op == "pow" and e.args[1].op == "const" and e.args[1].data.denominator > 1:
        return None  # a root; reading the form requires that it exists
    if e.op == "pow" and e.args[1].op == "const":
        return None if e.args[1].data % 2 == 0 else find_unclear_part(e.args[0], facts)
    return e


def find_unclear_summand(e: Expr, facts: Facts) -> Expr | None:
    """Return the unclear part of a summand, or the whole sum if it subtracts a part that is not seen to be smaller than the rest."""
    parts = [find_unclear_part(part, facts) for part in e.args]
    is_unclear_sum = parts[0] is not None and parts[0] == e.args[0] and parts[0].op == "add"
    return e if is_unclear_sum or any(part is not None and is_subtracted(part) for part in parts) else first_not_none(parts)


def first_not_none(parts: Iterable) -> Expr | None:
    """Return the first part that is not None, or None."""
    return next((part for part in parts if part is not None), None)


def is_subtracted(e: Expr) -> bool:
    """Return whether a summand has a visible minus sign."""
    return e.op == "neg" or e.op == "const" and e.data < 0 or e.op == "mul" and any(map(is_subtracted, e.args))


def sign_is_known(e: Expr, facts: Facts) -> bool:
    """Return whether the normal form of e is known to be nonnegative."""
    try:
        return not e.shape and facts.is_nonnegative(normalize(e, facts))
    except Unsupported:
        return False


def is_nonnegative_by_cases(e: Expr, facts: Facts) -> bool:
    """Return whether e contains a maximum or a 0-1 symbol and is nonnegative because of it."""
    spoken = any((n.op, n.data) == ("function", "largest") or n.op == "symbol" and n.data[0] in facts.bits for n in walk(e))
    return spoken and (sign_is_known(e, facts) or is_maximum_minus_entry(e))


def is_standard_gap(e: Expr, facts: Facts) -> bool:
    """Return whether e is the gap of a standard inequality whose condition is visibly satisfied."""
    condition = find_gap_condition(e, facts) if e.op in ("add", "sum") else None
    return condition is not None and (are_equal(condition, lift(0), facts) or find_unclear_part(condition, facts) is None)


def is_maximum_minus_entry(e: Expr) -> bool:
    """Return whether e is written as a maximum minus one of its entries."""
    minuend, subtrahend = split_difference(e) if e.op == "add" else (e, None)
    is_largest = (minuend.op, minuend.data) == ("function", "largest")
    return subtrahend is not None and is_largest and subtrahend.op == "entry" and subtrahend.args[0] == minuend.args[0]


def is_nonnegative_term_by_term(e: Expr, facts: Facts) -> bool:
    """Return whether e is a difference of two sums over one index, or of a size and a sum up to it, whose terms are all nonnegative."""
    if e.op != "add":
        return False
    minuend, subtrahend = split_difference(e)
    if subtrahend is None or subtrahend.op != "sum":
        return False
    if minuend == subtrahend.data[1]:
        return find_unclear_part(lift(1) - subtrahend.args[0], facts) is None
    return (
        minuend.op == "sum" and minuend.data == subtrahend.data and find_unclear_part(minuend.args[0] - subtrahend.args[0], facts) is None
    )


def is_increase(e: Expr, facts: Facts) -> bool:
    """Return whether e = f(u) - f(v), where f increases between v and u, and u - v is visibly nonnegative.

    exp and odd powers increase everywhere, and rounding never decreases. log and roots increase wherever they exist, and reading the form
    requires that they do. An even power increases from 0 on, so v must be visibly nonnegative. 1 counts as exp(0), and log(u) as
    log(u) - log(1).
    """
    if e.op == "function" and e.data == "log":
        return find_unclear_part(write_difference(strip_brackets(e.args[0]), lift(1)), facts) is None
    if e.op != "add":
        return False
    minuend, subtrahend = split_difference(e)
    if subtrahend is None:
        return False
    (f, u), (g, v) = split_application(minuend, subtrahend), split_application(subtrahend, minuend)
    if f is None or f != g:
        return False
    half_line = isinstance(f, Fraction) and f.denominator == 1 and f % 2 == 0
    return find_unclear_part(write_difference(u, v), facts) is None and (not half_line or find_unclear_part(v, facts) is None)


def is_cauchy_schwarz_of_means(e: Expr, facts: Facts) -> bool:
    """Return whether e = E[y] E[z] - E[x]^2, where x^2 = yz and y and z are visibly nonnegative. The factor E[z] may be absent, which is z = 1.

    Then |x| is the product of the roots of y and z, so that e >= 0 by the inequality of Cauchy and Schwarz. Reading e requires that the
    means exist.
    """
    minuend, subtrahend = split_difference(e) if e.op == "add" else (e, lift(0))
    if subtrahend is None or subtrahend.op != "pow" or subtrahend.args[1] != lift(2):
        return False
    means = [strip_brackets(m) for m in (subtrahend.args[0], *(minuend.args if minuend.op == "mul" else (minuend,)))]
    if any(m.op != "expectation" for m in means):
        return False
    x, y, z = [m.args[0] for m in means] + [lift(1)] * (len(means) == 2)
    try:
        same = normalize(x * x, facts) == normalize(y * z, facts)
    except Unsupported:
        return False
    return same and all(find_unclear_part(part, facts) is None for part in (y, z))


def split_difference(e: Expr) -> tuple:
    """Return (a, b) if a sum is a - b; b is None for any other sum."""
    first, second = map(strip_brackets, e.args)
    for minuend, subtrahend in ((first, second), (second, first)):
        if subtrahend.op == "neg":
            return minuend, subtrahend.args[0]
        if subtrahend.op == "const" and subtrahend.data < 0:
            return minuend, lift(-subtrahend.data)
    return first, None


def split_application(e: Expr, other: Expr) -> tuple:
    """Return (f, u) if e = f(u), where f is "exp", "log", the format of a rounding or a positive exponent; otherwise (None, e).

    Next to an exponential, 1 counts as exp(0).
    """
    if e.op == "function" and e.data in ("exp", "log"):
        return e.data, e.args[0]
    if e.op == "rounded":
        return e.data, e.args[0]
    if e.op == "pow" and e.args[1].op == "const" and e.args[1].data > 0:
        return e.args[1].data, e.args[0]
    if e.op == "const" and e.data == 1 and other.op == "function" and other.data == "exp":
        return "exp", lift(0)
    return None, e


def write_difference(u: Expr, v: Expr) -> Expr:
    """Return u - v as an author would write it."""
    if v.op == "const" and not v.data:
        return u
    if u.op == "add" and v in u.args:
        return u.args[1 - u.args.index(v)]
    if u.op == "const" and not u.data:
        minuend, subtrahend = split_difference(v) if v.op == "add" else (v, None)
        return v.args[0] if v.op == "neg" else -v if subtrahend is None else subtrahend - minuend
    return u - v


# Differences that are nonnegative as a whole, so a certificate may repeat the difference of the two sides.
DIFFERENCES = (is_increase, is_nonnegative_term_by_term, is_standard_gap, is_cauchy_schwarz_of_means)


def explain_doubt(form: Expr, part: Expr, facts: Facts) -> str:
    """Return why a nonnegative form is rejected: this part of it is not visibly nonnegative."""
    it, to_write = ("it", "it") if part == form else (f"its part {show(part)}", "that part")
    if never_positive(part, facts):
        why, to_write = f"{it} is never positive, whatever the values", "it"
    else:
        why = f"nothing says that {it} is not negative"
    write = f"write {to_write} as a sum or a product of squares, exponentials, absolute values and what is stated"
    return f"the certificate {show(form)} is not visibly non-negative: {why}; {write}"


def never_positive(e: Expr, facts: Facts) -> bool:
    """Return whether e is known to be at most 0."""
    try:
        return facts.is_nonnegative(scale(normalize(e, facts), -1))
    except Unsupported:
        return False


def nonnegative_assumption(e: Expr) -> str:
    """Return the assumption that e is nonnegative, as a script writes it."""
    return f"nonnegative({script(e)})"
