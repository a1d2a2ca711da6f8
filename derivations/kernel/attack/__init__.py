"""Attack the checkers: mutate claims and snippets, draw random claims, and judge by numbers which of them are false.

Mutants: `claim_mutants.py` mutates claims with the operators of `tree_mutations.py`, `equivalent_rewrites.py` rewrites claims into equivalent
ones, and `mutant_trials.py` has the witnesses check both. `judge.py` decides which mutants are false; it has an evaluator of its own
(`mpmath_evaluation.py`, `limit_intervals.py`) and draws its own points (`random_points.py`).

Random claims: `random_trees.py` grows trees, `rewrite_rules.py` and `rewrite_function_rules.py` rewrite them, and `claim_families.py` drafts
claims, true and false, from `identity_families.py`, `expectation_families.py` and `relation_families.py`; `claim_drafts.py` mutates the
drafts. `fuzz_claim.py` has the witnesses and the judge check a claim, `shrink_claim.py` shrinks a claim with a fault, `claim_script.py`
writes it as a script, and `print_round_trip.py` checks how it is printed.

Printing: `parse_plain.py` and `parse_latex.py` parse what is printed, so that a test can compare it with the printed tree.

Snippets: `snippet_mutations.py` mutates the functions that claims name, and `snippet_mutant_trials.py` has the code witness check them.

May import: the witnesses, `traced`, `core`, `printing`, `snippet_source`. Begin with `claim_mutants.py`.
"""
