"""What scripts may use in addition to core's constructors: the methods of a derivation, more functions, and SymPy expressions.

May import: everything. Only the `__init__` of the kernel imports it, and scripts take their names from there. Begin with `derivation.py`.
"""
