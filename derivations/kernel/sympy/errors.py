"""The errors of the SymPy witness."""

from __future__ import annotations

from ..errors import KernelError


class NotForSymPy(KernelError):
    """An error for a claim that SymPy cannot check."""

    code = "not-for-sympy"


class Disagrees(KernelError):
    """An error for a claim that SymPy contradicts or does not confirm."""

    code = "sympy-disagrees"
