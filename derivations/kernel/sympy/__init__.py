"""The SymPy witness: the same claim, translated to SymPy and proved there at explicit sizes, or by induction on a size.

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
