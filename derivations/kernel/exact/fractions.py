"""Fractions: compiled where quicktions is installed, else the standard library's. The same numbers, hashes and order."""

try:
    from quicktions import Fraction
except ImportError:
    from fractions import Fraction

__all__ = ["Fraction"]
