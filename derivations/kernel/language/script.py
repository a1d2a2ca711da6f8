"""The derivation that a script makes, and what happens when that script is run on its own."""

from __future__ import annotations

from functools import cached_property

from ..core import claims
from ..core.claims import Claim, Refused, caller
from ..errors import KernelError
from .carried import Origins, settled
from .stated import SIGNS, spread


class Derivation(claims.Derivation):
    """A named chain of claims; one script, one page."""

    @cached_property
    def origins(self) -> Origins:
        """The SymPy symbols that stand for its names."""
        return Origins()

    def _settled(self, claim: Claim) -> Claim:
        self.origins.refuse_two(claim.trees)
        return settled(claim)

    def main(self):
        """Check this derivation and print its steps, when its script is run on its own."""
        from ..command.alone import run_alone  # loads every witness, which stating a claim does not need

        run_alone(self)


def in_sympy(name: str):
    """A method that states a claim, from two sides or from one relation of SymPy's."""
    state = getattr(claims.Derivation, name)

    def stated(self, *args, **more):
        try:
            args, more = spread(name, args, more)
        except KernelError as error:
            raise Refused(*caller(), str(args[0]), str(error)) from None
        return state(self, *args, **more)

    return stated


for name in SIGNS:
    setattr(Derivation, name, in_sympy(name))
