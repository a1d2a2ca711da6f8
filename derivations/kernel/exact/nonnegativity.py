"""What is visibly not negative: the certificate of an inequality, part by part."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ..core.expr import Expr, lift, show, strip, walk
from ..printing.script_text import script
from .atom_payloads import Unknown
from .normal_form import Facts
from .polynomials import scale
from .tree_to_normal_form import read


def visibly_nonnegative(e: Expr, facts: Facts) -> bool:
    """A sum or product of non-negative things, a square, an exponential, an absolute value, or what is assumed."""
    return find_unclear_part(e, facts) is None


def find_unclear_part(e: Expr, facts: Facts) -> Expr | None:
    """The smallest part that is not visibly non-negative; None if all of e is."""
    if sign_is_known(e, facts):
        return None
    if e.op == "add" and any(is_absolute_plus_argument(*pair) for pair in (e.args, e.args[::-1])):
        return None
    if increase(e, facts) or term_by_term(e, facts) or is_maximum_minus_entry(e):
        return None
    if e.op == "add":
        return find_unclear_summand(e, facts)
    if e.op in ("mul", "div"):
        return first_not_none(find_unclear_part(a, facts) for a in e.args)
    if e.op in ("paren", "sum", "defined"):
        return find_unclear_part(e.args[0], facts)
    if e.op == "function" and e.data == "norm":
        return None
    if e.op == "variance":  # of what is real: what is not has none
        return None
    if e.op == "pow" and e.args[1].op == "const" and e.args[1].data.denominator > 1:
        return None  # a root; that it exists is required where the certificate is read
    if e.op == "pow" and e.args[1].op == "const":
        return None if e.args[1].data % 2 == 0 else find_unclear_part(e.args[0], facts)
    return e


def find_unclear_summand(e: Expr, facts: Facts) -> Expr | None:
    """A summand; or the whole sum, where one is taken away: what is taken away is not seen to be smaller than the rest."""
    parts = [find_unclear_part(part, facts) for part in e.args]
    goes_on = parts[0] is not None and parts[0] == e.args[0] and parts[0].op == "add"
    return e if goes_on or any(part is not None and is_subtracted(part) for part in parts) else first_not_none(parts)


def first_not_none(parts: Iterable) -> Expr | None:
    """The first part that is not None."""
    return next((part for part in parts if part is not None), None)


def is_subtracted(e: Expr) -> bool:
    return e.op == "neg" or e.op == "const" and e.data < 0 or e.op == "mul" and any(map(is_subtracted, e.args))


def sign_is_known(e: Expr, facts: Facts) -> bool:
    try:
        return not e.shape and facts.is_nonnegative(read(e, facts))
    except Unknown:
        return False


def by_cases(e: Expr, facts: Facts) -> bool:
    """Is it seen by what the largest of some entries is, or by what is 0 or 1?"""
    spoken = any((n.op, n.data) == ("function", "largest") or n.op == "symbol" and n.data[0] in facts.bits for n in walk(e))
    return spoken and (sign_is_known(e, facts) or is_maximum_minus_entry(e))


def is_maximum_minus_entry(e: Expr) -> bool:
    """Is e the largest entry of something, less one of its entries, as it is written?"""
    more, less = split_difference(e) if e.op == "add" else (e, None)
    is_largest = (more.op, more.data) == ("function", "largest")
    return less is not None and is_largest and less.op == "entry" and less.args[0] == more.args[0]


def term_by_term(e: Expr, facts: Facts) -> bool:
    """Is e the difference of two sums over one index, or of a size and a sum up to it, of which no term is visibly negative?"""
    if e.op != "add":
        return False
    more, less = split_difference(e)
    if less is None or less.op != "sum":
        return False
    if more == less.data[1]:
        return find_unclear_part(lift(1) - less.args[0], facts) is None
    return more.op == "sum" and more.data == less.data and find_unclear_part(more.args[0] - less.args[0], facts) is None


def increase(e: Expr, facts: Facts) -> bool:
    """Is e = f(u) - f(v) for a function f that nowhere falls between v and u, where u - v is visibly not negative?

    exp and odd powers rise everywhere. log and roots rise wherever they exist, and that they exist is required where the certificate is
    read. An even power rises from 0 on, so v has to be visibly not negative there. 1 is exp(0), and log(u) is log(u) - log(1).
    """
    if e.op == "function" and e.data == "log":
        return find_unclear_part(write_difference(strip(e.args[0]), lift(1)), facts) is None
    if e.op != "add":
        return False
    more, less = split_difference(e)
    if less is None:
        return False
    (f, u), (g, v) = split_application(more, less), split_application(less, more)
    if f is None or f != g:
        return False
    half_line = isinstance(f, Fraction) and f.denominator == 1 and f % 2 == 0
    return find_unclear_part(write_difference(u, v), facts) is None and (not half_line or find_unclear_part(v, facts) is None)


def split_difference(e: Expr) -> tuple:
    """(a, b) for a sum that is a - b; b is None for any other."""
    first, second = map(strip, e.args)
    for more, less in ((first, second), (second, first)):
        if less.op == "neg":
            return more, less.args[0]
        if less.op == "const" and less.data < 0:
            return more, lift(-less.data)
    return first, None


def split_application(e: Expr, beside: Expr) -> tuple:
    """(f, u) for e = f(u): exp, log, or a power greater than 0, which is its exponent; 1 beside an exponential is exp(0). Else (None, e)."""
    if e.op == "function" and e.data in ("exp", "log"):
        return e.data, e.args[0]
    if e.op == "pow" and e.args[1].op == "const" and e.args[1].data > 0:
        return e.args[1].data, e.args[0]
    if e.op == "const" and e.data == 1 and beside.op == "function" and beside.data == "exp":
        return "exp", lift(0)
    return None, e


def write_difference(u: Expr, v: Expr) -> Expr:
    """u - v, as an author would write it."""
    if v.op == "const" and not v.data:
        return u
    if u.op == "add" and v in u.args:
        return u.args[1 - u.args.index(v)]
    if u.op == "const" and not u.data:
        more, less = split_difference(v) if v.op == "add" else (v, None)
        return v.args[0] if v.op == "neg" else -v if less is None else less - more
    return u - v


def is_absolute_plus_argument(first: Expr, second: Expr) -> bool:
    """|x| + x and |x| - x are not negative."""
    first, second = strip(first), strip(second)
    return first.op == "function" and first.data == "abs" and second in (first.args[0], -first.args[0])


def doubt(certificate: Expr, facts: Facts) -> str:
    """Why a certificate is not accepted; '' if it is visibly not negative."""
    part = find_unclear_part(certificate, facts)
    if part is None:
        return ""
    about = f"the certificate {show(certificate)} is not visibly non-negative: "
    what = "nothing says that it is not negative" if part == certificate else f"nothing says that its part {show(part)} is not negative"
    write = "write it as a sum or a product of squares, exponentials, absolute values and what is stated"
    if never_positive(part, facts):
        it = "it" if part == certificate else f"its part {show(part)}"
        return f"{about}{it} is never positive, whatever the values; {write}"
    if part == certificate:
        return f"{about}{what}; {write}"
    return f"{about}{what}. State {stated(part)}, or {write.replace(' it ', ' that part ', 1)}"


def never_positive(e: Expr, facts: Facts) -> bool:
    try:
        return facts.is_nonnegative(scale(read(e, facts), -1))
    except Unknown:
        return False


def stated(e: Expr) -> str:
    """The assumption that e is not negative, as a script writes it."""
    return f"nonnegative({script(e)})"
