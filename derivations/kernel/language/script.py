"""The derivation that a script makes, and what happens when that script is run on its own."""

from __future__ import annotations

from ..core import claims


class Derivation(claims.Derivation):
    """A named chain of claims; one script, one page."""

    def main(self):
        """Check this derivation and print its steps, when its script is run on its own."""
        from ..command.alone import run_alone  # loads every witness, which stating a claim does not need

        run_alone(self)
