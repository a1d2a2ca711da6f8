"""The errors of the PyTorch witness: the numbers contradict a claim, or cannot decide it."""

from __future__ import annotations

from ..errors import KernelError


class Disagreement(KernelError):
    """The numbers contradict the claim."""

    code = "numbers-disagree"


class UndefinedValue(Disagreement):
    """An expression has no value at some point, though the claim's assumptions hold there."""

    code = "undefined-value"


class CannotDecide(KernelError):
    """A claim that cannot be settled by computing it."""

    code = "not-decided-by-numbers"
