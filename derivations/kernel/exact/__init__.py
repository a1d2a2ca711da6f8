"""The exact witness: proves identities at every shape with a normal form, and searches for counterexamples to what it cannot prove.

`witness.py` checks a claim; begin there. The rest, by subject:

- normal form: `tree_to_normal_form.py` turns an expression tree into a polynomial in atoms. `polynomials.py` defines polynomials,
  `atom_payloads.py` the polynomials inside atoms, `normal_form.py` the arithmetic, which asks `Facts` what the assumptions allow.
  `index_sums.py` sums over an index, `index_renaming.py` names bound indices, `integer_powers.py` and `max_normal_form.py` treat x^n and
  maxima, `expectations.py` takes expectations.
- assumptions: `assumption_facts.py` builds `Facts` from a claim's assumptions. `assumption_consistency.py` looks for values that satisfy
  them.
- proofs: `denominators.py` and `log_identities.py` decide whether a normal form is 0. `nonnegativity.py` and `max_facts.py` find signs.
  `series_limits.py` takes limits.
- counterexamples: `exact_evaluation.py` evaluates trees with rationals and rigorous balls, `taylor_series.py` does so near a point.
  `counterexample_search.py`, `limit_counterexamples.py` and `random_matrices.py` choose the values. `given_values.py` reads values that
  an author gives, and `closed_forms.py` writes the two sides of a refutation in closed form.
- messages: `polynomial_printing.py` prints a normal form as an author would write it.

The room may import `core` and `printing`, never another witness.
"""
