"""The two ways in which a claim does not pass here: the numbers speak against it, or say nothing."""

from __future__ import annotations

from ..errors import KernelError


class Disagrees(KernelError):
    """The numbers contradict the claim."""


class Undefined(Disagrees):
    """An expression has no value at some point, though the claim's assumptions hold there."""


class NotForTorch(KernelError):
    """A claim that cannot be settled by computing it."""
