"""The checkers under attack: claims corrupted as a slip would corrupt them, and a judge who says which of those are false.

`claim_mutants.py` corrupts claims by the slips of `tree_mutations.py`, `equivalent_rewrites.py` changes nothing that matters, `judge.py` decides by an evaluation of
its own, `mutant_trials.py` puts a mutant before the witnesses. `parse_plain.py` and `parse_latex.py` read what is printed, so that a test can
ask whether it is the tree that was printed.

`fuzz_claim.py` puts random claims before them: `random_trees.py` grows trees, `rewrite_rules.py` makes others of them by laws, `claim_families.py` drafts
claims of each kind, true and false, as `claim_drafts.py` has them slip. The same judge decides which is which, `shrink_claim.py` makes small what
a witness got wrong, `claim_script.py` writes it as a script, and `print_round_trip.py` looks whether a print is read as what was printed.

`snippet_mutations.py` corrupts the snippets that claims name, and `snippet_mutant_trials.py` puts them before what reads code.

May import: the witnesses, `traced`, `core`, `printing`. Begin with `claim_mutants.py`.
"""
