"""The exact witness: it proves an identity at every shape by one normal form, and looks for a counterexample where it cannot.

`reading.py` turns a tree into the normal form of `normal.py`, under what `facts.py` makes of the assumptions; `limits.py` takes series;
`values.py` and `search.py` look for counterexamples with rationals and rigorous balls.

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
