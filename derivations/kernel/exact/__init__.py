"""The exact witness: it proves an identity at every shape by one normal form, and looks for a counterexample where it cannot.

`reading.py` turns a tree into the normal form of `normal.py`, under what `facts.py` makes of the assumptions: `polynomials.py` has what needs
no assumption, `payloads.py` what stands inside an atom, `summing.py` sums over an index, and `averages.py` takes expectations. `limits.py`
takes series; `logarithms.py` cancels sums of logarithms; `sign.py` says what is visibly not negative. `values.py` and `search.py` look for
counterexamples with rationals and rigorous balls, `given_values.py` reads those that an author gives, `closed.py` finds what they make
of the two sides in closed form, and `showing.py` prints a normal form as an author would write it.

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
