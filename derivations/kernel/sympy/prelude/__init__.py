"""What a SymPy program carries with it: how a difference is reduced to 0, how a sign is settled, how a moment is found, ...

These files import SymPy, mpmath and the standard library, and nothing of ours but one another: what a program needs of them is copied into it
as it stands here, so that it runs wherever SymPy is installed. So each function must mean the same by itself, its names are never used
for two things, and a docstring here is one that a reader of a program reads.

Begin with `outcome.py` and `zero_test.py`.
"""
