"""The PyTorch witness: both sides in numbers, and the snippets that a claim names, within bounds on rounding that are carried along.

It agrees or it does not; it proves nothing.

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
