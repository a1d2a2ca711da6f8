"""The functions that SymPy programs use to reduce differences to 0, determine signs, compute moments, and so on.

A program contains copies of the functions that it needs, so that it runs wherever SymPy is installed. Therefore these files import only
SymPy, mpmath, the standard library and one another. No name may be used twice, since all of them meet in one program, and the readers of
programs read the docstrings.

Start with `outcome.py` and `zero_test.py`.
"""
