"""Strategies of hypothesis for the shapes of arrays. hypothesis.extra.numpy has them, too, and needs NumPy, which PyTorch does not bring."""

from hypothesis.extra._array_helpers import array_shapes, mutually_broadcastable_shapes

__all__ = ["array_shapes", "mutually_broadcastable_shapes"]
