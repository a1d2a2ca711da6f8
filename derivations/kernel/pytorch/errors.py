"""The errors of the PyTorch witness: the numbers contradict a claim, or cannot decide it."""

from __future__ import annotations

from ..errors import KernelError


class Disagrees(KernelError):
    """The numbers contradict the claim."""


class Undefined(Disagrees):
    """An expression has no value at some point, though the claim's assumptions hold there."""


class NotForTorch(KernelError):
    """A claim that cannot be settled by computing it."""
