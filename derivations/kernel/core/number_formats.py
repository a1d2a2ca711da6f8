"""Binary floating-point formats: fp32, and the shorter ones with 16 and 8 bits."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class NumberFormat(NamedTuple):
    """A binary floating-point format."""

    bits: int  # significant bits
    lowest: int  # exponent of the smallest positive number, a power of two
    largest: Fraction  # largest number

    def contains(self, other: NumberFormat) -> bool:
        """Return whether every number of the other format is a number of this one."""
        return self.bits >= other.bits and self.lowest <= other.lowest and self.largest >= other.largest


FORMATS = {  # IEEE 754-2019, table 3.5; bf16 is fp32 without its last 16 bits; OCP 8-bit floating point specification 1.0, table 1
    "fp32": NumberFormat(24, -149, (2 - Fraction(1, 2**23)) * 2**127),
    "fp16": NumberFormat(11, -24, Fraction(65504)),
    "bf16": NumberFormat(8, -133, (2 - Fraction(1, 2**7)) * 2**127),
    "e4m3": NumberFormat(4, -9, Fraction(448)),
    "e5m2": NumberFormat(3, -16, Fraction(57344)),
}
