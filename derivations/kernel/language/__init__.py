"""What a script may write beside core's own constructors: SymPy's expressions, and a derivation that can be run on its own.

May import: everything; nothing imports it but the kernel's own `__init__`, from which scripts take their names. Begin with `derivation.py`.
"""
