"""The SymPy witness: each claim as a program that imports SymPy and nothing of ours; the run of that program is what vouches.

May import: `core` and `printing`, never another witness. Begin with `witness.py`; `program.py` writes a claim's program, `tree_to_sympy.py` a
tree's text, and `prelude/` is what programs carry with them: how a difference is reduced to 0, how a sign is settled, how a moment is found.
"""
