"""The checkers under attack: claims corrupted as a slip would corrupt them, and a judge who says which of those are false.

`mutants.py` corrupts claims by the slips of `slips.py`, `controls.py` changes nothing that matters, `judge.py` decides by an evaluation of
its own, `trying.py` puts a mutant before the witnesses. `reading_back.py` and `reading_latex.py` read what is printed, so that a test can
ask whether it is the tree that was printed.

`fuzzing.py` puts random claims before them: `growing.py` grows trees, `rewriting.py` makes others of them by laws, `families.py` drafts
claims of each kind, true and false, as `drafts.py` has them slip. The same judge decides which is which, `shrinking.py` makes small what
a witness got wrong, `pasted.py` writes it as a script, and `printed.py` looks whether a print is read as what was printed.

`code_slips.py` corrupts the snippets that claims name, and `code_trying.py` puts them before what reads code.

May import: the witnesses, `traced`, `core`, `printing`. Begin with `mutants.py`.
"""
