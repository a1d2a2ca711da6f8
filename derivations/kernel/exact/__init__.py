"""The exact witness: it proves an identity at every shape by one normal form, and looks for a counterexample where it cannot.

`tree_to_normal_form.py` turns a tree into the normal form of `normal_form.py`, under what `assumption_facts.py` makes of the assumptions: `polynomials.py` has what needs
no assumption, `atom_payloads.py` what stands inside an atom, `index_sums.py` sums over an index, and `expectations.py` takes expectations. `series_limits.py`
takes series; `log_identities.py` cancels sums of logarithms; `nonnegativity.py` says what is visibly not negative. `exact_evaluation.py` and `counterexample_search.py` look for
counterexamples with rationals and rigorous balls, `given_values.py` reads those that an author gives, `closed_forms.py` finds what they make
of the two sides in closed form, and `polynomial_printing.py` prints a normal form as an author would write it.

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
