"""The errors of the code witness: code that is not read as mathematics, and code that computes something else."""

from __future__ import annotations

from ..errors import KernelError


class NotRead(KernelError):
    """Code that is not read as mathematics; the message says which."""

    code = "code-not-read"


class NeedsNumericSize(NotRead):
    """Code that is not read while sizes are symbols, but may be with numbers for the sizes `names`, or for all sizes if there are none."""

    code = "size-not-numeric"

    def __init__(self, message: str, names: tuple[str, ...] = ()):
        super().__init__(message)
        self.names = names


class ComputesSomethingElse(KernelError):
    """Code that computes something other than the claim says; the message gives a counterexample."""

    code = "computes-something-else"
