"""The exact witness: proves identities at every shape with a normal form, and searches for counterexamples to what it cannot prove.

`witness.py` checks a claim. The rest, by subject:

- normal form: `tree_to_normal_form.py` turns an expression tree into a polynomial in atoms. `polynomials.py` defines polynomials,
  `atom_payloads.py` the polynomials inside atoms, `normal_form.py` the arithmetic, which asks `Facts` what the assumptions allow.
  `exponentials_and_logs.py` treats exp and log, `matrix_words.py` and `matrix_inverses.py` inverses of expressions. `index_sums.py` sums over an
  index, `index_renaming.py` names bound indices, `integer_powers.py` and `max_normal_form.py` treat x^n and maxima, `expectations.py` takes
  expectations, `derivatives.py` derivatives, `absolute_values.py` moduli, `conjugates.py` conjugates, `roundings.py` rounded numbers.
- assumptions: `assumption_facts.py` builds `Facts` from a claim's assumptions. `assumption_consistency.py` looks for values that satisfy
  them. `assumption_needs.py` shows that each one is needed.
- proofs: `proofs.py` has one function for each kind of claim. `clear_denominators.py` and `cancelling_logs.py` decide whether a normal form is
  0. `induction.py` proves closed forms of sums. `sufficient_assumptions.py` tries what a rejected claim may lack.
  `nonnegativity.py` and `max_facts.py` find signs, `cycle_guard.py` keeps them from circular reasoning. `series_limits.py` takes limits, and
  `growth_scales.py` says which part of an expression grows fastest.
- counterexamples: `exact_evaluation.py` evaluates trees with the rationals and rigorous balls of `flint_numbers.py`, and near a point
  with the series of `taylor_series.py`. `counterexample_search.py`, `limit_counterexamples.py` and `matrices_for_assumptions.py` choose the
  values. `given_values.py` reads values that an author gives, and `closed_forms.py` writes the two sides of a refutation in closed form.
- messages: `polynomial_printing.py` prints a normal form as an author would write it, `value_printing.py` a value.

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
