"""Why code is not read as mathematics, and what is said where it computes something else."""

from __future__ import annotations

from ..errors import KernelError


class NotRead(KernelError):
    """Something that is not read: the message names it."""


class Sized(NotRead):
    """What is not read while some sizes are symbols, and may be where they are numbers: their names, or all of them."""

    def __init__(self, message: str, names: tuple[str, ...] = ()):
        super().__init__(message)
        self.names = names


class Different(KernelError):
    """The code computes something else than the claim says: the message has the point."""
