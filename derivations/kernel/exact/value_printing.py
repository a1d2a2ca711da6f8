"""Prints exact values: a rational as it is, a ball by the digits that are certain."""

from __future__ import annotations

from typing import Any

from flint import acb, arb, fmpq

from ..core.expr import Expr
from ..printing.latex import Value, short_latex
from .flint_numbers import to_fraction
from .rational_numbers import split_power_of_two

LONG = 20  # characters of a rational that is short enough to be shown as it is
DIGITS = (6, 12, 24, 40)  # digits shown of a ball: the first number that tells two balls apart


def number_to_latex(v: Any, digits: int = DIGITS[0]) -> str:
    """Return a value as LaTeX: a closed form, a rational, or the digits of a ball."""
    if isinstance(v, Expr):
        return Value().show(v)
    if isinstance(v, fmpq):
        return short_latex(to_fraction(v))
    return show_value(v, digits).replace("…", r"\ldots").replace("≈", r"{\approx}").replace("*I", r"\,\mathrm{i}")


def nest_entries(entries: dict) -> Any:
    """Return entries by place as nested tuples."""
    if () in entries:
        return entries[()]
    rows = sorted({place[0] for place in entries})
    return tuple(nest_entries({place[1:]: v for place, v in entries.items() if place[0] == row}) for row in rows)


def show_value(v: Any, digits: int = DIGITS[0]) -> str:
    """Return a value as text.

    A rational is exact. A ball shows its certain digits and an ellipsis, so 0.333333… is not known to be a third.
    """
    if isinstance(v, fmpq):
        return show_rational(v)
    if isinstance(v, acb):
        return f"{show_value(v.real, digits)} + {show_value(v.imag, digits)}*I"
    shown_digits = certain_digits(v, digits)
    return f"{shown_digits}…" if shown_digits else f"≈{round_to_digits(v, digits)}"  # a ball around a round number has no certain digits


def show_rational(v: fmpq) -> str:
    """Return a rational as text. One with many digits is written with a power of two, such as 3*2^-149, if that is shorter."""
    text = str(v)
    if len(text) <= LONG:
        return text
    odd, exponent = split_power_of_two(to_fraction(v))
    factor = {1: "", -1: "-"}.get(odd, f"{odd}*")
    return min(text, f"{factor}2^{exponent}", key=len)


def round_to_digits(v: arb, digits: int) -> str:
    """Return the middle of a ball without trailing zeros, such as 0.5 and 1e+9, and 0 for a ball that contains zero."""
    if v.contains(0):
        return "0"
    mantissa, mark, exponent = v.str(digits, radius=False).partition("e")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + (f"e{exponent}" if mark and int(exponent) else "")


def certain_digits(v: arb, digits: int) -> str:
    """Return the first digits that all numbers in the ball share, "" if there are fewer than `digits`."""
    middle, radius, exponent = (int(x) for x in v.mid_rad_10exp(digits + 5))
    if abs(middle) <= radius:
        return ""
    low, high, dropped = abs(middle) - radius, abs(middle) + radius, max(len(str(abs(middle))) - digits, 0)
    if low // 10**dropped != high // 10**dropped:
        return ""
    return format_decimal(low // 10**dropped, exponent + dropped, middle < 0)


def format_decimal(digits: int, exponent: int, is_negative: bool) -> str:
    """Return digits * 10**exponent as a decimal, in scientific notation if it would be long."""
    text, sign = str(digits), "-" * is_negative
    point = len(text) + exponent  # the number of digits before the point
    if -4 <= point <= 0:
        return f"{sign}0.{'0' * -point}{text}"
    if 0 < point < len(text):
        return f"{sign}{text[:point]}.{text[point:]}"
    return ""
