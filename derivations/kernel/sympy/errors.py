"""The two ways in which there is no proof."""

from __future__ import annotations

from ..errors import KernelError


class NotForSymPy(KernelError):
    """A claim that SymPy has no way to check."""


class Disagrees(KernelError):
    """SymPy does not confirm a step."""
