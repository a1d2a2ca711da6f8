"""The type of rational numbers: quicktions' compiled `Fraction` if it is installed, otherwise the standard library's. Both behave alike."""

try:
    from quicktions import Fraction
except ImportError:
    from fractions import Fraction

__all__ = ["Fraction", "split_power_of_two"]


def split_power_of_two(q: Fraction) -> tuple[Fraction, int]:
    """Return (odd, exponent) with q = odd * 2**exponent, where numerator and denominator of `odd` are odd. q must not be 0."""
    up, down = (n & -n for n in (q.numerator, q.denominator))  # the largest powers of two that divide them
    return Fraction(q.numerator // up, q.denominator // down), up.bit_length() - down.bit_length()
