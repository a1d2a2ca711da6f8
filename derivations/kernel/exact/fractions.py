"""The type of rational numbers: quicktions' compiled `Fraction` if it is installed, otherwise the standard library's. Both behave alike."""

try:
    from quicktions import Fraction
except ImportError:
    from fractions import Fraction

__all__ = ["Fraction"]
