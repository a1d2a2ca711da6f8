"""The SymPy witness: it writes each claim as a program that imports only SymPy, and runs this program.

May import: `core` and `printing`, never another witness. Begin with `witness.py`. `program.py` writes the program of a claim,
`tree_to_sympy.py` the text of a tree. Programs contain copies of the functions of `prelude/` that they need, which reduce differences to 0,
determine signs and compute moments.
"""
